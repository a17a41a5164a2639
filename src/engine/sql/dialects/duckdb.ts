/** The dialect of DuckDB. */
import type { ColumnType } from '../../model/relational-model.ts';
import { decimalType, type Dialect, standardLiteral } from '../dialect.ts';
import { standardDialect } from './standard.ts';

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
  ...standardDialect,
  name: 'duckdb',
  title: 'DuckDB',
  identifierMaxBytes: 255,
  capabilities: {
    ...standardDialect.capabilities,
    arrays: true,
    nullArrays: true,
    arraysNotNull: true,
    foreignKeys: 'inline-backward',
    indexes: 'if-not-exists',
  },
  localTime: (instant, minutes) => `(${instant} AT TIME ZONE 'UTC') + to_minutes(${minutes})`,
  joinedText: ({ text, order }) => `string_agg(${text}, ${standardLiteral('\n')} ORDER BY ${order})`,
  typeName: (type) => `${itemType(type)}${type.list ? '[]' : ''}`,
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
