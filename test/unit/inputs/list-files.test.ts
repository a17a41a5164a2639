/** Inputs: folders, patterns, archives. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import tar from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openInputs } from '../../../src/inputs/list-files.ts';
import { inputFault, smallFileBytes } from '../../../src/inputs/open-file.ts';

const limits = { maxExpansion: 100, maxMembers: 1000 };
const isXml = (name: string): boolean => name.endsWith('.xml');
let folder = '';

async function read(inputs: readonly string[], within = limits): Promise<Record<string, string>> {
  const set = await openInputs(inputs, isXml, within);
  const found: Record<string, string> = {};
  try {
    for await (const member of set.members()) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of member.chunks()) chunks.push(chunk);
      found[member.name] = Buffer.concat(chunks).toString();
    }
  } finally {
    await set.dispose();
  }
  return found;
}

async function tarOf(members: Readonly<Record<string, string>>): Promise<Buffer> {
  const pack = tar.pack();
  for (const [name, text] of Object.entries(members)) pack.entry({ name }, text);
  pack.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of pack) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'input-files-'));
  await mkdir(join(folder, 'docs/deep'), { recursive: true });
  await writeFile(join(folder, 'docs/b.xml'), '<b/>');
  await writeFile(join(folder, 'docs/deep/a.xml'), '<a/>');
  await writeFile(join(folder, 'docs/readme.txt'), 'no');
  await writeFile(join(folder, 'docs/c.xml.gz'), gzipSync('<c/>'));
  await writeFile(join(folder, 'outside.xml'), '<outside/>');
  await symlink(join(folder, 'outside.xml'), join(folder, 'docs/link.xml'));
  await writeFile(
    join(folder, 'set.tar'),
    await tarOf({ 'x.xml': '<x/>', 'n.txt': 'no', 'd/y.xml': '<y/>', '.hidden.xml': 'no' }),
  );
  await writeFile(join(folder, 'set.tgz'), gzipSync(await tarOf({ 'x.xml': '<x/>' })));
  await writeFile(join(folder, 'evil.tar'), await tarOf({ '../evil.xml': '<x/>' }));
  await writeFile(join(folder, 'cut.xml.gz'), gzipSync(`<x>${'abc'.repeat(1000)}</x>`).subarray(0, 20));
  await writeFile(join(folder, 'unnamed'), gzipSync('<u/>'));
  await writeFile(join(folder, 'bomb.xml.gz'), gzipSync(Buffer.alloc(200 * 1024 * 1024)));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('inputs', () => {
  it('of a folder are its documents, packed or not, by name, links aside', async () => {
    expect(await read([join(folder, 'docs')])).toEqual({
      'b.xml': '<b/>',
      'c.xml': '<c/>',
      'deep/a.xml': '<a/>',
    });
  });

  it('of a glob are what it matches', async () => {
    expect(Object.keys(await read([join(folder, 'docs/*.xml')]))).toContain('b.xml');
  });

  it('of archives are their members, hidden ones aside', async () => {
    expect(await read([join(folder, 'set.tar')])).toEqual({ 'x.xml': '<x/>', 'd/y.xml': '<y/>' });
    expect(await read([join(folder, 'set.tgz')])).toEqual({ 'x.xml': '<x/>' });
    expect(await read([join(folder, 'unnamed')])).toEqual({ unnamed: '<u/>' });
  });

  it('are read whole whatever their size, into bytes that last until the next is asked for', async () => {
    await mkdir(join(folder, 'sizes'));
    const sizes = [0, 1, smallFileBytes - 1, smallFileBytes, smallFileBytes + 1, 700_000];
    const contents = sizes.map((size) => Buffer.from('abcdefg'.repeat(size / 7 + 1)).subarray(0, size));
    for (const [at, content] of contents.entries())
      await writeFile(join(folder, 'sizes', `${at}.xml`), content);
    for (const links of ['follow', 'refuse'] as const) {
      const set = await openInputs([await realpath(join(folder, 'sizes'))], isXml, limits, links);
      const read: Buffer[] = [];
      for await (const member of set.members()) {
        const chunks: Buffer[] = [];
        for await (const chunk of member.chunks('fleeting')) chunks.push(Buffer.from(chunk));
        read.push(Buffer.concat(chunks));
      }
      expect(read).toEqual(contents);
    }
  });

  it('that grow or become links while they wait are noticed', async () => {
    const real = await realpath(folder);
    const file = join(real, 'grows.xml');
    await writeFile(file, '<a/>');
    const set = await openInputs([file], isXml, limits, 'refuse');
    await writeFile(file, `<a>${'x'.repeat(200_000)}</a>`);
    let bytes = 0;
    for await (const member of set.members())
      for await (const chunk of member.chunks('fleeting')) bytes += chunk.length;
    expect(bytes).toBe(200_007);
    await rm(file);
    await symlink(join(real, 'docs/b.xml'), file);
    await expect(async () => {
      for await (const member of set.members()) for await (const _ of member.chunks('fleeting'));
    }).rejects.toMatchObject({ code: 'path_not_allowed' });
  });

  it('may be more than a process may have open', async () => {
    const many = join(folder, 'many');
    await mkdir(many);
    for (let n = 0; n < 600; n += 1) await writeFile(join(many, `${n}.xml`), `<n>${n}</n>`);
    const script = `
      import { openInputs } from ${JSON.stringify(new URL('../../../src/inputs/list-files.ts', import.meta.url).href)};
      const set = await openInputs([process.argv[1]], () => true);
      let bytes = 0;
      for await (const member of set.members()) for await (const chunk of member.chunks('fleeting')) bytes += chunk.length;
      console.log(set.fileCount, bytes);`;
    const { stdout } = await promisify(execFile)('/bin/sh', [
      '-c',
      'ulimit -n 100; exec "$0" "$@"',
      process.execPath,
      '--input-type=module',
      '-e',
      script,
      many,
    ]);
    expect(stdout).toBe('600 5890\n');
  });

  it('whose names are not UTF-8 are passed over, and named', async () => {
    const misnamed = await mkdtemp(join(tmpdir(), 'misnamed-'));
    const bytes = (name: string): Buffer =>
      Buffer.concat([Buffer.from(`${misnamed}/`), Buffer.from(name, 'latin1')]);
    await writeFile(join(misnamed, 'a.xml'), '<a/>');
    await writeFile(join(misnamed, 'real\ufffd.xml'), '<a/>');
    await writeFile(bytes('caf\xe9.xml'), '<a/>');
    for (const input of [misnamed, join(misnamed, '*.xml')]) {
      const set = await openInputs([input], (name) => name.endsWith('.xml'));
      const names = (await Array.fromAsync(set.members())).map(({ name }) => name);
      expect(names).toEqual(['a.xml', 'real\ufffd.xml']);
      expect(set.seen()).toMatchObject({
        read: 2,
        skipped: 1,
        examples: [{ name: 'caf\ufffd.xml', why: 'its name is not UTF-8; rename it' }],
      });
    }
    await mkdir(bytes('d\xe9p\xf4t'));
    await writeFile(bytes('d\xe9p\xf4t/b.xml'), '<a/>');
    const set = await openInputs([misnamed], (name) => name.endsWith('.xml'));
    for await (const _ of set.members());
    expect(
      set
        .seen()
        .examples.map(({ name }) => name)
        .toSorted(),
    ).toEqual(['caf\ufffd.xml', 'd\ufffdp\ufffdt/b.xml']);
    await rm(misnamed, { recursive: true });
  });

  it('that lead nowhere say so', async () => {
    await expect(read([join(folder, 'nothing.xml')])).rejects.toMatchObject({ code: 'input_not_found' });
  });

  it('that cannot be read say why, and what to do', async () => {
    const pipe = join(folder, 'pipe.fifo');
    await promisify(execFile)('mkfifo', [pipe]);
    await expect(read([pipe])).rejects.toThrow(`${pipe}: is neither a file nor a folder; - reads a pipe`);
    const denied = Object.assign(new Error('denied'), { code: 'EACCES', path: '/data/private' });
    expect(inputFault(denied, '/data')).toMatchObject({
      code: 'input_not_found',
      message: '/data/private: this user may not read it; grant the user read permission',
    });
  });

  it('refuse archives whose members leave them', async () => {
    await expect(read([join(folder, 'evil.tar')])).rejects.toThrow(
      /evil.tar\/..\/evil.xml: has a name that leaves the archive/,
    );
  });

  it('say which archive is cut short', async () => {
    await expect(read([join(folder, 'cut.xml.gz')])).rejects.toThrow(/cut.xml.gz: cannot be unpacked/);
  });

  it('stop an archive that expands beyond its limit', async () => {
    await expect(read([join(folder, 'bomb.xml.gz')])).rejects.toThrow(
      /expands to more than 100 times its size/,
    );
  });

  it('stop an archive of more members than allowed', async () => {
    await expect(read([join(folder, 'set.tar')], { maxExpansion: 100, maxMembers: 2 })).rejects.toThrow(
      /more than 2 members/,
    );
  });
});
