/** Files of an XSD set that have one name. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followAnywhere, readXsdSet } from '../../../src/inputs/xsd-files.ts';

describe('files of one name in an XSD set', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'xsd-files-'));
    for (const [name, text] of [
      ['a/common.xsd', 'one'],
      ['b/common.xsd', 'another'],
      ['c/common.xsd', 'one'],
    ] as const) {
      await mkdir(join(folder, name, '..'), { recursive: true });
      await writeFile(
        join(folder, name),
        `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" id="${text}"/>`,
      );
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const read = (names: readonly string[], follow: boolean) =>
    readXsdSet(
      names.map((name) => join(folder, name)),
      follow ? { follow: followAnywhere, links: 'follow' } : { follow: null, links: 'refuse' },
    );

  it('are refused where they differ, as nobody can say which one references mean', async () => {
    await expect(read(['a', 'b'], true)).rejects.toThrow(
      `common.xsd: two files of the XSD set have this name, and different content (${folder}/a/common.xsd and ${folder}/b/common.xsd): keep one, or give both`,
    );
    // what was uploaded has its paths on the machine of the service
    await expect(read(['a/common.xsd', 'b/common.xsd'], false)).rejects.toThrow(
      'and different content: keep one',
    );
  });

  it('are one file where they are the same', async () => {
    expect((await read(['a', 'c'], true)).files.map(({ name }) => name)).toEqual(['common.xsd']);
  });

  it('keep the folders between them where they are named by themselves', async () => {
    const { files } = await read(['a/common.xsd', 'b/common.xsd'], true);
    expect(files.map(({ name }) => name)).toEqual(['a/common.xsd', 'b/common.xsd']);
  });
});
