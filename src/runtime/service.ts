/** The whole service in this process, behind an HTTP server of its own. */
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
import { ConfigError } from '../config/wrong-settings.ts';
import { fixedLimits } from '../config/limits.ts';
import type { Environment } from './home.ts';
import { openService, type OpenedService } from './open-service.ts';
import type { OpenedInstallation } from './open/installation.ts';

export interface ServiceOptions {
  /** settings, SVC_HOME, HOST and PORT */
  readonly environment: Environment;
  /** takes the lines for the person who starts it, without line ends */
  readonly print: (line: string) => void;
  /** takes the lines of the log, their ends included */
  readonly write: (line: string) => void;
}

export interface Service {
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly opened: OpenedInstallation;
  /** Drains: readiness 503, running jobs finish or are handed back, then everything is closed. Idempotent. */
  close(): Promise<void>;
}

/** Resolves once requests are answered. ConfigError for wrong settings; AppError when there is no database. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { environment, print, write } = options;
  const { host, port } = readAddress(environment);
  const service = await openService({ environment, write });
  try {
    const { server, url } = await listen(service.fetch, { host, port, ...service.config.limits });
    await service.start();
    for (const notice of service.notices) print(notice);
    print(`listening on ${url}`);
    let closed: Promise<void> | null = null;
    const close = async (): Promise<void> => {
      await service.drain();
      await closeServer(server);
      await service.close();
    };
    return { url, opened: service.opened, close: () => (closed ??= close()) };
  } catch (error) {
    await service.close();
    throw error;
  }
}

function readAddress(environment: Environment): { readonly host: string; readonly port: number } {
  const host = environment['HOST'] || '127.0.0.1';
  const text = environment['PORT'] || '8080';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new ConfigError(['PORT: must be a number from 0 to 65535']);
  return { host, port };
}

function listen(
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
    // Says nothing once the server listens: then it is a connection that could not be taken, for want of descriptors.
    server.on('error', refused);
    server.setTimeout(fixedLimits.idleConnectionMs);
    bound = boundConnections(server, { connections, unreadBytes: fixedLimits.unreadBytes });
    continueOnRead(server);
  });
}

/** Lets answers that are under way end for a moment; followers of logs would stay for ever. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), 1000);
  await closed;
  clearTimeout(timer);
}
