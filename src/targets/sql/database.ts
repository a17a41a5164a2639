/**
 * The database of a target: a connection with the operations that publishing needs, changes of existing tables, and a watch for silent
 * connections.
 */
import { randomBytes } from 'node:crypto';
import { ownPrefix } from '../../engine/model/side-tables.ts';
import type { FoundColumn, DrawnModel } from './found-tables.ts';
import type { Socket } from 'node:net';

export interface SqlDatabase {
  /** Runs one statement or several, and returns the number of rows that the last one changed. */
  run(sql: string): Promise<number>;
  /** Returns rows by column name. Whole numbers may be bigints. */
  read<T>(sql: string): Promise<T[]> | T[];
  /** Returns the same rows in parts, so that many need not be in memory at once. Absent: `read` is called. */
  pages?<T>(sql: string): AsyncIterable<readonly T[]>;
  /** The number of statements that `run` executes at a time (100). */
  readonly statementsPerRun?: number;
}

export type SqlReader = Pick<SqlDatabase, 'read' | 'pages'>;

export async function* pagesOf<T>(database: SqlReader, sql: string): AsyncIterable<readonly T[]> {
  if (database.pages === undefined) yield await database.read<T>(sql);
  else yield* database.pages<T>(sql);
}

export async function runAll(database: SqlDatabase, statements: readonly string[]): Promise<void> {
  const { statementsPerRun: most = 100 } = database;
  for (let from = 0; from < statements.length; from += most)
    await database.run(statements.slice(from, from + most).join(';\n'));
}

/** Returns a name that no other table has: a temporary table would hide one of the target that is called the same. */
export function temporaryName(): string {
  return `${ownPrefix}${randomBytes(8).toString('hex')}`;
}

// The changes that an existing table needs before it can hold the rows of a job.

/** The alteration of a column, in the order of the model's columns; `at`: the column of the model. */
type ColumnAlteration<Column extends FoundColumn = FoundColumn> =
  | { readonly kind: 'add'; readonly at: number; readonly type: string }
  | { readonly kind: 'widen'; readonly at: number; readonly there: Column; readonly type: string }
  /** drops NOT NULL */
  | { readonly kind: 'loosen'; readonly there: Column };

/** The columns of incoming rows. */
interface Incoming<Column extends FoundColumn> {
  foldedName(name: string): string;
  /** Returns the type of a column, and whether rows may lack its value. */
  column(at: number): { readonly type: string; readonly nullable: boolean };
  /** Returns a type that holds values of both, or the present one if it holds all. */
  settle(there: Column, at: number): Promise<string> | string;
  /** Returns whether the addition of a missing column is reported as a change (default: true). */
  isAdded?(at: number): boolean;
  /** Returns whether a change to this type drops NOT NULL of the column. */
  isLoosened?(there: Column, type: string): boolean;
}

/** Returns the alterations, and the types that the model's columns have after them. Adds a description of each to `changes`. */
export async function findAlterations<Column extends FoundColumn>(
  { drawn, changes }: { readonly drawn: DrawnModel; readonly changes: string[] },
  index: number,
  known: { readonly columns: ReadonlyMap<string, Column> },
  incoming: Incoming<Column>,
): Promise<{ readonly alterations: readonly ColumnAlteration<Column>[]; readonly types: string[] }> {
  const { name, columns, primaryKey } = drawn.tables[index]!;
  const alterations: ColumnAlteration<Column>[] = [];
  const types: string[] = [];
  const loosen = (there: Column, column: string): void => {
    alterations.push({ kind: 'loosen', there });
    changes.push(`${name}.${column}: NOT NULL dropped`);
  };
  for (const [at, column] of columns.entries()) {
    const { type, nullable } = incoming.column(at);
    const there = known.columns.get(incoming.foldedName(column.name));
    if (there === undefined) {
      alterations.push({ kind: 'add', at, type });
      types.push(type);
      if (incoming.isAdded?.(at) !== false) changes.push(`${name}.${column.name}: added`);
      continue;
    }
    const settled = await incoming.settle(there, at);
    types.push(settled);
    const isWider = settled !== there.type;
    if (isWider) {
      alterations.push({ kind: 'widen', at, there, type: settled });
      changes.push(`${name}.${column.name}: ${there.type} widened to ${settled}`);
    }
    const isFree = isWider && incoming.isLoosened?.(there, settled) === true;
    if (there.notNull && nullable && !primaryKey.includes(column.name) && !isFree) loosen(there, column.name);
  }
  const ours = new Set(columns.map((column) => incoming.foldedName(column.name)));
  for (const [folded, there] of known.columns)
    if (!ours.has(folded) && there.notNull && !there.hasDefault) loosen(there, there.name);
  return { alterations, types };
}

// Finds connections on which answers never come. If a firewall or a router in between drops the bytes of both directions, both sides
// consider the connection alive, and each waits for the other. Another connection then shows that the server waits for the client, too.

/** Time between two checks of a silent connection, in milliseconds. */
const usualIntervalMs = 10_000;
/** Consecutive checks with the same result before a connection counts as cut. */
const looksUntilCut = 3;

export interface SilenceWatch {
  /** the sockets of the work that is watched */
  readonly sockets: Set<Socket>;
  /**
   * Watches the sockets until `work`, which waits only for the server, has settled. Closes them without an error if no answer will come,
   * because drivers forget queries that are sent between the error of a socket and its end.
   */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Creates a watch. `serverWaits`: checks over another connection, within that time, whether the server waits for the client, or is out of
 * reach. A server that refuses the connection may be busy.
 */
export function createSilenceWatch(
  serverWaits: (withinMs: number) => Promise<boolean>,
  everyMs: number = usualIntervalMs,
): SilenceWatch {
  const sockets = new Set<Socket>();
  let pending = 0;
  let timer: ReturnType<typeof setInterval> | null = null;
  let silentLooks = 0;
  let isLooking = false;
  let lastMoved = -1;

  async function look(): Promise<void> {
    if (pending === 0) {
      clearInterval(timer!);
      timer = null;
      return;
    }
    const moved = bytesMoved(sockets);
    if (moved !== lastMoved || sockets.size === 0) {
      lastMoved = moved;
      silentLooks = 0;
      return;
    }
    const isSilent = (await serverWaits(Math.max(everyMs, 2000))) && bytesMoved(sockets) === lastMoved;
    silentLooks = isSilent ? silentLooks + 1 : 0;
    if (silentLooks >= looksUntilCut && pending > 0) for (const socket of sockets) socket.destroy();
  }

  function start(): void {
    silentLooks = 0;
    lastMoved = -1;
    timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void look().finally(() => (isLooking = false));
    }, everyMs);
    timer.unref();
  }

  return {
    sockets,
    async during(work) {
      pending += 1;
      if (timer === null) start();
      try {
        return await work();
      } finally {
        pending -= 1;
      }
    },
  };
}

function bytesMoved(sockets: ReadonlySet<Socket>): number {
  let sum = 0;
  for (const socket of sockets) sum += socket.bytesRead + socket.bytesWritten - socket.writableLength;
  return sum;
}
