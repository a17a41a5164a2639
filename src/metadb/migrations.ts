/**
 * Brings a database to the schema that this program needs: the numbered files of `migrations/`, each once, in order. Detects that another
 * release has migrated it.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { installation } from '../installation.ts';
import { AppError } from '../errors.ts';
import type { Sql, TransactionSql } from '../postgres/connect.ts';
import type { Logger } from '../ports/environment.ts';
import { areLoaderRolesReady, serviceRoleReady } from '../postgres/roles.ts';

/** One file; `name` is `0001_what_it_does`. */
interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** The first migration of every version before 1.0. */
const firstOfPreReleases = '0001_access';

interface Applied {
  readonly name: string;
  readonly checksum: string;
}

/** The lock's number could be any: all instances of the service must take the same. */
const advisoryLock = 7_305_184_201;
const oldestServer = 140_000;

/**
 * Applies missing migrations, under a lock, in one transaction; returns their names. AppError `service_unavailable` if the server is
 * too old or not UTF-8, if a file differs from the applied one, if a version before 1.0 made the database, or if a newer version of the
 * program migrated it.
 */
export async function migrate(sql: Sql, migrations?: readonly Migration[]): Promise<readonly string[]> {
  const wanted = migrations ?? readMigrations();
  const checksums = wanted.map((migration) => sha256(migration.sql));
  const [[exists]] = await Promise.all([
    sql`select to_regclass('svc.migration') is not null as found`,
    checkServer(sql),
  ]);
  if (exists?.found === true && missing(wanted, checksums, await applied(sql)).length === 0) return [];
  return sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(${advisoryLock})`;
    await transaction.unsafe(`
      create schema if not exists svc;
      create table if not exists svc.migration (
        name text primary key,
        checksum text not null,
        applied timestamptz not null default clock_timestamp()
      );`);
    const names: string[] = [];
    for (const index of missing(wanted, checksums, await applied(transaction))) {
      const migration = wanted[index];
      const checksum = checksums[index];
      if (migration === undefined || checksum === undefined) continue;
      await transaction.unsafe(migration.sql);
      await transaction`insert into svc.migration (name, checksum) values (${migration.name}, ${checksum})`;
      names.push(migration.name);
    }
    // New tables also need the policies of organisations
    const [binds] = await transaction`select to_regprocedure('svc.bind_rows()') is not null as known`;
    if (binds?.known === true && names.length > 0) await transaction`select svc.bind_rows()`;
    return names;
  });
}

/** Returns the names of missing migrations without changing anything. AppError as in `migrate`, for a database of a newer version. */
export async function missingMigrations(sql: Sql): Promise<readonly string[]> {
  const wanted = readMigrations();
  const checksums = wanted.map((migration) => sha256(migration.sql));
  return missing(wanted, checksums, await applied(sql)).map((index) => wanted[index]!.name);
}

/** SQL expression for the applied migrations, for `areAllApplied`. */
export function appliedAsJson(sql: Sql) {
  return sql`(select json_agg(json_build_object('name', name, 'checksum', checksum))::text from svc.migration)`;
}

/** Like `missingMigrations`, for a database whose migrations are known already. */
function areAllApplied(json: string | null): boolean {
  const wanted = readMigrations();
  const checksums = wanted.map((migration) => sha256(migration.sql));
  return missing(wanted, checksums, JSON.parse(json ?? '[]') as Applied[]).length === 0;
}

/** Why this program must not work on a database that holds these migrations; null if it may. Missing migrations are no fault. */
export function versionFault(json: string | null): string | null {
  try {
    areAllApplied(json);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** The name of the last migration that ships with the program. */
function newestMigration(): string {
  return readMigrations().at(-1)?.name ?? '';
}

async function applied(sql: Sql | TransactionSql): Promise<readonly Applied[]> {
  return sql<Applied[]>`select name, checksum from svc.migration order by name`;
}

/** Indexes of the migrations to apply. */
function missing(
  wanted: readonly Migration[],
  checksums: readonly string[],
  applied: readonly Applied[],
): number[] {
  const known = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  if (known.has(firstOfPreReleases)) {
    throw new AppError(
      'service_unavailable',
      'this metadata database was made by a version before 1.0, which later versions cannot use. ' +
        'Write the documents of its targets back with that version (er2xml), and load them with this version into a new home, ' +
        'or with metadb.url set to a new database',
    );
  }
  const indexes: number[] = [];
  for (const [index, { name }] of wanted.entries()) {
    const checksum = known.get(name);
    known.delete(name);
    if (checksum === undefined) indexes.push(index);
    else if (checksum !== checksums[index]) {
      throw new AppError(
        'service_unavailable',
        `migration ${name} was changed after it had been applied to this database`,
      );
    }
  }
  const [stranger] = known.keys();
  if (stranger !== undefined) {
    throw new AppError(
      'service_unavailable',
      `this database was migrated by a newer version: ${stranger} is unknown to this version`,
    );
  }
  return indexes;
}

async function checkServer(sql: Sql): Promise<void> {
  const [server] = await sql`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as release,
           current_setting('server_encoding') as encoding`;
  if (Number(server?.version) < oldestServer) {
    throw new AppError(
      'service_unavailable',
      `PostgreSQL 14 or later is needed, this server is ${String(server?.release)}`,
    );
  }
  if (server?.encoding !== 'UTF8') {
    throw new AppError(
      'service_unavailable',
      `the metadata database must be UTF8, this one is ${String(server?.encoding)}`,
    );
  }
}

/** The files that ship with the program, in order: read at once, as each start of a tool does, which threads would take longer for. */
export function readMigrations(): readonly Migration[] {
  const directory = new URL('src/metadb/migrations/', installation);
  const names = readdirSync(directory).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name));
  return names.toSorted().map((file) => {
    return { name: file.slice(0, -'.sql'.length), sql: readFileSync(new URL(file, directory), 'utf8') };
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

// Watches if the metadata database still has the version of this program, because other releases may migrate it.

interface DatabaseVersion {
  /** newest migration of the database */
  readonly database: string;
  /** newest migration that this program knows */
  readonly program: string;
  /** why this program must not work on the database; null if it may */
  readonly fault: string | null;
}

export interface VersionWatch {
  /** The result of the latest successful check. */
  current(): DatabaseVersion;
  /** Checks now; rejects if the database does not answer. */
  check(): Promise<DatabaseVersion>;
  /** Throws AppError `service_unavailable` while the version does not fit. */
  requireFit(): void;
  stop(): void;
}

/** A database that was migrated is noticed within this time. */
const checkMs = 2_000;

/** Checks every two seconds until `stop`. A database that does not answer keeps the latest result. */
export function watchVersion(sql: Sql, logger: Logger): VersionWatch {
  const program = newestMigration();
  let current: DatabaseVersion = { database: program, program, fault: null };
  let stopped = false;

  async function check(): Promise<DatabaseVersion> {
    const [row] = await sql<{ migrations: string | null; newest: string | null }[]>`
      select ${appliedAsJson(sql)} as migrations, (select max(name collate "C") from svc.migration) as newest`;
    const fault = versionFault(row?.migrations ?? null);
    const before = current.fault;
    current = { database: row?.newest ?? '', program, fault };
    if (fault !== null && fault !== before)
      logger.error('no jobs are claimed: upgrade this process, or stop it', { ...current });
    if (fault === null && before !== null)
      logger.info('the version of the metadata database is supported again: jobs are claimed', {
        database: current.database,
        program,
      });
    return current;
  }

  async function loop(): Promise<void> {
    // the pool reports an outage to callers that need an answer
    await check().catch(() => undefined);
    if (!stopped) timer = setTimeout(() => void loop(), checkMs);
  }
  let timer = setTimeout(() => void loop(), checkMs);

  return {
    current: () => current,
    check,
    requireFit() {
      if (current.fault !== null) throw new AppError('service_unavailable', current.fault);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

// One query that tests if a metadata database is ready. Each run of a tool makes it.

/**
 * Asked under the service's role: all migrations are there, and the roles have their rights. AppError as `migrate`, for a newer
 * version.
 */
export async function isDatabaseReady(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ migrations: string | null; service: boolean | null; loader: boolean | null }[]>`
    select ${appliedAsJson(sql)} as migrations, ${serviceRoleReady(sql)} as service, ${areLoaderRolesReady(sql)} as loader`;
  return row?.service === true && row.loader === true && areAllApplied(row.migrations);
}
