/** Requests as bytes on a connection, which no HTTP library would send. */
import { connect } from 'node:net';
import { mutate } from '../mutate.ts';
import type { Random } from '../random.ts';

const utf8 = new TextEncoder();

const requests = [
  'GET /actuator/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  'POST /v2/run/cmd HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
  'POST /v2/admin/orgs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'GET http://other/v2/about/org HTTP/1.0\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
].map((text) => utf8.encode(text));

const words = [
  '\r\n',
  '\n',
  '\r\n\r\n',
  ': ',
  'Host: y\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  ' HTTP/1.1\r\n',
  'ffffffffffffffff\r\n',
  'CONNECT x:1 HTTP/1.1\r\n',
  'TRACE / HTTP/1.1\r\n',
  'X: '.repeat(5000),
  `Authorization: Bearer ${'x'.repeat(20_000)}\r\n`,
  '/'.repeat(20_000),
].map((text) => utf8.encode(text));

export function makeRawRequest(random: Random): Uint8Array {
  return mutate(random, requests, words);
}

/** The first line of the answer; '' when the connection ends without one, or nothing comes for a while. */
export function sendRaw(url: string, bytes: Uint8Array, waitMs = 300): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(port), hostname);
    const finish = (): void => {
      socket.destroy();
      resolve(answer.split('\r\n')[0]!);
    };
    socket.setTimeout(waitMs, finish);
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (answer.includes('\r\n')) finish();
    });
    socket.once('error', finish);
    socket.once('close', finish);
    socket.end(bytes);
  });
}
