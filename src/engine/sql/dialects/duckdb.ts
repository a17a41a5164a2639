/** The dialect of DuckDB. */
import type { ColumnType } from '../../model/relational-model.ts';
import { commentOn, decimalType, doubleQuoted, standardLiteral, type Dialect } from '../dialect.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'numeric'>, string>> = {
  text: 'VARCHAR',
  boolean: 'BOOLEAN',
  smallint: 'SMALLINT',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  real: 'REAL',
  double: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMPTZ',
};

/** DuckDB 1.1 and later. Lengths of text have no meaning there. */
export const duckdb: Dialect = {
  name: 'duckdb',
  identifierMaxBytes: 255,
  maxColumns: null,
  refusedCharacters: null,
  capabilities: {
    arrays: true,
    nullArrays: true,
    arraysNotNull: true,
    createIfNotExists: true,
    foreignKeys: 'inline-backward',
    deferrable: false,
    notEnforced: '',
    uniqueKeys: 'constraint',
    indexes: 'if-not-exists',
    keyTextMaxLength: null,
    boundedTextMaxBytes: null,
    inRow: null,
  },
  comments: commentOn(doubleQuoted, standardLiteral, null),
  quote: doubleQuoted,
  literal: standardLiteral,
  typeName: (type) => `${itemType(type)}${type.list ? '[]' : ''}`,
  tableOptions: '',
  createSchema: (sqlSchema) => `CREATE SCHEMA IF NOT EXISTS ${doubleQuoted(sqlSchema)}`,
};

function itemType(type: ColumnType): string {
  if (type.kind !== 'numeric') return kinds[type.kind];
  return decimalType(type, {
    name: 'DECIMAL',
    maxPrecision: 38,
    maxScale: 38,
    unbounded: 'DECIMAL(38,18)',
    asText: 'VARCHAR',
  });
}
