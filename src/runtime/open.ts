/** Opens a home folder: settings, database, stores. The service, workers and the tools all begin here. */
import { join } from 'node:path';
import { createJsonLogger } from '../adapters/node/json-logger.ts';
import { createIsolatedSchemaCompiler } from '../adapters/node/isolated-schema-compiler.ts';
import { createFetchingCompiler } from '../adapters/node/fetching-compiler.ts';
import { createSecretBox, decodeKey, readOrMakeKey } from '../adapters/node/secret-box.ts';
import { createSystemClock } from '../adapters/node/system-clock.ts';
import { createPostgresAccessStore } from '../adapters/postgres/access-store.ts';
import { createPostgresCatalogStore } from '../adapters/postgres/catalog-store.ts';
import { connectPostgres } from '../adapters/postgres/connect.ts';
import type { Sql } from '../adapters/postgres/connect.ts';
import { createPostgresJobStore } from '../adapters/postgres/job-store.ts';
import { ensureLoaderRole } from '../adapters/postgres/loader-role.ts';
import { migrate } from '../adapters/postgres/migrate.ts';
import { everyOrganisation, readInTransaction } from '../adapters/postgres/organisation.ts';
import { createOrganisationPools } from '../adapters/postgres/organisation-pools.ts';
import { ensureServiceRole, serviceRole } from '../adapters/postgres/service-role.ts';
import { createSocketOpener } from '../adapters/postgres/watched-socket.ts';
import { readConfig } from '../config.ts';
import type { Config } from '../config.ts';
import { createMask } from '../jobs/mask-secrets.ts';
import { settingHoldsSecret } from '../jobs/spark-settings.ts';
import type { Adapters } from '../ports/adapters.ts';
import type { LogAppender } from '../ports/log-appender.ts';
import type { Logger } from '../ports/logger.ts';
import { locateHome, openHomeFolder, readIfThere, writePrivateFile } from './home.ts';
import type { Environment, Home } from './home.ts';
import { openFiles } from './open-files.ts';
import { mergeSettings, parseProperties } from './properties.ts';

export interface OpenOptions {
  /**
   * `service`: owns the embedded database while it runs. `tool`: joins the database that the home folder's service uses,
   * and starts the embedded one where none runs; it ends by itself after a minute without use.
   */
  readonly role: 'service' | 'tool';
  /** most connections at a time (service 10, tool 4) */
  readonly maxConnections?: number;
  /** takes the lines of the log, their ends included */
  readonly write: (line: string) => void;
}

/** A metadata database that answers nothing for so long is connected to anew; its queries take moments. */
const silenceMs = 45_000;

/** of each of the organisations that ask most: a few, as statements share them */
const readingConnections = { max: 3, idleTimeoutMs: 30_000 };

/** Schemas that are compiled at the same time; each may take the memory that one is allowed. */
const compilerThreads = 2;

export interface OpenedHome {
  readonly config: Config;
  readonly home: Home;
  /** the metadata database, migrated; under a role that row-level security binds, where one can be made */
  readonly sql: Sql;
  /** whether the database lets us make roles: one for the service, one for loads */
  readonly roles: DatabaseRoles;
  /** holds a password */
  readonly databaseUrl: string;
  readonly adapters: Pick<
    Adapters,
    'jobs' | 'catalog' | 'access' | 'files' | 'compiler' | 'secrets' | 'clock' | 'logger'
  >;
  /** for a worker: where the output of an attempt at a job goes */
  openLog(idJob: number, epoch: number): Promise<LogAppender>;
  /** takes the secrets of this home, and what looks like one, out of a text */
  mask(text: string): string;
  /** Closes the connections; a service's embedded database ends with it. Idempotent. */
  close(): Promise<void>;
}

export interface DatabaseRoles {
  /** the service works under a role that row-level security binds */
  readonly service: boolean;
  /** loads run under a role that cannot touch `svc` */
  readonly loader: boolean;
}

/** ConfigError names wrong settings; AppError `service_unavailable` where there is no database to be had. */
export async function openHome(environment: Environment, options: OpenOptions): Promise<OpenedHome> {
  const home = await openHomeFolder(locateHome(environment));
  const file = parseProperties((await readIfThere(home.propertiesFile)) ?? '');
  const config = readConfig(mergeSettings(file, environment));
  let maskKnown = createMask(secretsOf(config));
  const mask = (text: string): string => maskKnown(text);
  const logger = createJsonLogger({ write: options.write, mask });

  const database = await openDatabase(config, home, options.role, logger);
  maskKnown = createMask([...secretsOf(config), ...passwordsOf(database.url)]);
  const applicationName = `conversion-job-service ${options.role}`;
  let sql: Sql | null = null;
  try {
    const { applied, roles } = await prepareDatabase(database.url, applicationName);
    if (applied.length > 0) logger.info('metadata database migrated', { applied });
    const connect = (idOrg: string, more: { readonly max: number; readonly idleTimeoutMs?: number }): Sql =>
      connectPostgres(database.url, {
        applicationName,
        openSocket: createSocketOpener(silenceMs),
        ...(roles.service ? { role: serviceRole, idOrg } : {}),
        ...more,
      });
    const pool = connect(everyOrganisation, {
      max: options.maxConnections ?? (options.role === 'service' ? 10 : 4),
    });
    sql = pool;
    const reading =
      options.role === 'service'
        ? createOrganisationPools({
            connect: (idOrg) => connect(idOrg, readingConnections),
            shared: pool,
          })
        : null;
    const read = reading?.read ?? readInTransaction(pool);
    if ((await readIfThere(home.metadbUrlFile)) !== `${database.url}\n`)
      await writePrivateFile(home.metadbUrlFile, `${database.url}\n`);
    const key =
      config.secretKey === null
        ? await readOrMakeKey(home.secretKeyFile)
        : decodeKey(config.secretKey, 'svc.secret.key');
    const { limits } = config;
    const { files, openLog } = await openFiles(config, home);
    const jobSettings = {
      maxRunningPerOrg: limits.runningJobs,
      maxQueuedPerOrg: limits.queuedJobs,
      maxAttempts: limits.attempts,
      deadlineMs: limits.jobDeadlineMs,
      idempotencyKeyMs: limits.keepIdempotencyKeysMs,
    };
    const jobs = createPostgresJobStore(pool, jobSettings, read);
    let closed: Promise<void> | null = null;
    return {
      config,
      home,
      sql: pool,
      roles,
      databaseUrl: database.url,
      adapters: {
        jobs,
        catalog: createPostgresCatalogStore(pool, read),
        access: createPostgresAccessStore(pool),
        files,
        compiler: createFetchingCompiler(
          files,
          join(home.directory, 'tmp'),
          createIsolatedSchemaCompiler({
            module: new URL(`../tools/schema-compiler-thread.${import.meta.url.slice(-2)}`, import.meta.url),
            timeMs: limits.xsdTimeMs,
            memoryBytes: limits.xsdMemoryBytes,
            settings: limits,
            concurrency: compilerThreads,
          }),
        ),
        secrets: await createSecretBox(
          key,
          config.oldSecretKeys.map((old) => decodeKey(old, 'svc.secret.old_keys')),
        ),
        clock: createSystemClock(),
        logger,
      },
      openLog,
      mask,
      close: () => {
        closed ??= jobs
          .close()
          .then(() => Promise.all([pool.end({ timeout: 5 }), reading?.close()]))
          .then(() => database.stop());
        return closed;
      },
    };
  } catch (error) {
    await sql?.end({ timeout: 1 });
    await database.stop();
    throw error;
  }
}

/** What needs the rights of the login itself, before the service takes on fewer. */
async function prepareDatabase(
  url: string,
  applicationName: string,
): Promise<{ readonly applied: readonly string[]; readonly roles: DatabaseRoles }> {
  const sql = connectPostgres(url, { applicationName, max: 1 });
  try {
    const applied = await migrate(sql);
    return { applied, roles: { service: await ensureServiceRole(sql), loader: await ensureLoaderRole(sql) } };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

interface Database {
  readonly url: string;
  stop(): Promise<void>;
}

async function openDatabase(
  config: Config,
  home: Home,
  role: OpenOptions['role'],
  logger: Logger,
): Promise<Database> {
  if (config.metadbUrl !== null) return external(config.metadbUrl);
  if (role === 'service')
    return (await embedded()).startEmbeddedPostgres({ directory: home.databaseDirectory, logger });
  // The service may have its database from an environment that this process does not share
  const recorded = (await readIfThere(home.metadbUrlFile))?.trim() ?? '';
  if (recorded !== '' && (await answers(recorded))) return external(recorded);
  return external(
    (await (await embedded()).joinEmbeddedPostgres({ directory: home.databaseDirectory, logger })).url,
  );
}

/** Loaded where it is needed: most runs join a database that is there. */
function embedded(): Promise<typeof import('../adapters/node/embedded-postgres.ts')> {
  return import('../adapters/node/embedded-postgres.ts');
}

/** A database that does not end with this process. */
function external(url: string): Database {
  return { url, stop: () => Promise.resolve() };
}

async function answers(url: string): Promise<boolean> {
  const sql = connectPostgres(url, { applicationName: 'conversion-job-service probe', max: 1 });
  try {
    await sql`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Addresses of receivers count: they may hold a token. */
function secretsOf({ secretKey, oldSecretKeys, events, objectStore, spark }: Config): string[] {
  const { webhook, openLineage } = events;
  return [
    secretKey,
    ...oldSecretKeys,
    objectStore?.secretAccessKey,
    webhook?.url,
    webhook?.secret,
    openLineage?.url,
    openLineage?.key,
    ...Object.entries(spark.conf).flatMap(([name, value]) =>
      settingHoldsSecret(name, value) ? [value] : [],
    ),
  ].filter((text) => typeof text === 'string');
}

/** As it stands in the address, and decoded. */
function passwordsOf(url: string): string[] {
  const password = URL.canParse(url) ? new URL(url).password : '';
  return password === '' ? [] : [password, decodeURIComponent(password)];
}
