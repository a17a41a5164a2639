/** Case 25: hosts that a request names. Loopback and metadata addresses in every spelling, and names that lead there. */
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  formatAddress,
  parseAddress,
  specialRange,
  createOutgoingGuard,
} from '../../../../src/service/access/outgoing-guard.ts';
import {
  createHostResolver,
  createPinnedHttp,
  createPinnedProxy,
} from '../../../../src/network/checked-http.ts';
import type { HostResolver, CheckedHost } from '../../../../src/ports/network.ts';

const refused = { code: 'host_not_allowed' };

/** A name server that says something else each time. */
function resolverOf(...answers: readonly (readonly string[])[]): HostResolver & { asked: number } {
  const resolver = {
    asked: 0,
    resolve: () => Promise.resolve(answers[Math.min(resolver.asked++, answers.length - 1)]!),
  };
  return resolver;
}

const spellings: Readonly<Record<string, readonly string[]>> = {
  '127.0.0.1': [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
    '0X7F.0x0.0X0.0x1',
  ],
  '169.254.169.254': [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '0xA9.254.0251.254',
  ],
  '[::1]': ['::1', '[::1]', '0:0:0:0:0:0:0:1', '[0000::0001]', '::0.0.0.1'],
  '[::ffff:7f00:1]': ['::ffff:127.0.0.1', '[::ffff:7f00:1]', '0:0:0:0:0:FFFF:7F00:0001'],
};

describe('addresses', () => {
  it.each(Object.entries(spellings))('%s in all its spellings is one address', (canonical, texts) => {
    for (const text of texts) {
      const address = parseAddress(text);
      expect(address, text).not.toBeNull();
      expect(formatAddress(address!), text).toBe(canonical);
    }
  });

  it.each([
    '256.0.0.1',
    '1.2.3.4.5',
    '0x',
    '08',
    '4294967296',
    '1.2.3.',
    '.1',
    '',
    ':',
    ':::',
    '1::2::3',
    '::1%lo',
    '[::1',
    'g::1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '::1.2.3',
    '::0x7f.0.0.1',
    '::0177.0.0.1',
    '127.0.0.1::1',
    '::1.2.3.256',
    'localhost',
    '１２７.0.0.1',
    '1e3',
    '-1',
    '+1',
  ])('%j is none', (text) => {
    expect(parseAddress(text)).toBeNull();
  });

  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '127.255.255.254',
    '169.254.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '::127.0.0.1',
    '::169.254.169.254',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::7f00:1',
    '64:ff9b:1:a9fe:a9:fe00:808:808',
    '64:ff9b:1:8a9:fe:a9fe:808:808',
    '64:ff9b:1:808:a9:fea9:fe08:808',
    '2a00:1450::5efe:169.254.169.254',
    '2a00:1450::200:5efe:127.0.0.1',
    '100:0:0:1::1',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '::ffff:0:127.0.0.1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'ff02::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '2001:0:7f00:1::1',
  ])('%s is special', (text) => {
    expect(specialRange(parseAddress(text)!)).toMatch(/./);
  });

  it.each([
    '1.1.1.1',
    '10.0.0.5',
    '172.16.3.4',
    '192.168.1.1',
    '100.64.0.1',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.0.1',
    '223.255.255.255',
    '2606:4700::1111',
    'fd12:3456::1',
    '::ffff:10.0.0.1',
    '64:ff9b::808:808',
    '64:ff9b:1:808:8:800:808:808',
    '2a00:1450::5efe:8.8.8.8',
    '2002:808:808::1',
  ])('%s is not', (text) => {
    expect(specialRange(parseAddress(text)!)).toBeNull();
  });
});

/** The guard's word on an allowed name that has these addresses. */
function check(addresses: readonly string[], ...allowed: string[]): Promise<CheckedHost> {
  return createOutgoingGuard(['db.example.org', ...allowed], resolverOf(addresses)).check(
    'DB.example.org',
    5432,
  );
}

describe('what a request may reach', () => {
  it.each([
    ...Object.values(spellings).flat(),
    'localhost',
    '0',
    '0.0.0.0',
    '[::]',
    'db.example.org',
    'metadata.google.internal',
    '::ffff:169.254.169.254',
    '127.0.0.1.',
    'localhost.',
    '127.0.0.1 ',
    'a,b',
    '/var/run/postgresql',
    'user@host',
    'host/path',
    '',
    '*',
    '[::1%lo]',
    'ｌocalhost',
    '1.2.3.4.5',
    '0x',
  ])('nothing where the operator allowed nothing: %j', async (host) => {
    const resolver = resolverOf(['203.0.113.7']);
    await expect(createOutgoingGuard([], resolver).check(host, 5432)).rejects.toMatchObject(refused);
    expect(resolver.asked).toBe(0);
  });

  it('an allowed address in that spelling alone', async () => {
    const guard = createOutgoingGuard(['127.0.0.1:5432', '[::1]'], resolverOf([]));
    expect(await guard.check('127.0.0.1', 5432)).toEqual({
      host: '127.0.0.1',
      port: 5432,
      addresses: ['127.0.0.1'],
    });
    expect(await guard.check('::1', 1)).toEqual({ host: '[::1]', port: 1, addresses: ['::1'] });
    for (const other of ['2130706433', '127.1', '0x7f000001', '::ffff:127.0.0.1'])
      await expect(guard.check(other, 5432)).rejects.toMatchObject(refused);
    await expect(guard.check('127.0.0.1', 5433)).rejects.toMatchObject(refused);
  });

  it('an allowed name, unless one of its addresses is special', async () => {
    expect(await check(['203.0.113.7', '2001:db8::7'])).toEqual({
      host: 'db.example.org',
      port: 5432,
      addresses: ['203.0.113.7', '2001:db8::7'],
    });
    expect((await check(['10.1.2.3'])).addresses).toEqual(['10.1.2.3']);
    for (const bad of [
      '127.0.0.1',
      '169.254.169.254',
      '::1',
      '::ffff:127.0.0.1',
      '64:ff9b::a9fe:a9fe',
      '0.0.0.0',
      'fe80::1%eth0',
      '224.0.0.1',
    ]) {
      await expect(check([bad]), bad).rejects.toMatchObject(refused);
      await expect(check(['203.0.113.7', bad]), bad).rejects.toMatchObject(refused);
    }
    expect((await check(['127.0.0.1'], '127.0.0.1')).addresses).toEqual(['127.0.0.1']);
    expect((await check(['169.254.169.254'], '*')).addresses).toEqual(['169.254.169.254']);
    await expect(check(['127.0.0.1'], '127.0.0.1:80')).rejects.toMatchObject(refused);
    await expect(check([])).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('localhost where it is allowed by its name, on loopback alone', async () => {
    expect(
      (await createOutgoingGuard(['localhost'], createHostResolver()).check('localhost', 1)).addresses,
    ).toEqual(expect.arrayContaining([expect.stringMatching(/^(127\.0\.0\.1|::1)$/)]));
    await expect(
      createOutgoingGuard(['localhost'], resolverOf(['169.254.169.254'])).check('localhost', 1),
    ).rejects.toMatchObject(refused);
  });

  it('a name that does not resolve', async () => {
    await expect(
      createOutgoingGuard(['no-such-host.invalid'], createHostResolver()).check('no-such-host.invalid', 1),
    ).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('addresses of the web by their host and port', async () => {
    const guard = createOutgoingGuard(['example.org', '127.0.0.1:8080'], resolverOf(['203.0.113.7']));
    expect(await guard.checkUrl(new URL('https://example.org/a/?sig=x'))).toMatchObject({
      host: 'example.org',
      port: 443,
    });
    expect(await guard.checkUrl(new URL('http://example.org/'))).toMatchObject({ port: 80 });
    expect(await guard.checkUrl(new URL('http://127.0.0.1:8080/'))).toMatchObject({ port: 8080 });
    for (const text of [
      'ftp://example.org/',
      'file:///etc/passwd',
      'http://127.0.0.1/',
      'http://2130706433/',
      'http://[::1]/',
      'gopher://example.org',
    ])
      await expect(guard.checkUrl(new URL(text)), text).rejects.toMatchObject(refused);
  });
});

describe('connections to what was checked', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  async function serve(): Promise<{ port: number; seen: string[] }> {
    const seen: string[] = [];
    const server = createServer((request, answer) => {
      seen.push(`${request.method} ${request.headers.host}${request.url}`);
      if (request.url === '/away') answer.writeHead(302, { Location: 'http://169.254.169.254/' }).end();
      else request.pipe(answer.writeHead(200, { 'X-Seen': 'yes' }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return { port: (server.address() as AddressInfo).port, seen };
  }

  it('go to the checked address, though the name is another by now', async () => {
    const { port, seen } = await serve();
    const resolver = resolverOf(['127.0.0.1'], ['169.254.169.254']);
    const guard = createOutgoingGuard([`rebinding.example:${port}`, '127.0.0.1'], resolver);
    const url = new URL(`http://rebinding.example:${port}/in?x=1`);
    const place = await guard.checkUrl(url);
    const answer = await createPinnedHttp().send(place, { method: 'POST', url, body: 'hello' });
    expect([answer.status, await answer.text(), answer.headers.get('X-Seen')]).toEqual([200, 'hello', 'yes']);
    expect(seen).toEqual([`POST rebinding.example:${port}/in?x=1`]);
    await expect(guard.checkUrl(url)).rejects.toMatchObject(refused);
    expect(resolver.asked).toBe(2);
  });

  it('follow no redirect, and go nowhere but to their place', async () => {
    const { port, seen } = await serve();
    const guard = createOutgoingGuard(['127.0.0.1'], resolverOf([]));
    const url = new URL(`http://127.0.0.1:${port}/away`);
    const place = await guard.checkUrl(url);
    const answer = await createPinnedHttp().send(place, { method: 'GET', url });
    expect([answer.status, answer.headers.get('Location')]).toEqual([302, 'http://169.254.169.254/']);
    expect(seen).toHaveLength(1);
    expect(() =>
      createPinnedHttp().send(place, { method: 'GET', url: new URL(`http://localhost:${port}/`) }),
    ).toThrow(expect.objectContaining(refused));
  });

  it.each([
    ['a status beyond all', '999 x\r\nContent-Length: 0'],
    ['a status below all', '099 x\r\nContent-Length: 0'],
    ['no reason that could be told', '200 a\u0001b\r\nContent-Length: 0'],
    ['another protocol', '101 x\r\nUpgrade: y\r\nConnection: upgrade'],
    ['another protocol, unnamed', '101 x'],
  ])('end with an error where the answer is %s', async (_, head) => {
    const server = createSocketServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => socket.end(`HTTP/1.1 ${head}\r\n\r\n`));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const url = new URL(`http://127.0.0.1:${port}/`);
    const place = { host: '127.0.0.1', port, addresses: ['127.0.0.1'] };
    await expect(createPinnedHttp().send(place, { method: 'POST', url })).rejects.toThrow(
      `127.0.0.1:${port} did not answer in HTTP`,
    );
  });

  it('pass a proxy that knows one place, for programs that resolve names themselves', async () => {
    const { port, seen } = await serve();
    const proxy = await createPinnedProxy({ host: 'rebinding.example', port, addresses: ['127.0.0.1'] });
    closing.push(() => proxy.close());
    const { username, password, port: proxyPort } = new URL(proxy.url);
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    const through = (target: string, authorization: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(proxyPort), '127.0.0.1');
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk.toString();
          if (text.endsWith('established\r\n\r\n'))
            socket.write('GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
        });
        socket.on('end', () => resolve(text));
        socket.on('error', reject);
        socket.write(
          `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${authorization}\r\n\r\n`,
        );
      });
    expect(await through(`rebinding.example:${port}`, `Basic ${basic}`)).toMatch(
      /^HTTP\/1.1 200 .*\r\n\r\nHTTP\/1.1 200 OK/,
    );
    expect(await through(`127.0.0.1:${port}`, `Basic ${basic}`)).toMatch(/^HTTP\/1.1 403 /);
    expect(await through(`rebinding.example:${port}`, 'Basic x')).toMatch(/^HTTP\/1.1 407 /);
    expect(seen).toEqual(['GET a/x']);
  });
});
