/** The metadata database of a home: found or started, made ready, and connected to under a role with few rights. */
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkedAddress, plainAddress } from '../../adapters/postgres/client/checked-address.ts';
import { connectPostgres, type Sql } from '../../adapters/postgres/client/connect.ts';
import { presentSocket } from '../../adapters/postgres/client/socket-file.ts';
import { ensureLoaderRole, prepareLoaderRoles } from '../../adapters/postgres/roles/loader-role.ts';
import { migrate } from '../../adapters/postgres/metadb/schema/run-migrations.ts';
import { everyOrganisation } from '../../adapters/postgres/client/organisation-scope.ts';
import { isDatabaseReady } from '../../adapters/postgres/metadb/schema/readiness.ts';
import { ensureServiceRole, serviceRole } from '../../adapters/postgres/roles/service-role.ts';
import { createSocketOpener } from '../../adapters/postgres/client/watched-socket.ts';
import type { Config } from '../../config/shape.ts';
import type { Logger } from '../../ports/logger.ts';
import { readIfThere, writePrivateFile, type Home } from '../home.ts';

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
  const recorded = (await readIfThere(home.metadbUrlFile))?.trim() ?? '';
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
    // whoever prepares the database tells what is wrong with it
    return false;
  }
}

/** What needs the rights of the login itself, before we take on fewer. */
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
    const { targetFault } = await import('../../targets/sql/postgres/connection.ts');
    // of an address with several hosts none is the one
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
  const password = await readIfThere(join(home.databaseDirectory, 'password'));
  if (password === null || url.password !== password.trim()) return recorded;
  const socketFolder = join(await realpath(home.databaseDirectory), 'socket');
  const socket = await stat(presentSocket(join(socketFolder, `.s.PGSQL.${url.port}`))).catch(() => null);
  return checkedAddress(recorded, socket?.isSocket() === true ? socketFolder : null);
}

/** Imports the module when it is needed: most runs join an existing database. */
function embedded(): Promise<typeof import('../../adapters/embedded-postgres/server.ts')> {
  return import('../../adapters/embedded-postgres/server.ts');
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
