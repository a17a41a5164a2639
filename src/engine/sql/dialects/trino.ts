/** The dialect of Trino. */
import type { ColumnType } from '../../model/relational-model.ts';
import { decimalType, standardLiteral, type Dialect } from '../dialect.ts';
import { listAggregate, standardDialect } from './standard.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'text' | 'numeric'>, string>> = {
  boolean: 'BOOLEAN',
  // tables of Iceberg have no smaller one
  smallint: 'INTEGER',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  real: 'REAL',
  double: 'DOUBLE',
  date: 'DATE',
  time: 'TIME(6)',
  timestamp: 'TIMESTAMP(6)',
  timestamptz: 'TIMESTAMP(6) WITH TIME ZONE',
};

/** Trino, in the types that tables of Iceberg have. It knows no keys: comments and notes name them. */
export const trino: Dialect = {
  ...standardDialect,
  name: 'trino',
  title: 'Trino',
  identifierMaxBytes: 128,
  capabilities: {
    ...standardDialect.capabilities,
    arrays: true,
    nullArrays: true,
    arraysNotNull: true,
    primaryKeys: false,
    foreignKeys: 'none',
    uniqueKeys: 'none',
  },
  comments: {
    kind: 'inline',
    maxLength: null,
    table: (text) => `COMMENT ${standardLiteral(text)}`,
    column: (text) => `COMMENT ${standardLiteral(text)}`,
  },
  localTime: (instant, minutes) =>
    `CAST(${instant} AT TIME ZONE 'UTC' AS TIMESTAMP(6)) + ${minutes} * INTERVAL '1' MINUTE`,
  joinedText: listAggregate(standardLiteral),
  typeName: (type) => (type.list === true ? `ARRAY(${itemType(type)})` : itemType(type)),
};

function itemType(type: ColumnType): string {
  const { kind, length } = type;
  if (kind === 'text') return length === undefined ? 'VARCHAR' : `VARCHAR(${length})`;
  if (kind !== 'numeric') return kinds[kind];
  return decimalType(type, {
    name: 'DECIMAL',
    maxPrecision: 38,
    maxScale: 38,
    unbounded: 'DECIMAL(38,18)',
    asText: 'VARCHAR',
  });
}
