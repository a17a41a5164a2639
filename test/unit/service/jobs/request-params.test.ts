/** How requests are shown in job records. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '../../../../src/runtime/system/secret-box.ts';
import { readConfig } from '../../../../src/config/properties.ts';
import { maskedParams, paramsJson, newJob } from '../../../../src/service/jobs/new-job.ts';
import { parseModeLetters, saveModeLetters } from '../../../../src/service/jobs/option-table.ts';
import { checkStoredRequest } from '../../../../src/service/jobs/request/shape.ts';
import { openRequest, sealRequest } from '../../../../src/service/jobs/request/stored-request.ts';
import type { Tool } from '../../../../src/service/jobs/request/tools.ts';
import { parseToolArguments } from '../../../../src/service/jobs/request/read-request.ts';

const engine = { master: 'local[*]' };
const newBox = () => createSecretBox(Uint8Array.from(randomBytes(32)));

/** What a shell makes of a line: the arguments that a tool would get. */
function argumentsOf(shell: string, line: string): string[] {
  const output = execFileSync(shell, ['-c', `for word in ${line}; do printf '%s\\0' "$word"; done`], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  });
  return output.split('\0').slice(0, -1);
}

function bare(tool: Tool, ...argv: string[]) {
  const { given: _, ...request } = parseToolArguments(tool, argv);
  return request;
}

describe('params', () => {
  const lines: readonly (readonly [tool: Tool, argv: readonly string[]])[] = [
    ['xml2er', ['-g', '3', 'uploads/7f3c/donut.xml.gz']],
    ['xml2er', ["a b's.xml", '-S', 'a', '--name', 'x y', '--on-error', 'fail']],
    ['xml2er', ['*.ts', '?', '[a-z]', '~', '=ls', '#x', '!x', '$HOME', '`ls`', 'a;b', '{a,b}', 'é 中']],
    ['xml2er', ['--', '-rf', '--json']],
    ['xml2er', ['a', '--name=-g', '--root', '\n', '--row-tag', '%s\\n\t\u0085\u2028\u202e\n\n']],
    ['xml2er', ['a', '-R', 'n', 'NOW', '-R', 'i ID', '-R', 'c:text', '=a b=c', '--rename', 'a=b, c=d']],
    [
      'xml2er',
      ['in/*.xml', 'b.xml', '-o', 'postgresql://dwh/lake?schema=s', '--engine', 'local', '-s', '--json'],
    ],
    ['xsd2er', ['a.xsd', '--missing', 'fail', '--no-samples', '--parent', '7', '-a', '1,2']],
    ['er2xml', ['-l', '3', '-i', 'metadb:x', '-o', 'out folder', '--workers', '2']],
    ['unload', ['-l', '3', '-i', 'metadb:x', '-D', "o'neill.xml"]],
  ];
  it.each(lines)('of %s %j are what was given, in one line for a shell', (tool, argv) => {
    const line = maskedParams(parseToolArguments(tool, argv));
    // oxlint-disable-next-line no-control-regex
    expect(line).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
    for (const shell of ['sh', 'bash'])
      expect(bare(tool, ...argumentsOf(shell, line))).toEqual(bare(tool, ...argv));
  });

  it('have inputs first, options in their order', () => {
    const request = parseToolArguments('xml2er', [
      '-S',
      'a',
      'uploads/7f3c/donut.xml.gz',
      '--map=3',
      '--validate',
    ]);
    expect(maskedParams(request)).toBe('uploads/7f3c/donut.xml.gz -S a -g 3 --validate');
  });

  it('show no password', () => {
    const request = parseToolArguments('xml2er', [
      'https://u:c4n4ry@h/a.xml',
      '-o',
      'postgresql://loader:c4n4ry@dwh/lake?schema=s',
      '-u',
      'loader',
      '-p',
      'c4n4ry2',
      '--spark-conf',
      'spark.hadoop.fs.s3a.secret.key=c4n4ry',
    ]);
    expect(maskedParams(request)).toBe(
      "'https://u:***@h/a.xml' -o 'postgresql://loader:***@dwh/lake?schema=s' -u loader -p '***' " +
        "--spark-conf 'spark.hadoop.fs.s3a.secret.key=***'",
    );
    expect(JSON.parse(paramsJson(request, engine)).action).toEqual({
      in: 'https://u:***@h/a.xml',
      out: 'postgresql://loader:***@dwh/lake?schema=s',
      out_user: 'loader',
      out_password: '***',
    });
    expect(paramsJson(request, engine)).not.toMatch(/c4n4ry/);
  });

  it('as JSON have the engine and the tool apart, and hold what was given and nothing else', () => {
    expect(paramsJson(parseToolArguments('xml2er', ['-g', '3', 'a.xml']), engine)).toBe(
      '{"spark":{"master":"local[*]"},"action":{"in":"a.xml","map":3}}',
    );
    const request = parseToolArguments('xml2er', [
      'a.xml',
      'b.xml',
      '-g',
      '1',
      '-o',
      'metadb:x',
      '-S',
      'a',
      '--on-error=fail',
      '-e',
      'a',
      '--keys',
      'sequence',
      '--unmapped',
      'capture',
      '--tables',
      'used',
      '--validate',
      '-R',
      'n NOW',
      '-R',
      'i:bigint',
      'ID',
      '--spark-conf',
      'spark.executor.memory=4g',
    ]);
    expect(JSON.parse(paramsJson(request, engine))).toEqual({
      spark: { master: 'local[*]', 'executor.memory': '4g' },
      action: {
        in: ['a.xml', 'b.xml'],
        map: 1,
        out: 'metadb:x',
        savemode: 'a',
        on_error: 'fail',
        parsemode: 'a',
        keys: 'sequence',
        unmapped: 'capture',
        tables: 'used',
        validate: true,
        extra_column: ['n NOW', 'i:bigint ID'],
      },
    });
    expect(
      JSON.parse(paramsJson(parseToolArguments('er2xml', ['-l', '3', '-i', 'a', '-o', 'b']), engine)),
    ).toEqual({
      spark: { master: 'local[*]' },
      action: { logical: '3', in: 'a', out: 'b' },
    });
  });
});

describe('params of a job on Spark', () => {
  const operator = readConfig({
    'svc.spark.master': 'spark://master:7077',
    'svc.spark.memory': '2g',
    'svc.spark.cores': '4',
    'svc.spark.conf': 'spark.cores.max=64 spark.hadoop.fs.s3a.secret.key=c4n4ry spark.executor.memory=3g',
  }).spark.conf;
  const request = parseToolArguments('xml2er', [
    'a.xml',
    '--engine',
    'spark',
    '--spark-conf',
    'spark.executor.memory=4g',
    '--spark-conf',
    'spark.hadoop.fs.azure.account.key.x=c4n4ry',
    '-o',
    'metadb:x',
  ]);

  it('hold what applies: the request’s settings before the operator’s before the defaults, no secret among them', async () => {
    const job = newJob(request, await sealRequest(request, await newBox()), operator);
    expect(JSON.parse(job.paramsJson)).toEqual({
      spark: {
        master: 'spark://master:7077',
        'executor.memory': '4g',
        'executor.cores': '4',
        'cores.max': '64',
        'hadoop.fs.s3a.secret.key': '***',
        'hadoop.fs.azure.account.key.x': '***',
      },
      action: { in: 'a.xml', engine: 'spark', out: 'metadb:x' },
    });
    expect(JSON.stringify(job)).not.toContain('c4n4ry');
    expect(readConfig({}).spark.conf).toEqual({ 'spark.master': 'local[*]', 'spark.executor.memory': '1g' });
  });

  it('of the local engine are its own', async () => {
    const local = parseToolArguments('xml2er', ['a.xml']);
    const job = newJob(local, await sealRequest(local, await newBox()), operator);
    expect(JSON.parse(job.paramsJson)).toEqual({ spark: { master: 'local[*]' }, action: { in: 'a.xml' } });
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
    expect(await openRequest(stored, box)).toEqual({ ...request, given: [] });
  });

  it('holds modes as the letters of the command line, and refuses others by the names of their members', async () => {
    const box = await newBox();
    for (const [save, parse] of Object.values(saveModeLetters).flatMap((letter) =>
      Object.values(parseModeLetters).map((mode) => [letter, mode] as const),
    )) {
      const request = parseToolArguments('xml2er', [
        'a.xml',
        '-x',
        '1',
        '-o',
        'out',
        '-S',
        save,
        '-e',
        parse,
      ]);
      const stored = await sealRequest(request, box);
      expect(JSON.parse(stored)).toMatchObject({ saveMode: save, parseMode: parse });
      const opened = await openRequest(stored, box);
      expect(opened).toEqual({ ...request, given: [] });
      expect([saveModeLetters[opened.saveMode], parseModeLetters[opened.parseMode!]]).toEqual([save, parse]);
      const broken = await openRequest(JSON.stringify({ ...JSON.parse(stored), saveMode: 'q' }), box);
      expect(() => checkStoredRequest(broken)).toThrow(/saveMode/);
    }
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

  it('opens what an older key sealed, when that key is still known, and seals with the new one', async () => {
    const [first, second] = [1, 2].map((byte) => new Uint8Array(32).fill(byte)) as [
      Uint8Array<ArrayBuffer>,
      Uint8Array<ArrayBuffer>,
    ];
    const sealed = await createSecretBox(first).seal('c4n4ry');
    const rotated = createSecretBox(second, [first]);
    expect(await rotated.open(sealed)).toBe('c4n4ry');
    const anew = await rotated.seal('c4n4ry');
    expect(anew.split('.')[1]).not.toBe(sealed.split('.')[1]);
    await expect(createSecretBox(first).open(anew)).rejects.toMatchObject({ code: 'internal_error' });
    const borrowed = `v2.${anew.split('.')[1]}.${sealed.split('.')[2]}`;
    await expect(rotated.open(borrowed)).rejects.toMatchObject({ code: 'internal_error' });
    for (const text of ['', 'v2.', 'v3.x', 'c4n4ry', `v2.000000000000.${sealed.split('.')[2]}`])
      await expect(rotated.open(text)).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('opens what was sealed before keys had ids', async () => {
    const key = new Uint8Array(32).fill(7);
    const nonce = new Uint8Array(12).fill(3);
    const imported = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt']);
    const sealed = await crypto.subtle.encrypt(
      { name: 'AES-GCM', iv: nonce },
      imported,
      new TextEncoder().encode('old'),
    );
    const text = `v1.${Buffer.concat([nonce, new Uint8Array(sealed)]).toString('base64url')}`;
    expect(await createSecretBox(new Uint8Array(32), [key]).open(text)).toBe('old');
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
