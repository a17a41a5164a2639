/** Files of a server of SFTP: what is there, brought whole or not at all, whatever the connection and the server do. */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openPlace, type SftpPlace } from '../../../src/inputs/sftp/place.ts';
import type { SftpAddress } from '../../../src/inputs/sftp/ssh.ts';
import { AppError } from '../../../src/errors.ts';
import { needs } from '../../support/needs.ts';
import { startSshd, type TestSshd } from '../../support/servers/sshd.ts';

const signal = new AbortController().signal;
let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'sftp-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const scratch = (): string => join(folder, 'scratch');
const places: SftpPlace[] = [];
afterEach(() => {
  for (const place of places.splice(0)) place.close();
});
const opened = (address: SftpAddress): SftpPlace => {
  places.push(openPlace(address, signal));
  return places.at(-1)!;
};
const bring = (place: SftpPlace, path: string, version?: string): Promise<number> =>
  place.download(path, join(folder, 'brought'), {
    signal,
    label: path,
    ...(version === undefined ? {} : { version }),
  });

describe('a server', { timeout: 60_000, ...needs('sshd') }, () => {
  let server: TestSshd;
  let address: SftpAddress;
  let files: string;
  beforeAll(async () => {
    server = await startSshd();
    files = join(folder, 'files');
    await mkdir(join(files, 'below'), { recursive: true });
    await writeFile(join(files, 'a.xml'), '<a/>');
    await writeFile(join(files, 'below', 'é b.xml'), '<b/>');
    await writeFile(join(files, 'empty.xml'), '');
    await symlink('/etc/passwd', join(files, 'passwd.xml'));
    await symlink('/etc', join(files, 'etc'));
    address = {
      host: '127.0.0.1',
      port: server.port,
      addresses: ['127.0.0.1'],
      user: server.user,
      password: null,
      key: null,
      keyFile: server.keyFile,
      hostKey: server.hostKey,
      ownKeys: false,
      scratch: join(folder, 'scratch'),
      label: 'sftp://server',
    };
  });
  afterAll(() => server?.stop());

  it('tells its files at any depth, and follows no link', async () => {
    const found = await Array.fromAsync(opened(address).list(files, () => true));
    expect(found.map(({ key, bytes }) => [key, bytes]).toSorted()).toEqual([
      ['a.xml', 4],
      ['below/é b.xml', 4],
      ['empty.xml', 0],
    ]);
    const top = await Array.fromAsync(opened(address).list(files, () => false));
    expect(top.map(({ key }) => key).toSorted()).toEqual(['a.xml', 'empty.xml']);
  });

  it('gives files, each of the version that is wanted', async () => {
    const place = opened(address);
    const path = join(files, 'a.xml');
    const { version } = (await place.stat(path))!;
    expect(await bring(place, path, version)).toBe(4);
    expect(await readFile(join(folder, 'brought'), 'utf8')).toBe('<a/>');
    expect(await bring(place, join(files, 'empty.xml'))).toBe(0);
    await expect(bring(place, path, '1-4')).rejects.toMatchObject({ cause: 'changed' });
    await expect(bring(place, join(files, 'none.xml'))).rejects.toMatchObject({ code: 'input_not_found' });
    await expect(bring(place, files)).rejects.toBeInstanceOf(AppError);
    expect(await place.stat(join(files, 'none.xml'))).toBeNull();
    await utimes(path, 1000, 1000);
    await expect(bring(place, path, version)).rejects.toMatchObject({ cause: 'changed' });
  });

  it('gives ranges of a file of one version, and none of another', async () => {
    const place = opened(address);
    const path = join(files, 'long.bin');
    // longer than a piece
    const bytes = randomBytes(9_000_001);
    await writeFile(path, bytes);
    const { version } = (await place.stat(path))!;
    const read = async (from: number, to: number, wanted = version): Promise<Buffer> =>
      Buffer.concat(
        await Array.fromAsync(place.bytes(path, { from, to }, { version: wanted, label: 'long' })),
      );
    expect((await read(0, bytes.length)).equals(bytes)).toBe(true);
    expect((await read(4_000_000, 8_500_000)).equals(bytes.subarray(4_000_000, 8_500_000))).toBe(true);
    expect(await read(5, 5)).toHaveLength(0);
    await expect(read(0, 10, '1-4')).rejects.toMatchObject({ cause: 'changed' });
    await writeFile(path, bytes.subarray(1));
    await expect(read(0, 10)).rejects.toMatchObject({ cause: 'changed' });
    await rm(path);
    await expect(read(0, 10)).rejects.toMatchObject({ code: 'input_not_found' });
  });

  it('by a key that is given itself, which no file keeps', async () => {
    const key = await readFile(server.keyFile, 'utf8');
    expect(await bring(opened({ ...address, keyFile: null, key }), join(files, 'empty.xml'))).toBe(0);
    expect(await readdir(address.scratch)).toEqual([]);
  });

  it.each([
    [
      'of another key',
      { hostKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJjUMjOWr1ND1ImkfLdAzlF2rQcUrTyW8rqpsvIcMWWZ' },
      'the host key of the server is unknown or differs',
    ],
    ['whose key nobody knows', { hostKey: null }, 'the host key of the server is unknown or differs'],
    ['that lets nobody in', { keyFile: '/dev/null' }, 'the server refuses this login'],
    ['that asks for a password', { keyFile: null, password: 'c4nary' }, 'the server refuses this login'],
    ['without any key', { keyFile: null }, 'the server refuses this login'],
  ])('%s is refused, and says so', async (_, change, why) => {
    const fault = await bring(opened({ ...address, ...change }), join(files, 'a.xml')).catch(
      (error: unknown) => error,
    );
    expect(fault).toMatchObject({ code: 'unprocessable_input', message: expect.stringContaining(why) });
    expect((fault as Error).message).not.toContain('c4nary');
  });

  it('is asked for the rest of a file where the connection breaks', async () => {
    const large = randomBytes(6 * 1024 * 1024);
    await writeFile(join(files, 'large.xml'), large);
    const proxy = await cuttingProxy(server.port, [1_000_000, 2_500_000]);
    let bytes = 0;
    const place = opened({ ...address, port: proxy.port });
    const got = await place.download(join(files, 'large.xml'), join(folder, 'brought'), {
      signal,
      label: 'large.xml',
      onBytes: (count) => (bytes += count),
    });
    expect(got).toBe(large.length);
    expect(large.equals(await readFile(join(folder, 'brought')))).toBe(true);
    expect(proxy.connections()).toBe(3);
    // no byte that had reached the disk came again
    expect(bytes).toBeLessThan(large.length * 1.5);
    places.pop()!.close();
    await proxy.end();
  });

  it('is given up where it is gone', async () => {
    const fault = await bring(opened({ ...address, port: 1 }), '/a.xml').catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'service_unavailable' });
  });
});

/** Passes on what comes, and cuts the first connections after so many bytes of the server. */
async function cuttingProxy(port: number, cuts: readonly number[]) {
  let count = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const left = cuts[count];
    count += 1;
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => (client.destroy(), upstream.destroy()));
    }
    client.pipe(upstream);
    let passed = 0;
    upstream.on('data', (chunk) => {
      passed += chunk.length;
      if (left !== undefined && passed > left) return void client.destroy();
      client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => count,
    end: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What stands in for the program ssh: a server that lies in one way. */
const liar = (mode: string): string => `#!${process.execPath}
const mode = ${JSON.stringify(mode)};
const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n >>> 0); return b; };
const text = (t) => Buffer.concat([u32(Buffer.byteLength(t)), Buffer.from(t)]);
const send = (type, ...parts) => {
  const body = Buffer.concat([Buffer.from([type]), ...parts]);
  process.stdout.write(Buffer.concat([u32(body.length), body]));
};
const attributes = (size) => Buffer.concat([u32(1 | 4 | 8), u32(0), u32(size), u32(0o100644), u32(5), u32(5)]);
const folder = () => Buffer.concat([u32(4), u32(0o40755)]);
const status = (id, code) => send(101, id, u32(code), text('c4nary of the server'), text(''));
if (mode === 'password') {
  const { execFileSync } = require('node:child_process');
  const said = execFileSync(process.env.SSH_ASKPASS, ['Password:']).toString();
  if (said !== 'c4n"ary $x\\n' || process.argv.some((word) => word.includes('c4n'))) { console.error('Permission denied (password).'); process.exit(255); }
}
if (mode === 'banner') { console.error('c4nary: you are watched'); process.exit(255); }
let rest = Buffer.alloc(0), lists = 0, reads = 0, stats = 0;
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  while (rest.length >= 5 && rest.length >= 4 + rest.readUInt32BE(0)) {
    const body = rest.subarray(4, 4 + rest.readUInt32BE(0));
    rest = rest.subarray(4 + body.length);
    const type = body[0], id = body.subarray(1, 5);
    if (type === 1) { if (mode === 'large') process.stdout.write(Buffer.from([0x7f, 0xff, 0xff, 0xff, 2])); else send(2, u32(3)); }
    else if (type === 3 || type === 11) send(102, id, text('h'));
    else if (type === 4) status(id, 0);
    else if (type === 8 || type === 17) { stats += 1; send(105, id, attributes(mode === 'grows' && stats > 1 ? 200 : 100)); }
    else if (type === 5) {
      reads += 1;
      if (mode === 'short' && reads > 1) status(id, 1);
      else send(103, id, text('x'.repeat(mode === 'more' ? 1000 : mode === 'short' ? 50 : 100)));
    } else if (type === 12) {
      lists += 1;
      if (mode === 'endless') send(104, id, u32(2000), ...Array.from({ length: 2000 }, (_, at) => Buffer.concat([text('n' + at), text(''), attributes(1)])));
      else if (mode === 'names' && lists === 1) send(104, id, u32(1), text('../../up.xml'), text(''), attributes(1));
      else if (mode === 'empty' && lists % 2 === 1) send(104, id, u32(1), text(''), text(''), folder());
      else if (mode === 'zero' && lists === 1) send(104, id, u32(1), text('a\\0b.xml'), text(''), attributes(1));
      else if (mode === 'counts') send(104, id, u32(4000000000));
      else status(id, 1);
    } else status(id, 8);
  }
});
process.stdin.on('end', () => process.exit(0));
`;

/** A server that lies in that way. */
const place = async (mode: string, password: string | null = null): Promise<SftpPlace> => {
  const programs = await mkdtemp(join(folder, 'programs-'));
  await writeFile(join(programs, 'ssh'), liar(mode), { mode: 0o755 });
  vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`);
  return opened({
    host: 'server',
    port: 22,
    addresses: ['192.0.2.1'],
    user: 'ann',
    password,
    key: null,
    keyFile: null,
    hostKey: null,
    ownKeys: false,
    scratch: scratch(),
    label: 'sftp://server',
  });
};

describe('a server that lies', { timeout: 60_000 }, () => {
  afterEach(() => vi.unstubAllEnvs());

  it('of the length of a file is found out, and no part of it is taken for the whole', async () => {
    await expect(bring(await place('short'), '/a.xml')).rejects.toMatchObject({ cause: 'changed' });
    await expect(bring(await place('grows'), '/a.xml')).rejects.toMatchObject({ cause: 'changed' });
    expect(await bring(await place('honest'), '/a.xml')).toBe(100);
  });

  it.each([
    ['more', 'it sends more bytes than were requested'],
    ['large', 'it sends a message with an invalid length'],
  ])('in its messages is no server: %s', async (mode, why) => {
    await expect(bring(await place(mode), '/a.xml')).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringContaining(why),
    });
  });

  it.each([
    ['endless', 'more than 1000000 files in one folder'],
    ['names', 'names a file as none can be named'],
    ['zero', 'names a file as none can be named'],
    ['empty', 'names a file as none can be named'],
    ['counts', 'sends a message that is shorter than its declared length'],
  ])('in its lists is no server: %s', async (mode, why) => {
    const open = await place(mode);
    await expect(Array.fromAsync(open.list('/', () => true))).rejects.toThrow(why);
  });

  it('is not repeated', async () => {
    const fault = await bring(await place('banner'), '/a.xml').catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: 'service_unavailable',
      message: expect.not.stringContaining('c4nary'),
    });
  });

  it('gets a password that is no word of a command, and leaves no file of it', async () => {
    expect(await bring(await place('password', 'c4n"ary $x'), '/a.xml')).toBe(100);
    expect(await readdir(scratch())).toEqual([]);
    await expect(bring(await place('password', 'wrong'), '/a.xml')).rejects.toThrow('refuses this login');
  });

  it('is not asked where there is no ssh', async () => {
    const open = await place('honest');
    vi.stubEnv('PATH', join(folder, 'nowhere'));
    await expect(bring(open, '/a.xml')).rejects.toThrow('the program ssh is needed');
  });
});
