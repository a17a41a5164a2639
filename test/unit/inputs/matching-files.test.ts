/** Files that match a pattern. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePathPattern } from '../../../src/service/files/path-pattern.ts';
import { matchingFiles } from '../../../src/inputs/walk-files.ts';

let folder = '';

async function found(text: string, ...more: [((path: string) => Promise<'file' | 'folder' | null>)?]) {
  const paths: string[] = [];
  const pattern = parsePathPattern(text)!;
  for await (const path of matchingFiles(pattern, join(folder, pattern.folder), ...more)) paths.push(path);
  return paths;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'matching-'));
  for (const file of ['b.xml', 'a.xml', 'n.txt', 'in/c.xml', 'in/deep/d.xml', '.hidden/e.xml', 'out/f.xml']) {
    await mkdir(join(folder, dirname(file)), { recursive: true });
    await writeFile(join(folder, file), '<x/>');
  }
  await symlink(join(folder, 'in'), join(folder, 'to-in'));
  await symlink(join(folder, 'in'), join(folder, 'in/deep/again'));
  await symlink(join(folder, 'nowhere'), join(folder, 'dangling.xml'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('files that match', () => {
  it('come in the order of their names, at any depth, each once', async () => {
    expect(await found('*.xml')).toEqual(['a.xml', 'b.xml']);
    expect(await found('*/*.xml')).toEqual(['in/c.xml', 'out/f.xml', 'to-in/c.xml']);
    expect(await found('**/*.xml')).toEqual(['a.xml', 'b.xml', 'in/c.xml', 'in/deep/d.xml', 'out/f.xml']);
    expect(await found('in/**')).toEqual(['c.xml', 'deep/d.xml']);
    expect(await found('i?')).toEqual(['in']);
    expect(await found('nothing/*')).toEqual([]);
  });

  it('behind links are those of links that may be followed; ** follows none', async () => {
    const asked: string[] = [];
    const refuse = (path: string): Promise<never> => {
      asked.push(path);
      return Promise.reject(new Error('outside'));
    };
    await expect(found('to*/*.xml', refuse)).rejects.toThrow('outside');
    expect(await found('**/d.xml', refuse)).toEqual(['in/deep/d.xml']);
    expect(asked).toEqual(['to-in']);
  });
});
