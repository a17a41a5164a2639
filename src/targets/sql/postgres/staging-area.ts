/** Staging tables hold rows, invisible to others, until their job publishes. Also removes the staging of dead attempts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { sqlState, type Sql, type TransactionSql } from '../../../postgres/connect.ts';
import { applicationName, backendAfter, quickCompression, sessionSettings } from './connection.ts';
import { AppError } from '../../../errors.ts';
import {
  startCopy,
  type Lane,
  createReferenceChecks,
  createIndexBuilds,
  stagedReferences,
  StagedTable,
  unconvertedColumns,
  unconvertedValues,
  type ReferenceChecks,
  type IndexBuilds,
  type Release,
  type StagedForm,
} from './staged-table.ts';
import { runAll } from './driver.ts';
import type { KeyIndex } from '../../../engine/sql/ddl.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import { sideTableDefinitions } from '../../../engine/model/side-tables.ts';
import type { Socket } from 'node:net';

// Removes staging that a dead attempt left, whose lock is no longer held, and the roles with which executors log in to fill it.

/** Returns the lock that the connection of an attempt holds as long as it lives. */
export function stagingLock(token: string): string {
  return `hashtextextended(${standardLiteral(token)}, 0)`;
}

/** Drops all of it in this database that this login owns, in the target's schema and in schemas of its own. */
export async function removeDeadStaging(
  sql: Sql,
  sqlSchema: string,
  setRole: string | undefined,
): Promise<void> {
  const found = await sql.unsafe<
    {
      token: string;
    }[]
  >(`
    SELECT nspname AS token FROM pg_namespace WHERE nspname ~ '${stagingPattern}$' AND pg_has_role(nspowner, 'USAGE')
       AND obj_description(oid, 'pg_namespace') = '${markStart}' || nspname
    UNION
    SELECT substring(c.relname from '${stagingPattern}') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ${standardLiteral(sqlSchema)} AND c.relkind = 'r' AND c.relname ~ '${stagingPattern}_'
       AND pg_has_role(c.relowner, 'USAGE')
       AND obj_description(c.oid, 'pg_class') = '${markStart}' || substring(c.relname from '${stagingPattern}')`);
  for (const { token } of found) {
    const lock = stagingLock(token);
    const [{ free }] = await sql.unsafe<[{ free: boolean }]>(`SELECT pg_try_advisory_lock(${lock}) AS free`);
    if (!free) continue;
    try {
      await endJobRole(sql, setRole, token);
      await dropStaging(sql, token, sqlSchema);
    } catch (error) {
      // another job was quicker, or a reader holds a lock: the next job removes it
      if (!['42P01', '3F000', '55P03', '2BP01', '42501', '40P01'].includes(sqlState(error) ?? ''))
        throw error;
    } finally {
      await sql.unsafe(`SELECT pg_advisory_unlock(${lock})`);
    }
  }
  await dropJobRoles(sql, setRole);
}

/**
 * Drops the remaining staging of one attempt, few tables at a time, because each takes locks until the end of its transaction. The tables
 * refer to each other.
 */
export async function dropStaging(sql: Sql, token: string, sqlSchema: string): Promise<void> {
  const mark = stagingMark(token);
  const tables = await sql.unsafe<
    {
      schema: string;
      name: string;
    }[]
  >(`
    SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND c.relname ~ ${standardLiteral(`^${token}_`)}
       AND (n.nspname = ${standardLiteral(token)} AND obj_description(n.oid, 'pg_namespace') = ${mark}
            OR n.nspname = ${standardLiteral(sqlSchema)} AND obj_description(c.oid, 'pg_class') = ${mark})`);
  for (let from = 0; from < tables.length; from += 50) {
    const names = tables
      .slice(from, from + 50)
      .map(({ schema, name }) => `${doubleQuoted(schema)}.${doubleQuoted(name)}`);
    await sql.unsafe(`SET lock_timeout = '10s'; DROP TABLE IF EXISTS ${names.join(', ')} CASCADE`);
  }
  const own = await sql.unsafe(
    `SELECT FROM pg_namespace WHERE nspname = ${standardLiteral(token)} AND obj_description(oid, 'pg_namespace') = ${mark}`,
  );
  if (own.length > 0) await sql.unsafe(`DROP SCHEMA IF EXISTS ${doubleQuoted(token)}`);
}

/**
 * Ends the server's side of connections that were cut, and waits until they are gone (at most 5 s). Only the login may do so, so the role
 * is reset for it.
 */
export async function endBackends(
  sql: Sql,
  pids: readonly number[],
  setRole: string | undefined,
): Promise<void> {
  const list = pids.join(', ');
  await sql.unsafe('SET ROLE NONE');
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const living = await sql.unsafe(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (${list}) AND usename = session_user
         AND application_name = ${standardLiteral(applicationName)}`,
    );
    if (living.length === 0) break;
    await sleep(50);
  }
  if (setRole !== undefined) await sql.unsafe(`SET ROLE ${doubleQuoted(setRole)}`);
}

/**
 * Returns the comment of the role, quoted. Roles belong to all databases of a server, but locks to one: only jobs in that database know
 * whether a job lives.
 */
export async function roleMark(sql: Sql, token: string): Promise<string> {
  const [{ database }] = await sql.unsafe<[{ database: string }]>('SELECT current_database() AS database');
  return `${stagingMark(token).slice(0, -1)} in ${standardLiteral(database).slice(1)}`;
}

/** Prevents further logins with the role, and ends its sessions. Throws AppError `service_unavailable` if a session survives that. */
export async function endJobRole(sql: Sql, setRole: string | undefined, token: string): Promise<void> {
  const marked = await sql.unsafe(
    `SELECT FROM pg_roles WHERE rolname = ${standardLiteral(token)} AND shobj_description(oid, 'pg_authid') = ${stagingMark(token)} || ' in ' || current_database()`,
  );
  if (marked.length === 0) return;
  await asLogin(sql, setRole, `ALTER ROLE ${doubleQuoted(token)} NOLOGIN PASSWORD NULL`);
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const results = await asLogin(
      sql,
      setRole,
      `SELECT count(pg_terminate_backend(pid))::int AS sessions FROM pg_stat_activity WHERE usename = ${standardLiteral(token)}`,
    );
    if (results.some((row) => row['sessions'] === 0)) return;
    await sleep(50);
  }
  throw new AppError('service_unavailable', 'Sessions of executors could not be ended.');
}

/** Runs statements that only the login may run, all in one message, so that a failure undoes `SET ROLE`, too; returns all rows. */
export async function asLogin(
  sql: Sql,
  setRole: string | undefined,
  statements: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const back = setRole === undefined ? '' : `; SET ROLE ${doubleQuoted(setRole)}`;
  const results = await sql.unsafe<Record<string, unknown>[][]>(`SET ROLE NONE; ${statements}${back}`);
  return results.flat();
}

/**
 * Drops the roles of jobs in this database whose staging is gone, or only the role that `token` names. Roles that the login may not drop
 * stay.
 */
export async function dropJobRoles(sql: Sql, setRole: string | undefined, token?: string): Promise<void> {
  const found = await sql.unsafe<{ name: string }[]>(
    `SELECT rolname AS name FROM pg_roles
      WHERE rolname ~ '${stagingPattern}$' AND (${token === undefined ? 'true' : `rolname = ${standardLiteral(token)}`})
        AND shobj_description(oid, 'pg_authid') = '${markStart}' || rolname || ' in ' || current_database()
        AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = rolname)`,
  );
  if (found.length === 0) return;
  for (const { name } of found) {
    try {
      await endJobRole(sql, setRole, name);
      await asLogin(sql, setRole, `DROP ROLE ${doubleQuoted(name)}`);
    } catch (error) {
      // another job was quicker; the role belongs to another login; rights of it remain elsewhere
      if (!['42704', '42501', '2BP01', 'XX000'].includes(sqlState(error) ?? '')) throw error;
    }
  }
}

/**
 * A regular expression for the start of tokens, of which each attempt at a job has its own. Other programs may use such a name: comments
 * mark staging as made by this service.
 */
const stagingPattern = '^_svc_staging_[0-9]+_[0-9a-f]{8}';

/** The text before the token in the comment of an attempt's schema, of its tables in the target's schema, and of its role. */
const markStart = 'staging of conversion-job-service: ';

/** Returns the comment, quoted. */
export function stagingMark(token: string): string {
  return standardLiteral(markStart + token);
}

// Bytes are collected by table and copied over a few connections, each with one COPY at a time. A small job's rows stay in memory, and the
// publishing transaction copies them.

const chunkBytes = 64 * 1024;
/** below this a job needs no connections of its own */
const smallJobBytes = 2 * 1024 * 1024;
/** above this a connection leaves its table for one that waits */
const crowdedBytes = 6 * 1024 * 1024;
const fullBytes = 12 * 1024 * 1024;
/** a table that has received this many bytes, and holds up the others, gets one more connection */
const spreadBytes = 16 * 1024 * 1024;

export class StagingArea {
  /** process ids of the server's backends */
  readonly backends: number[] = [];
  /** indexes that staged tables got, and the time they took, in milliseconds */
  indexes: IndexBuilds['done'] = { count: 0, elapsedMs: 0 };
  /** other processes fill the tables: nothing is written here */
  isShared = false;
  readonly #options: StagingOptions;
  readonly #tables = new Map<number | string, StagedTable>();
  /** tables with bytes that another lane may take */
  readonly #waiting = new Set<StagedTable>();
  readonly #lanes: Lane<StagedTable>[] = [];
  #prepared: Promise<void> | null = null;
  #buffered = 0;
  #draining = false;
  #failure: { readonly error: unknown } | null = null;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: StagingOptions) {
    this.#options = options;
  }

  /** Returns whether rows have been sent to the server. */
  get usesConnections(): boolean {
    return this.isShared || this.#lanes.length > 0;
  }

  get(key: number | string): StagedTable | undefined {
    return this.#tables.get(key);
  }

  /** `form` is called when the table gets its first rows: of a large model, most tables get none. */
  define(key: number | string, form: () => StagedForm): StagedTable {
    const { sqlSchema, token, mark } = this.#options;
    const identity = { sqlSchema, name: `${token}_${this.#tables.size}`, mark };
    const table = new StagedTable(key, identity, form);
    this.#tables.set(key, table);
    return table;
  }

  /** Returns the name that the staged table of that name will have in the target, or undefined if there is none. */
  targetName(name: string): string | undefined {
    return this.#tables.values().find((table) => table.name === name)?.form.tableName;
  }

  entries(): IterableIterator<[number | string, StagedTable]> {
    return this.#tables.entries();
  }

  /** Buffers rows; waits while too many bytes are in transit. */
  async write(table: StagedTable, bytes: Uint8Array, rows: number, release?: Release): Promise<void> {
    this.#check();
    table.push(bytes, release);
    table.rows += rows;
    this.#buffered += bytes.length;
    if (table.takesLane) this.#waiting.add(table);
    this.#schedule(table);
    while (this.#buffered > fullBytes) {
      this.#spread();
      await this.#wake.promise;
      this.#check();
    }
  }

  /** Sends all rows to the server and commits them, unless the job is small enough for `copyWithin`. */
  async drain(): Promise<void> {
    this.#check();
    if (this.isShared || this.#lanes.length === 0) return;
    this.#draining = true;
    while (this.#lanes.length < Math.min(this.#options.maxConnections, this.#waiting.size)) this.#addLane();
    for (const lane of this.#lanes) this.#start(lane);
    while (this.#lanes.some((lane) => lane.running)) {
      await this.#wake.promise;
      this.#check();
    }
    await this.#finishAll();
    this.#checkCounts();
  }

  /** Makes the staging schema, and shows that it is in use. */
  prepare(): Promise<void> {
    return (this.#prepared ??= this.#options.prepare());
  }

  /** Makes keys for tables that others have filled, over several connections; no more rows come. */
  async addKeys(filled: readonly StagedTable[]): Promise<void> {
    const waiting = [...filled];
    while (this.#lanes.length < Math.min(this.#options.maxConnections, filled.length)) this.#addLane();
    await Promise.all(
      this.#lanes.map(async (lane) => {
        await this.#setUp(lane);
        for (let table = waiting.shift(); table !== undefined; table = waiting.shift()) {
          this.#check();
          lane.table = table;
          table.keyed = await this.#addKeys(lane, table);
          lane.table = null;
        }
      }),
    );
    await this.#finishAll();
  }

  /** Makes the checks and indexes that involve several tables, after these have their keys. All connections end. */
  async #finishAll(): Promise<void> {
    const checks = createReferenceChecks(this.#tables);
    const builds = createIndexBuilds(this.#tables);
    await Promise.all(this.#lanes.map((lane) => this.#finish(lane, checks, builds)));
    this.indexes = builds.done;
    await Promise.all(this.#lanes.map((lane) => lane.sql.end({ timeout: 5 })));
  }

  /** Copies a small job's rows inside the caller's transaction, in which the staging schema is made too. */
  async copyWithin(tx: TransactionSql): Promise<void> {
    if (this.usesConnections) return;
    const tables = [...this.#waiting];
    await runAll(
      tx,
      tables.map((table) => table.createStatement()),
    );
    for (const table of tables) {
      const copy = await startCopy(tx, table.copyStatement(true));
      table.created = true;
      while (table.pendingBytes > 0) {
        const { bytes, release } = table.take();
        await copy.write(bytes);
        release?.(bytes);
      }
      table.copied = await copy.finish();
    }
    this.#waiting.clear();
    this.#buffered = 0;
    this.#checkCounts();
  }

  /** Cuts all connections; uncommitted work is gone as soon as the server has noticed (see `backends`). */
  async destroy(): Promise<void> {
    this.#fail(new AppError('service_unavailable', 'The load was cancelled.'));
    // a schema that is being made now would appear after the search for it
    await this.#prepared?.catch(() => undefined);
    await Promise.all(this.#lanes.map((lane) => lane.sql.end({ timeout: 0 })));
  }

  #checkCounts(): void {
    for (const table of this.#tables.values()) {
      if (table.rows === table.copied) continue;
      throw new AppError(
        'internal_error',
        `${table.rows} rows were sent, but the database stored ${table.copied}.`,
      );
    }
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#signal();
  }

  #signal(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  #schedule(table: StagedTable): void {
    for (const lane of table.lanes) this.#start(lane);
    if (!table.takesLane || this.#buffered < smallJobBytes) return;
    const idle = this.#lanes.find((lane) => !lane.running && lane.table === null);
    if (idle !== undefined) this.#start(idle);
    else if (this.#lanes.length < this.#options.maxConnections) this.#start(this.#addLane());
    else if (this.#buffered >= crowdedBytes) for (const lane of this.#lanes) this.#start(lane);
  }

  /**
   * Adds a connection if rows come faster than one connection loads those of one table: another one uses another processor of the server,
   * too.
   */
  #spread(): void {
    const spare =
      this.#lanes.length < this.#options.maxConnections ||
      this.#lanes.some((lane) => !lane.running && lane.table === null);
    const table = this.#lanes
      .map((lane) => lane.table)
      .find((one) => one !== null && one.pendingBytes > fullBytes / 2);
    if (!spare || !table || table.lanes.size < table.wantedLanes) return;
    if (table.takenBytes < table.wantedLanes * spreadBytes) return;
    table.wantedLanes += 1;
    if (!table.takesLane) return;
    this.#waiting.add(table);
    this.#schedule(table);
  }

  #addLane(): Lane<StagedTable> {
    const sql = this.#options.connect((socket) => (lane.socket = socket));
    const lane: Lane<StagedTable> = {
      sql,
      socket: null,
      table: null,
      copy: null,
      running: false,
      isSetUp: false,
    };
    this.#lanes.push(lane);
    return lane;
  }

  #start(lane: Lane<StagedTable>): void {
    if (lane.running || this.#failure !== null) return;
    const next = this.#next(lane);
    if (next === null) return;
    lane.running = true;
    void this.#run(lane, next).then(
      () => {
        lane.running = false;
        this.#signal();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** Returns the table to copy next; it belongs to the lane from then on. */
  #next(lane: Lane<StagedTable>): StagedTable | null {
    const own = lane.table;
    if (own !== null && (own.pendingBytes >= (this.#draining ? 1 : chunkBytes) || mustLeave(lane, own)))
      return own;
    let largest: StagedTable | null = null;
    for (const table of this.#waiting) {
      if (table.pendingBytes === 0 || table.lanes.has(lane)) continue;
      if (largest === null || table.pendingBytes > largest.pendingBytes) largest = table;
    }
    if (largest === null) return null;
    if (!this.#draining) {
      const crowded = this.#buffered >= crowdedBytes;
      if (own === null ? largest.pendingBytes < chunkBytes && !crowded : !crowded) return null;
      if (own !== null && own.pendingBytes >= largest.pendingBytes) return null;
    }
    largest.lanes.add(lane);
    largest.copying.add(lane);
    if (!largest.takesLane) this.#waiting.delete(largest);
    return largest;
  }

  async #run(lane: Lane<StagedTable>, first: StagedTable): Promise<void> {
    for (let table: StagedTable | null = first; table !== null; table = this.#next(lane)) {
      this.#check();
      if (lane.table !== table) {
        await this.#leave(lane);
        await this.#open(lane, table);
      }
      while (lane.table === table && table.isUnsettled) await this.#settle(lane, table);
      if (lane.table !== table || table.pendingBytes === 0) continue;
      const { bytes, release } = table.take();
      // its owner may transfer the buffer to another thread: then it is empty here
      const { length } = bytes;
      await lane.copy!.write(bytes);
      release?.(bytes);
      this.#buffered -= length;
      this.#signal();
    }
  }

  /** Applies changes of the lane's table on the server, or leaves that to the lane that can. */
  async #settle(lane: Lane<StagedTable>, table: StagedTable): Promise<void> {
    this.#check();
    if (mustLeave(lane, table)) {
      this.#unshare(table);
      await this.#leave(lane);
      for (const other of table.copying) this.#start(other);
    } else if (table.hasLoosened) await this.#loosen(lane, table);
    else await this.#share(lane, table);
  }

  async #setUp(lane: Lane<StagedTable>): Promise<void> {
    if (lane.isSetUp) return;
    // rows that have not been published need not survive a crash
    const settings = `${sessionSettings}; SET synchronous_commit = off; ${quickCompression}`;
    this.backends.push(await backendAfter(lane.sql, settings));
    lane.isSetUp = true;
  }

  async #open(lane: Lane<StagedTable>, table: StagedTable): Promise<void> {
    // nothing is made after the load was given up
    this.#check();
    await this.prepare();
    this.#check();
    await this.#setUp(lane);
    lane.table = table;
    const isNew = !table.created;
    const first = isNew ? `BEGIN; ${table.createStatement()}` : 'BEGIN';
    // from here on the table's constraints can only be altered
    table.created = true;
    await lane.sql.unsafe(first);
    lane.copy = await startCopy(lane.sql, table.copyStatement(isNew), lane.socket);
  }

  /**
   * Alters the table between two COPYs of the same transaction. The table's other lanes leave it first, because their locks would block
   * that.
   */
  async #loosen(lane: Lane<StagedTable>, table: StagedTable): Promise<void> {
    this.#unshare(table);
    for (const other of table.lanes) if (other !== lane) this.#start(other);
    await this.#endCopy(lane, table);
    // a lane that comes later would wait for the lock of the alteration
    const end = table.committed ? '; COMMIT; BEGIN' : '';
    await table.alterLoosened((statement) => lane.sql.unsafe(`${statement}${end}`));
    lane.copy = await startCopy(lane.sql, table.copyStatement(false), lane.socket);
  }

  #unshare(table: StagedTable): void {
    table.wantedLanes = 1;
    this.#waiting.delete(table);
  }

  /** Commits the tables and rows of the lane, so that other connections see them. */
  async #share(lane: Lane<StagedTable>, table: StagedTable): Promise<void> {
    await this.#endCopy(lane, table);
    await lane.sql.unsafe('COMMIT; BEGIN');
    table.committed = true;
    lane.copy = await startCopy(lane.sql, table.copyStatement(false), lane.socket);
    this.#waiting.add(table);
    this.#schedule(table);
  }

  async #endCopy(lane: Lane<StagedTable>, table: StagedTable): Promise<void> {
    const rows = await lane.copy!.finish();
    lane.copy = null;
    table.copied += rows;
  }

  /**
   * Commits the rows that the lane has copied into its table. Only then may another lane have it, because it was invisible to others
   * before.
   */
  async #leave(lane: Lane<StagedTable>): Promise<void> {
    const { table } = lane;
    if (table === null) return;
    await this.#close(lane, table);
    lane.table = null;
    table.lanes.delete(lane);
    if (table.pendingBytes > 0 && table.takesLane) this.#waiting.add(table);
  }

  /** While one lane gives the largest table its key, the others check references of those that have theirs, and index them. */
  async #finish(lane: Lane<StagedTable>, checks: ReferenceChecks, builds: IndexBuilds): Promise<void> {
    await this.#leave(lane);
    this.#signal();
    for (;;) {
      this.#check();
      if ((await checks.next(lane.sql)) || (await builds.next(lane.sql))) continue;
      if (this.#lanes.every((other) => other.table === null)) return;
      await this.#wake.promise;
    }
  }

  async #close(lane: Lane<StagedTable>, table: StagedTable): Promise<void> {
    await this.#endCopy(lane, table);
    table.copying.delete(lane);
    const isLast = this.#draining && table.copying.size === 0 && table.pendingBytes === 0;
    const wantsKeys = isLast && table.form.logged && !table.keysBegun;
    const keyed = wantsKeys && (await this.#addKeys(lane, table));
    await lane.sql.unsafe('COMMIT');
    table.committed = true;
    if (keyed) table.keyed = true;
  }

  /** Returns false if the table has no keys. */
  async #addKeys(lane: Lane<StagedTable>, table: StagedTable): Promise<boolean> {
    const keys = this.#options.keys(table.key);
    if (keys === '') return false;
    table.keysBegun = true;
    await lane.sql.unsafe(`ALTER TABLE ${table.relation} ${keys}`);
    return true;
  }
}

/** Returns whether the lane must leave the table. The first of a table's lanes alters it; the others hold locks, so they leave. */
function mustLeave(lane: Lane<StagedTable>, table: StagedTable): boolean {
  const [first] = table.copying;
  return table.hasLoosened && lane.table === table && first !== lane;
}

interface StagingOptions {
  /** name of the staging schema, and the start of every table's name */
  readonly token: string;
  /** the schema in which the tables are made: the staging schema, or the target's schema if no schema may be made */
  readonly sqlSchema: string;
  /** quoted comment that marks tables in the target's schema as staging; null in a schema of their own */
  readonly mark: string | null;
  readonly maxConnections: number;
  readonly connect: (onSocket: (socket: Socket) => void) => Sql;
  /** Makes the staging schema and shows that it is in use; called once, before the first table. */
  readonly prepare: () => Promise<void>;
  /** Returns the alterations that give a table its keys, after all rows are there; '' for none. Called when no more rows can come. */
  readonly keys: (key: number | string) => string;
}

/** Decides which staged objects may become the target's own. */
interface MayMove {
  /** the staged table of that physical name may; the tables that it refers to must then move as well */
  readonly table: (name: string) => boolean;
  /** the table of documents may; not if keys depend on content, because two of its rows may then have the same key */
  readonly documents: boolean;
}

/**
 * Defines the staging tables of a job: one for each table of the model, and the side tables. `indexes`: those that a table of the model
 * gets in addition to its keys.
 */
export function defineStaged(
  staging: StagingArea,
  tables: readonly PhysicalTable[],
  mayMove: MayMove,
  indexes: (table: number) => readonly KeyIndex[],
): void {
  // tables that may become the target's own must survive a crash; tables that are read once and dropped need not
  const isLogged = ({ name, foreignKeys }: PhysicalTable): boolean =>
    mayMove.table(name) && foreignKeys.every((key) => mayMove.table(key.parentTable));
  for (const [index, table] of tables.entries())
    staging.define(index, () => ({
      tableName: table.name,
      columns: table.columns,
      logged: isLogged(table),
      references: isLogged(table) ? stagedReferences(table, mayMove.documents) : [],
      indexes: isLogged(table) ? indexes(index) : [],
    }));
  for (const side of ['documents', 'unmapped', 'lexical'] as const) {
    const { name: tableName, columns } = sideTableDefinitions[side];
    staging.define(side, () => ({
      tableName,
      columns: columns.map(({ name, type, nullable }) => ({
        name,
        sqlType: postgresql.typeName(type),
        nullable,
      })),
      logged: side === 'documents' && mayMove.documents,
    }));
  }
  staging.define(unconvertedValues, () => ({ columns: unconvertedColumns, logged: false }));
}
