/** Tables of a SQLite file: what is there, and how they are made. */
import { createTable } from '../../../engine/sql/statements.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { viewMark } from '../../rows/made-views.ts';
import { foldedName, type SqliteDb } from './database.ts';
import type { FoundColumn, FoundTable } from '../found-tables.ts';
import { columnComments, tableComment } from './table-text.ts';

interface SqliteColumn extends FoundColumn {
  /** place in the primary key, from 1; 0: it is not of it */
  readonly keyPlace: number;
}

export interface SqliteTable extends FoundTable {
  readonly columns: ReadonlyMap<string, SqliteColumn>;
}

export function readTables(database: Pick<SqliteDb, 'read'>): Map<string, SqliteTable> {
  const tables: Map<string, SqliteTable> = new Map();
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
): SqliteTable {
  let columns: Map<string, SqliteColumn> | null = null;
  const comment = isView ? (/\/\* ([\s\S]*?) \*\//.exec(sql)?.[1] ?? null) : tableComment(sql);
  return {
    name,
    isView,
    comment,
    statement: sql,
    madeView: isView && comment?.endsWith(viewMark) === true ? { comment, statements: [sql] } : null,
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

/** The statement that makes a table of the model. Its unique keys are indexes, made when rows are in it: these may break them. */
export function tableStatement(table: PhysicalTable): string {
  return createTable(
    sqlite,
    { ...table, comment: table.comment, columns: table.columns, uniqueKeys: [] },
    { sqlSchema: null, ifNotExists: false, foreignKeys: table.foreignKeys },
  );
}
