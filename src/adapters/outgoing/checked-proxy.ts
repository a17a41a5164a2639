/**
 * A proxy on loopback for programs that resolve names themselves, such as those that copy to cloud storage: they can reach only one
 * checked host, at its checked addresses.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { CheckedHost } from '../../ports/network.ts';
import { pinnedLookup } from './checked-http.ts';

export interface PinnedProxy {
  /** URL for `HTTPS_PROXY`; contains a password of its own, so that no other user of the machine can use the proxy */
  readonly url: string;
  close(): Promise<void>;
}

export async function createPinnedProxy(checked: CheckedHost): Promise<PinnedProxy> {
  const password = randomBytes(24).toString('base64url');
  const wanted = Buffer.from(`Basic ${Buffer.from(`proxy:${password}`).toString('base64')}`);
  const allowed = `${checked.host}:${checked.port}`;
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  };

  const server = createServer((_, answer) => answer.writeHead(403).end());
  server.on('connect', (request, client: Socket, head) => {
    keep(client);
    const given = Buffer.from(request.headers['proxy-authorization'] ?? '');
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
      return;
    }
    if (request.url?.toLowerCase() !== allowed) {
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const onward = connect({
      host: checked.host.replaceAll(/^\[|\]$/g, ''),
      port: checked.port,
      lookup: pinnedLookup(checked),
      autoSelectFamily: true,
    });
    keep(onward);
    onward.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) onward.write(head);
      client.pipe(onward).pipe(client);
    });
    onward.once('close', () => client.destroy());
    client.once('close', () => onward.destroy());
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://proxy:${password}@127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
        server.closeAllConnections();
      }),
  };
}
