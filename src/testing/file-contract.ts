/** The contract of a store of files. */
import type { ByteRange, FileStore } from '../ports/files.ts';
import {
  collectCases,
  expectCode,
  expectEqual,
  expectRejection,
  expectSame,
  type ContractCase,
} from './cases.ts';

const mebibyte = 1024 * 1024;

/**
 * The contract that every `FileStore` must satisfy. `open` opens an empty store, each time another one. `close` ends one, if that is
 * needed.
 */
export function fileStoreContract(
  open: () => Promise<FileStore>,
  close?: (files: FileStore) => Promise<void>,
): readonly ContractCase[] {
  const { cases, it } = collectCases(open, close);

  it('keeps an upload for its organisation', async (files) => {
    const stored = await files.saveUpload(1, 'a b.xml', bodyOf('<a>', '</a>'), 7);
    expectEqual('the size of the upload', stored.bytes, 7);
    if (!/^uploads\/[^/]+\/a b\.xml$/.test(stored.path))
      throw new Error(`the path of an upload: expected uploads/<random>/a b.xml, found ${stored.path}`);
    const location = await files.resolve(1, stored.path, true);
    expectEqual('the upload', await textAt(files, location), '<a></a>');
    await expectCode(
      'the upload of another organisation',
      files.resolve(2, stored.path, true),
      'input_not_found',
    );
  });

  it('keeps two uploads of one name apart', async (files) => {
    const one = await files.saveUpload(1, 'a.xml', bodyOf('1'), 10);
    const two = await files.saveUpload(1, 'a.xml', bodyOf('2'), 10);
    expectEqual('the first upload', await textAt(files, await files.resolve(1, one.path, true)), '1');
    expectEqual('the second upload', await textAt(files, await files.resolve(1, two.path, true)), '2');
  });

  it('leaves nothing of an upload that is too large, or that breaks off', async (files) => {
    await expectCode(
      'a body over its limit',
      files.saveUpload(1, 'a.xml', bodyOf('12345', '678'), 7),
      'payload_too_large',
    );
    await expectRejection('an upload that breaks off', files.saveUpload(1, 'a.xml', brokenBody(), 1000));
    expectSame('the files', await namesBelow(files, await files.resolve(1, 'uploads', false)), []);
    expectEqual('the bytes in use', await files.usedBytes(1), 0);
  });

  it('removes a file of its organisation, once', async (files) => {
    const { path } = await files.saveUpload(1, 'a.xml', bodyOf('x'), 10);
    await expectCode('removal by another organisation', files.removeFile(2, path), 'not_found');
    for (const bad of ['', '../a.xml', '/etc/passwd', 'uploads/../../2/a.xml'])
      await expectCode(`the removal of ${bad}`, files.removeFile(1, bad), 'path_not_allowed');
    const removals = await Promise.allSettled([1, 2, 3, 4].map(() => files.removeFile(1, path)));
    const refusals = removals.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    if (refusals.length === removals.length)
      throw new Error('none of several simultaneous removals succeeded');
    for (const refusal of refusals)
      expectEqual('the code of a later removal', (refusal as { code?: unknown }).code, 'not_found');
    await expectCode('a removed file', files.resolve(1, path, true), 'input_not_found');
  });

  for (const path of [
    '',
    '..',
    '../x',
    'a/../../x',
    'a/..',
    '/',
    '/etc/passwd',
    'a\0b',
    '../2/uploads',
    '//etc/passwd',
    './../x',
    'uploads/../../2/a.xml',
  ])
    it(`refuses the path ${JSON.stringify(path)}`, async (files) => {
      for (const mustExist of [true, false])
        await expectCode(`the path ${path}`, files.resolve(1, path, mustExist), 'path_not_allowed');
    });

  for (const path of ['%2e%2e/x', '..%2fx', '....//x', 'C:\\x', '..\\x', '~/x', 'a;b', '$(id)'])
    it(`takes ${JSON.stringify(path)} for a name like any other`, async (files) => {
      await expectCode(`the path ${path}`, files.resolve(1, path, true), 'input_not_found');
      await files.write(await files.resolve(1, path, false), bytesOf('written'));
      expectEqual('the file', await textAt(files, await files.resolve(1, path, true)), 'written');
      await expectCode('the file of another organisation', files.resolve(2, path, true), 'input_not_found');
    });

  it('writes files below a location that it has resolved, and lists them in order', async (files) => {
    const folder = await files.resolve(1, 'out/new/folder', false);
    await files.write(`${folder}/b/ü.xml`, bodyOf('0123', '456789'));
    expectEqual('the written size', await files.write(`${folder}/a & b.xml`, bytesOf('<a/>')), 4);
    await files.write(await files.resolve(1, 'out/new/folder2/c.xml', false), bytesOf('beside'));
    const listed: unknown[] = [];
    for await (const { name, bytes, location, modified, version } of files.listFiles(folder)) {
      listed.push([name, bytes]);
      expectEqual(`the text at the location of ${name}`, (await textAt(files, location))?.length, bytes);
      expectEqual('whether the time is a number', Number.isFinite(modified), true);
      expectEqual('whether there is a version', version !== '', true);
    }
    expectSame('the files', listed, [
      ['a & b.xml', 4],
      ['b/ü.xml', 10],
    ]);
    await files.resolve(1, 'out/new/folder', true);
    const file = await files.resolve(1, 'out/new/folder/b/ü.xml', true);
    expectSame('the list of a file', await namesBelow(files, file), ['ü.xml']);
  });

  it('lists with a scan: each file is reported, and an exception ends the list', async (files) => {
    const folder = await files.resolve(1, 'scanned', false);
    for (const name of ['a.xml', 'b.txt', 'c.xml']) await files.write(`${folder}/${name}`, bytesOf(name));
    let entries = 0;
    const found: string[] = [];
    const scan = { accept: isXml, onEntry: () => void (entries += 1) };
    for await (const { name } of files.listFiles(folder, scan)) if (isXml(name)) found.push(name);
    expectSame('the files', found.toSorted(), ['a.xml', 'c.xml']);
    if (entries < 3) throw new Error(`onEntry: expected a call for each of 3 files, found ${entries}`);
    const ended = (async () => {
      for await (const _ of files.listFiles(folder, { accept: isXml, onEntry: throwEnough }));
    })();
    await expectRejection('a list whose scan throws', ended);
  });

  it('reads parts of a file', async (files) => {
    const location = await files.resolve(1, 'digits', false);
    await files.write(location, bodyOf('0123', '456789'));
    expectEqual('a part', await textAt(files, location, { offset: 3, length: 4 }), '3456');
    expectEqual(
      'a part that ends behind the file',
      await textAt(files, location, { offset: 8, length: 100 }),
      '89',
    );
    expectEqual('no bytes', await textAt(files, location, { offset: 2, length: 0 }), '');
    const absent = await files.resolve(1, 'absent', false);
    expectEqual('a file that is not there', await textAt(files, absent), null);
    expectSame('the list of a file that is not there', await namesBelow(files, absent), []);
  });

  it('replaces and discards files', async (files) => {
    const location = await files.resolve(1, 'one.txt', false);
    await files.write(location, bytesOf('first'));
    const before = await versionOf(files, location);
    await files.write(location, bodyOf('the second'));
    expectEqual('the replaced file', await textAt(files, location), 'the second');
    if ((await versionOf(files, location)) === before)
      throw new Error('the version of a file: expected a new version after its content has changed');
    await files.discard(location);
    await files.discard(location);
    expectEqual('the discarded file', await textAt(files, location), null);
  });

  it('keeps the earlier file if the body of the next one breaks off', async (files) => {
    const location = await files.resolve(1, 'folder/kept.txt', false);
    await files.write(location, bytesOf('first'));
    await expectRejection('a write whose body breaks off', files.write(location, brokenBody()));
    expectEqual('the file', await textAt(files, location), 'first');
    const other = await files.resolve(1, 'folder/never.txt', false);
    await expectRejection('a write whose body breaks off', files.write(other, brokenBody()));
    expectEqual('a file that was never whole', await textAt(files, other), null);
    expectSame('the files', await namesBelow(files, await files.resolve(1, 'folder', false)), ['kept.txt']);
  });

  it('shows a file under its name only when it is whole', async (files) => {
    const location = await files.resolve(1, 'slow.txt', false);
    let sender!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (sender = controller) });
    const written = files.write(location, body);
    sender.enqueue(bytesOf('the beginning, '));
    expectEqual('an unfinished file', await textAt(files, location), null);
    sender.enqueue(bytesOf('the end'));
    sender.close();
    await written;
    expectEqual('the finished file', await textAt(files, location), 'the beginning, the end');
  });

  it('streams large files', async (files) => {
    const location = await files.resolve(1, 'large.bin', false);
    const chunk = new Uint8Array(mebibyte).map((_, at) => at % 251);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === 12) return controller.close();
        sent += 1;
        controller.enqueue(chunk.slice());
      },
    });
    expectEqual('the written size', await files.write(location, body), 12 * mebibyte);
    let read = 0;
    for await (const piece of (await files.read(location))!) {
      for (let at = 0; at < piece.length; at += 4099)
        if (piece[at] !== chunk[(read + at) % mebibyte])
          throw new Error(`byte ${read + at} of a large file differs from the written one`);
      read += piece.length;
    }
    expectEqual('the read size', read, 12 * mebibyte);
  });

  it('counts the bytes of each organisation', async (files) => {
    expectEqual('the bytes of an organisation without files', await files.usedBytes(3), 0);
    const { path } = await files.saveUpload(3, 'a.xml', bodyOf('x'.repeat(1000)), 2000);
    await files.saveUpload(4, 'a.xml', bodyOf('1234567'), 2000);
    await files.write(await files.resolve(3, 'rows.csv', false), new Uint8Array(30));
    expectEqual('the bytes of two files', await files.usedBytes(3), 1030);
    await files.removeFile(3, path);
    expectEqual('the bytes that are left', await files.usedBytes(3), 30);
    expectEqual('the bytes of another organisation', await files.usedBytes(4), 7);
  });

  it('removes uploads that are older than asked for, but those in use', async (files) => {
    const old = await files.saveUpload(1, 'old.xml', bodyOf('x'), 10);
    const used = await files.saveUpload(2, 'used.xml', bodyOf('x'), 10);
    await files.write(await files.resolve(1, 'out/kept.csv', false), bytesOf('x'));
    const past = Date.now() - 3_600_000;
    const future = Date.now() + 3_600_000;
    const except = new Set([`2/${used.path}`]);
    const none = await files.removeUploads({ olderThan: past, partialOlderThan: past, except });
    expectEqual('the number of removed uploads that are too young', none, 0);
    const removed = await files.removeUploads({ olderThan: future, partialOlderThan: past, except });
    expectEqual('the number of removed uploads', removed, 1);
    await expectCode('the removed upload', files.resolve(1, old.path, true), 'input_not_found');
    await files.resolve(2, used.path, true);
    await files.resolve(1, 'out/kept.csv', true);
  });

  it('creates a file once, if it can tell', async (files) => {
    if (files.create === undefined) return;
    const location = await files.resolve(1, 'log/0001.json', false);
    const created = await Promise.all(['a', 'b', 'c'].map((text) => files.create!(location, bytesOf(text))));
    expectEqual('how many of three simultaneous creations succeeded', created.filter(Boolean).length, 1);
    const first = await textAt(files, location);
    expectEqual('a later creation', await files.create(location, bytesOf('later')), false);
    expectEqual('the file', await textAt(files, location), first);
  });

  return cases;
}

function isXml(name: string): boolean {
  return name.endsWith('.xml');
}

function throwEnough(): never {
  throw new Error('enough');
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function bodyOf(...texts: string[]): ReadableStream<Uint8Array> {
  return new Blob(texts).stream();
}

function brokenBody(): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1;
      if (sent > 3) controller.error(new Error('the client went away'));
      else controller.enqueue(new Uint8Array(10));
    },
  });
}

/** Returns null if there is no file. */
async function textAt(files: FileStore, location: string, range?: ByteRange): Promise<string | null> {
  const body = await files.read(location, range);
  return body === null ? null : new Response(body).text();
}

async function namesBelow(files: FileStore, location: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of files.listFiles(location)) names.push(name);
  return names;
}

async function versionOf(files: FileStore, location: string): Promise<string | null> {
  for await (const { version } of files.listFiles(location)) return version;
  return null;
}
