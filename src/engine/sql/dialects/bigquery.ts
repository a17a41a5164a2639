/** The dialect of BigQuery. */
import type { ColumnType } from '../../model/relational-model.ts';
import { backslashQuoteLiteral, type Dialect } from '../dialect.ts';
import { standardDialect } from './standard.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'text' | 'numeric'>, string>> = {
  boolean: 'BOOL',
  smallint: 'INT64',
  integer: 'INT64',
  bigint: 'INT64',
  real: 'FLOAT64',
  double: 'FLOAT64',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'DATETIME',
  timestamptz: 'TIMESTAMP',
};

/** BigQuery (GoogleSQL): a SQL schema is a dataset; keys are not enforced. */
export const bigquery: Dialect = {
  ...standardDialect,
  name: 'bigquery',
  title: 'BigQuery',
  identifierMaxBytes: 300,
  maxColumns: 10_000,
  // both tables and columns may have letters, marks, numbers, connectors, dashes and spaces
  refusedCharacters: /[^\p{L}\p{M}\p{N}\p{Pc}\p{Pd} ]/u,
  capabilities: {
    ...standardDialect.capabilities,
    arrays: true,
    // it is stored as an empty array
    nullArrays: false,
    notEnforced: ' NOT ENFORCED',
    uniqueKeys: 'none',
  },
  comments: { kind: 'inline', maxLength: 1024, table: description, column: description },
  quote: (identifier) => `\`${identifier.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``,
  literal: backslashQuoteLiteral,
  // BigQuery, Column names
  reservedPrefixes: [
    '_table_',
    '_file_',
    '_partition',
    '_row_timestamp',
    '__root__',
    '_colidentifier',
    '_change_sequence_number',
    '_change_type',
    '_change_timestamp',
  ],
  localTime: (instant, minutes) => `DATETIME_ADD(DATETIME(${instant}, 'UTC'), INTERVAL ${minutes} MINUTE)`,
  joinedText: ({ text, order }) => `string_agg(${text}, '\\n' ORDER BY ${order})`,
  typeName: (type) => (type.list ? `ARRAY<${itemType(type)}>` : itemType(type)),
  createSchema: (sqlSchema) => `CREATE SCHEMA IF NOT EXISTS ${bigquery.quote(sqlSchema)}`,
};

function description(text: string): string {
  return `OPTIONS (description = ${backslashQuoteLiteral(text)})`;
}

/** NUMERIC has 29 digits before the point and 9 after it, BIGNUMERIC 38 and 38. */
function itemType(type: ColumnType): string {
  const { kind, length, precision, scale = 0 } = type;
  if (kind === 'text') return length === undefined ? 'STRING' : `STRING(${length})`;
  if (kind !== 'numeric') return kinds[kind];
  if (precision === undefined) return 'BIGNUMERIC';
  if (scale <= 9 && precision - scale <= 29) return `NUMERIC(${precision},${scale})`;
  return scale <= 38 && precision - scale <= 38 ? `BIGNUMERIC(${precision},${scale})` : 'STRING';
}
