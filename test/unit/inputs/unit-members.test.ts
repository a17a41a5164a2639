/** The documents of a unit, as threads and executors find them again. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { membersOf } from '../../../src/tools/load/spark/attempt.ts';
import { zipped } from '../../support/service/archives.ts';

const job = {
  archiveLimits: { maxExpansion: 100, maxMembers: 100 },
  takesXsd: false,
  links: 'follow',
  places: [],
} as const;
let folder: string;
beforeAll(async () => void (folder = await realpath(await mkdtemp(join(tmpdir(), 'unit-members-')))));
afterAll(() => rm(folder, { recursive: true }));

async function read(wanted: readonly (readonly [string, number])[]): Promise<string[]> {
  const members = wanted.map(([file, member], inputIndex) => ({
    file: join(folder, file),
    member,
    packed: file.endsWith('.zip'),
    direct: true,
    name: file,
    path: file,
    inputIndex,
    sha256: '',
  }));
  const texts: string[] = [];
  for await (const member of membersOf(job, members))
    for await (const chunk of member.chunks()) texts.push(new TextDecoder().decode(chunk));
  return texts;
}

describe('the members of a unit', () => {
  it('may be the same file again', async () => {
    await writeFile(join(folder, 'a.xml'), '<a/>');
    expect(
      await read([
        ['a.xml', 0],
        ['a.xml', 0],
        ['a.xml', 0],
      ]),
    ).toEqual(['<a/>', '<a/>', '<a/>']);
  });

  it('are missed where an archive has lost them', async () => {
    const documents = ['<x/>', '<y/>'].map((text, at) => ({ name: `${at}.xml`, bytes: Buffer.from(text) }));
    await writeFile(join(folder, 'two.zip'), zipped(documents));
    expect(
      await read([
        ['two.zip', 0],
        ['two.zip', 1],
      ]),
    ).toEqual(['<x/>', '<y/>']);
    await expect(
      read([
        ['two.zip', 1],
        ['two.zip', 2],
      ]),
    ).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringContaining('changed since the job began'),
    });
  });
});
