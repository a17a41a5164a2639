/** A way to a server on which, from some moment on, nothing arrives any more, in either direction: no end, no error, no reset. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SwallowingProxy {
  /** the address with this way's port in it */
  through(url: string): string;
  /** From now on all that lives swallows what it is given; connections made later do too. */
  swallow(): void;
  /** Connections made from now on are let through again; those that were cut stay so. */
  heal(): void;
  /** Swallows on the connection that sends these bytes first: what came with them still arrives, its answer does not. */
  swallowAfter(bytes: string): Promise<void>;
  close(): Promise<void>;
}

export async function createSwallowingProxy(port: number): Promise<SwallowingProxy> {
  const cuts = new Set<() => void>();
  const sockets = new Set<Socket>();
  let swallowing = false;
  let awaited: { readonly bytes: string; readonly met: () => void } | null = null;
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let cut = swallowing;
    cuts.add(() => (cut = true));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (chunk: Buffer) => {
        if (cut) return;
        to.write(chunk);
        if (from !== client || awaited === null || !chunk.includes(awaited.bytes)) return;
        cut = true;
        awaited.met();
        awaited = null;
      });
      from.on('close', () => {
        sockets.delete(from);
        if (!cut) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = (server.address() as AddressInfo).port;
  return {
    through(url) {
      const address = new URL(url);
      address.host = `127.0.0.1:${own}`;
      return address.href;
    },
    swallow() {
      swallowing = true;
      for (const cut of cuts) cut();
    },
    heal: () => void (swallowing = false),
    swallowAfter: (bytes) => new Promise((met) => (awaited = { bytes, met })),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
