/** A connection to the database of a target, as far as the steps of publishing need it. */
import { randomBytes } from 'node:crypto';
import { ownPrefix } from '../../engine/model/side-tables.ts';

export interface SqlDatabase {
  /** Runs one statement or several, and returns the number of rows that the last one changed. */
  run(sql: string): Promise<number>;
  /** Returns rows by column name. Whole numbers may be bigints. */
  read<T>(sql: string): Promise<T[]> | T[];
}

export async function runAll(database: SqlDatabase, statements: readonly string[]): Promise<void> {
  const statementsPerCall = 100;
  for (let from = 0; from < statements.length; from += statementsPerCall)
    await database.run(statements.slice(from, from + statementsPerCall).join(';\n'));
}

/** Returns a name that no other table has: a temporary table would hide one of the target that is called the same. */
export function temporaryName(): string {
  return `${ownPrefix}${randomBytes(8).toString('hex')}`;
}
