/** Case 20 and its relatives: archives that expand without end, claim what they do not hold, or name places outside. */
import { mkdtemp, rm, symlink, writeFile, rename, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openInputs } from '../../../src/tools/input-files.ts';
import { inputFileChunks } from '../../../src/tools/open-file.ts';
import { overlappingZip, tarred, zipped } from '../../support/service-archives.ts';

const isXml = (name: string): boolean => name.endsWith('.xml');
const utf8 = new TextEncoder();

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'archives-'))));
afterAll(() => rm(folder, { recursive: true }));

/** Reads an archive to its end; answers the bytes that came out, or throws what the limits say. */
async function readAll(name: string, bytes: Uint8Array): Promise<number> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  let count = 0;
  const inputs = await openInputs([path], isXml);
  for await (const member of inputs.members())
    for await (const chunk of member.chunks()) count += chunk.length;
  return count;
}

const mebibyte = 1024 * 1024;
const limit = expect.objectContaining({
  diagnostic: expect.objectContaining({ code: 'archive_expansion_limit' }),
});

describe('archives', () => {
  it('of one member that expands too far end at the limit', async () => {
    await expect(readAll('a.xml.gz', gzipSync(new Uint8Array(200 * mebibyte)))).rejects.toEqual(limit);
  });

  it('of many members that each stay below it end at the limit together', async () => {
    const bytes = new Uint8Array(20 * mebibyte);
    const members = Array.from({ length: 12 }, (_, at) => ({ name: `${at}.xml`, bytes }));
    await expect(readAll('many.zip', zipped(members))).rejects.toEqual(limit);
  });

  it('of members that are packed twice end at the limit of the outer one', async () => {
    const inner = gzipSync(new Uint8Array(20 * mebibyte));
    const members = Array.from({ length: 12 }, (_, at) => ({ name: `${at}.xml.gz`, bytes: inner }));
    await expect(readAll('nested.zip', zipped(members))).rejects.toEqual(limit);
    await expect(readAll('nested.tar', await tarred(members))).rejects.toEqual(limit);
    await expect(readAll('nested.tgz', gzipSync(await tarred(members)))).rejects.toEqual(limit);
  });

  it('whose members all claim the same bytes end at the limit, or are refused', async () => {
    const bomb = overlappingZip(200, new Uint8Array(2 * mebibyte));
    expect(bomb.byteLength).toBeLessThan(mebibyte);
    await expect(readAll('overlap.zip', bomb)).rejects.toThrow();
  });

  it.each(['../a.xml', '/etc/a.xml', 'x/../../a.xml', 'C:/a.xml', '..\\a.xml', 'x\\..\\..\\a.xml'])(
    'with a member called %s are refused whole',
    async (name) => {
      const members = [{ name, bytes: utf8.encode('<a/>') }];
      await expect(readAll('names.zip', zipped(members))).rejects.toThrow(
        /leaves the archive|invalid|absolute|relative/i,
      );
      await expect(readAll('names.tar', await tarred(members))).rejects.toThrow(/leaves the archive/);
    },
  );

  it('that are cut, or are none, say so', async () => {
    const whole = zipped([{ name: 'a.xml', bytes: utf8.encode('<a/>'.repeat(1000)) }]);
    await expect(readAll('cut.zip', whole.subarray(0, 60))).rejects.toThrow(/no zip archive/);
    await expect(readAll('none.zip', utf8.encode('PK\u0003\u0004 and no more'))).rejects.toThrow(
      /no zip archive/,
    );
    await expect(
      readAll('cut.xml.gz', gzipSync(utf8.encode('<a/>'.repeat(1000))).subarray(0, 30)),
    ).rejects.toThrow(/cannot be unpacked/);
  });
});

async function text(path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of inputFileChunks(path, 'refuse')) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
describe('files that a job named', () => {
  const refused = { code: 'path_not_allowed' };

  it('are not opened through a link that took their place, nor through one above them', async () => {
    const [root, outside] = [await mkdtemp(join(folder, 'root-')), await mkdtemp(join(folder, 'outside-'))];
    await mkdir(join(root, 'in'));
    await writeFile(join(root, 'in', 'a.xml'), '<ours/>');
    await writeFile(join(outside, 'a.xml'), '<theirs/>');
    expect(await text(join(root, 'in', 'a.xml'))).toBe('<ours/>');
    await symlink(join(outside, 'a.xml'), join(root, 'in', 'link.xml'));
    await expect(text(join(root, 'in', 'link.xml'))).rejects.toMatchObject(refused);
    await rename(join(root, 'in'), join(root, 'was'));
    await symlink(outside, join(root, 'in'));
    await expect(text(join(root, 'in', 'a.xml'))).rejects.toMatchObject(refused);
    await expect(text(join(root, 'was'))).rejects.toMatchObject(refused);
  });
});
