/** Targets in databases: the addresses that their connections may reach, and their sinks, sources and removers. */
import { createOutgoingGuard } from '../../service/access/outgoing-guard.ts';
import { createHostResolver } from '../../network/checked-http.ts';
import { isMetadataDatabase } from '../../service/jobs/request/check-access.ts';
import { type Target, connectionUrl, isHostAllowed } from '../../service/jobs/request/target.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { MysqlAddress } from '../../targets/sql/mysql/connection.ts';
import type { KindOfTarget, WhatWasRun } from './kind.ts';
import { AppError } from '../../errors.ts';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { DatabaseFilePlace } from '../../targets/sql/database-files.ts';
import { isRemote, localCopies, localFolder } from '../session/remote-sources.ts';
import type { RowRemover, RowSink } from '../../ports/row-sink.ts';
import type { RowSource } from '../../ports/row-source.ts';

// The addresses that the connections of a job's database target may reach.

/**
 * Returns the checked addresses of the target's host, resolved once for all connections of the run; none for a person's own run, which
 * the operator's list does not restrict, and for the metadata database. AppError `host_not_allowed` if the operator does not allow it.
 */
async function targetAddresses(
  session: ToolSession,
  target: Extract<Target, { kind: 'postgresql' | 'mysql' }>,
): Promise<{ readonly addresses?: readonly string[] }> {
  const { config } = session.home;
  const isOwn = target.kind === 'postgresql' && isMetadataDatabase(config.metadbUrl, target);
  if (session.byHand || isOwn) return {};
  const guard = createOutgoingGuard(config.allowedHosts, createHostResolver());
  return { addresses: (await guard.check(target.host, target.port)).addresses };
}

// MySQL and MariaDB.

type MysqlTarget = Extract<Target, { kind: 'mysql' }>;

export const mysqlKind: KindOfTarget<MysqlTarget> = {
  hasFormats: false,
  hasVersions: false,
  ddlDialect: () => 'mysql',
  async openSink(session, target) {
    const { createMysqlRowSink } = await import('../../targets/sql/mysql/sink.ts');
    return createMysqlRowSink(await mysqlAddress(session, target));
  },
  async openSource(session, target) {
    const { createMysqlRowSource } = await import('../../targets/sql/mysql/source.ts');
    return createMysqlRowSource(await mysqlAddress(session, target));
  },
  async openRemover(session, target) {
    const { createMysqlRowRemover } = await import('../../targets/sql/mysql/driver.ts');
    return createMysqlRowRemover(await mysqlAddress(session, target));
  },
  whatWasRun: [
    {
      target: 'MySQL, MariaDB',
      driver: '`mysql2` 3.24.6',
      transaction: 'one `RENAME TABLE` for new tables, one transaction for rows',
      run_against: 'MariaDB 10.11, not MySQL',
    },
  ],
};

async function mysqlAddress(session: ToolSession, target: MysqlTarget): Promise<MysqlAddress> {
  const { outUser, outPassword } = session.request;
  return {
    host: target.host,
    port: target.port,
    database: target.database,
    user: outUser ?? target.user ?? '',
    password: outPassword ?? target.password ?? '',
    sslmode: target.sslmode,
    label: target.address,
    longestMessageBytes: session.home.config.limits.targetMessageBytes,
    ...(await targetAddresses(session, target)),
  };
}

// PostgreSQL: the user's own server, or the metadata database.

type DatabaseTarget = Extract<Target, { kind: 'metadb' | 'postgresql' }>;

const postgres = {
  hasFormats: false,
  hasVersions: false,
  ddlDialect: () => 'postgresql',
  async openSink(session, target) {
    const { createPostgresRowSink } = await import('../../targets/sql/postgres/sink.ts');
    const connection = await postgresLocation(session, target, 'load');
    if (target.kind === 'metadb' && connection.setRole === undefined)
      session.log(
        "the metadata database does not allow a role for the loads of this organisation: rows are written as the service's own database user",
      );
    return createPostgresRowSink({
      ...connection,
      createSchema: true,
      unitConnections: session.home.config.limits.targetConnections,
    });
  },
  async openSource(session, target) {
    const { createPostgresRowSource } = await import('../../targets/sql/postgres/source.ts');
    return createPostgresRowSource(await postgresLocation(session, target, 'read'));
  },
  async openRemover(session, target) {
    const connection = await postgresLocation(session, target, 'read');
    const { createPostgresRowRemover } = await import('../../targets/sql/postgres/remover.ts');
    return createPostgresRowRemover(connection);
  },
} satisfies Omit<KindOfTarget<DatabaseTarget>, 'whatWasRun'>;

export const postgresqlKind: KindOfTarget<Extract<Target, { kind: 'postgresql' }>> = {
  ...postgres,
  whatWasRun: [
    {
      target: 'PostgreSQL, `metadb:`',
      driver: '`postgres` 3.4.9',
      transaction: 'one for rows, changes of tables and the ledger',
      run_against: '15.18, 16.14, 17.10 and 18.4, also behind PgBouncer 1.18',
    },
  ],
};

export const metadbKind: KindOfTarget<Extract<Target, { kind: 'metadb' }>> = { ...postgres, whatWasRun: [] };

/** A SQL schema of a database. */
interface PostgresLocation {
  readonly url: string;
  readonly sqlSchema: string;
  readonly label: string;
  /** the only ones to connect to; absent: as the name resolves */
  readonly addresses?: readonly string[];
  readonly setRole?: string;
  readonly longestMessageBytes?: number;
  readonly mayAskPlainPassword?: boolean;
}

/**
 * The metadata database is reached under the organisation's loader role, which owns only its target schemas, if the database allows
 * such a role.
 */
async function postgresLocation(
  session: ToolSession,
  target: DatabaseTarget,
  use: 'read' | 'load',
): Promise<PostgresLocation> {
  const { request, home } = session;
  const { sqlSchema } = target;
  if (target.kind === 'postgresql') {
    return {
      url: connectionUrl(target, request.outUser, request.outPassword),
      ...(await targetAddresses(session, target)),
      longestMessageBytes: home.config.limits.targetMessageBytes,
      mayAskPlainPassword: isHostAllowed(home.config.plainPasswordHosts, target.host, target.port),
      sqlSchema,
      label: `${target.address}?schema=${sqlSchema}`,
    };
  }
  await claimSqlSchema(session, sqlSchema, use);
  const setRole = await home.loaderRole(session.idOrg, sqlSchema);
  return {
    url: home.databaseUrl,
    sqlSchema,
    label: `metadb:${sqlSchema}`,
    ...(setRole === null ? {} : { setRole }),
  };
}

/** Refuses another organisation's rows; rows without an owner belong to any user who can read the home folder. */
async function claimSqlSchema(
  { home, idOrg, idJob, byHand }: ToolSession,
  sqlSchema: string,
  use: 'read' | 'load',
): Promise<void> {
  const { catalog } = home.adapters;
  if (use === 'load') {
    const maxNames = home.config.limits.targetNames;
    await catalog.claimTargetSchema(idOrg, sqlSchema, { idJob, maxNames });
  } else if (!(await catalog.ownsTargetSchema(idOrg, sqlSchema)) && !byHand)
    throw new AppError('input_not_found', `metadb:${sqlSchema}: nothing has been loaded there`);
}

// One file of a database on this machine.

type FileTarget = Extract<Target, { kind: 'sqlite' | 'duckdb' }>;

export const sqliteKind: KindOfTarget<Extract<Target, { kind: 'sqlite' }>> = databaseFile('sqlite', {
  async openSink(options) {
    const { createSqliteRowSink } = await import('../../targets/sql/sqlite/driver.ts');
    return createSqliteRowSink(options);
  },
  async openSource(options) {
    const { createSqliteRowSource } = await import('../../targets/sql/sqlite/source.ts');
    return createSqliteRowSource(options);
  },
  async openRemover(options) {
    const { createSqliteRowRemover } = await import('../../targets/sql/sqlite/driver.ts');
    return createSqliteRowRemover(options);
  },
  whatWasRun: {
    target: 'SQLite files',
    driver: 'Node’s `node:sqlite`',
    transaction: 'one',
    run_against: 'the SQLite of Node 26; read by the `sqlite3` shell 3.40',
  },
});

export const duckdbKind: KindOfTarget<Extract<Target, { kind: 'duckdb' }>> = databaseFile('duckdb', {
  async openSink(options) {
    const { createDuckDbRowSink } = await import('../../targets/sql/duckdb/driver.ts');
    return createDuckDbRowSink(options);
  },
  async openSource(options) {
    const { createDuckDbRowSource } = await import('../../targets/sql/duckdb/source.ts');
    return createDuckDbRowSource(options);
  },
  async openRemover(options) {
    const { createDuckDbRowRemover } = await import('../../targets/sql/duckdb/driver.ts');
    return createDuckDbRowRemover(options);
  },
  whatWasRun: {
    target: 'DuckDB files',
    driver: '`@duckdb/node-api` 1.5.6',
    transaction: 'one',
    run_against: 'DuckDB 1.5; DuckDB 1.4 and 2.0 open the files',
  },
});

interface WrittenFile {
  readonly file: string;
  readonly refuseLinks: boolean;
  readonly signal: AbortSignal;
  readonly place?: DatabaseFilePlace;
}

/** The operations that a kind of database provides for a file of its own. */
interface FileDatabase {
  openSink(options: WrittenFile): Promise<RowSink>;
  openSource(options: Pick<WrittenFile, 'file'>): Promise<RowSource>;
  openRemover(options: WrittenFile): Promise<RowRemover>;
  readonly whatWasRun: WhatWasRun;
}

function databaseFile<Kind extends FileTarget['kind']>(
  kind: Kind,
  { openSink, openSource, openRemover, whatWasRun }: FileDatabase,
): KindOfTarget<Extract<FileTarget, { kind: Kind }>> {
  return {
    hasFormats: false,
    hasVersions: false,
    ddlDialect: () => kind,
    openSink: async (session, target) => openSink(await writtenFile(session, target)),
    openSource: async (session, target) => openSource({ file: await readFile(session, target) }),
    openRemover: async (session, target) => openRemover(await writtenFile(session, target)),
    whatWasRun: [whatWasRun],
  };
}

/** time for which a job waits for others that change the same file of a store */
const lockTimeoutMs = 15 * 60_000;

/**
 * The file itself, which several jobs may write; or a copy of it, if it is in a store. One job at a time, on all machines, changes a file
 * of a store: it puts its copy there in one step when its rows are committed.
 */
async function writtenFile(session: ToolSession, target: FileTarget): Promise<WrittenFile> {
  const { interrupted: signal, byHand } = session;
  if (byHand) return { file: resolve(target.file), refuseLinks: false, signal };
  const location = await session.resolvePath(target.file, false);
  if (!isRemote(location)) return { file: location, refuseLinks: true, signal };
  const { files } = session.home.adapters;
  const { takeAdvisoryLock } = await import('../../postgres/connect.ts');
  const lock = await takeAdvisoryLock(session.home.sql, `conversion-job-service ${location}`, lockTimeoutMs);
  try {
    const file = await localCopy(session, location, join('database', basename(target.file)));
    return {
      file,
      refuseLinks: true,
      signal,
      place: {
        path: target.file,
        async store() {
          if (!(await lock.isHeld()))
            throw new AppError(
              'service_unavailable',
              `${target.kind}:${target.file}: another job has taken over the lock on the file.`,
            );
          const body = Readable.toWeb(createReadStream(file));
          await files.write(location, body as unknown as ReadableStream<Uint8Array>);
        },
        release: () => lock.release(),
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Returns the path of a copy on this machine, which is absent if there is no file at the location. */
async function localCopy(session: ToolSession, location: string, name: string): Promise<string> {
  const path = localFolder(session, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const body = await session.home.adapters.files.read(location);
  if (body !== null)
    await pipeline(
      Readable.fromWeb(body as unknown as NodeReadableStream<Uint8Array>),
      createWriteStream(path, { mode: 0o600 }),
    );
  return path;
}

/** The file, or a copy of it on this machine. */
async function readFile(session: ToolSession, { file }: FileTarget): Promise<string> {
  if (session.byHand) return resolve(file);
  const location = await session.resolvePath(file, true);
  return (await localCopies(session, [location]))[0]!;
}
