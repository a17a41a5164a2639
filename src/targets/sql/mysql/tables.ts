/** Tables of a MySQL database: what is there, and how they are made. */
import type { Dialect } from '../../../engine/sql/dialect.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { createTable } from '../../../engine/sql/statements.ts';
import type { Table } from '../../../engine/model/relational-model.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import type { ZonesThere, ZoneTable } from '../../../ports/rows/sink.ts';
import type { FoundColumn, FoundTable, FoundTables } from '../found-tables.ts';
import type { Mysql } from './connection.ts';

/** Names as MySQL compares those of columns, and of tables where the file system does. */
export function foldedName(name: string): string {
  return name.toLowerCase();
}

export async function readTables(database: Mysql): Promise<FoundTables> {
  const tables = new Map<string, FoundTable & { columns: Map<string, FoundColumn> }>();
  const rows = await database.rows(
    `SELECT c.table_name, t.table_type = 'VIEW', t.table_comment, c.column_name, c.column_type, c.is_nullable, c.column_default, c.column_comment
       FROM information_schema.columns c JOIN information_schema.tables t
         ON t.table_schema = c.table_schema AND t.table_name = c.table_name
      WHERE c.table_schema = DATABASE() ORDER BY c.table_name, c.ordinal_position`,
  );
  for (const [name, view, tableComment, column, type, nullable, standard, comment] of rows) {
    const folded = foldedName(name!);
    const table = tables.get(folded) ?? {
      name: name!,
      isView: view === '1',
      comment: tableComment!,
      statement: null,
      madeView: null,
      columns: new Map(),
    };
    tables.set(folded, table);
    table.columns.set(foldedName(column!), {
      name: column!,
      // as the server writes it, in lower case
      type: type!.toLowerCase(),
      notNull: nullable === 'NO',
      hasDefault: standard !== null && standard !== 'NULL',
      comment: comment ?? '',
    });
  }
  return tables;
}

/** DATETIME has no zone: what a column holds is told by how its comment begins. */
const instantMark = 'in UTC: ';

export function holdsInstants({ type, comment }: Pick<FoundColumn, 'type' | 'comment'>): boolean {
  return type.startsWith('datetime') && comment?.startsWith(instantMark) === true;
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

export function zonesIn(known: FoundTables, tables: readonly ZoneTable[]): ZonesThere {
  const zones = new Map<string, ReadonlyMap<string, boolean>>();
  for (const table of tables) {
    const there = known.get(foldedName(physicalName(mysql, table.name)));
    if (there === undefined) continue;
    const columns = table.columns().flatMap(({ name }) => {
      const column = there.columns.get(foldedName(physicalName(mysql, name)));
      return column?.type.startsWith('datetime') === true ? [[name, holdsInstants(column)] as const] : [];
    });
    zones.set(table.name, new Map(columns));
  }
  return zones;
}

/** MySQL with tables whose text is compared as it is, byte by byte. */
export const mysqlDialect: Dialect = {
  ...mysql,
  tableOptions: (key) => `${mysql.tableOptions(key)} COLLATE utf8mb4_bin ENGINE = InnoDB`,
};

/** Statement that makes a table under another name, its primary key and the indexes of its parents' keys with it. */
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

/** Statement that adds the indexes that rows are looked up by from their parents. */
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
