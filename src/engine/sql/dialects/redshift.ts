/** The dialect of Amazon Redshift. */
import type { ColumnType } from '../../model/relational-model.ts';
import { backslashLiteral, commentOn, decimalType, doubleQuoted, type Dialect } from '../dialect.ts';
import { listAggregate, standardDialect } from './standard.ts';

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
  ...standardDialect,
  name: 'redshift',
  title: 'Redshift',
  identifierMaxBytes: 127,
  maxColumns: 1600,
  comments: commentOn(doubleQuoted, backslashLiteral, null),
  literal: backslashLiteral,
  reservedColumns: ['insertxid', 'deletexid'],
  localTime: (instant, minutes) => `DATEADD(minute, ${minutes}, ${instant} AT TIME ZONE 'UTC')`,
  joinedText: listAggregate(backslashLiteral),
  typeName,
};

/** Lengths are in bytes, up to 4 a character; 65,535 is the longest. CHAR only supports single-byte characters. */
function typeName(type: ColumnType): string {
  const { kind, length = Number.POSITIVE_INFINITY } = type;
  if (type.fixed === true && type.fitsBytes === true) return `CHAR(${length})`;
  if (kind === 'text') return `VARCHAR(${Math.min(65_535, length * (type.fitsBytes === true ? 1 : 4))})`;
  if (kind !== 'numeric') return kinds[kind];
  return decimalType(type, {
    name: 'DECIMAL',
    maxPrecision: 38,
    maxScale: 37,
    unbounded: 'DECIMAL(38,18)',
    asText: 'VARCHAR(65535)',
  });
}
