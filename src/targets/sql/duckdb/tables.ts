/** Tables of a DuckDB file: existing tables, columns that keep a time zone, and statements that make tables. */
import { commentStatements, createTable } from '../../../engine/sql/statements.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { viewMark } from '../../rows/made-views.ts';
import { zonesOf, type FoundColumn, type FoundTable, type FoundTables } from '../found-tables.ts';
import { foldedName, type DuckDb } from './database.ts';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import type { ZonesThere, ZoneTable } from '../../../ports/rows/sink.ts';

export async function readTables(database: Pick<DuckDb, 'read'>): Promise<FoundTables> {
  const rows = await database.read<{
    table: string;
    view: boolean;
    said: string | null;
    sql: string | null;
    column: string;
    type: string;
    nullable: boolean;
    default: string | null;
    comment: string | null;
  }>(`SELECT c.table_name AS "table", v.view_name IS NOT NULL AS view, coalesce(v.comment, t.comment) AS said, v.sql, c.column_name AS "column", c.data_type AS type,
             c.is_nullable AS nullable, c.column_default AS default, c.comment
        FROM duckdb_columns() c LEFT JOIN duckdb_views() v ON v.view_oid = c.table_oid AND v.database_oid = c.database_oid
             AND v.schema_oid = c.schema_oid AND v.view_name = c.table_name
             LEFT JOIN duckdb_tables() t ON t.table_oid = c.table_oid AND t.database_oid = c.database_oid
             AND t.schema_oid = c.schema_oid AND t.table_name = c.table_name
       WHERE c.database_name = current_database() AND c.schema_name = 'main' ORDER BY c.table_name, c.column_index`);
  const tables: Map<string, FoundTable & { readonly columns: Map<string, FoundColumn> }> = new Map();
  for (const row of rows) {
    const name = foldedName(row.table);
    let table = tables.get(name);
    if (table === undefined) {
      const { said, sql } = row;
      const statements = said === null ? [] : [sql!, commentOnView(row.table, said)];
      table = {
        name: row.table,
        isView: row.view,
        comment: said,
        statement: sql,
        madeView: row.view && said?.endsWith(viewMark) === true ? { comment: said, statements } : null,
        columns: new Map(),
      };
      tables.set(name, table);
    }
    table.columns.set(foldedName(row.column), {
      name: row.column,
      type: row.type,
      notNull: !row.nullable,
      hasDefault: row.default !== null,
      comment: row.comment,
    });
  }
  return tables;
}

export function commentOnView(name: string, comment: string): string {
  return `COMMENT ON VIEW ${duckdb.quote(name)} IS ${duckdb.literal(comment)}`;
}

/**
 * Returns statements that make a table of the model, with comments and NOT NULL, but without keys: an index of DuckDB must fit into memory
 * and takes most of the time of a large load, and a table that a foreign key refers to can no longer be altered.
 */
export function tableStatements(
  table: PhysicalTable,
  columns: readonly { readonly sqlType: string; readonly nullable: boolean }[],
  ifNotExists = false,
): string[] {
  const bare: PhysicalTable = {
    ...table,
    columns: table.columns.map((column, at) => ({ ...column, ...columns[at]! })),
    primaryKey: [],
    uniqueKeys: [],
    foreignKeys: [],
  };
  return [
    createTable(duckdb, bare, { sqlSchema: null, ifNotExists, foreignKeys: [] }),
    ...commentStatements(duckdb, null, bare),
  ];
}

type DuckDbRows = Pick<DuckDb, 'read'>;

/** Implements `RowSink.zonesThere`. */
export function readZones(
  database: DuckDbRows,
  known: FoundTables,
  tables: readonly ZoneTable[],
): Promise<ZonesThere> {
  const columnOf = (table: string, column: string) => known.get(table)!.columns.get(column);
  return zonesOf({ dialect: duckdb, foldedName }, tables, {
    hasTable: (table) => known.has(table),
    isZoned(table, column) {
      const type = columnOf(table, column)?.type;
      return type?.startsWith('TIMESTAMP') === true ? type.includes('TIME ZONE') : null;
    },
    hasValues: (table, column) => hasValues(database, known.get(table)!.name, columnOf(table, column)!.name),
  });
}

/** Returns whether a row has a value in the column. */
export async function hasValues(database: DuckDbRows, table: string, column: string): Promise<boolean> {
  const rows = await database.read(
    `SELECT 1 FROM ${doubleQuoted(table)} WHERE ${doubleQuoted(column)} IS NOT NULL LIMIT 1`,
  );
  return rows.length > 0;
}
