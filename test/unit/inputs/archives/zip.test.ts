/** Small members of zip archives, which are read at once, beside larger ones, which come as a stream. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { openInputs } from '../../../../src/inputs/list-files.ts';
import { smallFileBytes } from '../../../../src/inputs/open-file.ts';
import { zipped } from '../../../support/service/archives.ts';
import { useTrial } from '../../../support/service/trial.ts';

const trial = useTrial();
let folder = '';
beforeAll(async () => void (folder = await trial.folder('zip-')));

/** `fleeting`: chunks are copied before the next is asked for; else all are kept as they came. */
async function read(bytes: Uint8Array, fleeting?: 'fleeting'): Promise<Record<string, string>> {
  const path = join(folder, 'set.zip');
  await writeFile(path, bytes);
  const set = await openInputs([path], (name) => name.endsWith('.xml'));
  const found: [string, Uint8Array[]][] = [];
  for await (const member of set.members()) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of member.chunks(fleeting))
      chunks.push(fleeting === undefined ? chunk : new Uint8Array(chunk));
    found.push([member.name, chunks]);
  }
  return Object.fromEntries(found.map(([name, chunks]) => [name, Buffer.concat(chunks).toString()]));
}

const contents: Readonly<Record<string, string>> = {
  'empty.xml': '',
  'small.xml': '<small/>',
  'edge.xml': 'e'.repeat(smallFileBytes),
  'larger.xml': 'l'.repeat(smallFileBytes + 1),
  'large.xml': 'abcdefg'.repeat(200_000),
  'é.xml': '<é/>',
};
const entries = Object.entries(contents).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));

/** More than are looked up at once. */
const many = Array.from({ length: 700 }, (_, at) => ({
  name: `${at}.xml`,
  bytes: Buffer.from(`<a>${'x'.repeat(at * 7)}${at}</a>`),
}));

/** The entries of a directory that follow one another, last first. */
function turned(archive: Uint8Array, count: number): Buffer {
  const bytes = Buffer.from(archive);
  const end = bytes.length - 22;
  const from = bytes.readUInt32LE(end + 16);
  const listed: Buffer[] = [];
  for (let at = from; listed.length < count;) {
    const next = at + 46 + bytes.readUInt16LE(at + 28);
    listed.unshift(Buffer.from(bytes.subarray(at, next)));
    at = next;
  }
  Buffer.concat(listed).copy(bytes, from);
  return bytes;
}

describe('a zip archive', () => {
  it.each(['fleeting', undefined] as const)(
    'has its members, whatever their sizes (%s)',
    async (fleeting) => {
      expect(await read(zipped(entries), fleeting)).toEqual(contents);
      const all = Object.fromEntries(many.map(({ name, bytes }) => [name, bytes.toString()]));
      expect(await read(zipped(many), fleeting)).toEqual(all);
      expect(await read(turned(zipped(many), many.length), fleeting)).toEqual(all);
    },
  );

  it('has members that are stored as they are', async () => {
    const plain = Buffer.from(zipped([{ name: 'a.xml', bytes: Buffer.from('<a/>') }]));
    const directory = plain.indexOf('PK\u{1}\u{2}');
    // as if the deflated bytes were the content
    const content = plain.subarray(30 + 'a.xml'.length, directory);
    for (const [at, sizesAt] of [
      [8, 18],
      [directory + 10, directory + 20],
    ] as const) {
      plain.writeUInt16LE(0, at);
      plain.writeUInt32LE(content.length, sizesAt);
      plain.writeUInt32LE(content.length, sizesAt + 4);
    }
    await expect(read(plain, 'fleeting')).rejects.toThrow('set.zip/a.xml: cannot be unpacked: its checksum');
    plain.writeUInt32LE(crc32(content), directory + 16);
    for (const fleeting of ['fleeting', undefined] as const)
      expect(await read(plain, fleeting)).toEqual({ 'a.xml': content.toString() });
  });

  it.each([
    ['less than the directory says', 9, 'its size differs from the size in the directory'],
    ['more than the directory says', 3, 'its size differs from the size in the directory'],
  ])('with a small member that has %s is refused', async (_, size, message) => {
    const bytes = Buffer.from(zipped([{ name: 'a.xml', bytes: Buffer.from('<abc/>') }]));
    bytes.writeUInt32LE(size, bytes.indexOf('PK\u{1}\u{2}') + 24);
    await expect(read(bytes, 'fleeting')).rejects.toThrow(message);
  });

  it('whose directory leads to no member, or beyond the archive, is refused', async () => {
    const whole = zipped([{ name: 'a.xml', bytes: Buffer.from('<abc/>') }]);
    const elsewhere = Buffer.from(whole);
    elsewhere.writeUInt32LE(3, elsewhere.indexOf('PK\u{1}\u{2}') + 42);
    await expect(read(elsewhere, 'fleeting')).rejects.toThrow('a.xml: cannot be unpacked: its header has no');
    const beyond = Buffer.from(whole);
    beyond.writeUInt32LE(60_000, beyond.indexOf('PK\u{1}\u{2}') + 20);
    await expect(read(beyond, 'fleeting')).rejects.toThrow('its content reaches beyond the archive');
    const behind = Buffer.from(whole);
    behind.writeUInt32LE(60_000, behind.indexOf('PK\u{1}\u{2}') + 42);
    await expect(read(behind, 'fleeting')).rejects.toThrow('unexpected end of the archive');
  });
});
