/** A table whose rows are invisible until their job publishes: its form, the bytes that wait for it, and its state on the server. */
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { Sql, TransactionSql } from '../../../postgres/connect.ts';
import { constraintName } from '../../../engine/map/names/identifiers.ts';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import { keyIndexStatement, type KeyIndex } from '../../../engine/sql/ddl.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import type { UnconvertedValue } from '../../../ports/row-sink.ts';

// COPY … FROM STDIN on one connection.

interface CopyStream {
  /** Resolves when the bytes have been handed to the system; rejects with the server's error. Takes ownership of the buffer. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the data; returns the number of rows that the server received. */
  finish(): Promise<number>;
}

/** A connection that copies into staging. `Table`: the table that it fills. */
export interface Lane<Table> {
  readonly sql: Sql;
  /** the socket to which the server's input is written */
  socket: Socket | null;
  table: Table | null;
  copy: CopyStream | null;
  running: boolean;
  /** its session has been set up */
  isSetUp: boolean;
}

/** The internals of a query of postgres.js, which settles these promises when the server responds. */
interface QueryInternals {
  active: boolean;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Begins a COPY. The driver answers a COPY with its stream and then has no way to report how the statement ended: an error after the last
 * byte would be lost. So this function replaces the query's two callbacks before it is sent. The driver's stream copies all data that it
 * gets; if the connection's `socket` is given, messages are written there instead.
 */
export async function startCopy(
  sql: Sql | TransactionSql,
  statement: string,
  socket: Socket | null = null,
): Promise<CopyStream> {
  const query = sql.unsafe(statement);
  const internals = query as unknown as QueryInternals;
  const started = Promise.withResolvers<Writable>();
  const ended = Promise.withResolvers<number>();
  // callers that await these promises get the failure; a promise that nobody awaits yet must not end the process
  started.promise.catch(() => undefined);
  ended.promise.catch(() => undefined);
  internals.resolve = (result) => {
    if (isStream(result)) {
      result.on('error', (error) => ended.reject(error));
      started.resolve(result);
      return;
    }
    internals.active = false;
    ended.resolve((result as { count: number }).count);
  };
  internals.reject = (error) => {
    internals.active = false;
    started.reject(error);
    ended.reject(error);
  };
  query.execute();
  const stream = await started.promise;
  // one listener for all writes: a long COPY makes many
  const waiting = new Set<(error: unknown) => void>();
  let failure: { readonly error: unknown } | null = null;
  ended.promise.catch((error: unknown) => {
    failure = { error };
    for (const reject of waiting) reject(error);
  });
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (failure !== null) {
          reject(failure.error);
          return;
        }
        waiting.add(reject);
        const written = (error?: Error | null): void => {
          // the server's error arrives through the other callback
          if (error) return;
          waiting.delete(reject);
          resolve();
        };
        if (socket === null) stream.write(bytes, written);
        else writeCopyData(socket, bytes, written);
      }),
    finish: () => {
      stream.end();
      return ended.promise;
    },
  };
}

/** A CopyData message (PostgreSQL manual §54.7). */
function writeCopyData(socket: Socket, bytes: Uint8Array, written: (error?: Error | null) => void): void {
  const header = Buffer.allocUnsafe(5);
  header.writeUInt8(0x64);
  header.writeUInt32BE(bytes.length + 4, 1);
  socket.cork();
  socket.write(header);
  socket.write(bytes, written);
  socket.uncork();
}

function isStream(result: unknown): result is Writable {
  return typeof (result as Writable | null)?.write === 'function';
}

// The table.

const writeBytes = 256 * 1024;

interface StagedColumn {
  readonly name: string;
  readonly sqlType: string;
  /** false: every row has a value, unless `StagedTable.loosen` says otherwise */
  readonly nullable?: boolean;
}

export interface StagedForm {
  /** the name that the table will have in the target; its constraints are named after it */
  readonly tableName?: string;
  readonly columns: readonly StagedColumn[];
  readonly logged: boolean;
  /** foreign keys to other staged tables, made when both tables have their keys */
  readonly references?: readonly StagedReference[];
  /** made when the table has its keys */
  readonly indexes?: readonly KeyIndex[];
}

interface StagedReference {
  /** the constraint's name, as the database would choose it in the target */
  readonly name: string;
  readonly column: string;
  /** key of the staged table that is referred to */
  readonly parent: StagedTable['key'];
  readonly parentColumn: string;
}

/** Called when a buffer is no longer needed. */
export type Release = (bytes: Uint8Array) => void;

interface StagedBytes {
  readonly bytes: Uint8Array;
  readonly release: Release | undefined;
}

export class StagedTable {
  /** index of a table of the model, or the name of another */
  readonly key: number | string;
  /** quoted, with its SQL schema */
  readonly relation: string;
  readonly name: string;
  readonly sqlSchema: string;
  /** see StagingOptions.mark */
  readonly #mark: string | null;
  readonly #makeForm: () => StagedForm;
  #form: StagedForm | null = null;
  created = false;
  /** whether the table has the keys that `StagingOptions.keys` returned */
  keyed = false;
  keysBegun = false;
  /** the table's foreign keys that have been checked */
  readonly references: StagedReference[] = [];
  /** rows received, and rows that the server has received */
  rows = 0;
  copied = 0;
  pendingBytes = 0;
  takenBytes = 0;
  /** connections that have it, until their rows are committed; and those of them that may still copy */
  readonly lanes = new Set<Lane<StagedTable>>();
  readonly copying = new Set<Lane<StagedTable>>();
  /** how many connections may fill it: more than one only if others see it */
  wantedLanes = 1;
  /** the server's other connections see it */
  committed = false;
  /** indexes of columns that are NOT NULL from the start: a later check would be one more pass over all rows */
  #required: Set<number> | null = null;
  /** columns that no longer require values, which the server does not know yet */
  #loosened: number[] = [];
  #pending: StagedBytes[] = [];

  constructor(
    key: number | string,
    { sqlSchema, name, mark }: { sqlSchema: string; name: string; mark: string | null },
    form: () => StagedForm,
  ) {
    this.key = key;
    this.name = name;
    this.sqlSchema = sqlSchema;
    this.relation = `${doubleQuoted(sqlSchema)}.${doubleQuoted(name)}`;
    this.#mark = mark;
    this.#makeForm = form;
  }

  get form(): StagedForm {
    return (this.#form ??= this.#makeForm());
  }

  /** Allows rows without a value in that column. */
  loosen(column: number): void {
    if (this.#requiredColumns().delete(column) && this.created) this.#loosened.push(column);
  }

  /**
   * Makes all columns nullable, before the table is made: rows may lack values of any column, and it is not known which until all rows are
   * there.
   */
  requireNothing(): void {
    this.#requiredColumns().clear();
  }

  /** Returns whether one more connection may fill the table. */
  get takesLane(): boolean {
    return this.lanes.size < this.wantedLanes && (this.lanes.size === 0 || this.committed);
  }

  /** Returns whether columns may lack values that the server requires: `alterLoosened` must run before the next rows. */
  get hasLoosened(): boolean {
    return this.#loosened.length > 0;
  }

  /** Returns whether a change must be made on the server before a lane takes more of the table's rows. */
  get isUnsettled(): boolean {
    return this.hasLoosened || (this.wantedLanes > 1 && !this.committed);
  }

  async alterLoosened(run: (statement: string) => Promise<unknown>): Promise<void> {
    const columns = [...this.#loosened];
    const drops = columns.map(
      (at) => `ALTER COLUMN ${doubleQuoted(this.form.columns[at]!.name)} DROP NOT NULL`,
    );
    await run(`ALTER TABLE ${this.relation} ${drops.join(', ')}`);
    this.#loosened.splice(0, columns.length);
  }

  #requiredColumns(): Set<number> {
    const { columns, logged } = this.form;
    // rows that are read once and dropped need no constraints
    return (this.#required ??= new Set(
      columns.flatMap(({ nullable }, at) => (logged && nullable === false ? [at] : [])),
    ));
  }

  push(bytes: Uint8Array, release?: Release): void {
    this.#pending.push({ bytes, release });
    this.pendingBytes += bytes.length;
  }

  /** Removes and returns the oldest bytes: one chunk, or several small ones together. */
  take(): StagedBytes {
    let count = 0;
    let length = 0;
    while (
      count < this.#pending.length &&
      (count === 0 || length + this.#pending[count]!.bytes.length <= writeBytes)
    ) {
      length += this.#pending[count]!.bytes.length;
      count += 1;
    }
    const taken = this.#pending.splice(0, count);
    this.pendingBytes -= length;
    this.takenBytes += length;
    if (count === 1) return taken[0]!;
    const bytes = Buffer.concat(
      taken.map((one) => one.bytes),
      length,
    );
    for (const one of taken) one.release?.(one.bytes);
    return { bytes, release: undefined };
  }

  createStatement(): string {
    const { logged, tableName = this.name } = this.form;
    const required = this.#requiredColumns();
    const taken = new Set<string>();
    const notNull = (column: string): string => {
      const name = constraintName(tableName, column, 'not_null');
      if (taken.has(name)) return ' NOT NULL';
      taken.add(name);
      return ` CONSTRAINT ${doubleQuoted(name)} NOT NULL`;
    };
    const columns = this.form.columns.map(
      ({ name, sqlType }, at) => `${doubleQuoted(name)} ${sqlType}${required.has(at) ? notNull(name) : ''}`,
    );
    const comment = this.#mark === null ? '' : `; COMMENT ON TABLE ${this.relation} IS ${this.#mark}`;
    return `CREATE ${logged ? '' : 'UNLOGGED '}TABLE ${this.relation} (${columns.join(', ')})${comment}`;
  }

  /**
   * Returns the statement for a COPY. The first COPY into a table of the same transaction (`isNew`) writes its rows in their final state.
   */
  copyStatement(isNew: boolean): string {
    return `COPY ${this.relation} FROM STDIN${isNew ? ' WITH (FREEZE)' : ''}`;
  }
}

/** Key of the values that their columns cannot hold, which are staged separately until the columns are widened. */
export const unconvertedValues = 'unconvertedValues';

export const unconvertedColumns = [
  { name: 'table_index', sqlType: 'integer' },
  { name: 'column_index', sqlType: 'integer' },
  { name: 'row_key', sqlType: 'bigint' },
  { name: 'content', sqlType: 'text' },
];

/** Returns one row for COPY. */
export function unconvertedRow({ table, column, rowKey, text }: UnconvertedValue): Uint8Array {
  const content = text.replaceAll(/[\\\t\n\r]/g, (character) => copyEscapes[character]!);
  return Buffer.from(`${table}\t${column}\t${rowKey}\t${content}\n`);
}

const copyEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** below this number of rows, a check or an index costs less than the statements that make it here */
const worthwhileRows = 10_000;
/** above this number, a hash table of the parents' keys exceeds a processor's cache, and a lookup in it costs more than a merge */
const crowdedParents = 50_000;
/** bytes that a sort of PostgreSQL takes for a key */
const sortedKeyBytes = 24;

export interface ReferenceChecks {
  /** Makes and checks one that is ready, on this connection; false: none is ready now. */
  next(sql: Sql): Promise<boolean>;
}

/** Checks references that are ready: both tables have their keys. */
export function createReferenceChecks(tables: ReadonlyMap<number | string, StagedTable>): ReferenceChecks {
  const waiting = [...tables.values()]
    .filter(({ created, rows }) => created && rows >= worthwhileRows)
    .flatMap((child) =>
      (child.form.references ?? []).map((reference) => ({
        child,
        reference,
        parent: tables.get(reference.parent)!,
      })),
    )
    .toSorted((a, b) => b.child.rows - a.child.rows);
  // takes strong locks on both tables for a moment: two statements that wait for each other's locks could not continue
  let last: Promise<unknown> = Promise.resolve();
  return {
    async next(sql) {
      const at = waiting.findIndex(({ child, parent }) => child.keyed && parent.keyed);
      if (at < 0) return false;
      const { child, parent, reference } = waiting.splice(at, 1)[0]!;
      const name = doubleQuoted(reference.name);
      const making = last.then(() =>
        sql.unsafe(
          `ALTER TABLE ${child.relation} ADD CONSTRAINT ${name} FOREIGN KEY (${doubleQuoted(reference.column)}) REFERENCES ${parent.relation} (${doubleQuoted(reference.parentColumn)}) NOT VALID`,
        ),
      );
      // the next line reports the failure; later keys only wait for their turn
      last = making.catch(() => undefined);
      await making;
      await sql.unsafe(
        `${joinSettings(parent.rows, child.rows)}; ALTER TABLE ${child.relation} VALIDATE CONSTRAINT ${name}`,
      );
      child.references.push(reference);
      return true;
    },
  };
}

/**
 * Returns the statements that choose how the check joins. Rows are in the order of the rows they refer to: a sort finds them sorted, and
 * merging them with the parents' index takes two thirds of the time of a hash join, if it need not spill. So the merge gets the memory that
 * a hash join might take; if that is too little, the planner decides.
 */
function joinSettings(parentRows: number, childRows: number): string {
  const usual = 'RESET enable_hashjoin; RESET maintenance_work_mem';
  if (parentRows < crowdedParents) return usual;
  const wanted = childRows * sortedKeyBytes;
  return `${usual};
    SELECT set_config('enable_hashjoin', 'off', false), set_config('maintenance_work_mem', greatest(present, ${wanted}) / 1024 + 1 || 'kB', false)
      FROM (SELECT pg_size_bytes(current_setting('maintenance_work_mem')) AS present,
                   coalesce(current_setting('hash_mem_multiplier', true), '1')::float8 AS multiple) m
     WHERE present * multiple >= ${wanted}`;
}

/**
 * Returns the foreign keys of a table to others of the model, and to the documents if `toDocuments`, without those whose names would be the
 * same.
 */
export function stagedReferences(table: PhysicalTable, toDocuments: boolean): StagedReference[] {
  const references = table.foreignKeys
    .filter(({ parent }) => parent !== -1 || toDocuments)
    .map(({ column, parent, parentColumn }) => ({
      name: constraintName(table.name, column, 'fkey'),
      column,
      parent: parent === -1 ? 'documents' : parent,
      parentColumn,
    }));
  return references.filter(({ name }, at) => references.findIndex((other) => other.name === name) === at);
}

/**
 * Returns the keys of tables that were moved without the tables they refer to: these keys are dropped, and made again for the target's own
 * tables.
 */
export function strayReferences(
  moved: ReadonlySet<StagedTable>,
  staged: (key: StagedReference['parent']) => StagedTable,
): { readonly table: StagedTable; readonly reference: StagedReference }[] {
  return [...moved].flatMap((table) =>
    table.references
      .filter(({ parent }) => !moved.has(staged(parent)))
      .map((reference) => ({ table, reference })),
  );
}

export interface IndexBuilds {
  /** the number made so far, and the time they took, in milliseconds */
  readonly done: { count: number; elapsedMs: number };
  /** Makes one that is ready, on this connection; false: none is ready now. */
  next(sql: Sql): Promise<boolean>;
}

/** Builds indexes of tables that are ready. A table is ready when it has its primary key, because no more rows come. */
export function createIndexBuilds(tables: ReadonlyMap<number | string, StagedTable>): IndexBuilds {
  const waiting: { readonly table: StagedTable; readonly index: KeyIndex }[] = [...tables.values()]
    .filter(({ created, rows }) => created && rows >= worthwhileRows)
    .flatMap((table) => (table.form.indexes ?? []).map((index) => ({ table, index })))
    .toSorted((a, b) => b.table.rows - a.table.rows);
  const done = { count: 0, elapsedMs: 0 };
  let begun = 0;
  return {
    done,
    async next(sql) {
      const at = waiting.findIndex(({ table }) => table.keyed);
      if (at < 0) return false;
      const { table, index } = waiting.splice(at, 1)[0]!;
      const started = performance.now();
      begun += 1;
      const name = `${table.name}_${begun}`;
      await sql.unsafe(keyIndexStatement(postgresql, table.sqlSchema, table.name, index, { name }));
      done.count += 1;
      done.elapsedMs += performance.now() - started;
      return true;
    },
  };
}
