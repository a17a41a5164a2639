/** The dialect of Snowflake. */
import type { ColumnType } from '../../model/relational-model.ts';
import { backslashLiteral, decimalType, type Dialect } from '../dialect.ts';
import { listAggregate, standardDialect } from './standard.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'text' | 'numeric'>, string>> = {
  boolean: 'BOOLEAN',
  smallint: 'SMALLINT',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  real: 'FLOAT',
  double: 'FLOAT',
  date: 'DATE',
  time: 'TIME(9)',
  timestamp: 'TIMESTAMP_NTZ(9)',
  timestamptz: 'TIMESTAMP_TZ(9)',
};

/** Snowflake: keys are information for its optimiser and for tools. */
export const snowflake: Dialect = {
  ...standardDialect,
  name: 'snowflake',
  title: 'Snowflake',
  identifierMaxBytes: 255,
  capabilities: {
    ...standardDialect.capabilities,
    arrays: true,
    nullArrays: true,
    arraysNotNull: true,
  },
  comments: {
    kind: 'inline',
    maxLength: null,
    table: (text) => `COMMENT = ${backslashLiteral(text)}`,
    column: (text) => `COMMENT ${backslashLiteral(text)}`,
  },
  literal: backslashLiteral,
  localTime: (instant, minutes) =>
    `DATEADD(minute, ${minutes}, CONVERT_TIMEZONE('UTC', ${instant})::TIMESTAMP_NTZ(9))`,
  joinedText: listAggregate(backslashLiteral),
  typeName,
};

function typeName(type: ColumnType): string {
  const { kind, length } = type;
  if (type.list) return 'ARRAY';
  if (type.fixed === true) return `CHAR(${length})`;
  if (kind === 'text') return length === undefined ? 'VARCHAR' : `VARCHAR(${length})`;
  if (kind !== 'numeric') return kinds[kind];
  return decimalType(type, {
    name: 'NUMBER',
    maxPrecision: 38,
    maxScale: 37,
    unbounded: 'NUMBER(38,18)',
    asText: 'VARCHAR',
  });
}
