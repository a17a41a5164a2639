/** Schema documents that one leads to, where it lies: what is asked for, and where it comes to lie here. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { addressedSchemas, followSchemas, keyedSchemas } from '../../../src/inputs/remote/fetch.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

function schema(...locations: readonly string[]): string {
  const includes = locations.map((location) => `<xs:include schemaLocation="${location}"/>`);
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${includes.join('')}</xs:schema>`;
}

/** What lies here then, and what was asked for in vain. */
async function followed(
  kind: typeof keyedSchemas,
  there: Readonly<Record<string, string>>,
  first: readonly string[],
  maxBytes?: number,
): Promise<{ readonly paths: string[]; readonly here: string[]; readonly inVain: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'followed-'));
  folders.push(folder);
  const inVain: string[] = [];
  const asked: string[] = [];
  const place = {
    ...kind,
    async download(key: string, to: string) {
      expect(asked).not.toContain(key);
      asked.push(key);
      if (there[key] === undefined) {
        inVain.push(key);
        throw new AppError('input_not_found', key);
      }
      await writeFile(to, there[key]);
      return Buffer.byteLength(there[key]);
    },
  };
  const { paths, files } = await followSchemas(place, first, folder, {
    maxFiles: 100,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const here = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  expect(here).toHaveLength(files);
  const below = (path: string): string => path.slice(folder.length + 1);
  return { paths: paths.map(below), here: here.map(below).toSorted(), inVain };
}

describe('schema documents that are followed', () => {
  it('lie in a bucket beside each other, refer to each other, and are there once', async () => {
    const there = {
      'sets/a/main.xsd': schema('parts/line.xsd', '../common/types.xsd'),
      'sets/a/parts/line.xsd': schema('../main.xsd', './../../common/types.xsd'),
      'sets/common/types.xsd': schema('absent.xsd', '../../../secret.xsd', 'http://web/x.xsd', '/sets/b.xsd'),
    };
    expect(await followed(keyedSchemas, there, ['sets/a/main.xsd'])).toEqual({
      paths: ['sets/a/main.xsd'],
      here: ['sets/a/main.xsd', 'sets/a/parts/line.xsd', 'sets/common/types.xsd'],
      inVain: ['sets/common/absent.xsd'],
    });
  });

  it('lie on one host of the web', async () => {
    const there = {
      'https://web/sets/main%20set.xsd?v=2': schema('line.xsd#top', '//elsewhere/x.xsd', '../up.xsd'),
      'https://web/sets/line.xsd': schema('https://web/sets/other.xsd'),
      'https://web/up.xsd': schema(),
    };
    expect(await followed(addressedSchemas, there, ['https://web/sets/main%20set.xsd?v=2'])).toEqual({
      paths: ['sets/main set.xsd'],
      here: ['sets/line.xsd', 'sets/main set.xsd', 'up.xsd'],
      inVain: [],
    });
  });

  it('are no more than a set may have', async () => {
    const there = {
      'a/main.xsd': schema('second.xsd'),
      'a/second.xsd': `${schema('next.xsd')}<!--${'x'.repeat(1000)}-->`,
      'a/next.xsd': schema(),
    };
    const { here } = await followed(keyedSchemas, there, ['a/main.xsd'], 1000);
    expect(here).toEqual(['a/main.xsd', 'a/second.xsd']);
  });

  it('must be there where they are named', async () => {
    await expect(followed(keyedSchemas, {}, ['a.xsd'])).rejects.toThrow('a.xsd');
  });

  it('are so many at most, for a server that leads on for ever', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'followed-'));
    folders.push(folder);
    let asked = 0;
    const place = {
      ...addressedSchemas,
      async download(key: string, to: string) {
        asked += 1;
        const name = key.slice(key.lastIndexOf('/') + 1, -4);
        const text = schema(...Array.from({ length: 200 }, (_, at) => `${name}-${at}.xsd`));
        await writeFile(to, text);
        return text.length;
      },
    };
    await expect(
      followSchemas(place, ['https://a.example/on.xsd'], folder, { maxFiles: 5000 }),
    ).rejects.toMatchObject({
      code: 'unprocessable_input',
      message:
        'https://a.example/on.xsd: leads to more than 5000 schema documents; svc.limits.xsd_files allows no more files of an XSD set',
    });
    expect(asked).toBeLessThan(300);
  });
});
