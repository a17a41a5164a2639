/** One SQLite file in this process, by Node's module `node:sqlite`. It works synchronously, so long work is cut into pieces. */
import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { AppError } from '../../../errors.ts';
import { fileFault } from '../../../storage/staging/durable-file.ts';

/** A value as it is read: whole numbers are bigints. */
export type SqliteValue = string | number | bigint | Uint8Array | null;

export interface SqliteDb {
  /** Runs one statement or several, and returns the number of rows that the last one changed, if it changes rows. */
  run(sql: string): Promise<number>;
  /** Returns rows by column name; whole numbers are bigints. */
  read<T>(sql: string, ...values: SQLInputValue[]): T[];
  prepare(sql: string): StatementSync;
  /**
   * Prepares a statement that changes rows and reports its result in bigints. Every such statement, even if it adds no row, reports the key
   * of the last row added, which may exceed 2^53. `prepare` is faster, because it reports numbers.
   */
  prepareChange(sql: string): StatementSync;
  /**
   * Runs `work` with a limit on the size of values, and returns its result. Throws a fault that `isTooLong` recognizes if a value exceeds
   * the limit.
   */
  withLongest<T>(bytes: number, work: () => T): T;
  /** Closes the file; safe to call again. */
  close(): void;
}

export interface SqliteOptions {
  /** the name of the file in messages */
  readonly label: string;
  /** how long to wait for another program that writes into the file (30 seconds) */
  readonly busyTimeoutMs?: number;
  /** opened for reading only; a connection with write access removes the log when the file is closed, so the file is opened as usual */
  readonly readOnly?: boolean;
  /** no other process knows the file, which is discarded if an error occurs */
  readonly isNew?: boolean;
  /** prevents further statements except those that end a transaction */
  readonly signal?: AbortSignal;
}

const pollMs = 100;
const cacheBytes = 16 * 1024 * 1024;

/** Codes of SQLite: the lower byte is the kind of error. */
const codes = {
  error: 1,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  schema: 17,
  tooBig: 18,
  constraint: 19,
  notADatabase: 26,
};

/** Statements that end a transaction: they are not interrupted, so that its outcome is known. */
const ending: ReadonlySet<string> = new Set(['COMMIT', 'ROLLBACK']);

/** Opens `path`: a file, which is made if it is missing unless it is opened for reading only. Throws AppErrors like `sqliteFault`. */
export async function openSqlite(path: string, options: SqliteOptions): Promise<SqliteDb> {
  const { isNew = false, readOnly = false, busyTimeoutMs = 30_000, label, signal } = options;
  if (!isNew) await access(path);
  const sqlite = await import('node:sqlite');
  let database: DatabaseSync | null = null;
  const deadline = (): number => Date.now() + busyTimeoutMs;
  try {
    database = new sqlite.DatabaseSync(path, {
      // rows come table by table, and keys refer in both directions
      enableForeignKeyConstraints: false,
      // this program waits itself: SQLite would block this process while it waits
      timeout: 0,
    });
    const opened = database;
    // views and triggers that a file defines must not call functions that are not meant for them
    await whenFree(
      () =>
        opened.exec(
          `PRAGMA trusted_schema = OFF; PRAGMA cache_size = -${cacheBytes / 1024}; PRAGMA legacy_alter_table = ON; PRAGMA query_only = ${readOnly ? 'ON' : 'OFF'}`,
        ),
      deadline(),
    );
    if (isNew) opened.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    // reads the file for the first time
    await whenFree(() => opened.exec('SELECT 1 FROM sqlite_schema LIMIT 1'), deadline());
    opened.function('svc_text', { deterministic: true }, (value) => String(value).replace('Infinity', 'INF'));
  } catch (error) {
    database?.close();
    throw sqliteFault(error, label);
  }
  return openedDatabase(database, deadline, label, signal);
}

function openedDatabase(
  database: DatabaseSync,
  deadline: () => number,
  label: string,
  signal?: AbortSignal,
): SqliteDb {
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw sqliteFault(error, label);
    }
  };
  const waiting = async <T>(sql: string, work: () => T): Promise<T> => {
    if (!ending.has(sql)) signal?.throwIfAborted();
    try {
      return await whenFree(work, deadline());
    } catch (error) {
      throw sqliteFault(error, label);
    }
  };
  const withBigInts = (sql: string): StatementSync => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  };
  const changes = database.prepare('SELECT changes() AS changes');
  return {
    run: (sql) =>
      waiting(sql, () => {
        database.exec(sql);
        return Number(changes.get()!['changes']);
      }),
    read: <T>(sql: string, ...values: SQLInputValue[]) =>
      guarded(() => withBigInts(sql).all(...values) as T[]),
    prepare: (sql) => guarded(() => database.prepare(sql)),
    prepareChange: (sql) => guarded(() => withBigInts(sql)),
    withLongest: (bytes, work) => {
      const { limits } = database;
      const { length } = limits;
      limits.length = bytes;
      try {
        return work();
      } finally {
        limits.length = length;
      }
    },
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

/** Retries while another program holds the file, up to `deadline`. */
export async function whenFree<T>(work: () => T, deadline: number): Promise<T> {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || Date.now() >= deadline) throw error;
      await sleep(pollMs);
    }
  }
}

function codeOf(error: unknown): number | null {
  const code = (error as { readonly errcode?: unknown }).errcode;
  return typeof code === 'number' ? code & 255 : null;
}

/** Returns whether the error reports a value that exceeds the size limit. */
export function isTooLong(error: unknown): boolean {
  return codeOf(error) === codes.tooBig;
}

/** Returns whether the error reports a fault of a statement, and not of the file. */
export function isSqlFault(error: unknown): boolean {
  return codeOf(error) === codes.error;
}

function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === codes.busy || code === codes.locked;
}

/** Returns the columns of a unique key that a row violates, as SQLite names them: `table.column`; null for another fault. */
export function brokenUnique(error: unknown): readonly string[] | null {
  const { message = '' } = error as Partial<Error>;
  const found = /^UNIQUE constraint failed: (.+)$/.exec(message);
  return codeOf(error) === codes.constraint && found !== null ? found[1]!.split(', ') : null;
}

/**
 * Converts faults of SQLite to AppErrors: `service_unavailable` for those that may pass, `conflict` for faulty content of the file; those
 * of the file system as in `fileFault`.
 */
export function sqliteFault(error: unknown, label: string): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const told = error.message.split('\n', 1)[0]!.replace(/[.]?$/, '.');
  const unavailable = (text: string): AppError =>
    new AppError('service_unavailable', `${label}${text}`, { cause: error });
  const conflict = (text: string): AppError => new AppError('conflict', `${label}${text}`, { cause: error });
  switch (codeOf(error)) {
    case null:
      return fileFault(error, label);
    case codes.busy:
    case codes.locked:
      return unavailable(
        ' is locked by another program that writes to it: end that program or its transaction, and run the job again.',
      );
    case codes.full:
      return new AppError(
        'service_unavailable',
        `${label}: cannot be written: the disk is full; make room there and run the job again, or name another place.`,
        { cause: error, outage: { of: 'room' } },
      );
    case codes.ioError:
      return unavailable(
        `: cannot be written: ${told} Check the free space and the health of the disk, and run the job again.`,
      );
    case codes.notADatabase:
      return conflict(' exists and is not an SQLite database.');
    case codes.corrupt:
      return conflict(
        ` is damaged (${told} PRAGMA integrity_check shows the damage): name another file, or restore a backup.`,
      );
    case codes.readOnly:
    case codes.cannotOpen:
      return new AppError(
        'target_not_allowed',
        `${label}: cannot be opened: there is a folder where a file is needed, or this user has no permission for the file or its folder; grant it, or name another place.`,
        { cause: error },
      );
    default:
      return conflict(`: ${told}`);
  }
}

/** Folds names the way SQLite compares them: only ASCII letters are case-insensitive. */
export function foldedName(name: string): string {
  return name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
