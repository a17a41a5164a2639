/** Sockets that are closed where the other side says nothing any more, and only there. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { closeWhenStalled, createSocketOpener } from '../../../src/postgres/checked-socket.ts';

const limitMs = 400;
let server: Server | null = null;
const open = new Set<Socket>();

afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
  server?.close();
  server = null;
});

/** `accept` has the server's side of each connection. */
async function listen(accept: (socket: Socket) => void): Promise<number> {
  server = createServer((socket) => {
    open.add(socket);
    accept(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function opened(port: number, silenceMs: number): Socket {
  const socket = createSocketOpener(silenceMs)(['127.0.0.1'], [port]);
  open.add(socket);
  return socket;
}

/** This process does nothing else for so long, and sees nothing of its sockets. */
function standStill(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('an answer that came while this process was busy is read, and the connection stays', async () => {
  const port = await listen((socket) => socket.on('data', () => socket.write('answer')));
  const socket = opened(port, limitMs);
  await once(socket, 'connect');
  for (let round = 0; round < 3; round += 1) {
    socket.write('question');
    standStill(limitMs * 3);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toBe('answer');
    expect(socket.destroyed).toBe(false);
  }
});

test('one on which nothing comes is closed', async () => {
  const socket = opened(await listen(() => undefined), limitMs);
  await once(socket, 'close');
  expect(socket.destroyed).toBe(true);
});

test('one that gets rid of nothing is closed, and not for a wait that is this process’s own', async () => {
  const accepted: Socket[] = [];
  const port = await listen((socket) => accepted.push(socket.pause()));
  const socket = closeWhenStalled(opened(port, 3_600_000), limitMs);
  await once(socket, 'connect');
  // more than both sides keep for each other
  socket.write(Buffer.alloc(64 * 1024 * 1024));
  standStill(limitMs * 3);
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket.destroyed).toBe(false);
  await once(socket, 'close');
  expect(accepted).toHaveLength(1);
});
