/** Hashed keys of two documents that are the same: the database says so where it makes a primary key, or keeps one. */
import { AppError } from '../../../../errors.ts';
import { sqlState } from '../../../../adapters/postgres/client/connect.ts';

/** `table`: its name in the target. */
export function keysMeet(table: string): AppError {
  return new AppError(
    'conflict',
    `${table}: keys of two documents meet (--keys hash); load these documents with --keys sequence, into a target of their own.`,
  );
}

/** What the database said of a repeated key, in these words; other faults as they are. `nameOf`: of a staged table, that in the target. */
export function keyFault(error: unknown, nameOf: (table: string) => string): unknown {
  if (sqlState(error) !== '23505') return error;
  const { table_name: table = '' } = error as { readonly table_name?: string };
  return keysMeet(nameOf(table));
}
