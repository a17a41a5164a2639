/** Requests that never reach the application, as bytes on a connection: their answers are problem documents, too. */
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../../../src/http/problem.ts';
import { closeServer, listen } from '../../../src/runtime/listen.ts';
import { refuseUnreadable } from '../../../src/runtime/refused-requests.ts';
import { createTestApp } from '../../support/memory/adapters.ts';

describe('a request that cannot be read', () => {
  let server: Server;
  let port: number;

  beforeAll(async () => {
    const { app } = await createTestApp();
    const host = new Hono().get('/never', () => new Promise<Response>(() => undefined)).route('/', app);
    const listening = await listen((given, env) => host.fetch(given, env), {
      host: '127.0.0.1',
      port: 0,
      connections: 100,
    });
    ({ server } = listening);
    port = Number(new URL(listening.url).port);
  });

  afterAll(() => closeServer(server));

  /** Sends bytes, and returns all that comes until the connection is closed. */
  function exchange(bytes: string): Promise<string> {
    return new Promise((resolve) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
      socket.setTimeout(5000, () => socket.destroy());
      socket.on('data', (chunk) => (text += chunk.toString('utf8')));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
  }

  it.each([
    [
      'headers of 100 kB',
      `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'an address of 100 kB',
      `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['an unknown method', 'FROBNICATE / HTTP/1.1\r\nHost: x\r\n\r\n', 501, 'method_unknown'],
    ['a method in lower case', 'get / HTTP/1.1\r\nHost: x\r\n\r\n', 501, 'method_unknown'],
    ['no HTTP', 'hello\r\n\r\n', 400, 'malformed_request'],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001', 400, 'malformed_request'],
    ['a wrong version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['a wrong header', 'GET / HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n', 400, 'malformed_request'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    [
      'two hosts',
      'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n',
      400,
      'malformed_request',
    ],
    [
      'a host that is none',
      'GET / HTTP/1.1\r\nHost: a b/c?d\r\nConnection: close\r\n\r\n',
      400,
      'malformed_request',
    ],
    ['no path', 'GET x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
    [
      'an odd coding',
      'POST /v2/run/cmd HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'malformed_request',
    ],
    [
      'two lengths',
      'POST /v2/run/cmd HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'malformed_request',
    ],
  ])('is refused: %s', async (_, bytes, status, code) => {
    const text = await exchange(bytes);
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`));
    expect(head).toMatch(/^connection: close$/im);
    expect(head).toMatch(/^content-type: application\/problem\+json$/im);
    expect(head).toMatch(/^cache-control: no-store$/im);
    expect(head).toMatch(/^x-content-type-options: nosniff$/im);
    const problem = Problem.parse(JSON.parse(body));
    expect(problem).toMatchObject({ code, status, type: `urn:svc:problem:${code}` });
    expect(head).toContain(`X-Request-Id: ${problem.request_id}`.slice('X-Request-Id: '.length));
    const help = await fetch(`http://127.0.0.1:${port}${problem.help}`);
    expect([help.status, ((await help.json()) as { code: string }).code]).toEqual([200, code]);
  });

  it('is not answered in the place of an earlier one', async () => {
    const text = await exchange('GET /never HTTP/1.1\r\nHost: x\r\n\r\nhello\r\n\r\n');
    expect(text).toBe('');
  });

  it('is refused: headers that do not arrive', async () => {
    const slow = createServer({ headersTimeout: 100, connectionsCheckingInterval: 50 }, () => undefined);
    refuseUnreadable(slow);
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const other = port;
    try {
      port = (slow.address() as AddressInfo).port;
      const text = await exchange('GET / HTTP/1.1\r\nHost: x\r\n');
      expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(Problem.parse(JSON.parse(text.split('\r\n\r\n')[1]!))).toMatchObject({
        code: 'request_timeout',
      });
    } finally {
      port = other;
      await closeServer(slow);
    }
  });

  it('does not disturb requests that can', async () => {
    expect((await exchange('GET /actuator/info HTTP/1.0\r\n\r\n')).slice(0, 15)).toBe('HTTP/1.1 200 OK');
    expect((await fetch(`http://127.0.0.1:${port}/actuator/info`)).status).toBe(200);
  });
});
