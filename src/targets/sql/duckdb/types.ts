/**
 * Types and tables of a DuckDB file. Types are written as in `duckdb_columns()`: the type that a column needs, and the text form of its
 * values.
 */
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { commentStatements, createTable } from '../../../engine/sql/ddl.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { viewMark } from '../../rows/made-views.ts';
import { zonesOf, type FoundColumn, type FoundTable, type FoundTables } from '../found-tables.ts';
import { foldedName, type DuckDb } from './database.ts';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import type { ExistingZones, ZoneTable } from '../../../ports/row-sink.ts';

/** Digits before and after the point. */
export interface DecimalDigits {
  readonly whole: number;
  readonly fraction: number;
}

const wholeDigits: Readonly<Record<string, number>> = { SMALLINT: 5, INTEGER: 10, BIGINT: 19 };
const listed: Readonly<Record<string, string>> = { TIMESTAMPTZ: 'TIMESTAMP WITH TIME ZONE', REAL: 'FLOAT' };

/** Returns the dialect's type in the form of `duckdb_columns()`. */
export function columnSqlType(type: ColumnType): string {
  const item = duckdb.typeName({ ...type, list: false });
  return `${listed[item] ?? item}${type.list === true ? '[]' : ''}`;
}

/**
 * Returns the type for a decimal without bounds of its own: the dialect's type, a type of another scale if that holds these values, or
 * otherwise text.
 */
export function typeForDigits(digits: DecimalDigits): string {
  const usual = decimalDigits(columnSqlType({ kind: 'numeric' }))!;
  if (digits.whole <= usual.whole && digits.fraction <= usual.fraction) return decimalName(usual);
  return digits.whole + digits.fraction <= 38
    ? decimalName({ whole: 38 - digits.fraction, fraction: digits.fraction })
    : 'VARCHAR';
}

/** Returns null for a type that is not an exact number. */
export function decimalDigits(sqlType: string): DecimalDigits | null {
  if (sqlType in wholeDigits) return { whole: wholeDigits[sqlType]!, fraction: 0 };
  const match = /^DECIMAL\((\d+),(\d+)\)$/.exec(sqlType);
  return match === null ? null : { whole: Number(match[1]) - Number(match[2]), fraction: Number(match[2]) };
}

/**
 * Returns the type that holds values of both types: one of them, a wider one, or text. `values`: returns the digits that occur; called if
 * the types together have more digits than a decimal can have.
 */
export async function settledType(
  target: string,
  incoming: string,
  values: () => Promise<DecimalDigits>,
): Promise<string> {
  if (target === incoming) return target;
  if (target.endsWith('[]') && incoming.endsWith('[]')) {
    return `${await settledType(target.slice(0, -2), incoming.slice(0, -2), values)}[]`;
  }
  const [ours, theirs] = [decimalDigits(target), decimalDigits(incoming)];
  if (ours !== null && theirs !== null) {
    if (covers(ours, theirs)) return target;
    if (covers(theirs, ours)) return incoming;
    const both = larger(ours, theirs);
    return both.whole + both.fraction <= 38 ? decimalName(both) : typeForDigits(await values());
  }
  if ([target, incoming].toSorted().join() === 'DOUBLE,FLOAT') return 'DOUBLE';
  return 'VARCHAR';
}

/** Returns whether a column without a time zone would need one. */
export function addsZone(target: string, incoming: string): boolean {
  const [item, incomingItem] = [target, incoming].map((type) => type.replace(/\[\]$/, ''));
  return item === 'TIMESTAMP' && incomingItem === 'TIMESTAMP WITH TIME ZONE';
}

export function larger(a: DecimalDigits, b: DecimalDigits): DecimalDigits {
  return { whole: Math.max(a.whole, b.whole), fraction: Math.max(a.fraction, b.fraction) };
}

/**
 * Returns the value of `expression`, of `sqlType`, in the form of XML Schema. `fraction`: digits after the point that the model gives it; a
 * column that has more, because it had to be bounded or was widened for other values, would add zeros.
 */
export function lexicalText(expression: string, sqlType: string, fraction: number | null = null): string {
  if (sqlType.endsWith('[]')) {
    const item = lexicalText('item', sqlType.slice(0, -2), fraction);
    return `array_to_string(list_transform(${expression}, lambda item: ${item}), ' ')`;
  }
  const text = `${expression}::VARCHAR`;
  const added = fraction === null ? 0 : (decimalDigits(sqlType)?.fraction ?? 0) - fraction;
  if (added > 0) {
    // by characters, because arithmetic is limited by the bounds of the type
    const shorter = `left(${text}, -${added}) || rtrim(right(${text}, ${added}), '0')`;
    return fraction === 0 ? `rtrim(${shorter}, '.')` : `(${shorter})`;
  }
  switch (sqlType) {
    case 'TIMESTAMP WITH TIME ZONE':
      // the session is in UTC, and no other part of the text is +00
      return `replace(replace(${text}, ' ', 'T'), '+00', 'Z')`;
    case 'TIMESTAMP':
      return `replace(${text}, ' ', 'T')`;
    case 'FLOAT':
    case 'DOUBLE':
      return `replace(replace(${text}, 'inf', 'INF'), 'nan', 'NaN')`;
    default:
      return text;
  }
}

/**
 * Returns the expression by which values of a type are read from DuckDB's vectors, in one of the types that the kernel for pages of Parquet
 * reads; null if they are read as text.
 */
export function storedValues(
  expression: string,
  sqlType: string,
): { readonly expression: string; readonly sqlType: string } | null {
  if (sqlType === 'SMALLINT') return { expression: `${expression}::INTEGER`, sqlType: 'INTEGER' };
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(sqlType) ?? [];
  // decimals of up to four digits are numbers of 16 bits
  if (Number(precision) <= 4) {
    const wider = `DECIMAL(9,${scale})`;
    return { expression: `${expression}::${wider}`, sqlType: wider };
  }
  return precision !== undefined || storedTypes.has(sqlType) ? { expression, sqlType } : null;
}

const storedTypes: ReadonlySet<string> = new Set([
  'INTEGER',
  'BIGINT',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'TIMESTAMP WITH TIME ZONE',
]);

function twoDigits(value: string): string {
  return `lpad((${value})::VARCHAR, 2, '0')`;
}

function textAtOffset(instant: string, offset: string): string {
  const local = `((${instant} AT TIME ZONE 'UTC') + to_minutes(${offset}))`;
  return `${lexicalText(local, 'TIMESTAMP')} || CASE WHEN ${offset} < 0 THEN '-' ELSE '+' END || ${twoDigits(`abs(${offset}) // 60`)} || ':' || ${twoDigits(`abs(${offset}) % 60`)}`;
}

const unboundedDecimal = columnSqlType({ kind: 'numeric' });

/**
 * Returns `expression` of type `from` as a value of type `to`. `offset`: for an instant, an expression for the minutes ahead of UTC with
 * which it is written, NULL if that is `Z`.
 */
export function converted(
  expression: string,
  from: string,
  to: string,
  offset: string | null = null,
): string {
  if (to === 'VARCHAR' && from === 'TIMESTAMP WITH TIME ZONE' && offset !== null)
    return `CASE WHEN ${offset} IS NULL THEN ${lexicalText(expression, from)} ELSE ${textAtOffset(expression, offset)} END`;
  // zeros that the type of decimals without bounds has added are in no document
  if (to === 'VARCHAR') return lexicalText(expression, from, from === unboundedDecimal ? 0 : null);
  if (to === 'VARCHAR[]') {
    return `list_transform(${expression}, lambda item: ${lexicalText('item', from.slice(0, -2))})`;
  }
  return `${expression}::${to}`;
}

function covers(wide: DecimalDigits, narrow: DecimalDigits): boolean {
  return narrow.whole <= wide.whole && narrow.fraction <= wide.fraction;
}

function decimalName({ whole, fraction }: DecimalDigits): string {
  return `DECIMAL(${whole + fraction},${fraction})`;
}

// Existing tables, columns that keep a time zone, and statements that make tables.

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

/** Implements `RowSink.existingZones`. */
export function readZones(
  database: DuckDbRows,
  known: FoundTables,
  tables: readonly ZoneTable[],
): Promise<ExistingZones> {
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
