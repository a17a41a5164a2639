/** Documents as files: names that came from elsewhere, and files that appear whole. */
import { linkSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeName } from '../../../../src/storage/staging/durable-file.ts';
import {
  safeName,
  createDocumentFolder,
  isEmptyFolder,
} from '../../../../src/tools/write-back/output-files.ts';

describe('names of files', () => {
  it.each([
    ['order.xml', 'order.xml'],
    ['2024/01/order.xml', '2024/01/order.xml'],
    ['/etc/passwd', 'etc/passwd'],
    ['../../up.xml', 'up.xml'],
    ['a/../../b.xml', 'a/b.xml'],
    ['..\\..\\up.xml', 'up.xml'],
    ['C:\\docs\\a.xml', 'C_/docs/a.xml'],
    ['a:b?c*.xml', 'a_b_c_.xml'],
    ['nul.xml', '_nul.xml'],
    ['.hidden', '_hidden'],
    ['dots. . .', 'dots'],
    ['line\nbreak.xml', 'line_break.xml'],
    ['', 'document.xml'],
    ['..', 'document.xml'],
  ])('%j becomes %j', (name, safe) => {
    expect(safeName(name)).toBe(safe);
  });

  it('are short enough for every system, and keep their ending', () => {
    const name = safeName(`${'ä'.repeat(300)}.xml`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    expect(name.endsWith('ä.xml')).toBe(true);
  });
});

type Consumer = (bytes: Uint8Array) => Promise<void>;

const text = (content: string) => (consume: Consumer) => consume(new TextEncoder().encode(content));

async function failing(consume: Consumer): Promise<void> {
  await consume(new Uint8Array([60]));
  throw new Error('rows are gone');
}

/** A file system that has no links. */
function noLink(): never {
  throw Object.assign(new Error('no links here'), { code: 'EPERM' });
}

describe('a name that is to be nobody else’s', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'names-'));
    await writeFile(join(directory, 'draft'), 'whole');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it.each([
    ['with links', undefined],
    ['without links', noLink],
  ])('is taken once, on a file system %s', async (_, linked) => {
    const [draft, name] = ['draft', 'name'].map((one) => join(directory, one)) as [string, string];
    takeName(draft, name, linked);
    expect(await readdir(directory)).toEqual(['name']);
    await writeFile(draft, 'later');
    expect(() => takeName(draft, name, linked)).toThrow('EEXIST');
    expect((await readdir(directory)).toSorted()).toEqual(['draft', 'name']);
    expect(await readFile(name, 'utf8')).toBe('whole');
  });

  it('stays another’s also where the file has names elsewhere', async () => {
    const [draft, name] = ['draft', 'name'].map((one) => join(directory, one)) as [string, string];
    await writeFile(name, 'another');
    await link(draft, join(directory, 'copy'));
    expect(() => takeName(draft, name)).toThrow('EEXIST');
    expect((await readdir(directory)).toSorted()).toEqual(['copy', 'draft', 'name']);
  });

  it('is taken where a server that was asked twice says that it is there', async () => {
    const [draft, name] = ['draft', 'name'].map((one) => join(directory, one)) as [string, string];
    takeName(draft, name, (from, to) => {
      linkSync(from, to);
      linkSync(from, to);
    });
    expect(await readdir(directory)).toEqual(['name']);
  });

  it('is left free where the file cannot have it', async () => {
    await expect(async () =>
      takeName(join(directory, 'none'), join(directory, 'name'), noLink),
    ).rejects.toThrow('ENOENT');
    expect(await readdir(directory)).toEqual(['draft']);
  });
});

describe('a folder of documents', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'documents-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const folder = (existing: 'refuse' | 'replace') =>
    createDocumentFolder({
      directory,
      existing,
      resolvePath: (path) => Promise.resolve(path),
      links: 'follow',
    });

  it('gives documents of one name files of their own, whatever the case', async () => {
    const documents = folder('replace');
    const names = ['a.xml', 'A.xml', 'sub/a.xml'].map((name) => documents.nameFor(name));
    expect(names).toEqual(['a.xml', 'A-2.xml', 'sub/a.xml']);
    for (const [at, name] of names.entries()) await documents.write(name, text(String(at + 1)));
    await documents.close();
    expect(await readFile(join(directory, 'A-2.xml'), 'utf8')).toBe('2');
    expect(await readFile(join(directory, 'sub/a.xml'), 'utf8')).toBe('3');
  });

  it('has what was written last of a document that is written again while it is on its way to the disk', async () => {
    const documents = folder('refuse');
    // longer under way than what follows
    await documents.write('a.xml', text('first'.repeat(4_000_000)));
    await documents.rewrite('a.xml', text('again'));
    await documents.close();
    expect((await readFile(join(directory, 'a.xml'), 'utf8')).slice(0, 10)).toBe('again');
    expect(await readdir(directory)).toEqual(['a.xml']);
  });

  it('holds no part of a document that fails', async () => {
    await writeFile(join(directory, 'a.xml'), 'old');
    const documents = folder('replace');
    await expect(documents.write('a.xml', failing)).rejects.toThrow('rows are gone');
    await documents.close();
    expect(await readdir(directory)).toEqual(['a.xml']);
    expect(await readFile(join(directory, 'a.xml'), 'utf8')).toBe('old');
  });

  it('tells of a file that did not get to the disk, and keeps nothing of it', async () => {
    await mkdir(join(directory, 'a.xml'));
    const documents = folder('replace');
    await documents.write('a.xml', text('1'));
    await documents.write('b.xml', text('2'));
    await expect(documents.close()).rejects.toThrow('a.xml');
    await expect(documents.write('c.xml', text('3'))).rejects.toThrow('a.xml');
    expect((await readdir(directory)).toSorted()).toEqual(['a.xml', 'b.xml']);
  });

  it('writes documents of any size, each whole, in order of their pieces', async () => {
    const documents = folder('replace');
    const pieces = Array.from({ length: 20 }, (_, n) => new Uint8Array(20_000).fill(65 + (n % 26)));
    for (let n = 0; n < 10; n += 1)
      await documents.write(`${n}.xml`, async (consume) => {
        // the piece is the writer's own again once it was taken
        const piece = new Uint8Array(20_000);
        for (const bytes of pieces.slice(0, n + 10)) {
          piece.set(bytes);
          await consume(piece);
        }
      });
    await documents.close();
    for (let n = 0; n < 10; n += 1)
      expect(await readFile(join(directory, `${n}.xml`))).toEqual(Buffer.concat(pieces.slice(0, n + 10)));
    expect(await readdir(directory)).toHaveLength(10);
  });

  it('holds documents in memory that those before have left, which none of them sees', async () => {
    const documents = folder('replace');
    const piece = new Uint8Array(90_000);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let at = 0; at < 400; at += 1) {
      await documents.write(`${at}.xml`, async (consume) => {
        await consume(piece.fill(at));
        await consume(piece.fill(at + 1).subarray(at));
      });
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    await documents.close();
    expect(most).toBeLessThan(8e6);
    for (let at = 0; at < 400; at += 1) {
      const bytes = await readFile(join(directory, `${at}.xml`));
      const wanted = [Buffer.alloc(90_000, at % 256), Buffer.alloc(90_000 - at, (at + 1) % 256)];
      expect(bytes.equals(Buffer.concat(wanted)), `${at}`).toBe(true);
    }
  });

  // Node's own way of making folders would ask the kernel for ever
  it('says what keeps it from being written', async () => {
    for (const [place, why] of [
      ['/proc/documents', 'nothing can be created there'],
      [join(directory, 'file', 'below'), 'there is a file where a folder is needed'],
    ] as const) {
      await writeFile(join(directory, 'file'), '');
      const documents = createDocumentFolder({
        directory: place,
        label: 'documents',
        existing: 'replace',
        resolvePath: (path) => Promise.resolve(path),
        links: 'follow',
      });
      await expect(documents.write('a.xml', text('1'))).rejects.toMatchObject({
        code: 'target_not_allowed',
        message: expect.stringContaining(`documents: cannot be written: ${why}`),
      });
    }
  });

  it('leaves a file that another program makes while a document is written', async () => {
    const documents = folder('refuse');
    await documents.write('a.xml', async (consume) => {
      await consume(new Uint8Array([60]));
      await writeFile(join(directory, 'a.xml'), 'theirs');
    });
    await expect(documents.close()).rejects.toMatchObject({
      code: 'conflict',
      message: 'a.xml already exists in the folder',
    });
    expect(await readFile(join(directory, 'a.xml'), 'utf8')).toBe('theirs');
    expect(await readdir(directory)).toEqual(['a.xml']);
  });

  it('gives each name to one of two that write at the same time', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `${at}.xml`);
    const attempts = await Promise.allSettled(
      ['first', 'second'].map(async (content) => {
        const documents = folder('refuse');
        try {
          for (const name of names) await documents.write(name, text(content));
        } finally {
          await documents.close();
        }
      }),
    );
    expect(attempts.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    for (const attempt of attempts)
      if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ code: 'conflict' });
    for (const name of await readdir(directory)) {
      expect(names).toContain(name);
      expect(await readFile(join(directory, name), 'utf8')).toMatch(/^(?:first|second)$/);
    }
  });

  it('removes what processes that died left of documents, and nothing else', async () => {
    const [long, slow] = [
      new Date(Date.now() - 25 * 60 * 60 * 1000),
      new Date(Date.now() - 15 * 60 * 60 * 1000),
    ];
    for (const [name, time] of [
      ['.a.xml.0123456789ab-1.part', long],
      ['.b.xml.0123456789ab-2.part', slow],
      ['.c.xml.part', long],
      ['d.xml', long],
    ] as const) {
      await writeFile(join(directory, name), '<');
      await utimes(join(directory, name), time, time);
    }
    const documents = folder('replace');
    await documents.write('a.xml', text('whole'));
    await documents.close();
    expect((await readdir(directory)).toSorted()).toEqual([
      '.b.xml.0123456789ab-2.part',
      '.c.xml.part',
      'a.xml',
      'd.xml',
    ]);
  });

  it('refuses to write over a file where it is told so', async () => {
    expect(await isEmptyFolder(directory)).toBe(true);
    await writeFile(join(directory, 'a.xml'), 'old');
    expect(await isEmptyFolder(directory)).toBe(false);
    const documents = folder('refuse');
    await expect(documents.write('a.xml', text('new'))).rejects.toMatchObject({ code: 'conflict' });
    await documents.close();
    expect(await isEmptyFolder(join(directory, 'none'))).toBe(true);
  });
});
