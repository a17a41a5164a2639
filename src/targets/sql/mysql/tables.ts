/** Tables of a MySQL database: existing tables, and statements that make them. */
import { ownPrefix } from '../../../engine/model/side-tables.ts';
import { mysql, lexicalText, textAtOffset } from '../../../engine/sql/dialects/mysql.ts';
import type { ColumnType, Table } from '../../../engine/model/relational-model.ts';
import type { Mysql } from './connection.ts';
import type { Dialect } from '../../../engine/sql/dialect.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { createTable } from '../../../engine/sql/ddl.ts';
import type { ExistingZones, ZoneTable } from '../../../ports/row-sink.ts';
import { viewMark } from '../../rows/made-views.ts';
import { zonesOf, type FoundColumn, type FoundTable, type FoundTables } from '../found-tables.ts';

// The SQL types that columns need, spelt as in `information_schema`.

export const anyText = 'longtext';

/** the name of a column while it replaces another one */
export const spareColumn = `${ownPrefix}text`;

/** Returns one spelling of a type, whichever server reports it. */
function plainType(type: string): string {
  const lower = type.toLowerCase();
  if (lower === 'boolean') return 'tinyint';
  return lower.replace(/^(tinyint|smallint|int|bigint)\(\d+\)/, '$1');
}

export function columnSqlType(type: ColumnType): string {
  return plainType(mysql.typeName(type));
}

export function isText(type: string): boolean {
  return /char|text/.test(type);
}

/** Returns the type that holds values of both: one of them, a wider one, or text. */
export function settledType(there: string, incoming: string): string {
  if (there === incoming) return there;
  if (isText(there) && isText(incoming)) return textRoom(there) >= textRoom(incoming) ? there : incoming;
  const whole = ['smallint', 'int', 'bigint'];
  const [ours, theirs] = [whole.indexOf(there), whole.indexOf(incoming)];
  if (ours >= 0 && theirs >= 0) return whole[Math.max(ours, theirs)]!;
  const [a, b] = [digits(there), digits(incoming)];
  if (a !== null && b !== null) {
    const [before, behind] = [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
    return before + behind <= 65 && behind <= 30 ? `decimal(${before + behind},${behind})` : anyText;
  }
  return anyText;
}

function textRoom(type: string): number {
  const length = /\((\d+)\)/.exec(type);
  if (length !== null) return Number(length[1]) + (type.startsWith('var') ? 0.5 : 0);
  return { text: 16_383, mediumtext: 4_194_303 }[type] ?? Number.POSITIVE_INFINITY;
}

/** Returns the digits before and after the point; null for a type that is not an exact number. */
function digits(type: string): readonly [number, number] | null {
  const whole = { smallint: 5, int: 10, bigint: 19 }[type];
  if (whole !== undefined) return [whole, 0];
  const match = /^decimal\((\d+),(\d+)\)$/.exec(type);
  return match === null ? null : [Number(match[1]) - Number(match[2]), Number(match[2])];
}

/**
 * Converts a column that holds values to text, in the form that the values have in documents. The column exists at every moment: one
 * statement replaces it with the new one next to it.
 */
export async function turnToText(
  database: Mysql,
  table: string,
  column: { readonly name: string; readonly comment: string },
  value: string,
  /** returns a statement that writes values of documents that differ into the new column */
  written: (column: string) => string | null = () => null,
): Promise<void> {
  const [of, name, beside] = [table, column.name, spareColumn].map((each) => mysql.quote(each)) as [
    string,
    string,
    string,
  ];
  const comment = column.comment === '' ? '' : ` COMMENT ${mysql.literal(column.comment)}`;
  await database.run(`ALTER TABLE ${of} ADD COLUMN ${beside} LONGTEXT${comment} AFTER ${name}`);
  await database.run(`UPDATE ${of} SET ${beside} = ${value}`);
  const statement = written(spareColumn);
  if (statement !== null) await database.run(statement);
  await database.run(`ALTER TABLE ${of} DROP COLUMN ${name}, CHANGE ${beside} ${name} LONGTEXT${comment}`);
}

/**
 * Returns the value of a column of the type `there` in the form of documents. `modelled`: the column's type in the model; `offset`: for an
 * instant, an expression for the minutes ahead of UTC with which it is written.
 */
export function textOf(
  expression: string,
  there: string,
  modelled: ColumnType,
  offset: string | null = null,
): string {
  if (isText(there)) return expression;
  if (offset !== null && modelled.kind === 'timestamptz' && there === columnSqlType(modelled))
    return textAtOffset(expression, offset);
  return lexicalText(there === columnSqlType(modelled) ? modelled : typeOf(there), expression);
}

function typeOf(there: string): ColumnType {
  // in whole numbers, trailing zeros count
  if (there.startsWith('decimal')) return { kind: digits(there)?.[1] === 0 ? 'bigint' : 'numeric' };
  if (there.startsWith('datetime')) return { kind: 'timestamp' };
  if (there.startsWith('time')) return { kind: 'time' };
  return { kind: there === 'tinyint' ? 'boolean' : 'bigint' };
}

// The tables.

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

export function withInstantMarks(table: PhysicalTable, { columns }: Pick<Table, 'columns'>): PhysicalTable {
  return {
    ...table,
    columns: table.columns.map((column, at) =>
      columns[at]!.type.kind === 'timestamptz'
        ? { ...column, comment: `${instantMark}${column.comment}` }
        : column,
    ),
  };
}

export function zonesOfTables(known: FoundTables, tables: readonly ZoneTable[]): Promise<ExistingZones> {
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
