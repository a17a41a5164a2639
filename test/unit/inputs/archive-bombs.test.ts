/** Case 20 and its relatives: archives that expand without end, claim what they do not hold, or name places outside. */
import { mkdtemp, symlink, writeFile, rename, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { defaultArchiveLimits } from '../../../src/inputs/archives/kinds.ts';
import { openDocuments } from '../../../src/tools/session/document-inputs.ts';
import { FileSpool } from '../../../src/inputs/file-spool.ts';
import { openInputs } from '../../../src/inputs/list-files.ts';
import { inputFileChunks } from '../../../src/inputs/open-file.ts';
import { overlappingZip, tarOf, tarred, zipped } from '../../support/service/archives.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const isXml = (name: string): boolean => name.endsWith('.xml');
const utf8 = new TextEncoder();

const trial = useTrial();
let folder: string;
beforeAll(async () => void (folder = await trial.folder('archives-')));

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

/** An archive of one document, changed where its directory begins. */
function changedZip(change: (bytes: Buffer, directory: number) => void): Buffer {
  const bytes = Buffer.from(zipped([{ name: 'a.xml', bytes: utf8.encode('<a>text</a>') }]));
  change(bytes, bytes.indexOf('PK\u{1}\u{2}'));
  return bytes;
}
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

  it('of members that are packed twice end at the limit of the outer one', needs('whole run'), async () => {
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

  it('that hide what bursts in a member nobody reads end at the limit', needs('whole run'), async () => {
    const members = [
      { name: 'a.xml', bytes: utf8.encode('<a/>') },
      { name: 'z.bin', bytes: new Uint8Array(160 * mebibyte) },
    ];
    await expect(readAll('hidden.tgz', gzipSync(tarOf(members), { level: 1 }))).rejects.toEqual(limit);
  });

  it.each([
    ['a symbolic link', { flag: '2', linkName: '/etc/passwd' }],
    ['a hard link', { flag: '1', linkName: '/etc/passwd' }],
    ['not a regular file', { flag: '3' }],
    ['not a regular file', { flag: '6' }],
    ['not a regular file', { flag: 'S' }],
    ['a sparse file', { pax: { 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0' } }],
  ])('of tar with a document that is %s are refused, not read without it: %j', async (what, member) => {
    const [whole, odd] = ['a.xml', 'b.xml'].map((name) => ({ name, bytes: utf8.encode('<a/>') }));
    const bytes = tarOf([whole!, { ...odd!, ...member }]);
    await expect(readAll('odd.tar', bytes)).rejects.toThrow(`odd.tar/b.xml: is ${what}`);
    // what nobody reads may be anything
    const besides = tarOf([whole!, { ...odd!, ...member, name: 'b.bin' }]);
    await expect(readAll('besides.tar', besides)).resolves.toBe(4);
  });

  it('of zip with a document that is encrypted, a link or damaged are refused', async () => {
    const encrypted = changedZip((bytes, at) => (bytes[at + 8] = bytes[at + 8]! | 1));
    await expect(readAll('encrypted.zip', encrypted)).rejects.toThrow('encrypted.zip/a.xml: is encrypted');
    const linked = changedZip((bytes, at) => {
      bytes[at + 5] = 3;
      bytes.writeUInt16LE(0o120777, at + 40);
    });
    await expect(readAll('linked.zip', linked)).rejects.toThrow('linked.zip/a.xml: is a symbolic link');
    const damaged = changedZip((bytes, at) => bytes.writeUInt32LE(1, at + 16));
    await expect(readAll('damaged.zip', damaged)).rejects.toThrow(/checksum/);
    await expect(
      readAll(
        'whole.zip',
        changedZip(() => undefined),
      ),
    ).resolves.toBe(11);
  });

  it.each(['zip', 'tar'])('of %s with a name of more than 4096 characters are refused', async (kind) => {
    const name = `${'n'.repeat(4093)}.xml`;
    const members = [{ name, bytes: utf8.encode('<a/>') }];
    const bytes = kind === 'zip' ? zipped(members) : await tarred(members);
    await expect(readAll(`long.${kind}`, bytes)).rejects.toThrow(/longer than 4096/);
  });

  it('that are cut, or are none, say so', async () => {
    const whole = zipped([{ name: 'a.xml', bytes: utf8.encode('<a/>'.repeat(1000)) }]);
    await expect(readAll('cut.zip', whole.subarray(0, 60))).rejects.toThrow(/not a zip archive/);
    await expect(readAll('none.zip', utf8.encode('PK\u0003\u0004 and no more'))).rejects.toThrow(
      /not a zip archive/,
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

it.each([
  ['in.zip', 'x.zip'],
  ['deep/IN.TGZ', 'x.zip'],
  ['in.tar.gz', 'x.tar'],
])('tells once that an archive within an archive is not read: %s in %s', async (inner, outer) => {
  const members = [inner, inner, 'a.xml', 'notes.gz', '.hidden.zip'].map((name) => ({
    name,
    bytes: name.endsWith('.xml') ? utf8.encode('<a/>') : zipped([]),
  }));
  const path = join(folder, outer);
  await writeFile(path, outer.endsWith('.zip') ? zipped(members) : tarOf(members));
  const lines: string[] = [];
  const session = {
    byHand: true,
    archiveLimits: defaultArchiveLimits,
    log: (line: string) => lines.push(line),
    spool: new FileSpool(join(folder, 'spool')),
    fetchedAlone: new Map<string, string>(),
  };
  const inputs = await openDocuments(session, [path], { takesXsd: false, set: null, isAmong: false });
  const names: string[] = [];
  for (let walk = 0; walk < 2; walk += 1)
    for await (const member of inputs.members()) {
      for await (const _ of member.chunks());
      names.push(member.name);
    }
  expect(names).toEqual(['a.xml', 'a.xml']);
  expect(inputs.seen()).toMatchObject({ read: 1, skipped: lines.length - 1 });
  // two members have that name
  const line = `  ${outer}/${inner}: is an archive within an archive, which is not read; unpack the outer one and give its folder`;
  expect(lines.filter((one) => one.includes(inner))).toEqual([line, line]);
});
