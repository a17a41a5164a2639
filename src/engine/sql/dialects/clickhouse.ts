/** The dialect of ClickHouse. */
import type { ColumnType } from '../../model/relational-model.ts';
import { backquoted, backslashLiteral, decimalType, type Dialect } from '../dialect.ts';
import { standardDialect } from './standard.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'numeric'>, string>> = {
  text: 'String',
  boolean: 'Bool',
  smallint: 'Int16',
  integer: 'Int32',
  bigint: 'Int64',
  real: 'Float32',
  double: 'Float64',
  // dates and times of the years 1900 to 2299
  date: 'Date32',
  // there is no time of day that every version has
  time: 'String',
  timestamp: 'DateTime64(6)',
  timestamptz: "DateTime64(6, 'UTC')",
};

/** ClickHouse 25.8 and later: tables are sorted by their primary keys, which are not checked. A SQL schema is a database. */
export const clickhouse: Dialect = {
  ...standardDialect,
  name: 'clickhouse',
  title: 'ClickHouse',
  // names become file names, in which a character other than letters and digits has three bytes
  identifierMaxBytes: 128,
  capabilities: {
    ...standardDialect.capabilities,
    arrays: true,
    // an array is never NULL
    nullArrays: false,
    foreignKeys: 'none',
    uniqueKeys: 'none',
  },
  comments: {
    kind: 'inline',
    maxLength: null,
    table: (text) => `COMMENT ${backslashLiteral(text)}`,
    column: (text) => `COMMENT ${backslashLiteral(text)}`,
  },
  quote: (identifier) => backquoted(identifier.replaceAll('\\', '\\\\')),
  literal: backslashLiteral,
  nullMark: ({ nullable, type }) => (nullable && !type.startsWith('Array(') ? ' NULL' : ''),
  tableOptions: (primaryKey) =>
    ` ENGINE = MergeTree ORDER BY ${primaryKey.length === 0 ? 'tuple()' : `(${primaryKey.join(', ')})`}`,
  // without it, a row that has no partner would have zeros and empty texts
  outerJoinEnd: 'SETTINGS join_use_nulls = 1',
  // columns that a MergeTree table has in addition to the declared ones
  reservedColumns: ['_row_exists', '_block_number', '_block_offset'],
  localTime: (instant, minutes) => `addMinutes(toTimeZone(${instant}, 'UTC'), ${minutes})`,
  joinedText: ({ text, order }) =>
    `if(count(${text}) = 0, NULL, arrayStringConcat(arrayMap(x -> x.2, arraySort(groupArrayIf((${order}, assumeNotNull(${text})), ${text} IS NOT NULL))), '\\n'))`,
  typeName: (type) => (type.list === true ? `Array(${itemType(type)})` : itemType(type)),
  createSchema: (sqlSchema) => `CREATE DATABASE IF NOT EXISTS ${clickhouse.quote(sqlSchema)}`,
};

function itemType(type: ColumnType): string {
  if (type.kind !== 'numeric') return kinds[type.kind];
  return decimalType(type, {
    name: 'Decimal',
    maxPrecision: 76,
    maxScale: 76,
    unbounded: 'Decimal(38, 18)',
    asText: 'String',
  });
}
