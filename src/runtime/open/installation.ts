/** Opens a home folder: settings, database, stores. The service, workers and the tools all start with it. */
import { pathToFileURL } from 'node:url';
import { createJsonLogger } from '../../adapters/system/json-logger.ts';
import { createSecretBox, decodeKey, readOrMakeKey } from '../../adapters/system/secret-box.ts';
import { createServiceLog } from '../../adapters/system/service-log.ts';
import { createSystemClock } from '../../adapters/system/clock.ts';
import { createPostgresAccessStore } from '../../adapters/postgres/metadb/access-store.ts';
import { createPostgresCatalogStore } from '../../adapters/postgres/metadb/catalog/store.ts';
import { createPostgresCredentialStore } from '../../adapters/postgres/metadb/credential-store.ts';
import type { Sql } from '../../adapters/postgres/client/connect.ts';
import { createPostgresJobStore } from '../../adapters/postgres/metadb/jobs/store.ts';
import { openConnections } from '../../adapters/postgres/client/pool-sockets.ts';
import { readOperationFigures } from '../../adapters/postgres/metadb/operation-figures.ts';
import { createPostgresQueryMarks } from '../../adapters/postgres/metadb/query-marks.ts';
import { createPostgresWatchSchedule } from '../../adapters/postgres/metadb/watches/schedule.ts';
import { createPostgresWatchStore } from '../../adapters/postgres/metadb/watches/store.ts';
import { watchVersion, type VersionWatch } from '../../adapters/postgres/metadb/schema/version-watch.ts';
import type { QueryMarkStore } from '../../ports/stores/query-marks.ts';
import type { WatchSchedule } from '../../ports/stores/watches.ts';
import { readInTransaction } from '../../adapters/postgres/client/organisation-scope.ts';
import { createOrganisationPools } from '../../adapters/postgres/client/organisation-pools.ts';
import { readConfig } from '../../config/properties.ts';
import type { Config } from '../../config/shape.ts';
import { ConfigError } from '../../config/wrong-settings.ts';
import { secretsOfAccess } from '../../config/source-access.ts';
import { createMask } from '../../jobs/secrets/mask-secrets.ts';
import { settingHoldsSecret } from '../../jobs/options/spark-settings.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { OpenedCompiler } from './compiler.ts';
import type { HealthComponent } from '../../ports/health-probe.ts';
import type { LogAppender } from '../../ports/files/log-appender.ts';
import { locateHome, openHomeFolder, readIfThere } from '../home.ts';
import type { Environment, Home } from '../home.ts';
import { openDatabase, type DatabaseRoles, type OpenedDatabase } from './database.ts';
import { openFiles } from './files.ts';
import { openTracer } from './tracer.ts';
import { parseTraceparent } from '../../jobs/trace-context.ts';
import { mergeSettings, parseProperties, settingOrigins } from '../../config/java-properties.ts';

export interface OpenOptions {
  /**
   * `service`: owns the embedded database while it runs. `tool`: joins the database of the home folder's service, and starts the
   * embedded one if none runs; that ends by itself after a minute without use.
   */
  readonly role: 'service' | 'tool';
  /** most connections at a time (service 10, tool 4) */
  readonly maxConnections?: number;
  /** takes the lines of the log, their ends included */
  readonly write: (line: string) => void;
}

/** Connections for each of the organisations that ask most: a few, as statements share them. */
const readingConnections = { max: 3, idleTimeoutMs: 30_000 };

export interface OpenedInstallation {
  readonly config: Config;
  readonly home: Home;
  /** the metadata database, migrated; under a role that row-level security restricts, if one can be made */
  readonly sql: Sql;
  /** whether the database lets us make roles for the service and for loads */
  readonly roles: DatabaseRoles;
  readonly loaderRole: OpenedDatabase['loaderRole'];
  /** holds a password */
  readonly databaseUrl: string;
  readonly adapters: Pick<
    Adapters,
    | 'jobs'
    | 'catalog'
    | 'watches'
    | 'access'
    | 'credentials'
    | 'files'
    | 'compiler'
    | 'secrets'
    | 'clock'
    | 'logger'
    | 'log'
    | 'settings'
    | 'tracer'
    | 'figures'
  >;
  /** whether the database still has the version of this program; null for tools, which check it once at their start */
  readonly version: VersionWatch | null;
  /** the operations that schedulers use for watches */
  readonly schedule: WatchSchedule;
  /** the progress of loads of rows */
  readonly marks: QueryMarkStore;
  /** for a worker: opens the log for the output of an attempt at a job */
  openLog(idJob: number, epoch: number): Promise<LogAppender>;
  /** health of the file store, unless that is a folder */
  readonly storeHealth: (() => Promise<HealthComponent>) | null;
  /** masks the secrets of this home, and whatever looks like a secret, in a line of log or message */
  mask(text: string): string;
  /** Closes the connections; a service's embedded database ends with it. Idempotent. */
  close(): Promise<void>;
}

/** ConfigError names wrong settings; AppError `service_unavailable` if no database is available. */
export async function openInstallation(
  environment: Environment,
  options: OpenOptions,
): Promise<OpenedInstallation> {
  const home = await openHomeFolder(locateHome(environment));
  const file = parseProperties((await readIfThere(home.propertiesFile)) ?? '');
  const config = readConfig(mergeSettings(file, environment));
  for (const path of config.targetModules) await importTargets(path);
  let maskKnown = createMask(secretsOf(config));
  const mask = (text: string): string => maskKnown(text);
  const log = createServiceLog(options.write);
  const trace = options.role === 'tool' ? parseTraceparent(environment['TRACEPARENT']) : null;
  const logger = createJsonLogger({
    write: log.write,
    mask,
    level: log.level,
    ...(trace === null ? {} : { fields: { trace_id: trace.traceId } }),
  });
  const tracer = options.role === 'service' ? await openTracer(environment) : null;

  const database = await openDatabase(config, home, options, logger);
  maskKnown = createMask([...secretsOf(config), ...passwordsOf(database.url)]);
  const { sql: pool, roles } = database;
  const version = options.role === 'service' ? watchVersion(pool, logger) : null;
  try {
    const reading =
      options.role === 'service'
        ? createOrganisationPools({
            connect: (idOrg) => database.connect(idOrg, readingConnections),
            shared: pool,
          })
        : null;
    const read = reading?.read ?? readInTransaction(pool);
    const key =
      config.secretKey === null
        ? await readOrMakeKey(home.secretKeyFile)
        : decodeKey(config.secretKey, 'svc.secret.key');
    const { limits } = config;
    const { files, openLog, storeHealth } = await openFiles(config, home);
    const jobSettings = {
      maxRunningPerOrg: limits.runningJobs,
      maxQueuedPerOrg: limits.queuedJobs,
      maxAttempts: limits.attempts,
      deadlineMs: limits.jobDeadlineMs,
      idempotencyKeyMs: limits.keepIdempotencyKeysMs,
    };
    const jobs = createPostgresJobStore(pool, jobSettings, read);
    const schedule = createPostgresWatchSchedule(pool, jobs.notifications, jobs.settings);
    const credentials = createPostgresCredentialStore(pool);
    const secrets = createSecretBox(
      key,
      config.oldSecretKeys.map((old) => decodeKey(old, 'svc.secret.old_keys')),
    );
    let compiler: Promise<OpenedCompiler> | null = null;
    const opened = (): Promise<OpenedCompiler> =>
      (compiler ??= import('./compiler.ts').then(({ openCompiler }) =>
        openCompiler({ files, home, config, adapters: { credentials, secrets } }),
      ));
    let closed: Promise<void> | null = null;
    return {
      config,
      home,
      sql: pool,
      roles,
      loaderRole: database.loaderRole,
      databaseUrl: database.url,
      version,
      adapters: {
        jobs: {
          ...jobs,
          claimJob: async (...claim) => {
            version?.requireFit();
            return jobs.claimJob(...claim);
          },
        },
        catalog: createPostgresCatalogStore(pool, read),
        watches: createPostgresWatchStore(pool, read),
        access: createPostgresAccessStore(pool),
        credentials,
        files,
        compiler: {
          compile: async (...given) => (await opened()).compile(...given),
          generate: async (sources) => (await opened()).generate(sources),
        },
        secrets,
        clock: createSystemClock(),
        logger,
        log,
        settings: settingOrigins(file, environment),
        ...(tracer === null ? {} : { tracer }),
        figures: {
          read: () => readOperationFigures(pool, limits.keepJobsMs),
          pools: () => ({ shared: { open: openConnections(pool), max: pool.options.max } }),
        },
      },
      schedule: {
        ...schedule,
        claimWatch: async (...claim) => {
          version?.requireFit();
          return schedule.claimWatch(...claim);
        },
      },
      marks: createPostgresQueryMarks(pool),
      openLog,
      storeHealth,
      mask,
      close: () => {
        version?.stop();
        closed ??= jobs
          .close()
          .then(async () => (await compiler)?.close())
          .then(() => reading?.close())
          .then(() => tracer?.close())
          .then(() => database.close());
        return closed;
      },
    };
  } catch (error) {
    version?.stop();
    await tracer?.close();
    await database.close();
    throw error;
  }
}

async function importTargets(path: string): Promise<void> {
  try {
    await import(pathToFileURL(path).href);
  } catch (error) {
    throw new ConfigError([`svc.targets.modules: ${path} cannot be imported: ${(error as Error).message}`]);
  }
}

/** Addresses of receivers count: they may hold a token. */
function secretsOf({
  secretKey,
  metricsToken,
  oldSecretKeys,
  events,
  objectStore,
  sources,
  spark,
}: Config): string[] {
  const { webhook, openLineage } = events;
  return [
    secretKey,
    metricsToken,
    ...oldSecretKeys,
    objectStore?.secretAccessKey,
    ...(sources ?? []).flatMap(({ access }) => secretsOfAccess(access)),
    webhook?.url,
    webhook?.secret,
    openLineage?.url,
    openLineage?.key,
    ...Object.entries(spark.conf).flatMap(([name, value]) =>
      settingHoldsSecret(name, value) ? [value] : [],
    ),
  ].filter((text) => typeof text === 'string');
}

/** Returns the password as written in the address, and decoded. */
function passwordsOf(url: string): string[] {
  const password = URL.canParse(url) ? new URL(url).password : '';
  return password === '' ? [] : [password, decodeURIComponent(password)];
}
