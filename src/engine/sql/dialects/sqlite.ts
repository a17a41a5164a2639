/** The dialect of SQLite. */
import type { ColumnType } from '../../model/relational-model.ts';
import { standardLiteral, type Dialect } from '../dialect.ts';
import { standardDialect } from './standard.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'text' | 'numeric'>, string>> = {
  boolean: 'BOOLEAN',
  smallint: 'INTEGER',
  integer: 'INTEGER',
  bigint: 'INTEGER',
  real: 'REAL',
  double: 'REAL',
  // numeric affinity, with which dates and times remain text
  date: 'DATE',
  time: 'TIME',
  timestamp: 'DATETIME',
  timestamptz: 'DATETIME',
};

/** SQLite 3. It has no comments: they are in the text of CREATE TABLE, which `sqlite_schema` keeps. */
export const sqlite: Dialect = {
  ...standardDialect,
  name: 'sqlite',
  title: 'SQLite',
  identifierMaxBytes: 255,
  maxColumns: 2000,
  capabilities: {
    ...standardDialect.capabilities,
    foreignKeys: 'inline',
    deferrable: true,
    indexes: 'if-not-exists',
    keyIndexes: 'partial',
  },
  comments: { kind: 'inline', maxLength: null, table: block, column: block },
  // texts: as documents write them, or in UTC; seconds stay as they are, which SQLite itself would round to milliseconds
  localTime: (instant, minutes) =>
    `CASE WHEN ${instant} LIKE '%Z' THEN strftime('%Y-%m-%dT%H:%M', substr(${instant}, 1, 16), ${minutes} || ' minutes') || substr(${instant}, 17, length(${instant}) - 17) ELSE substr(${instant}, 1, length(${instant}) - 6) END`,
  // SQLite has ORDER BY in aggregates only since 3.44
  joinedText: ({ text }) => `group_concat(${text}, ${standardLiteral('\n')})`,
  orderedRows: (table, order) => `(SELECT * FROM ${table} ORDER BY ${order})`,
  typeName,
  createSchema: () => null,
};

function block(text: string): string {
  return `/* ${text.replaceAll('*/', '* /').replaceAll('/*', '/ *')} */`;
}

/** Decimals longer than a double's 15 digits would be rounded in any type other than TEXT. */
function typeName(type: ColumnType): string {
  const { kind, length, precision, scale = 0 } = type;
  if (type.fixed === true) return `CHAR(${length})`;
  if (kind === 'text') return length === undefined ? 'TEXT' : `VARCHAR(${length})`;
  if (kind !== 'numeric') return kinds[kind];
  return precision !== undefined && precision <= 15 ? `NUMERIC(${precision},${scale})` : 'TEXT';
}
