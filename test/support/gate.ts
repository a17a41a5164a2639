/** A port before a database, which can be shut, or go silent without a word as a network does. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Gate {
  /** the database's address, through the gate */
  readonly url: string;
  /** Lets nothing pass on open connections; they stay open. New ones pass once more. */
  freeze(): void;
  thaw(): void;
  /** Cuts all connections and takes no new ones. */
  shut(): Promise<void>;
  reopen(): Promise<void>;
}

export async function openGate(target: URL): Promise<Gate> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const frozen = new WeakSet<readonly [Socket, Socket]>();
  let port = 0;
  const server = createServer((inner) => {
    const outer = connect({ host: target.hostname, port: Number(target.port || 5432) });
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, pair.toReversed() as unknown as typeof pair]) {
      from.on('data', (bytes: Buffer) => {
        if (!frozen.has(pair)) to.write(bytes);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        pairs.delete(pair);
        if (!frozen.has(pair)) to.destroy();
      });
    }
  });
  const listen = async (): Promise<void> => {
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  await listen();
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    freeze: () => pairs.forEach((pair) => frozen.add(pair)),
    thaw: () => pairs.forEach((pair) => frozen.delete(pair)),
    async shut() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await closed;
    },
    reopen: listen,
  };
}
