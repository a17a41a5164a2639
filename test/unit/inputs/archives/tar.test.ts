/** Our reader of tar archives beside the programs and the library that write them. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import tar from 'tar-stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { TarReader } from '../../../../src/inputs/archives/tar.ts';
import { tarOf } from '../../../support/service/archives.ts';
import { useTrial } from '../../../support/service/trial.ts';

const trial = useTrial();
let folder = '';
beforeAll(async () => void (folder = await trial.folder('tar-')));

interface Found {
  readonly name: string;
  readonly flag: string;
  readonly content: string;
}

/** Pieces of so many bytes, each overwritten when the next is asked for. */
async function* pieces(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  const piece = new Uint8Array(size);
  for (let at = 0; at < bytes.length; at += size) {
    const length = Math.min(size, bytes.length - at);
    piece.set(bytes.subarray(at, at + length));
    yield piece.subarray(0, length);
    piece.fill(0x21);
  }
}

/** `reads`: whether the content of a large member is read, or passed over. */
async function membersOf(bytes: Uint8Array, size = 65_536, reads = true): Promise<Found[]> {
  const reader = new TarReader(pieces(bytes, size));
  const found: Found[] = [];
  do {
    for (let entry = reader.next(); entry !== null; entry = reader.next()) {
      const { name, flag } = entry.header;
      const chunks: Buffer[] = [];
      if (entry.whole !== null) chunks.push(Buffer.from(entry.whole));
      else if (reads) for await (const chunk of reader.contents()) chunks.push(Buffer.from(chunk));
      found.push({ name, flag, content: Buffer.concat(chunks).toString() });
    }
  } while (await reader.fill());
  return found;
}

/** What the library makes of the archive. */
async function membersByLibrary(bytes: Uint8Array): Promise<Found[]> {
  const extract = tar.extract();
  extract.end(Buffer.from(bytes));
  const found: Found[] = [];
  for await (const entry of extract) {
    const { name, type } = (entry as unknown as { header: tar.Header }).header;
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(Buffer.from(chunk as Uint8Array));
    found.push({ name, flag: type === 'directory' ? '5' : '0', content: Buffer.concat(chunks).toString() });
  }
  return found;
}

const long = `${'folder-with-a-name/'.repeat(12)}document.xml`;
const contents: Readonly<Record<string, string>> = {
  'a.xml': '<a/>',
  'empty.xml': '',
  'block.xml': 'b'.repeat(512),
  'small.xml': 's'.repeat(64 * 1024),
  'larger.xml': 'l'.repeat(64 * 1024 + 1),
  'large.xml': 'abcdefg'.repeat(200_000),
  'Zürich/東京.xml': '<ü/>',
  [long]: '<long/>',
  'last.xml': '<last/>',
};

async function written(...options: string[]): Promise<Uint8Array> {
  const files = join(folder, 'files');
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(files, name)), { recursive: true });
    await writeFile(join(files, name), content);
  }
  const archive = join(folder, `${options.join('')}.tar`);
  const names = ['Zürich', ...Object.keys(contents)];
  await promisify(execFile)('tar', [...options, '--no-recursion', '-cf', archive, '-C', files, ...names]);
  return readFile(archive);
}

describe('a tar archive', () => {
  it.each([['--format=pax'], ['--format=gnu'], ['--format=oldgnu'], ['--format=gnu', '--blocking-factor=1']])(
    'that tar makes with %s has the members that it was made of',
    async (...options) => {
      const bytes = await written(...options);
      const files = Object.entries(contents).map(([name, content]) => ({ name, flag: '0', content }));
      const members = [{ name: 'Zürich/', flag: '5', content: '' }, ...files];
      expect(await membersByLibrary(bytes)).toEqual(members);
      for (const size of [512, 1000, 65_536, 10_000_000])
        expect(await membersOf(bytes, size)).toEqual(members);
    },
  );

  it('of ustar has names in two parts', async () => {
    const bytes = await written('--format=ustar', '--exclude=Zürich');
    const names = Object.keys(contents).filter((name) => !name.startsWith('Zürich'));
    expect((await membersOf(bytes)).map(({ name }) => name)).toEqual(names);
  });

  it('has the same members where the content of large ones is passed over', async () => {
    const bytes = await written('--format=pax');
    const whole = await membersOf(bytes);
    for (const size of [700, 65_536]) {
      const found = await membersOf(bytes, size, false);
      expect(found.map(({ name }) => name)).toEqual(whole.map(({ name }) => name));
      expect(found.filter(({ name }) => !name.startsWith('large'))).toEqual(
        whole.filter(({ name }) => !name.startsWith('large')),
      );
    }
  });

  it('may say sizes and names in records, for one member or for all', async () => {
    const [a, b] = ['<a/>', '<b>longer than its header says</b>'];
    const bytes = Buffer.from(
      tarOf([
        { name: 'a.xml', bytes: Buffer.from(a) },
        { name: 'short', bytes: Buffer.from(b), pax: { path: 'té.xml', size: String(b.length) } },
        { name: 'c.xml', bytes: Buffer.from('<c/>') },
      ]),
    );
    expect(await membersOf(bytes)).toEqual([
      { name: 'a.xml', flag: '0', content: a },
      { name: 'té.xml', flag: '0', content: b },
      { name: 'c.xml', flag: '0', content: '<c/>' },
    ]);
    expect(await membersOf(bytes)).toEqual(await membersByLibrary(bytes));
  });

  it('may say sizes as binary numbers', async () => {
    const bytes = Buffer.from(tarOf([{ name: 'a.xml', bytes: Buffer.from('<a>text</a>') }]));
    bytes.fill(0, 124, 136);
    bytes[124] = 0x80;
    bytes[135] = 11;
    signed(bytes);
    expect(await membersOf(bytes)).toEqual([{ name: 'a.xml', flag: '0', content: '<a>text</a>' }]);
    expect(await membersOf(bytes)).toEqual(await membersByLibrary(bytes));
    // more bytes than there are numbers for
    bytes.fill(0xff, 125, 136);
    signed(bytes);
    await expect(membersOf(bytes)).rejects.toThrow('a header has no size');
  });

  it('that is empty has no members', async () => {
    expect(await membersOf(new Uint8Array(0))).toEqual([]);
    expect(await membersOf(new Uint8Array(10_240))).toEqual([]);
  });

  it('is not read past what is no header', async () => {
    const bytes = Buffer.from(tarOf([{ name: 'a.xml', bytes: Buffer.from('<a/>') }]));
    const changed = Buffer.from(bytes);
    changed[0] = 0x62;
    await expect(membersOf(changed)).rejects.toThrow('a header has a wrong checksum');
    const unknown = Buffer.from(bytes);
    unknown.fill(0, 257, 265);
    signed(unknown);
    await expect(membersOf(unknown)).rejects.toThrow(
      'a header is of neither the ustar nor the GNU tar format',
    );
    const sizeless = Buffer.from(bytes);
    sizeless.write('0000000009 ', 124);
    signed(sizeless);
    await expect(membersOf(sizeless)).rejects.toThrow('a header has no size');
    const huge = Buffer.from(tarOf([{ name: 'x', flag: 'x', bytes: Buffer.alloc(4 * 1024 * 1024 + 1) }]));
    await expect(membersOf(huge)).rejects.toThrow('a header in front of a member is too large');
  });

  it('that ends within a member says so, wherever it is cut', async () => {
    const text = 'x'.repeat(1200);
    const bytes = tarOf([
      { name: 'a.xml', bytes: Buffer.from(text), pax: { path: 'é.xml' } },
      { name: 'b.xml', bytes: Buffer.from('y'.repeat(70_000)) },
    ]);
    // behind each member, and behind the empty blocks at the end
    const [first, second] = [512 * 6, 512 * 6 + 512 * 138];
    const ends = new Map(
      [0, first, second, second + 512, second + 1024].map((end, at) => [end, Math.min(at, 2)]),
    );
    const whole = await membersOf(bytes);
    for (let end = 0; end <= bytes.length; end += 256) {
      const read = membersOf(bytes.subarray(0, end), 1000);
      const members = ends.get(end);
      if (members === undefined) await expect(read).rejects.toThrow('it ends within a member');
      else await expect(read).resolves.toEqual(whole.slice(0, members));
    }
  });
});

/** Gives the first header the check sum that it should have. */
function signed(bytes: Buffer): void {
  bytes.fill(' ', 148, 156);
  const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
}
