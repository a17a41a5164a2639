/** The service without a server: database, application and workers, to be put inside another program, or behind `listen`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { readBuildInfo } from './build-info.ts';
import { createCompressor } from './system/compressor.ts';
import { createHostResolver } from '../network/checked-http.ts';
import { createOidcVerifier } from './system/oidc-verifier.ts';
import { createProcessFigures } from './system/process-figures.ts';
import { createHelpStore } from './help-store.ts';
import { createPackageAssetStore } from './package-asset-store.ts';
import { createApp } from '../app.ts';
import type { Config } from '../config/shape.ts';
import type { AppEnv } from '../http/env.ts';
import type { Adapters, HostAdapters } from '../ports/adapters.ts';
import type { HostCallers } from '../ports/network.ts';
import { type Environment, writePrivateFile } from './home.ts';
import { unknownSettings } from '../config/java-properties.ts';
import { createHealth } from './health.ts';
import { startHousekeeping } from './housekeeping.ts';
import { startReaper, type Reaper } from '../service/jobs/worker/run-jobs.ts';
import { createJobWorker } from './job-worker.ts';
import { openTargetReader } from './targets/reader.ts';
import { createServiceTransfers } from './transfers.ts';
import { createWatchScheduler } from './watches/scheduler.ts';
import { openInstallation, type OpenedInstallation, type OwnAdapters } from './open-installation.ts';
import { randomId, randomSecret, sha256Hex } from '../service/access/keys.ts';
import { allScopes, type AccessStore } from '../ports/stores/access.ts';

export interface OpenServiceOptions {
  /** SVC_HOME and settings (`SVC_…`); the process's own environment is not looked at */
  readonly environment: Environment;
  /** takes the lines of the log, their ends included; absent: standard error */
  readonly write?: (line: string) => void;
  /** path prefix of the application that the host strips from requests (`/convert`), for addresses in answers */
  readonly basePath?: string;
  /** callers as the host knows them; absent: API keys alone */
  readonly callers?: HostCallers;
  /**
   * Adapters of the host, which replace those of the service for its endpoints and for jobs; or a function that makes them of the
   * service's own, such as to wrap these. The host closes them after `close`.
   */
  readonly adapters?: HostAdapters | ((own: OwnAdapters) => HostAdapters);
}

export interface OpenedService {
  /** the application for `host.route(path, app)` */
  readonly app: OpenAPIHono<AppEnv>;
  /** the handler for hosts of web-standard requests */
  readonly fetch: (request: Request, env?: AppEnv['Bindings']) => Response | Promise<Response>;
  /** the handler for node:http, Express, Fastify and similar; the body must not have been read before */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  readonly adapters: Adapters;
  readonly config: Config;
  readonly opened: OpenedInstallation;
  /** notices for the person who starts it, one line each */
  readonly notices: readonly string[];
  /** Begins to run jobs and to keep house. */
  start(): Promise<void>;
  /** Readiness goes 503; running jobs finish or are handed back. */
  drain(): Promise<void>;
  /** Drains, then lets go of everything. Idempotent. */
  close(): Promise<void>;
}

/** between two looks for jobs whose worker has died */
const reapMs = 2000;

/** ConfigError for wrong settings; AppError when there is no database. Several may live in one process, each in a home of its own. */
export async function openService(options: OpenServiceOptions): Promise<OpenedService> {
  const { environment, write = (line) => void process.stderr.write(line) } = options;
  const opened = await openInstallation(environment, {
    role: 'service',
    write,
    ...(options.adapters === undefined ? {} : { adapters: options.adapters }),
  });
  try {
    const { config, home } = opened;
    let accepting = true;
    const worker =
      config.worker.concurrency > 0 ? createJobWorker(opened, environment, config.worker.concurrency) : null;
    const scheduler = createWatchScheduler(opened);
    const transfers = createServiceTransfers(opened, environment);
    await transfers.sweep();
    const { logs: _, runner: __, ...given } = opened.given;
    const targets = openTargetReader(opened);
    await targets.sweep();
    const adapters: Adapters = {
      health: createHealth(opened, { running: () => worker?.running() ?? 0, accepting: () => accepting }),
      assets: createPackageAssetStore(),
      help: createHelpStore(),
      compressor: createCompressor(),
      runtime: { name: 'node', version: process.versions.node, capabilities: { commands: true } },
      process: createProcessFigures(),
      build: await readBuildInfo(),
      hosts: createHostResolver(),
      ...(config.oidc === null
        ? {}
        : { tokens: await createOidcVerifier(config.oidc, { logger: opened.adapters.logger }) }),
      ...(options.callers === undefined ? {} : { callers: options.callers }),
      transfers,
      targetReader: targets.reader,
      ...given,
      ...opened.adapters,
    };
    const createdKey = await ensureAdminKey(adapters.access, home.adminKeyFile);
    const app = createApp(adapters, config, { basePath: options.basePath ?? '' });
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    // if no worker runs here, this process must detect that workers elsewhere have died
    let reaper: Reaper | null = null;
    let housekeeping: Awaited<ReturnType<typeof startHousekeeping>> | null = null;
    let drained: Promise<void> | null = null;
    let closed: Promise<void> | null = null;
    const drain = (): Promise<void> => {
      accepting = false;
      drained ??= (async () => {
        await scheduler?.stop();
        await worker?.drain(config.worker.drainMs);
        await reaper?.stop();
        await housekeeping?.stop();
      })();
      return drained;
    };
    const close = async (): Promise<void> => {
      await drain();
      await transfers.close();
      await targets.close();
      await opened.close();
    };
    return {
      app,
      fetch: (request, env) => app.fetch(request, env),
      listener: (request, response) => void listener(request, response),
      adapters,
      config,
      opened,
      notices: noticesOf(opened, createdKey, environment),
      async start() {
        worker?.start();
        scheduler?.start();
        if (worker === null)
          reaper ??= startReaper({ jobs: adapters.jobs, logger: adapters.logger, everyMs: reapMs });
        housekeeping ??= await startHousekeeping(opened, adapters.build);
      },
      drain,
      close: () => (closed ??= close()),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function noticesOf(
  { config, home, roles }: OpenedInstallation,
  createdKey: boolean,
  environment: Environment,
): string[] {
  return [
    ...unknownSettings(environment).map((name) => `${name}: unknown setting, ignored`),
    ...(createdKey ? [`the first API key is in ${home.adminKeyFile}`] : []),
    ...(roles.service
      ? []
      : [
          'the service works as its own database user: this database does not let it make a role that row-level security binds',
        ]),
    ...(roles.loader
      ? []
      : [
          'loads run as the database user of the service itself: this database does not let it make roles that keep the targets of organisations apart',
        ]),
    config.commandsEnabled
      ? `running commands is on (cmd.enabled in ${home.propertiesFile})`
      : `running commands is off: set cmd.enabled=true in ${home.propertiesFile} and restart to allow it`,
  ];
}

// The first key of a new installation.

/** The organisation every installation starts with. */
const firstOrg = 1;

/** If no key exists, creates one with every scope and writes it to `file` (0600). Returns whether it did. */
export async function ensureAdminKey(access: AccessStore, file: string): Promise<boolean> {
  if (!(await access.hasNoKeys())) return false;
  const idKey = randomId();
  const secret = randomSecret();
  // The file first: a key that is stored but written nowhere could never be used, and would stop the next start from making one
  await writePrivateFile(file, `svk_${idKey}_${secret}\n`);
  await access.createKey({
    idKey,
    idOrg: firstOrg,
    name: 'first key',
    scopes: allScopes,
    secretSha256: await sha256Hex(secret),
    expiresAt: null,
    revokedAt: null,
  });
  return true;
}
