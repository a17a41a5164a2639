/** Tables of a MySQL database: existing tables, and statements that make them. */
import type { Dialect } from '../../../engine/sql/dialect.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { createTable } from '../../../engine/sql/statements.ts';
import type { Table } from '../../../engine/model/relational-model.ts';
import type { ZonesThere, ZoneTable } from '../../../ports/rows/sink.ts';
import { viewMark } from '../../rows/made-views.ts';
import { zonesOf, type FoundColumn, type FoundTable, type FoundTables } from '../found-tables.ts';
import type { Mysql } from './connection.ts';
import { plainType } from './types.ts';

/** Folds names the way MySQL compares names of columns, and names of tables if the file system ignores case. */
export function foldedName(name: string): string {
  return name.toLowerCase();
}

export async function readTables(database: Mysql): Promise<FoundTables> {
  const tables = new Map<string, FoundTable & { columns: Map<string, FoundColumn> }>();
  const rows = await database.rows(
    `SELECT t.table_name, t.table_type = 'VIEW', t.table_comment, c.column_name, c.column_type, c.is_nullable, c.column_default, c.column_comment
       FROM information_schema.tables t LEFT JOIN information_schema.columns c
         ON c.table_schema = t.table_schema AND c.table_name = t.table_name
      WHERE t.table_schema = DATABASE() ORDER BY t.table_name, c.ordinal_position`,
  );
  const definitions = rows.some(([, view]) => view === '1') ? await viewDefinitions(database) : new Map();
  for (const [name, view, tableComment, column, type, nullable, standard, comment] of rows) {
    const folded = foldedName(name!);
    const table = tables.get(folded) ?? {
      name: name!,
      isView: view === '1',
      comment: tableComment!,
      statement: null,
      madeView: madeView(name!, definitions.get(name!)),
      columns: new Map(),
    };
    tables.set(folded, table);
    // a view of a dropped table has no columns
    if (column === null) continue;
    table.columns.set(foldedName(column!), {
      name: column!,
      type: plainType(type!),
      notNull: nullable === 'NO',
      hasDefault: standard !== null && standard !== 'NULL',
      comment: comment ?? '',
    });
  }
  return tables;
}

/** Returns the queries of views in the form of the server, by name. */
async function viewDefinitions(database: Mysql): Promise<ReadonlyMap<string, string>> {
  const rows = await database.rows(
    'SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE()',
  );
  return new Map(rows.flatMap(([name, query]) => (query === null ? [] : [[name!, query!] as const])));
}

function madeView(name: string, query: string | undefined): FoundTable['madeView'] {
  const comment = query === undefined ? null : viewEnd(query);
  if (comment === null) return null;
  return { comment, statements: [`CREATE OR REPLACE VIEW ${mysql.quote(name)} AS ${query}`] };
}

/**
 * Returns the end of a view's comment, which distinguishes its definition from others. MySQL has no comments on views: the query has it as
 * a literal.
 */
export function viewEnd(text: string): string | null {
  const at = text.indexOf(viewMark);
  return at === -1 ? null : text.slice(at - '(0123456789ab) '.length, at + viewMark.length);
}

/** DATETIME has no zone: the start of a column's comment says whether it holds instants. */
const instantMark = 'in UTC: ';

export function holdsInstants({ type, comment }: Pick<FoundColumn, 'type' | 'comment'>): boolean {
  return type.startsWith('datetime') && comment?.startsWith(instantMark) === true;
}

/** Returns a column's comment as the model has it. */
export function modelComment(comment: string | null): string | null {
  return comment?.startsWith(instantMark) === true ? comment.slice(instantMark.length) : comment;
}

export function withInstantsTold(table: PhysicalTable, { columns }: Pick<Table, 'columns'>): PhysicalTable {
  return {
    ...table,
    columns: table.columns.map((column, at) =>
      columns[at]!.type.kind === 'timestamptz'
        ? { ...column, comment: `${instantMark}${column.comment}` }
        : column,
    ),
  };
}

export function zonesIn(known: FoundTables, tables: readonly ZoneTable[]): Promise<ZonesThere> {
  return zonesOf({ dialect: mysql, foldedName }, tables, {
    hasTable: (table) => known.has(table),
    isZoned(table, name) {
      const column = known.get(table)!.columns.get(name);
      return column?.type.startsWith('datetime') === true ? holdsInstants(column) : null;
    },
  });
}

/** MySQL with tables whose text is compared as it is, byte by byte. */
export const mysqlDialect: Dialect = {
  ...mysql,
  tableOptions: (key) => `${mysql.tableOptions(key)} COLLATE utf8mb4_bin ENGINE = InnoDB`,
};

/** Returns the statement that makes a table under another name, with its primary key and the indexes of its parents' keys. */
export function tableStatement(
  table: PhysicalTable,
  name: string,
  nullable: (column: number) => boolean,
): string {
  const made: PhysicalTable = {
    ...table,
    name,
    columns: table.columns.map((column, at) => ({ ...column, nullable: column.nullable || nullable(at) })),
    uniqueKeys: [],
    foreignKeys: [],
  };
  return createTable(mysqlDialect, made, { sqlSchema: null, ifNotExists: false, foreignKeys: [] });
}

/** Returns the statement that adds the indexes by which rows are found from their parents. */
export function parentIndexes(table: PhysicalTable, name: string): string[] {
  const columns = table.foreignKeys
    .map(({ column }) => column)
    .filter((column) => column !== table.primaryKey[0]);
  return columns.length === 0
    ? []
    : [
        `ALTER TABLE ${mysql.quote(name)} ${columns
          .slice(0, 60)
          .map((column) => `ADD INDEX (${mysql.quote(column)})`)
          .join(', ')}`,
      ];
}
