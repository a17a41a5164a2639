/** Objects are read whole, or not without a word, whatever their reader does in between. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import type { ObjectStore } from '../../../src/ports/files.ts';
import { collectGarbage } from '../../support/garbage.ts';

let server: Server;

afterEach(() => new Promise((resolve) => server.close(resolve)));

/** A store of one object, `content`, whose length it gives as `length`. */
function storeOf(content: string, length = content.length): Promise<ObjectStore> {
  return storeThat((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${content}`),
  );
}

/** A store that answers each request as it is told to. */
async function storeThat(answer: (socket: Socket) => void): Promise<ObjectStore> {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return createS3ObjectStore({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    bucket: 'objects',
    accessKeyId: 'a',
    secretAccessKey: 'b',
  });
}

test('also when garbage is collected before the body is read', async () => {
  const store = await storeOf('x'.repeat(1907));
  for (let round = 0; round < 10; round += 1) {
    const body = await store.read('object');
    for (let turn = 0; turn < 3; turn += 1) {
      collectGarbage();
      await pause(2);
    }
    expect(await new Response(body).text()).toHaveLength(1907);
  }
});

test('an object that ends early is a fault', async () => {
  const store = await storeOf('only the start', 1000);
  const body = await store.read('object');
  await expect(new Response(body).text()).rejects.toThrow();
});

test('a store that sends on to another host is not followed', async () => {
  let asked = 0;
  const elsewhere = createServer((socket) => {
    asked += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => elsewhere.once('listening', resolve));
  const { port } = elsewhere.address() as AddressInfo;
  const fault = '<Error><Code>PermanentRedirect</Code></Error>';
  const store = await storeThat((socket) =>
    socket.end(
      `HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:${port}/\r\nContent-Length: ${fault.length}\r\nConnection: close\r\n\r\n${fault}`,
    ),
  );
  await expect(store.read('object')).rejects.toThrow(/PermanentRedirect/);
  expect(asked).toBe(0);
  await new Promise((resolve) => elsewhere.close(resolve));
});

test('of a fault without end only the start is read', async () => {
  let sent = 0;
  const store = await storeThat((socket) => {
    socket.write('HTTP/1.1 400 X\r\nTransfer-Encoding: chunked\r\n\r\n');
    const line = 'x'.repeat(65_536);
    const send = (): void => {
      if (socket.destroyed) return;
      sent += line.length;
      socket.write(`10000\r\n${line}\r\n`, send);
    };
    send();
  });
  await expect(store.read('object')).rejects.toThrow(/status 400/);
  expect(sent).toBeLessThan(32 * 1024 * 1024);
});
