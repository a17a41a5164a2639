/** Answers that nobody reads, on a real server: they hold memory, and only so much of it. */
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { boundConnections } from '../../../src/runtime/listen.ts';
import { needs } from '../../support/needs.ts';

const mebibyte = 1024 * 1024;

describe('answers that nobody reads', () => {
  it('are dropped where all of them are too much, the oldest first; who reads gets all', async () => {
    const sockets = new Set<Socket>();
    const server = createServer(
      (request, answer) => void answer.end(Buffer.alloc(request.url === '/small' ? 10 : 16 * mebibyte)),
    );
    server.on('connection', (socket) => sockets.add(socket));
    boundConnections(server, { connections: 100, unreadBytes: 64 * mebibyte });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const held = (): number =>
      [...sockets].reduce((sum, socket) => sum + (socket.destroyed ? 0 : socket.writableLength), 0);
    const silent: Socket[] = [];
    let idleClosed = false;
    const idle = connect(port, '127.0.0.1', () => idle.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\n'));
    idle.once('close', () => (idleClosed = true)).resume();
    await expect.poll(() => sockets.size).toBe(1);
    sockets.clear();
    try {
      for (let at = 0; at < 12; at += 1) {
        const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
        socket.on('error', () => undefined);
        silent.push(socket.pause());
        await expect.poll(() => sockets.size).toBe(at + 1);
        const read = await fetch(`http://127.0.0.1:${port}/small`, { headers: { Connection: 'close' } });
        expect((await read.arrayBuffer()).byteLength).toBe(10);
        sockets.delete([...sockets].at(-1)!);
        expect(held()).toBeLessThanOrEqual(64 * mebibyte);
      }
      expect([held() > 16 * mebibyte, idleClosed]).toEqual([true, false]);
      const open = [...sockets].map((socket) => !socket.destroyed);
      expect([open[0], open.at(-1)]).toEqual([false, true]);
      const whole = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: 'close' } });
      expect((await whole.arrayBuffer()).byteLength).toBe(16 * mebibyte);
    } finally {
      for (const socket of [idle, ...silent]) socket.destroy();
      server.close();
      server.closeAllConnections();
    }
  });

  it('that stand behind another one count too, and only so many stand there', async () => {
    let asked = 0;
    const server = createServer((request, answer) => {
      if (request.socket.destroyed) return;
      asked += 1;
      // behind the first one, which is not read
      answer.end(Buffer.alloc(mebibyte));
    });
    boundConnections(server, { connections: 100, unreadBytes: 20 * mebibyte });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const closed: number[] = [];
    const queue = (at: number, requests: number): Socket => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requests)),
      );
      socket.on('error', () => undefined);
      socket.on('close', () => closed.push(at));
      return socket.pause();
    };
    const sockets: Socket[] = [];
    try {
      for (let at = 0; at < 4; at += 1) {
        sockets.push(queue(at, 8));
        await expect.poll(() => asked).toBe((at + 1) * 8);
      }
      // its answers are what is over
      sockets.push(queue(4, 8));
      await expect.poll(() => asked).toBe(40);
      for (const socket of sockets.slice(0, 2)) socket.resume();
      await expect.poll(() => closed.toSorted(), { timeout: 20_000 }).toEqual([0, 1]);
      sockets.push(queue(5, 1000));
      sockets.at(-1)!.resume();
      await expect.poll(() => closed).toContain(5);
      expect(asked).toBeLessThan(100);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
      server.closeAllConnections();
    }
  });
});

describe('silence', () => {
  it(
    'ends a connection without a request, or with half of one, and none that waits for its answer',
    needs('whole run'),
    async () => {
      const answered = Promise.withResolvers<void>();
      const server = createServer((request, answer) => {
        request.resume().once('end', () => void answered.promise.then(() => answer.end('at last')));
      });
      server.setTimeout(50);
      boundConnections(server, { connections: 100, unreadBytes: mebibyte });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const open = (text: string): { readonly socket: Socket; readonly closed: Promise<string> } => {
        const socket = connect(port, '127.0.0.1', () => socket.write(text));
        let heard = '';
        socket.on('data', (bytes) => (heard += String(bytes)));
        return { socket, closed: new Promise((resolve) => void socket.once('close', () => resolve(heard))) };
      };
      const [idle, half, whole] = [
        open(''),
        open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf'),
        open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody'),
      ];
      try {
        expect(await Promise.all([idle.closed, half.closed])).toEqual(['', '']);
        expect(whole.socket.destroyed).toBe(false);
        answered.resolve();
        // Read, it is silent once more, and ends.
        expect(await whole.closed).toContain('at last');
      } finally {
        for (const { socket } of [idle, half, whole]) socket.destroy();
        server.close();
        server.closeAllConnections();
      }
    },
  );
});
