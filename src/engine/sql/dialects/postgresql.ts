/** The dialect of PostgreSQL, and its names of types as the service shows them. */
import type { ColumnType } from '../../model/relational-model.ts';
import { standardLiteral, type Dialect } from '../dialect.ts';
import { standardDialect } from './standard.ts';

const kinds: Readonly<Record<ColumnType['kind'], string>> = {
  text: 'text',
  boolean: 'boolean',
  smallint: 'smallint',
  integer: 'integer',
  bigint: 'bigint',
  numeric: 'numeric',
  real: 'real',
  double: 'double precision',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
};

/** PostgreSQL 12 and later. */
export const postgresql: Dialect = {
  ...standardDialect,
  name: 'postgresql',
  title: 'PostgreSQL',
  identifierMaxBytes: 63,
  maxColumns: 1600,
  capabilities: {
    ...standardDialect.capabilities,
    arrays: true,
    nullArrays: true,
    arraysNotNull: true,
    deferrable: true,
    indexes: 'if-not-exists',
    keyIndexes: 'partial',
    blockRangeIndexes: true,
  },
  // PostgreSQL manual, 5.6 System Columns
  reservedColumns: ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'],
  checksCodes: true,
  looksUpIds: true,
  joinedText: ({ text, order }) => `string_agg(${text}, ${standardLiteral('\n')} ORDER BY ${order})`,
  typeName: (type) => `${itemType(type)}${type.list ? '[]' : ''}`,
};

/** Returns the type's name without its size, as the service shows it: `varchar`, `double precision`, `bigint[]`. */
export function bareTypeName(type: ColumnType): string {
  return postgresql.typeName(type).replace(/\([\d,]+\)/, '');
}

function itemType(type: ColumnType): string {
  const { kind, length, precision, scale = 0 } = type;
  if (type.fixed === true) return `char(${length})`;
  if (kind === 'text' && length !== undefined && length <= 10_485_760) return `varchar(${length})`;
  if (kind === 'numeric' && precision !== undefined && precision <= 1000)
    return `numeric(${precision},${scale})`;
  return kinds[kind];
}
