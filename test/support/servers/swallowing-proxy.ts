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
  /** Closes one side of every connection without telling the other side. Connections made later are whole. */
  halfOpen(closed: 'server' | 'client'): void;
  /** From now on, a side whose other side is gone is closed, as keepalive does it. */
  endGhosts(): void;
  close(): Promise<void>;
}

export async function createSwallowingProxy(port: number): Promise<SwallowingProxy> {
  const cuts = new Set<() => void>();
  const sockets = new Set<Socket>();
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  let swallowing = false;
  let endsGhosts = false;
  let awaited: { readonly bytes: string; readonly met: () => void } | null = null;
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let cut = swallowing;
    const cutThis = (): void => void (cut = true);
    cuts.add(cutThis);
    const pair = { client, server: upstream };
    pairs.add(pair);
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
        if (!cut || endsGhosts) to.destroy();
        if (sockets.has(to)) return;
        pairs.delete(pair);
        cuts.delete(cutThis);
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
      endsGhosts = false;
      for (const cut of cuts) cut();
    },
    halfOpen(closed) {
      endsGhosts = false;
      for (const cut of cuts) cut();
      for (const pair of pairs) pair[closed].destroy();
    },
    endGhosts() {
      endsGhosts = true;
      for (const { client, server: upstream } of pairs)
        if (client.destroyed || upstream.destroyed) for (const side of [client, upstream]) side.destroy();
    },
    heal: () => void (swallowing = false),
    swallowAfter: (bytes) => new Promise((met) => (awaited = { bytes, met })),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
