/** Objects are read whole, or not without a word, whatever their reader does in between. */
import { createServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { createS3ObjectStore } from '../../../src/adapters/object-store/s3.ts';
import type { ObjectStore } from '../../../src/ports/files/objects.ts';

let server: Server;

afterEach(() => new Promise((resolve) => server.close(resolve)));

/** A store of one object, `content`, whose length it gives as `length`. */
async function storeOf(content: string, length = content.length): Promise<ObjectStore> {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${content}`),
    );
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
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const store = await storeOf('x'.repeat(1907));
  for (let round = 0; round < 10; round += 1) {
    const body = await store.read('object');
    for (let turn = 0; turn < 3; turn += 1) {
      collect();
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
