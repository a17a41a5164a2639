/** The dialect of Amazon Redshift. */
import type { ColumnType } from '../../model/relational-model.ts';
import { backslashLiteral, commentOn, decimalType, doubleQuoted, type Dialect } from '../dialect.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'text' | 'numeric'>, string>> = {
  boolean: 'BOOLEAN',
  smallint: 'SMALLINT',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  real: 'REAL',
  double: 'DOUBLE PRECISION',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMPTZ',
};

/** Amazon Redshift: keys are information for its planner. */
export const redshift: Dialect = {
  name: 'redshift',
  identifierMaxBytes: 127,
  maxColumns: 1600,
  refusedCharacters: null,
  capabilities: {
    arrays: false,
    nullArrays: false,
    arraysNotNull: false,
    createIfNotExists: true,
    foreignKeys: 'alter',
    deferrable: false,
    notEnforced: '',
    uniqueKeys: 'constraint',
    indexes: 'none',
    keyTextMaxLength: null,
    boundedTextMaxBytes: null,
    inRow: null,
  },
  comments: commentOn(doubleQuoted, backslashLiteral, null),
  quote: doubleQuoted,
  literal: backslashLiteral,
  typeName,
  tableOptions: '',
  createSchema: (sqlSchema) => `CREATE SCHEMA IF NOT EXISTS ${doubleQuoted(sqlSchema)}`,
};

/** Lengths are in bytes, 4 a character; 65,535 is the longest. */
function typeName(type: ColumnType): string {
  const { kind, length = Number.POSITIVE_INFINITY } = type;
  if (kind === 'text') return `VARCHAR(${Math.min(65_535, length * 4)})`;
  if (kind !== 'numeric') return kinds[kind];
  return decimalType(type, {
    name: 'DECIMAL',
    maxPrecision: 38,
    maxScale: 37,
    unbounded: 'DECIMAL(38,18)',
    asText: 'VARCHAR(65535)',
  });
}
