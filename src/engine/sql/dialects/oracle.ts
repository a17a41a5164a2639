/** The dialect of Oracle. */
import type { ColumnType } from '../../model/relational-model.ts';
import { commentOn, decimalType, doubleQuoted, standardLiteral, type Dialect } from '../dialect.ts';
import { standardDialect } from './standard.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'text' | 'numeric'>, string>> = {
  boolean: 'NUMBER(1)',
  smallint: 'NUMBER(5)',
  integer: 'NUMBER(10)',
  bigint: 'NUMBER(19)',
  real: 'BINARY_FLOAT',
  double: 'BINARY_DOUBLE',
  date: 'DATE',
  // there is no time of day
  time: 'VARCHAR2(32 CHAR)',
  timestamp: 'TIMESTAMP(9)',
  timestamptz: 'TIMESTAMP(9) WITH TIME ZONE',
};

/** Oracle 12.2 and later. A SQL schema is a user there, so none is made. The empty string is NULL. */
export const oracle: Dialect = {
  ...standardDialect,
  name: 'oracle',
  title: 'Oracle',
  identifierMaxBytes: 128,
  maxColumns: 1000,
  refusedCharacters: /["\0]/u,
  capabilities: {
    ...standardDialect.capabilities,
    createIfNotExists: false,
    deferrable: true,
    indexes: 'plain',
    keyIndexes: 'whole',
    keyTextMaxLength: 1000,
  },
  comments: commentOn(doubleQuoted, standardLiteral, 1000),
  rowsPerInsert: 1,
  viewComments: 'TABLE',
  localTime: (instant, minutes) => `SYS_EXTRACT_UTC(${instant}) + NUMTODSINTERVAL(${minutes}, 'MINUTE')`,
  typeName,
  createSchema: () => null,
};

function typeName(type: ColumnType): string {
  const { kind, length = Number.POSITIVE_INFINITY } = type;
  // 4,000 bytes at most, 4 a character
  if (type.fixed === true) return `CHAR(${length} CHAR)`;
  if (kind === 'text') return length <= 1000 ? `VARCHAR2(${length} CHAR)` : 'CLOB';
  if (kind !== 'numeric') return kinds[kind];
  return decimalType(type, {
    name: 'NUMBER',
    maxPrecision: 38,
    maxScale: 38,
    unbounded: 'NUMBER',
    asText: 'CLOB',
  });
}
