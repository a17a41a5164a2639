import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '../../../src/adapters/node/secret-box.ts';
import { maskKnownSecrets, maskSecrets } from '../../../src/jobs/mask-secrets.ts';
import { maskedParams, paramsJson } from '../../../src/jobs/request-params.ts';
import { openRequest, sealRequest } from '../../../src/jobs/stored-request.ts';
import { parseToolArguments } from '../../../src/jobs/tool-request.ts';

const engine = { master: 'local[*]' };
const newBox = () => createSecretBox(Uint8Array.from(randomBytes(32)));

describe('params', () => {
  it('are one line, inputs first, defaults left out', () => {
    expect(maskedParams(parseToolArguments('xml2er', ['-g', '3', 'uploads/7f3c/donut.xml.gz']))).toBe(
      'uploads/7f3c/donut.xml.gz -g 3',
    );
    const request = parseToolArguments('xml2er', ["a b's.xml", '-S', 'a', '--name', 'x\ny']);
    expect(maskedParams(request)).toBe(String.raw`'a b'\''s.xml' --name "x\ny"`);
  });

  it('show no password', () => {
    const request = parseToolArguments('xml2er', [
      'a.xml',
      '-o',
      'postgresql://loader:c4n4ry@dwh/lake?schema=s',
      '-u',
      'loader',
      '-p',
      'c4n4ry2',
    ]);
    expect(maskedParams(request)).toBe('a.xml -o postgresql://loader:***@dwh/lake?schema=s -u loader -p ***');
    expect(paramsJson(request, engine)).not.toMatch(/c4n4ry/);
  });

  it('as JSON have the engine and the tool apart', () => {
    expect(paramsJson(parseToolArguments('xml2er', ['-g', '3', 'a.xml']), engine)).toBe(
      '{"spark":{"master":"local[*]"},"action":{"parsemode":"s"}}',
    );
    const request = parseToolArguments('xml2er', [
      'a.xml',
      '-g',
      '1',
      '-o',
      'metadb:x',
      '-S',
      'o',
      '--validate',
      '-R',
      'n NOW',
      '-R',
      'i ID',
      '--spark-conf',
      'spark.executor.memory=4g',
    ]);
    expect(JSON.parse(paramsJson(request, engine))).toEqual({
      spark: { master: 'local[*]', 'executor.memory': '4g' },
      action: {
        parsemode: 'a',
        map: 1,
        out: 'metadb:x',
        savemode: 'o',
        validate: true,
        extra_column: ['n:timestamptz NOW', 'i:bigint ID'],
      },
    });
  });
});

describe('masking', () => {
  it.each([
    ['postgres://u:p@ss:w@h/db', 'postgres://u:***@h/db'],
    ['https://x/y?sv=1&sig=abc%2F', 'https://x/y?sv=1&sig=***'],
    ['spark.ssl.keyPassword=abc', 'spark.ssl.keyPassword=***'],
    ['Bearer svk_0a1b_Zz-9_q', 'Bearer svk_0a1b_***'],
    ['uploads/a.xml -g 3', 'uploads/a.xml -g 3'],
  ])('of %s', (text, masked) => {
    expect(maskSecrets(text)).toBe(masked);
  });

  it('of secrets that are known, wherever they stand', () => {
    expect(maskKnownSecrets('FATAL: hunter22 is wrong, hunter2 too', ['hunter2', 'hunter22', 'a'])).toBe(
      'FATAL: *** is wrong, *** too',
    );
  });
});

describe('stored request', () => {
  it('holds no secret in the clear and gives the request back', async () => {
    const box = await newBox();
    const request = parseToolArguments('xml2er', [
      'a.xml',
      '-x',
      '4',
      '-o',
      'postgresql://u:c4n4ry@h/d',
      '-p',
      'c4n4ry2',
      '-R',
      'c =v',
      '--spark-conf',
      'spark.some.password=c4n4ry3',
    ]);
    const stored = await sealRequest(request, box);
    expect(stored).not.toMatch(/c4n4ry/);
    expect(JSON.parse(stored)).toMatchObject({
      outPassword: { sealed: expect.any(String) },
      originId: { id: 4 },
    });
    expect(await openRequest(stored, box)).toEqual(request);
  });

  it('cannot be opened with another key, and the error says nothing of it', async () => {
    const stored = await sealRequest(
      parseToolArguments('xml2er', ['a.xml', '-o', 'x', '-p', 'c4n4ry']),
      await newBox(),
    );
    await expect(openRequest(stored, await newBox())).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.not.stringContaining('c4n4ry'),
    });
  });

  it('seals the same text differently each time and notices a change', async () => {
    const box = await newBox();
    const sealed = await box.seal('x');
    expect(await box.seal('x')).not.toBe(sealed);
    expect(await box.open(sealed)).toBe('x');
    const changed = sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA');
    await expect(box.open(changed)).rejects.toMatchObject({ code: 'internal_error' });
  });
});
