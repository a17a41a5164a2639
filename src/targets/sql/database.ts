/** A connection to the database of a target, with the operations that publishing needs. */
import { randomBytes } from 'node:crypto';
import { ownPrefix } from '../../engine/model/side-tables.ts';

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
