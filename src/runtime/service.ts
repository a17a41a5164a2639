/** The whole service in this process: database, application, HTTP server, workers. */
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { readBuildInfo } from '../adapters/node/build-info.ts';
import { createHostResolver } from '../adapters/node/host-resolver.ts';
import { createNodeHealthProbe } from '../adapters/node/node-health-probe.ts';
import { createOidcVerifier } from '../adapters/node/oidc-verifier.ts';
import { createPackageAssetStore } from '../adapters/node/package-asset-store.ts';
import { createApp } from '../app.ts';
import { ConfigError } from '../config.ts';
import type { Adapters } from '../ports/adapters.ts';
import { ensureAdminKey } from './admin-key.ts';
import type { Environment } from './home.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createJobWorker } from './job-worker.ts';
import { createServiceMigrations } from './migrations.ts';
import { openHome } from './open.ts';
import type { OpenedHome } from './open.ts';

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
  readonly opened: OpenedHome;
  /** Drains: readiness 503, running jobs finish or are handed back, then everything is closed. Idempotent. */
  close(): Promise<void>;
}

/** Below this the disk counts as full, as in Spring Boot. */
const diskThresholdBytes = 10 * 1024 * 1024;

/** A connection on which nothing moves for so long is closed. */
const idleConnectionMs = 120_000;

/** Resolves once requests are answered. ConfigError for wrong settings; AppError when there is no database. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { environment, print, write } = options;
  const { host, port } = readAddress(environment);
  const opened = await openHome(environment, { role: 'service', write });
  try {
    const { config, home, sql } = opened;
    let accepting = true;
    const worker =
      config.worker.concurrency > 0 ? createJobWorker(opened, environment, config.worker.concurrency) : null;
    const migrations = createServiceMigrations(opened, environment);
    const adapters: Adapters = {
      ...opened.adapters,
      health: createNodeHealthProbe({
        askDatabase: async () => void (await sql`select 1`),
        databaseTimeoutMs: 2000,
        directory: home.directory,
        thresholdBytes: diskThresholdBytes,
        runningJobs: () => worker?.running() ?? 0,
        acceptsTraffic: () => accepting,
      }),
      assets: createPackageAssetStore(),
      runtime: { name: 'node', version: process.versions.node, capabilities: { commands: true } },
      build: await readBuildInfo(),
      hosts: createHostResolver(),
      ...(config.oidc === null ? {} : { tokens: await createOidcVerifier(config.oidc) }),
      migrations,
    };
    const madeKey = await ensureAdminKey(adapters.access, home.adminKeyFile);
    const { server, url } = await listen(createApp(adapters, config).fetch, host, port);
    worker?.start();
    const housekeeping = await startHousekeeping(opened, adapters.build);

    if (madeKey) print(`the first API key is in ${home.adminKeyFile}`);
    if (!opened.roles.service)
      print(
        'the service works as its own database user: this database does not let it make a role that row-level security binds',
      );
    if (!opened.roles.loader)
      print(
        'loads run as the database user of the service itself: this database does not let it make a role of its own for them',
      );
    print(
      config.commandsEnabled
        ? `running commands is on (cmd.enabled in ${home.propertiesFile})`
        : `running commands is off: set cmd.enabled=true in ${home.propertiesFile} and restart to allow it`,
    );
    print(`listening on ${url}`);

    let closed: Promise<void> | null = null;
    const close = async (): Promise<void> => {
      accepting = false;
      await worker?.drain(config.worker.drainMs);
      await housekeeping.stop();
      await migrations.close();
      await closeServer(server);
      await opened.close();
    };
    return { url, opened, close: () => (closed ??= close()) };
  } catch (error) {
    await opened.close();
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
  fetch: (request: Request) => Response | Promise<Response>,
  hostname: string,
  port: number,
): Promise<{ readonly server: Server; readonly url: string }> {
  return new Promise((resolve, reject) => {
    // No limit on the whole request: an upload may take hours. One on silence instead.
    const serverOptions = { requestTimeout: 0, headersTimeout: 30_000 };
    const server = serve({ fetch, hostname, port, serverOptions }, (info: AddressInfo) => {
      server.off('error', refused);
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
    server.once('error', refused);
    server.setTimeout(idleConnectionMs);
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
