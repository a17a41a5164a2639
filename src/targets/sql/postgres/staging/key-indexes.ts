/**
 * Indexes of staged tables, made where the rows lie and beside the work on other tables, as the publishing transaction would have to make
 * one after the other. Whoever publishes moves the tables, and their indexes go with them.
 */
import { keyIndexStatement, type KeyIndex } from '../../../../engine/sql/key-indexes.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import type { Sql } from '../../../../adapters/postgres/client/connect.ts';
import type { StagedTable } from './staged-table.ts';

/** below this many rows an index costs less than the statement to have it made here */
const worthwhileRows = 10_000;

export interface IndexBuilds {
  /** made so far, and what they took, in milliseconds */
  readonly done: { count: number; elapsedMs: number };
  /** Makes one that is ready, on this connection; false: none is ready now. */
  next(sql: Sql): Promise<boolean>;
}

/** Ready is a table that has its primary key: no more rows come. */
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
