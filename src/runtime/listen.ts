/** HTTP servers of this program: their limits, and how they end. */
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import {
  boundConnections,
  needsNoAnswer,
  type BoundConnections,
  type RequestHead,
} from '../adapters/server/connection-limits.ts';
import { continueOnRead } from '../adapters/server/expect-continue.ts';
import { fixedLimits } from '../config/limits.ts';
import { ConfigError } from '../config/wrong-settings.ts';
import type { OpenedService } from './open-service.ts';

/** Resolves once it listens, with its address. ConfigError if the port is not available. */
export function listen(
  fetch: OpenedService['fetch'],
  {
    host: hostname,
    port,
    connections,
  }: { readonly host: string; readonly port: number; readonly connections: number },
): Promise<{ readonly server: Server; readonly url: string }> {
  let bound: BoundConnections;
  const answer = (
    request: Request,
    { incoming }: { readonly incoming: RequestHead },
  ): Response | Promise<Response> =>
    // bare, as the parser's own refusals are
    needsNoAnswer(incoming)
      ? new Response(null, { status: 400, headers: { Connection: 'close' } })
      : fetch(request, { svcConnection: bound.of(incoming) });
  return new Promise((resolve, reject) => {
    // No limit on the whole request: an upload may take hours. One on silence instead.
    const serverOptions = {
      requestTimeout: 0,
      headersTimeout: fixedLimits.requestHeadMs,
      keepAliveTimeout: fixedLimits.keepAliveMs,
    };
    const server = serve({ fetch: answer, hostname, port, serverOptions }, (info: AddressInfo) => {
      const name = info.family === 'IPv6' ? `[${info.address}]` : info.address;
      resolve({ server, url: `http://${name}:${info.port}` });
    }) as Server;
    const refused = (error: NodeJS.ErrnoException): void => {
      reject(
        new ConfigError([
          `HOST, PORT: cannot listen on ${hostname}:${port} (${error.code ?? error.message})`,
        ]),
      );
    };
    // Ignores errors once the server listens: then a connection could not be accepted, for lack of descriptors.
    server.on('error', refused);
    server.setTimeout(fixedLimits.idleConnectionMs);
    bound = boundConnections(server, { connections, unreadBytes: fixedLimits.unreadBytes });
    continueOnRead(server);
  });
}

/** Gives pending answers a moment to end; followers of logs would stay for ever. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), 1000);
  await closed;
  clearTimeout(timer);
}
