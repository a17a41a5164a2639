/**
 * Foreign keys and indexes of staged tables: made and checked where the rows lie, beside the work on other tables, as the publishing
 * transaction would have to make one after the other. Whoever publishes moves the tables, and their keys and indexes go with them.
 */
import { doubleQuoted } from '../../../../engine/sql/dialect.ts';
import type { PhysicalTable } from '../../../../engine/sql/physical-model.ts';
import type { Sql } from '../../../../adapters/postgres/client/connect.ts';
import type { StagedReference, StagedTable } from './staged-table.ts';
import { constraintName } from '../../../../engine/map/names/constraint-name.ts';
import { keyIndexStatement, type KeyIndex } from '../../../../engine/sql/key-indexes.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';

/** below this many rows a check or an index costs less than the statements to have it made here */
const worthwhileRows = 10_000;
/** from here a hash table of the parents' keys outgrows a processor's cache, and to look into it costs more than to merge */
const crowdedParents = 50_000;
/** what a sort of PostgreSQL takes for a key */
const sortedKeyBytes = 24;

export interface ReferenceChecks {
  /** Makes and checks one that is ready, on this connection; false: none is ready now. */
  next(sql: Sql): Promise<boolean>;
}

/** Ready is what refers from a table with its keys to a table with its keys. */
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
  // takes strong locks of both tables for a moment: two that wait for each other's could not go on
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
      // the failure is told by the next line; the keys after it wait for their turn alone
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
 * Statements: how the check is to join. Rows stand in the order of the rows they refer to: a sort finds them sorted, and merging them
 * with the parents' index takes two thirds of the time of a hash join, where it need not spill. So it gets the memory that a
 * hash join might take; where that is too little, the planner decides.
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
 * Foreign keys of a table to others of the model, and to the documents where `toDocuments`; without those whose names would be the same.
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

/** Tables that were moved without what they refer to lose those keys: they get them anew, to the target's own tables. */
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
