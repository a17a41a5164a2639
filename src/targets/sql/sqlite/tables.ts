/** Tables of a SQLite file: what is there, and how they are made. */
import { createTable, indexStatements } from '../../../engine/sql/statements.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { physicalSideTable, type PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { sideTableDefinitions, type SideTableDefinition } from '../../../engine/model/side-tables.ts';
import { viewMark } from '../../../adapters/row-sinks/made-views.ts';
import { foldedName, type SqliteDb } from './database.ts';
import { columnComments } from './table-text.ts';

interface FoundColumn {
  readonly name: string;
  /** as it was declared; empty: it was not */
  readonly type: string;
  readonly notNull: boolean;
  /** place in the primary key, from 1; 0: it is not of it */
  readonly keyPlace: number;
  readonly hasDefault: boolean;
  readonly comment: string | null;
}

export interface FoundTable {
  readonly name: string;
  readonly isView: boolean;
  /** the statement that made it */
  readonly sql: string;
  /** of a view that a load made: its comment */
  readonly madeView: { readonly comment: string } | null;
  /** by folded name */
  readonly columns: ReadonlyMap<string, FoundColumn>;
}

/** Tables and views, by folded name. */
export type FoundTables = Map<string, FoundTable>;

export function readTables(database: Pick<SqliteDb, 'read'>): FoundTables {
  const tables: FoundTables = new Map();
  for (const { name, type, sql } of database.read<{ name: string; type: string; sql: string | null }>(
    `SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  ))
    tables.set(foldedName(name), knownTable(database, name, type === 'view', sql ?? ''));
  return tables;
}

/** Columns, which are asked for where they are looked at: a file may have thousands of tables. */
function knownTable(
  database: Pick<SqliteDb, 'read'>,
  name: string,
  isView: boolean,
  sql: string,
): FoundTable {
  let columns: Map<string, FoundColumn> | null = null;
  const comment = isView ? /\/\* ([\s\S]*?) \*\//.exec(sql)?.[1] : undefined;
  return {
    name,
    isView,
    sql,
    madeView: comment?.endsWith(viewMark) === true ? { comment } : null,
    get columns() {
      if (columns !== null) return columns;
      const comments = isView ? new Map<string, string>() : columnComments(sql);
      const rows = database.read<{
        name: string;
        type: string;
        notnull: bigint;
        pk: bigint;
        dflt_value: string | null;
      }>(`SELECT name, type, "notnull", pk, dflt_value FROM pragma_table_xinfo(?) WHERE hidden <> 1`, name);
      columns = new Map(
        rows.map((row) => [
          foldedName(row.name),
          {
            name: row.name,
            type: row.type,
            notNull: row.notnull === 1n,
            keyPlace: Number(row.pk),
            hasDefault: row.dflt_value !== null,
            comment: comments.get(row.name) ?? null,
          },
        ]),
      );
      return columns;
    },
  };
}

/** Statements that make the tables beside the data, those that are missing. */
export function sideTableStatements(known: FoundTables): string[] {
  return Object.values(sideTableDefinitions)
    .filter(({ name }) => !known.has(foldedName(name)))
    .flatMap(sideTable);
}

/** Statements that make one of them. */
export function sideTable(definition: SideTableDefinition): string[] {
  const table = physicalSideTable(definition, sqlite);
  return [
    createTable(sqlite, table, { sqlSchema: null, ifNotExists: false, foreignKeys: [] }),
    ...indexStatements(sqlite, null, table),
  ];
}

/** The statement that makes a table of the model. Its unique keys are indexes, made when rows are in it: these may break them. */
export function tableStatement(table: PhysicalTable): string {
  return createTable(
    sqlite,
    { ...table, comment: table.comment, columns: table.columns, uniqueKeys: [] },
    { sqlSchema: null, ifNotExists: false, foreignKeys: table.foreignKeys },
  );
}
