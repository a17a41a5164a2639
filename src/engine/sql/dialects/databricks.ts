/** The dialect of Databricks SQL. */
import type { ColumnType } from '../../model/relational-model.ts';
import { backquoted, backslashQuoteLiteral, decimalType, type Dialect } from '../dialect.ts';
import { standardDialect } from './standard.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'numeric'>, string>> = {
  text: 'STRING',
  boolean: 'BOOLEAN',
  smallint: 'SMALLINT',
  integer: 'INT',
  bigint: 'BIGINT',
  real: 'FLOAT',
  double: 'DOUBLE',
  date: 'DATE',
  // there is no time of day
  time: 'STRING',
  timestamp: 'TIMESTAMP_NTZ',
  timestamptz: 'TIMESTAMP',
};

/** Databricks SQL with Unity Catalog (Delta tables): keys are not enforced. */
export const databricks: Dialect = {
  ...standardDialect,
  name: 'databricks',
  title: 'Databricks',
  identifierMaxBytes: 255,
  // for tables: periods, spaces, slashes and control characters; for columns without column mapping: ,;{}()= too
  refusedCharacters: /[\p{Cc}\x7f ./,;{}()=]/u,
  capabilities: {
    ...standardDialect.capabilities,
    arrays: true,
    nullArrays: true,
    arraysNotNull: true,
    uniqueKeys: 'none',
  },
  comments: {
    kind: 'inline',
    maxLength: null,
    table: (text) => `COMMENT ${backslashQuoteLiteral(text)}`,
    column: (text) => `COMMENT ${backslashQuoteLiteral(text)}`,
  },
  quote: backquoted,
  literal: backslashQuoteLiteral,
  reservedColumns: ['_metadata', '_commit_version', '_commit_timestamp'],
  // casts would go by the time zone of the session
  localTime: (instant, minutes) =>
    `TIMESTAMP_NTZ'1970-01-01 00:00:00' + make_dt_interval(0, 0, ${minutes}, CAST(unix_micros(${instant}) AS DECIMAL(20, 0)) / 1000000)`,
  joinedText: ({ text, order }) =>
    `array_join(transform(array_sort(collect_list(struct(${order} AS o, ${text} AS t))), x -> x.t), '\\n')`,
  typeName: (type) => (type.list ? `ARRAY<${itemType(type)}>` : itemType(type)),
  createSchema: (sqlSchema) => `CREATE SCHEMA IF NOT EXISTS ${backquoted(sqlSchema)}`,
};

function itemType(type: ColumnType): string {
  if (type.kind !== 'numeric') return kinds[type.kind];
  return decimalType(type, {
    name: 'DECIMAL',
    maxPrecision: 38,
    maxScale: 38,
    unbounded: 'DECIMAL(38,18)',
    asText: 'STRING',
  });
}
