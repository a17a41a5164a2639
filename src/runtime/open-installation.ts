/** Opens a home folder: settings, database, stores. The service, workers and the tools all start with it. */
import { pathToFileURL } from 'node:url';
import { createJsonLogger, createServiceLog } from './system/logs.ts';
import { createSecretBox, decodeKey, readOrMakeKey } from './system/secret-box.ts';
import { createSystemClock } from './system/clock.ts';
import { createPostgresAccessStore, createPostgresCredentialStore } from '../metadb/access-store.ts';
import { createPostgresCatalogStore } from '../metadb/catalog-store.ts';
import {
  type Sql,
  connectPostgres,
  openConnections,
  checkedAddress,
  plainAddress,
  presentSocket,
} from '../postgres/connect.ts';
import { createPostgresIdempotencyStore } from '../metadb/idempotency-store.ts';
import { createPostgresJobStore } from '../metadb/job-store.ts';
import { readOperationFigures } from '../metadb/operation-figures.ts';
import { createPostgresQueryMarks } from '../metadb/query-marks.ts';
import { createPostgresWatchSchedule } from '../metadb/watch-schedule.ts';
import { createPostgresWatchStore } from '../metadb/watch-store.ts';
import { watchVersion, type VersionWatch, isDatabaseReady, migrate } from '../metadb/migrations.ts';
import type { QueryMarkStore, WatchSchedule } from '../ports/stores/watches.ts';
import {
  readInTransaction,
  everyOrganisation,
  createOrganisationPools,
} from '../postgres/organisation-pools.ts';
import { readConfig } from '../config/properties.ts';
import type { Config } from '../config/shape.ts';
import { ConfigError } from '../config/wrong-settings.ts';
import { secretsOfAccess } from '../config/source-access.ts';
import { createMask } from '../service/jobs/mask-secrets.ts';
import { settingHoldsSecret } from '../service/jobs/option-table.ts';
import type { Adapters, HostAdapters } from '../ports/adapters.ts';
import type { HealthComponent, Logger, Tracer } from '../ports/environment.ts';
import type { BucketFolder, FileStore, JobFiles, LogStore } from '../ports/files.ts';
import {
  locateHome,
  openHomeFolder,
  readIfExists,
  type Environment,
  type Home,
  writePrivateFile,
} from './home.ts';
import { parseTraceparent } from '../service/jobs/trace-context.ts';
import { mergeSettings, parseProperties, settingOrigins } from '../config/java-properties.ts';
import { join } from 'node:path';
import { launcher, startThread } from '../installation.ts';
import { createLookProcesses } from '../process/look-processes.ts';
import {
  createFetchingCompiler,
  createTurns,
  createIsolatedSchemaCompiler,
} from '../process/schema-compiler.ts';
import { fixedLimits } from '../config/limits.ts';
import { isRemoteLocation } from '../service/files/remote-location.ts';
import type { SchemaCompiler } from '../ports/processes.ts';
import { createAddressCompiler } from './fetching-compiler.ts';
import { realpath, stat } from 'node:fs/promises';
import { ensureLoaderRole, prepareLoaderRoles, ensureServiceRole, serviceRole } from '../postgres/roles.ts';
import { createSocketOpener } from '../postgres/checked-socket.ts';
import { createLocalFileStore } from '../storage/local/file-store.ts';
import { createLocalLogStore } from '../storage/local/job-logs.ts';
import { folderOfStore, withRemoteLocations } from '../storage/relay/host-store.ts';
import { relayVariable } from '../storage/relay/protocol.ts';
import { boundedLog } from '../service/jobs/log.ts';
import { readBuildInfo } from './build-info.ts';

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
  /** adapters of the host, or a function that makes them of the service's own, such as to wrap these */
  readonly adapters?: HostAdapters | ((own: OwnAdapters) => HostAdapters);
}

const ownNames = [
  'jobs',
  'catalog',
  'watches',
  'access',
  'credentials',
  'idempotency',
  'compiler',
  'secrets',
  'clock',
  'logger',
  'log',
  'settings',
  'tracer',
  'figures',
] as const satisfies readonly (keyof Adapters)[];

/** The adapters that an installation makes of its settings and its database. */
export type OwnAdapters<Files extends JobFiles = FileStore> = Pick<Adapters, (typeof ownNames)[number]> & {
  readonly files: Files;
  readonly logs: LogStore;
};

/** Connections for each of the organisations that ask most: a few, as statements share them. */
const readingConnections = { max: 3, idleTimeoutMs: 30_000 };

/** `Files`: those of a tool may be reached through the service, which keeps uploads to itself. */
export interface OpenedInstallation<Files extends JobFiles = FileStore> {
  readonly config: Config;
  readonly home: Home;
  /** the metadata database, migrated; under a role that row-level security restricts, if one can be made */
  readonly sql: Sql;
  /** whether the database lets us make roles for the service and for loads */
  readonly roles: DatabaseRoles;
  readonly loaderRole: OpenedDatabase['loaderRole'];
  /** holds a password */
  readonly databaseUrl: string;
  readonly adapters: OwnAdapters<Files>;
  /** the adapters that the host has given */
  readonly given: HostAdapters;
  /** Returns the folder at a location of the store that is no path of this machine. */
  folderAt(location: string): BucketFolder;
  /** whether the database still has the version of this program; null for tools, which check it once at their start */
  readonly version: VersionWatch | null;
  /** the operations that schedulers use for watches */
  readonly schedule: WatchSchedule;
  /** the progress of loads of rows */
  readonly marks: QueryMarkStore;
  /** health of the file store, unless that is a folder */
  readonly storeHealth: (() => Promise<HealthComponent>) | null;
  /** masks the secrets of this home, and whatever looks like a secret, in a line of log or message */
  mask(text: string): string;
  /** Closes the connections; a service's embedded database ends with it. Idempotent. */
  close(): Promise<void>;
}

/** ConfigError names wrong settings; AppError `service_unavailable` if no database is available. */
export function openInstallation(
  environment: Environment,
  options: OpenOptions & { readonly role: 'service' },
): Promise<OpenedInstallation>;
export function openInstallation(
  environment: Environment,
  options: OpenOptions & { readonly role: 'tool' },
): Promise<OpenedInstallation<JobFiles>>;
export async function openInstallation(
  environment: Environment,
  options: OpenOptions,
): Promise<OpenedInstallation<JobFiles>> {
  const home = await openHomeFolder(locateHome(environment));
  const file = parseProperties((await readIfExists(home.propertiesFile)) ?? '');
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
    const opened = await openFiles(config, home, environment[relayVariable]);
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
    const ownCompiler = (): Promise<OpenedCompiler> =>
      (compiler ??= import('./open-installation.ts').then(({ openCompiler }) =>
        openCompiler({ files: adapters.files, home, config, adapters }),
      ));
    const own: OwnAdapters<JobFiles> = {
      jobs,
      catalog: createPostgresCatalogStore(pool, read),
      watches: createPostgresWatchStore(pool, read),
      access: createPostgresAccessStore(pool),
      credentials,
      idempotency: createPostgresIdempotencyStore(pool, limits.keepIdempotencyKeysMs),
      files: opened.files,
      logs: opened.logs,
      compiler: {
        compile: async (...given) => (await ownCompiler()).compile(...given),
        generate: async (sources) => (await ownCompiler()).generate(sources),
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
    };
    // tools get no adapters, so that the store is the service's
    const given = presentMembers(
      typeof options.adapters === 'function'
        ? options.adapters(own as OwnAdapters)
        : (options.adapters ?? {}),
    );
    const all = { ...own, ...pickOwn(given) };
    const adapters: OwnAdapters<JobFiles> = {
      ...all,
      jobs: given.jobs ?? {
        ...jobs,
        claimJob: async (...claim) => {
          version?.requireFit();
          return jobs.claimJob(...claim);
        },
      },
      files: given.files === undefined ? own.files : withRemoteLocations(given.files),
      logs: withBoundedLogs(all.logs, limits.jobLogBytes),
    };
    let closed: Promise<void> | null = null;
    return {
      config,
      home,
      sql: pool,
      roles,
      loaderRole: database.loaderRole,
      databaseUrl: database.url,
      version,
      adapters,
      given,
      folderAt: (location) =>
        given.files === undefined ? opened.folderAt(location) : folderOfStore(adapters.files, location),
      schedule: {
        ...schedule,
        claimWatch: async (...claim) => {
          version?.requireFit();
          return schedule.claimWatch(...claim);
        },
      },
      marks: createPostgresQueryMarks(pool),
      storeHealth: given.files === undefined ? opened.storeHealth : null,
      mask,
      close: () => {
        version?.stop();
        opened.close?.();
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

// The compiler of schemas that are made over the API. It is imported lazily, as tools never use it.

/** Schemas that are compiled at the same time; each may take the memory that one is allowed. */
const compilerThreads = 2;

export interface CompilerParts {
  readonly files: JobFiles;
  readonly home: Home;
  readonly config: Pick<Config, 'limits' | 'allowedHosts' | 'sources'>;
  readonly adapters: Pick<Adapters, 'credentials' | 'secrets'>;
}

export interface OpenedCompiler extends SchemaCompiler {
  /** Ends the processes that fetch sources. */
  close(): Promise<void>;
}

export function openCompiler({ files, home, config, adapters }: CompilerParts): OpenedCompiler {
  const { limits } = config;
  const directory = join(home.directory, 'tmp');
  const isolated = createIsolatedSchemaCompiler({
    startThread: (options) => startThread('service/schema-compiler', options),
    timeMs: limits.xsdTimeMs,
    memoryBytes: limits.xsdMemoryBytes,
    settings: limits,
  });
  const compiler = createFetchingCompiler(files, directory, isolated);
  const turns = createTurns({
    slots: compilerThreads,
    slotsOfOne: limits.compiles,
    maxWaiting: fixedLimits.waitingCompiles,
    waitMs: fixedLimits.compileWaitMs,
    what: 'schemas',
  });
  const inTurn = async <T>(idOrg: number, waitMs: number, work: () => Promise<T>): Promise<T> => {
    const end = await turns.take(idOrg, waitMs);
    try {
      return await work();
    } finally {
      end();
    }
  };
  const waiting = (waitMs: number): SchemaCompiler => ({
    compile: (sources, find, follow) =>
      inTurn(sources.idOrg, waitMs, () => compiler.compile(sources, find, follow)),
    generate: (sources) => inTurn(sources.idOrg, waitMs, () => compiler.generate(sources)),
  });
  const here = waiting(fixedLimits.compileWaitMs);
  const processes = createLookProcesses({
    entry: [launcher, 'service/fetch'],
    workingDirectory: home.directory,
    memoryBytes: limits.lookMemoryBytes,
    most: fixedLimits.schemaFetches,
    waitMs: null,
  });
  const addressed = createAddressCompiler(
    {
      adapters,
      sources: config.sources ?? [],
      allowedHosts: config.allowedHosts,
      directory,
      maxBytes: limits.uploadBytes,
      processes,
      turns: createTurns({
        slots: fixedLimits.schemaFetches,
        slotsOfOne: fixedLimits.schemaFetchesOfOne,
        maxWaiting: fixedLimits.waitingCompiles,
        waitMs: fixedLimits.schemaFetchWaitMs,
        what: 'fetches of schemas',
      }),
    },
    waiting(fixedLimits.compileWaitMs - fixedLimits.schemaFetchWaitMs),
  );
  return {
    compile: (sources, find, follow) =>
      ([...sources.xsd, ...sources.xml].some(isRemoteLocation) ? addressed : here).compile(
        sources,
        find,
        follow,
      ),
    generate: here.generate,
    close: () => processes.close(),
  };
}

// The metadata database of a home: found or started, made ready, and connected to under a role with few rights.

export interface DatabaseRoles {
  /** the service works under a role that row-level security binds */
  readonly service: boolean;
  /** loads of each organisation run under a role that cannot touch `svc` or another organisation's targets */
  readonly loader: boolean;
}

export interface OpenedDatabase {
  /** holds a password */
  readonly url: string;
  readonly roles: DatabaseRoles;
  /** across organisations */
  readonly sql: Sql;
  /** Returns a pool that sees only one organisation's rows, if row-level security applies to us. */
  connect(idOrg: string, more: { readonly max: number; readonly idleTimeoutMs?: number }): Sql;
  /**
   * The role that reads and writes the organisation's target schemas; it owns `sqlSchema` if that is one. Null: the database allows
   * none.
   */
  loaderRole(idOrg: number, sqlSchema: string): Promise<string | null>;
  /** Closes `sql`; a service's embedded database ends with it. */
  close(): Promise<void>;
}

interface DatabaseServer {
  /** with parameters for a safe connection, if it is the embedded one (`checkedAddress`) */
  readonly url: string;
  stop(): Promise<void>;
}

/** Silence that is allowed during a migration, which may take long without sending anything. */
const preparingSilenceMs = 3_600_000;
/** Silence after which the connection to the metadata database is reopened; its queries take moments. */
const silenceMs = 45_000;

export async function openDatabase(
  config: Config,
  home: Home,
  options: { readonly role: 'service' | 'tool'; readonly maxConnections?: number },
  logger: Logger,
): Promise<OpenedDatabase> {
  const applicationName = `conversion-job-service ${options.role}`;
  const max = options.maxConnections ?? (options.role === 'service' ? 10 : 4);
  const recorded = (await readIfExists(home.metadbUrlFile))?.trim() ?? '';
  const connecting =
    (url: string, { service }: DatabaseRoles): OpenedDatabase['connect'] =>
    (idOrg, more) =>
      connectPostgres(url, {
        applicationName,
        openSocket: createSocketOpener(silenceMs),
        ...(service ? { role: serviceRole, idOrg } : {}),
        ...more,
      });
  const opened = (server: DatabaseServer, roles: DatabaseRoles, existing?: Sql): OpenedDatabase => {
    const connect = connecting(server.url, roles);
    const sql = existing ?? connect(everyOrganisation, { max });
    const close = async (): Promise<void> => {
      await sql.end({ timeout: 5 });
      await server.stop();
    };
    const loaderRole: OpenedDatabase['loaderRole'] = (idOrg, sqlSchema) =>
      ensureLoaderRole(sql, idOrg, sqlSchema);
    return { url: server.url, roles, sql, connect, loaderRole, close };
  };

  const known = config.metadbUrl ?? (await recordedAddress(home, recorded));
  if (options.role === 'tool' && known !== '') {
    const roles = { service: true, loader: true };
    const sql = connecting(known, roles)(everyOrganisation, { max });
    if (await isReady(sql)) {
      await record(home, recorded, known);
      return opened(external(known), roles, sql);
    }
    await sql.end({ timeout: 1 });
  }
  const server = await findServer(config, home, options.role, recorded, logger);
  try {
    const { applied, roles } = await prepare(server.url, applicationName);
    if (applied.length > 0) logger.info('metadata database migrated', { applied });
    await record(home, recorded, server.url);
    return opened(server, roles);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/**
 * Whether a connection under the service's role finds all made ready, as it does for nearly every run of a tool: it spares the
 * connections that would look for the database and prepare it.
 */
async function isReady(sql: Sql): Promise<boolean> {
  try {
    return await isDatabaseReady(sql);
  } catch {
    // the code that prepares the database reports its faults
    return false;
  }
}

/** Makes the changes that need the rights of the login itself, before the session switches to a role with fewer. */
async function prepare(
  url: string,
  applicationName: string,
): Promise<{ readonly applied: readonly string[]; readonly roles: DatabaseRoles }> {
  const sql = connectPostgres(url, {
    applicationName,
    max: 1,
    openSocket: createSocketOpener(preparingSilenceMs),
  });
  try {
    const applied = await migrate(sql);
    return {
      applied,
      roles: { service: await ensureServiceRole(sql), loader: await prepareLoaderRoles(sql) },
    };
  } catch (error) {
    const { targetFault } = await import('../targets/sql/postgres/connection.ts');
    // if an address has several hosts, no single one can be named
    const host = URL.parse(url)?.host ?? '';
    throw targetFault(error, host === '' ? 'the metadata database' : `the metadata database at ${host}`);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function record(home: Home, recorded: string, url: string): Promise<void> {
  // libpq knows both spellings, other programs that read the file only the long one
  const written = plainAddress(url).replace(/^postgres:/, 'postgresql:');
  if (recorded !== written) await writePrivateFile(home.metadbUrlFile, `${written}\n`);
}

async function findServer(
  config: Config,
  home: Home,
  role: 'service' | 'tool',
  recorded: string,
  logger: Logger,
): Promise<DatabaseServer> {
  if (config.metadbUrl !== null) return external(config.metadbUrl);
  if (role === 'service') {
    const server = await (
      await embedded()
    ).startEmbeddedPostgres({
      directory: home.databaseDirectory,
      logger,
    });
    return { url: checkedAddress(server.url, server.socketFolder), stop: server.stop };
  }
  const known = await recordedAddress(home, recorded);
  // The service may have its database from an environment that this process does not share
  if (known !== '' && (await answers(known))) return external(known);
  const joined = await (await embedded()).joinEmbeddedPostgres({ directory: home.databaseDirectory, logger });
  return external(checkedAddress(joined.url, joined.socketFolder));
}

/**
 * The address of `metadb.url`. That of the embedded database gets the way to reach it safely: while it is down, any local user may
 * listen on its port.
 */
async function recordedAddress(home: Home, recorded: string): Promise<string> {
  const url = URL.parse(recorded);
  if (url === null || url.hostname !== '127.0.0.1') return recorded;
  const password = await readIfExists(join(home.databaseDirectory, 'password'));
  if (password === null || url.password !== password.trim()) return recorded;
  const socketFolder = join(await realpath(home.databaseDirectory), 'socket');
  const socket = await stat(presentSocket(join(socketFolder, `.s.PGSQL.${url.port}`))).catch(() => null);
  return checkedAddress(recorded, socket?.isSocket() === true ? socketFolder : null);
}

/** Imports the module when it is needed: most runs join an existing database. */
function embedded(): Promise<typeof import('../process/embedded-postgres/server.ts')> {
  return import('../process/embedded-postgres/server.ts');
}

/** A database that does not end with this process. */
function external(url: string): DatabaseServer {
  return { url, stop: () => Promise.resolve() };
}

async function answers(url: string): Promise<boolean> {
  const sql = connectPostgres(url, {
    applicationName: 'conversion-job-service probe',
    max: 1,
    openSocket: createSocketOpener(silenceMs),
  });
  try {
    await sql`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

// The file store and the logs of an installation: folders of the home, or a store that several machines share.

export interface OpenedFiles {
  readonly files: JobFiles;
  readonly logs: LogStore;
  /** Returns the folder at a location that is no path of this machine. */
  folderAt(location: string): BucketFolder;
  /** health of the file store, if it is shared */
  readonly storeHealth: (() => Promise<HealthComponent>) | null;
  /** Ends connections to the service, if files are reached through it. */
  close?(): void;
}

/**
 * The code of a store that is not used is not loaded: each tool starts here. `relay`: for a tool, the way to the file store of a host
 * through the service (src/storage/relay/protocol.ts).
 */
export async function openFiles(config: Config, home: Home, relay?: string): Promise<OpenedFiles> {
  const own = await openOwnFiles(config, home);
  if (relay === undefined) return own;
  const { createRelayedFiles } = await import('../storage/relay/store-client.ts');
  const files = createRelayedFiles(relay);
  return {
    ...own,
    files,
    folderAt: (location) => folderOfStore(files, location),
    storeHealth: null,
    close: () => files.close(),
  };
}

async function openOwnFiles(
  config: Config,
  { filesDirectory, logsDirectory }: Home,
): Promise<OpenedFiles & { readonly files: FileStore }> {
  const folders = createLocalFileStore({ filesDirectory, roots: config.fileRoots });
  if (config.objectStore === null)
    return {
      files: folders,
      logs: createLocalLogStore(logsDirectory),
      folderAt: (location) => folderOfStore(folders, location),
      storeHealth: null,
    };
  const { prefix, bucket } = config.objectStore;
  const [
    { createS3ObjectStore },
    { createObjectFileStore },
    { createObjectLogStore },
    { createObjectStoreHealth },
  ] = await Promise.all([
    import('../storage/object-store/s3.ts'),
    import('../storage/object-store/file-store.ts'),
    import('../storage/object-store/job-log.ts'),
    import('../storage/object-store/health.ts'),
  ]);
  const objects = createS3ObjectStore(config.objectStore);
  return {
    files: createObjectFileStore({ objects, prefix, roots: config.fileRoots.length === 0 ? null : folders }),
    logs: createObjectLogStore(objects, prefix),
    folderAt(location) {
      const keys = `${prefix}files/${location.replace(/^object:\/+/, '')}`;
      return { objects, location: `s3://${bucket}/${keys}`, prefix: `${keys}/` };
    },
    storeHealth: createObjectStoreHealth({ objects, prefix, location: `s3://${bucket}/${prefix}` }),
  };
}

function withBoundedLogs(logs: LogStore, maxBytes: number): LogStore {
  return {
    openLog: async (idJob, epoch) => {
      const size = (await logs.logSize(idJob)) ?? 0;
      return boundedLog(await logs.openLog(idJob, epoch), size, maxBytes);
    },
    removeLog: (idJob) => logs.removeLog(idJob),
    logSize: (idJob) => logs.logSize(idJob),
    logBytes: (idJobs) => logs.logBytes(idJobs),
    readLog: (...range) => logs.readLog(...range),
  };
}

/** Leaves out members that are undefined, which would hide the service's own. */
function presentMembers(given: HostAdapters): HostAdapters {
  return Object.fromEntries(Object.entries(given).filter(([, adapter]) => adapter !== undefined));
}

/** Returns the given adapters that an installation would make itself. */
function pickOwn(given: HostAdapters): Partial<OwnAdapters> {
  const own: ReadonlySet<string> = new Set([...ownNames, 'logs']);
  return Object.fromEntries(Object.entries(given).filter(([name]) => own.has(name)));
}

/** Returns the folder for local files of a running job whose permanent files are stored elsewhere. */
export function jobFolder(home: Pick<Home, 'directory'>, idJob: number): string {
  return join(home.directory, 'tmp', `job-${idJob}`);
}

// The exporter of spans that the environment asks for, by the variables of OpenTelemetry.

/** Returns null without `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`. ConfigError if it is no address. */
export async function openTracer(environment: Environment): Promise<Tracer | null> {
  const traces = environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']?.trim() ?? '';
  const all = environment['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim() ?? '';
  if ((traces === '' && all === '') || environment['OTEL_SDK_DISABLED'] === 'true') return null;
  const url = traces === '' ? `${all.replace(/\/$/, '')}/v1/traces` : traces;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new ConfigError([
      'OTEL_EXPORTER_OTLP_ENDPOINT: must be an address such as http://collector.example:4318',
    ]);
  const { createOtlpTracer } = await import('./system/otlp-tracer.ts');
  const { name, version } = await readBuildInfo();
  return createOtlpTracer({
    url,
    headers: headersOf(
      environment['OTEL_EXPORTER_OTLP_TRACES_HEADERS'] ?? environment['OTEL_EXPORTER_OTLP_HEADERS'] ?? '',
    ),
    serviceName: environment['OTEL_SERVICE_NAME'] || name,
    serviceVersion: version,
  });
}

/** `name=value,name=value`, values percent-encoded. */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}
