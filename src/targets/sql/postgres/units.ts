/** Units on PostgreSQL: rows that executors write into the staging of a job, and the side of the tool that publishes them. */
import type { Socket } from 'node:net';
import { AppError } from '../../../errors.ts';
import type {
  SideTable,
  UnconvertedValue,
  UnitReceipt,
  UnitToken,
  UnitSink,
  UnitTarget,
} from '../../../ports/row-sink.ts';
import { standardLiteral, doubleQuoted } from '../../../engine/sql/dialect.ts';
import { columnId, UnfitColumns, plainDigits } from '../../rows/unfit-columns.ts';
import { sqlState, type Sql } from '../../../postgres/connect.ts';
import {
  watchPostgres,
  applicationName,
  connectTarget,
  backendAfter,
  quickCompression,
  sessionSettings,
  targetFault,
  type TargetAddress,
} from './connection.ts';
import type { SilenceWatch } from '../database.ts';
import { startCopy, unconvertedRow, unconvertedValues, type StagedTable } from './staged-table.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { type StagingArea, roleMark, asLogin, endJobRole } from './staging-area.ts';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

// One attempt at a unit, written into the job's staging in one transaction: it claims the unit, copies the rows of one table after the
// other, and leaves a note. The second of two attempts waits for the first, and is refused after that has committed.

/** from this size on, rows are copied, those of the fullest table first: one COPY fills one table */
const copyBytes = 8 * 2 ** 20;
const restBytes = 2 * 2 ** 20;
/** with more buffered bytes, writes wait */
const fullBytes = 16 * 2 ** 20;

type Release = (rows: Uint8Array) => void;

/** Rows of one table that have not been sent yet. */
interface Pending {
  readonly relation: string;
  chunks: (readonly [bytes: Uint8Array, release: Release | undefined])[];
  bytes: number;
  /** received, and sent to the server */
  rows: number;
  copied: number;
}

/** Opens a unit. Throws AppError if the server cannot be reached, or rejects the job's role. */
export async function openPostgresUnit(token: PostgresUnitToken, unit: number): Promise<UnitSink> {
  const label = `unit ${unit}`;
  const sockets = new Set<Socket>();
  try {
    const session = await openUnitSession(token.address, unit, sockets);
    const watch = watchPostgres({ address: token.address, backends: () => [session.pid] });
    for (const socket of sockets) watch.sockets.add(socket);
    return new PostgresUnitSink(token, unit, { ...session, watch });
  } catch (error) {
    throw targetFault(error, label);
  }
}

interface WatchedSession {
  readonly sql: Sql;
  /** see `startCopy` */
  readonly socket: Socket | null;
  readonly watch: SilenceWatch;
}

class PostgresUnitSink implements UnitSink {
  readonly #token: PostgresUnitToken;
  readonly #unit: number;
  readonly #session: WatchedSession;
  readonly #tables = new Map<number | string, Pending>();
  readonly #relations: ReadonlyMap<number | string, string>;
  readonly #nullAllowed = new Map<string, readonly [number, number]>();
  readonly #unfit = new UnfitColumns();
  #buffered = 0;
  /** requested once; a text is another attempt's note */
  #claim: Promise<string | null> | null = null;
  #copying: Promise<void> | null = null;

  constructor(token: PostgresUnitToken, unit: number, session: WatchedSession) {
    this.#token = token;
    this.#unit = unit;
    this.#session = session;
    this.#relations = new Map(token.relations);
  }

  async write(
    table: number | SideTable,
    rows: Uint8Array,
    rowCount: number,
    release?: Release,
  ): Promise<void> {
    this.#push(table, rows, rowCount, release);
    if (this.#buffered < copyBytes) return;
    this.#copying ??= this.#copyDownTo(restBytes).finally(() => (this.#copying = null));
    // the next call, or the commit, gets the failure
    this.#copying.catch(() => undefined);
    while (this.#buffered > fullBytes && this.#copying !== null) await this.#copying;
  }

  writeSide(table: SideTable, rows: Uint8Array, rowCount: number): Promise<void> {
    return this.write(table, rows, rowCount);
  }

  async unconverted(value: UnconvertedValue): Promise<void> {
    this.#unfit.add(value.table, value.column, plainDigits(value.text));
    this.#push(unconvertedValues, unconvertedRow(value), 1, undefined);
  }

  allowNull(table: number, column: number): void {
    this.#nullAllowed.set(columnId(table, column), [table, column]);
  }

  async commit(note: (receipt: UnitReceipt) => string): Promise<string> {
    await this.#copying;
    await this.#copyDownTo(0);
    const first = await this.#claimed();
    if (first !== null) return first;
    const tables = [...this.#tables];
    for (const [, { rows, copied }] of tables) {
      if (rows === copied) continue;
      throw new AppError('internal_error', `${rows} rows were sent, but the database stored ${copied}.`);
    }
    const text = note({
      rows: tables.map(([key, { rows }]) => [key, rows] as const),
      nullAllowed: [...this.#nullAllowed.values()],
      unconverted: this.#unfit.columns,
    });
    const { ledger } = this.#token;
    await this.#run((sql) =>
      sql.unsafe(`INSERT INTO ${ledger} VALUES (${this.#unit}, 1, ${standardLiteral(text)}); COMMIT`),
    );
    return text;
  }

  async close(): Promise<void> {
    await this.#session.sql.end({ timeout: 0 });
  }

  #push(key: number | string, bytes: Uint8Array, rows: number, release: Release | undefined): void {
    let pending = this.#tables.get(key);
    if (pending === undefined) {
      pending = { relation: this.#relations.get(key)!, chunks: [], bytes: 0, rows: 0, copied: 0 };
      this.#tables.set(key, pending);
    }
    pending.chunks.push([bytes, release]);
    pending.bytes += bytes.length;
    pending.rows += rows;
    this.#buffered += bytes.length;
  }

  #claimed(): Promise<string | null> {
    const { ledger } = this.#token;
    return (this.#claim ??= this.#run((sql) => claimUnit(sql, ledger, this.#unit)));
  }

  async #copyDownTo(most: number): Promise<void> {
    const first = await this.#claimed();
    while (this.#buffered > most) {
      const fullest = this.#tables.values().reduce((one, other) => (other.bytes > one.bytes ? other : one));
      const chunks = fullest.chunks;
      fullest.chunks = [];
      this.#buffered -= fullest.bytes;
      fullest.bytes = 0;
      if (first === null)
        fullest.copied += await this.#run((sql) => this.#copy(sql, fullest.relation, chunks));
      else for (const [bytes, release] of chunks) release?.(bytes);
    }
  }

  async #copy(sql: Sql, relation: string, chunks: Pending['chunks']): Promise<number> {
    const copy = await startCopy(sql, `COPY ${relation} FROM STDIN`, this.#session.socket);
    for (const [bytes, release] of chunks) {
      await copy.write(bytes);
      release?.(bytes);
    }
    return copy.finish();
  }

  async #run<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const { sql, watch } = this.#session;
    try {
      return await watch.during(() => work(sql));
    } catch (error) {
      throw targetFault(error, `unit ${this.#unit}`);
    }
  }
}

/** time between two checks of the attempt that is waited for */
const waitSeconds = 10;
/** number of consecutive checks that must find it waiting for its executor, in the same statement */
const enough = 6;

/**
 * Begins the transaction of an attempt, which holds the unit until its end, and returns null. Returns a text if another attempt has
 * committed, which is that attempt's note; there is no transaction then. Waits for an attempt that is running; if its executor has sent
 * nothing for a minute, its session is terminated.
 */
async function claimUnit(sql: Sql, ledger: string, unit: number): Promise<string | null> {
  let last = '';
  for (let same = 0; ;) {
    try {
      await sql.unsafe(
        `BEGIN; SET LOCAL lock_timeout = '${waitSeconds}s'; INSERT INTO ${ledger} VALUES (${unit}, 0); SET LOCAL lock_timeout = 0`,
      );
      return null;
    } catch (error) {
      const state = sqlState(error);
      if (state !== '23505' && state !== '55P03') throw error;
      await sql.unsafe('ROLLBACK');
      if (state === '23505') {
        const [row] = await sql.unsafe<[{ note: string }]>(
          `SELECT note FROM ${ledger} WHERE unit = ${unit} AND part = 1`,
        );
        return row.note;
      }
    }
    const found = await waitingForExecutor(sql, unit);
    same = found === last && found !== '[]' ? same + 1 : 1;
    last = found;
    if (same >= enough) {
      await sql.unsafe(`SELECT pg_terminate_backend(pid) FROM (${otherAttempts(unit)}) o`);
      same = 0;
    }
  }
}

async function waitingForExecutor(sql: Sql, unit: number): Promise<string> {
  return JSON.stringify([...(await sql.unsafe(otherAttempts(unit)))]);
}

/** Returns a query for the sessions of other attempts that have begun a transaction, and wait for input from their executor. */
function otherAttempts(unit: number): string {
  return `SELECT pid, state_change::text FROM pg_stat_activity
    WHERE usename = current_user AND application_name = ${standardLiteral(unitApplication(unit))} AND pid <> pg_backend_pid()
      AND xact_start IS NOT NULL AND wait_event_type = 'Client' ORDER BY pid`;
}

/** how long an executor waits for others to finish; after that, its rows are sent by another way */
const patienceMs = 5 * 60_000;

interface UnitSession {
  readonly sql: Sql;
  /** null: the connection is encrypted */
  readonly socket: Socket | null;
  /** process id of the server's backend */
  readonly pid: number;
}

/** Returns the name of an attempt's session in `pg_stat_activity`. */
function unitApplication(unit: number): string {
  return `${applicationName} unit ${unit}`;
}

/** Opens the session of an executor in the target, as the job's role, which may have a limited number at a time. */
export async function openUnitSession(
  address: TargetAddress,
  unit: number,
  sockets: Set<Socket>,
): Promise<UnitSession> {
  const settings = `${sessionSettings}; SET synchronous_commit = off; ${quickCompression};
    SET application_name = ${standardLiteral(unitApplication(unit))}`;
  const until = Date.now() + patienceMs;
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
    let socket: Socket | null = null;
    // a COPY outside the transaction that claimed the unit would stay, whatever happens to the unit
    const sql = connectTarget(address, {
      onPlain: (plain) => (socket = plain),
      all: sockets,
      single: true,
    });
    try {
      return { sql, pid: await backendAfter(sql, settings), socket };
    } catch (error) {
      await sql.end({ timeout: 0 });
      sockets.clear();
      // too_many_connections: of the role, or of the server
      if (sqlState(error) !== '53300' || Date.now() > until) throw error;
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }
}

export interface PostgresUnitToken extends UnitToken {
  readonly kind: 'postgresql';
  /** `user` and `password` are the job's role and its own */
  readonly address: TargetAddress;
  /** quoted: see `ledgerStatement` */
  readonly ledger: string;
  /** staged tables, quoted, by index of a table of the model or name of a side table */
  readonly relations: readonly (readonly [key: number | string, relation: string])[];
}

/**
 * Returns the statement for the table of finished units. An attempt inserts part 0 first, for which every other attempt at the unit waits,
 * and part 1 last, with the note.
 */
export function ledgerStatement(ledger: string): string {
  return `CREATE TABLE ${ledger} (unit integer NOT NULL, part smallint NOT NULL, note text, PRIMARY KEY (unit, part))`;
}

// The publishing side: the staged tables that all executors fill, the ledger of finished units, and the role of the job, with which
// executors log in. The role may only put rows into the job's staging. Its password is valid for minutes, and is renewed while the job
// lives; when a job ends, its role can no longer log in.

/** The state of a load that the sink passes to unit publishing. */
interface UnitTargetOptions {
  readonly sql: Sql;
  readonly address: TargetAddress;
  readonly staging: StagingArea;
  /** name of the staging schema, of the role, and the start of the names of tables */
  readonly token: string;
  /** staged tables are in a schema of their own, so that a role can be limited to them */
  readonly hasSchema: boolean;
  readonly maxConnections: number;
  readonly nullAllowed: Set<string>;
  readonly unfit: UnfitColumns;
  /** runs work that waits only for the target, and converts its faults */
  readonly guarded: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface PostgresUnitTarget extends UnitTarget {
  /** Called before staging is removed: the executors' role is no longer renewed. */
  stop(): void;
}

export function createUnitTarget(options: UnitTargetOptions): PostgresUnitTarget {
  const { sql, address, staging, token } = options;
  const schema = doubleQuoted(token);
  const ledger = `${schema}.${doubleQuoted(`${token}_units`)}`;
  let role: JobRole | null = null;
  let expected = 0;
  return {
    stop: () => role?.stop(),

    begin: (units) =>
      options.guarded(async () => {
        if (!options.hasSchema) return 'its user may not create the SQL schema in which rows are staged';
        await staging.prepare();
        const made = await makeJobRole(sql, {
          name: token,
          mark: await roleMark(sql, token),
          maxConnections: options.maxConnections,
          setRole: address.setRole,
        });
        if (typeof made === 'string') return made;
        role = made;
        expected = units;
        const { setRole: _, ...server } = address;
        const own: TargetAddress = { ...server, user: role.name, password: role.password };
        const refused = await refusalOf(own);
        if (refused !== null) {
          await role.end();
          return `the server does not let a role of the job log in: ${refused}`;
        }
        await createSharedTables(sql, staging);
        await sql.unsafe(`${ledgerStatement(ledger)};
        GRANT USAGE ON SCHEMA ${schema} TO ${schema}; GRANT INSERT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};
        GRANT SELECT ON ${ledger} TO ${schema}`);
        return {
          kind: 'postgresql',
          address: { ...own, url: withoutCredentials(own.url) },
          ledger,
          relations: [...staging.entries()].map(([key, { relation }]) => [key, relation] as const),
        } satisfies PostgresUnitToken;
      }),

    // columns are widened when all rows are there
    unsettled: async () => null,

    adopt: (receipts) =>
      options.guarded(async () => {
        await role!.end();
        const [{ committed }] = await sql.unsafe<[{ committed: number }]>(
          `SELECT count(*)::int AS committed FROM ${ledger} WHERE part = 1 AND unit BETWEEN 0 AND ${expected - 1}`,
        );
        if (committed !== expected || receipts.length !== expected)
          throw new AppError(
            'internal_error',
            `Of ${expected} units, ${committed} are in the target and ${receipts.length} were reported.`,
          );
        for (const { nullAllowed, unconverted } of receipts) {
          for (const [table, column] of nullAllowed) options.nullAllowed.add(columnId(table, column));
          options.unfit.addAll(unconverted);
        }
        await sql.unsafe(`DROP TABLE ${ledger}`);
        await adoptSharedTables(sql, staging, rowsOf(receipts));
      }),
  };
}

/** Returns the number of rows by key of a staged table. */
function rowsOf(receipts: readonly UnitReceipt[]): ReadonlyMap<number | string, number> {
  const rows = new Map<number | string, number>();
  for (const receipt of receipts)
    for (const [key, count] of receipt.rows) rows.set(key, (rows.get(key) ?? 0) + count);
  return rows;
}

/** Returns the reason why the role cannot log in from here; null if it can. */
async function refusalOf(address: TargetAddress): Promise<string | null> {
  try {
    const { sql } = await openUnitSession(address, 0, new Set());
    await sql.end({ timeout: 5 });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Removes credentials: executors must not learn those of the login. */
function withoutCredentials(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1');
}

const renewMs = 30_000;
/** an interval of PostgreSQL: some renewals may come late */
const validFor = '3 minutes';

interface JobRole {
  readonly name: string;
  readonly password: string;
  /** Prevents further logins with the role, ends its sessions, and revokes its rights. */
  end(): Promise<void>;
  /** Stops renewing the role: `end`, or the expiry of its password, does the rest. */
  stop(): void;
}

interface JobRoleOptions {
  /** name, and that of the schema it may write in */
  readonly name: string;
  /** comment, quoted */
  readonly mark: string;
  readonly maxConnections: number;
  /** set again after statements that only the login may run */
  readonly setRole: string | undefined;
}

/** Returns the role, or the server's message if the login may make no roles. */
async function makeJobRole(
  sql: Sql,
  { name, mark, maxConnections, setRole }: JobRoleOptions,
): Promise<JobRole | string> {
  const role = doubleQuoted(name);
  const password = randomBytes(24).toString('base64url');
  const until = async (): Promise<string> => {
    const [row] = await sql.unsafe<[{ until: string }]>(
      `SELECT (clock_timestamp() + interval '${validFor}')::text AS until`,
    );
    return standardLiteral(row.until);
  };
  const [login] = await sql.unsafe<[{ name: string; super: boolean }]>(
    'SELECT rolname AS name, rolsuper AS super FROM pg_roles WHERE rolname = session_user',
  );
  try {
    // the server gets a verifier of the password, so the password is in no log of statements
    await asLogin(
      sql,
      setRole,
      `CREATE ROLE ${role} LOGIN NOINHERIT CONNECTION LIMIT ${maxConnections} VALID UNTIL ${await until()}
         PASSWORD ${standardLiteral(scramVerifier(password))};
       COMMENT ON ROLE ${role} IS ${mark}
       ${login.super ? '' : `; GRANT ${role} TO ${doubleQuoted(login.name)}`}`,
    );
  } catch (error) {
    if (sqlState(error) === null) throw error;
    return `its user cannot create a role for them: ${(error as Error).message}`;
  }
  const renew = async (): Promise<void> => {
    await asLogin(sql, setRole, `ALTER ROLE ${role} VALID UNTIL ${await until()}`);
  };
  // the next use of a lost connection reports the fault
  const timer = setInterval(() => void renew().catch(() => undefined), renewMs).unref();
  const stop = (): void => clearInterval(timer);
  return {
    name,
    password,
    stop,
    async end() {
      stop();
      await sql.unsafe(
        `REVOKE ALL ON ALL TABLES IN SCHEMA ${role} FROM ${role}; REVOKE ALL ON SCHEMA ${role} FROM ${role}`,
      );
      await endJobRole(sql, setRole, name);
    },
  };
}

/**
 * Returns the verifier that the server stores for a password (RFC 5803, RFC 7677), in PostgreSQL's notation. The password is ASCII: it is
 * its own normal form.
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const iterations = 4096;
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}

/** tables made or dropped in one transaction: each takes locks, which the server keeps in fixed memory */
const tablesPerTransaction = 50;

/** Makes all staged tables of the model, for other processes to fill. What the tables require of their rows is asked when all are there. */
async function createSharedTables(sql: Sql, staging: StagingArea): Promise<void> {
  staging.isShared = true;
  const tables = [...staging.entries()].map(([, table]) => table);
  for (const table of tables) table.requireNothing();
  for (let from = 0; from < tables.length; from += tablesPerTransaction) {
    const some = tables.slice(from, from + tablesPerTransaction);
    await sql.unsafe(some.map((table) => table.createStatement()).join('; '));
  }
}

/** `rows`: by key, as the executors that wrote them report. No more rows come, and the tables get their keys. */
async function adoptSharedTables(
  sql: Sql,
  staging: StagingArea,
  rows: ReadonlyMap<number | string, number>,
): Promise<void> {
  const empty: string[] = [];
  const filled: StagedTable[] = [];
  for (const [key, table] of staging.entries()) {
    table.rows = table.copied = rows.get(key) ?? 0;
    table.created = table.committed = table.rows > 0;
    if (!table.created) empty.push(table.relation);
    else if (table.form.logged) filled.push(table);
  }
  for (let from = 0; from < empty.length; from += tablesPerTransaction)
    await sql.unsafe(`DROP TABLE ${empty.slice(from, from + tablesPerTransaction).join(', ')}`);
  await staging.addKeys(filled.toSorted((a, b) => b.rows - a.rows));
}
