/** The dialect of MySQL and MariaDB, and the conversion of values for these databases. */
import type { Column, ColumnType } from '../../model/relational-model.ts';
import { backquoted, backslashLiteral, decimalType, type Dialect } from '../dialect.ts';
import { standardDialect } from './standard.ts';

// Converts values from COPY text to the form of the column, and from there to the form of XML Schema.

/** FLOAT refuses numbers that round to its largest value. */
export function doubleForReal(column: Column): Column {
  return column.type.kind === 'real' ? { ...column, type: { ...column.type, kind: 'double' } } : column;
}

/** Returns an SQL expression that converts a value in the text format of COPY to the type of the column. */
export function convertedText({ kind }: ColumnType, value: string): string {
  switch (kind) {
    case 'boolean':
      return `CASE ${value} WHEN 't' THEN 1 WHEN 'f' THEN 0 END`;
    case 'time':
      return `ADDTIME(LEFT(${value}, 15), IF(SUBSTRING(${value}, 16, 1) >= '5', '00:00:00.000001', '00:00:00'))`;
    case 'timestamp':
      return moment(value, value);
    case 'timestamptz': {
      const zone = `RIGHT(${value}, 6)`;
      const minutes = `IF(LEFT(${zone}, 1) = '-', -1, 1) * (SUBSTRING(${zone}, 2, 2) * 60 + RIGHT(${zone}, 2))`;
      const local = moment(value, `LEFT(${value}, CHAR_LENGTH(${value}) - 6)`);
      const utc = moment(value, `LEFT(${value}, CHAR_LENGTH(${value}) - 1)`);
      return `IF(RIGHT(${value}, 1) = 'Z', ${utc}, ${local} - INTERVAL ${minutes} MINUTE)`;
    }
    default:
      return value;
  }
}

/** Hour 24 is the end of the day. A seventh digit of the fraction rounds the sixth, as in other databases. */
function moment(value: string, text: string): string {
  const whole = `CAST(REPLACE(LEFT(${text}, 26), 'T24:', 'T00:') AS DATETIME(6))`;
  return `${whole} + INTERVAL (SUBSTRING(${text}, 27, 1) >= '5') MICROSECOND + INTERVAL (${value} LIKE '%T24:%') DAY`;
}

/** The value of `expression`, of the type that the model gives it, as XML Schema writes it. */
export function lexicalText({ kind, precision }: ColumnType, expression: string): string {
  switch (kind) {
    case 'boolean':
      return `CASE ${expression} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END`;
    case 'timestamp':
      return trimmed(`DATE_FORMAT(${expression}, '%Y-%m-%dT%H:%i:%s.%f')`);
    case 'timestamptz':
      return `CONCAT(${trimmed(`DATE_FORMAT(${expression}, '%Y-%m-%dT%H:%i:%s.%f')`)}, 'Z')`;
    case 'time':
      return trimmed(`TIME_FORMAT(${expression}, '%H:%i:%s.%f')`);
    case 'numeric':
      return precision === undefined ? trimmed(`CAST(${expression} AS CHAR)`) : `CAST(${expression} AS CHAR)`;
    case 'text':
      return expression;
    default:
      return `CAST(${expression} AS CHAR)`;
  }
}

/** The instant `expression` at `offset`, minutes ahead of UTC, as XML Schema writes it; NULL of these is `Z`. */
export function textAtOffset(expression: string, offset: string): string {
  const local = lexicalText({ kind: 'timestamp' }, `${expression} + INTERVAL ${offset} MINUTE`);
  const zone = `IF(${offset} < 0, '-', '+'), LPAD(ABS(${offset}) DIV 60, 2, '0'), ':', LPAD(MOD(ABS(${offset}), 60), 2, '0')`;
  return `IF(${offset} IS NULL, ${lexicalText({ kind: 'timestamptz' }, expression)}, CONCAT(${local}, ${zone}))`;
}

/** Removes zeros at the end of a fraction. */
function trimmed(text: string): string {
  return `TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM ${text}))`;
}

// The dialect.

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'text' | 'numeric'>, string>> = {
  boolean: 'BOOLEAN',
  smallint: 'SMALLINT',
  integer: 'INT',
  bigint: 'BIGINT',
  real: 'FLOAT',
  double: 'DOUBLE',
  date: 'DATE',
  time: 'TIME(6)',
  timestamp: 'DATETIME(6)',
  // TIMESTAMP ends in 2038
  timestamptz: 'DATETIME(6)',
};

/** MySQL 8 and MariaDB 10.6 and later, tables in utf8mb4. Instants are kept in UTC. */
export const mysql: Dialect = {
  ...standardDialect,
  name: 'mysql',
  title: 'MySQL, MariaDB',
  identifierMaxBytes: 64,
  // limit of InnoDB; its row must also hold their values (`inRow`)
  maxColumns: 1017,
  // quoted or not, names are limited to the Basic Multilingual Plane; a database's name becomes a folder
  refusedCharacters: /[\u{10000}-\u{10FFFF}\0]|[\s/\\.](?=$)/u,
  capabilities: {
    ...standardDialect.capabilities,
    indexes: 'inline',
    maxKeys: 64,
    numbersForeignKeys: true,
    keyTextMaxLength: 255,
    boundedTextMaxBytes: 60_000,
    // InnoDB's 8,126, less the bytes of the row header and its keys
    inRow: { maxBytes: 8000, bytesOf: inRowBytes },
  },
  comments: {
    kind: 'inline',
    maxLength: 1000,
    // MariaDB keeps them with the fields' names and 17 bytes for each in 65,535
    maxTableBytes: 62_000,
    table: (text) => `COMMENT = ${backslashLiteral(text)}`,
    column: (text) => `COMMENT ${backslashLiteral(text)}`,
  },
  quote: backquoted,
  literal: backslashLiteral,
  // columns of InnoDB
  reservedColumns: ['db_row_id', 'db_trx_id', 'db_roll_ptr', 'fts_doc_id'],
  localTime: (instant, minutes) => `${instant} + INTERVAL ${minutes} MINUTE`,
  // cut at group_concat_max_len, which is a setting of the reader's session
  joinedText: ({ text, order }) => `GROUP_CONCAT(${text} ORDER BY ${order} SEPARATOR ${mysql.literal('\n')})`,
  typeName,
  tableOptions: () => ' DEFAULT CHARACTER SET utf8mb4',
  createSchema: (sqlSchema) => `CREATE SCHEMA IF NOT EXISTS ${backquoted(sqlSchema)}`,
};

/** All VARCHARs of a row share 65,535 bytes, so only short text is a VARCHAR. Lengths of the TEXT types are in bytes, 4 a character. */
function typeName(type: ColumnType): string {
  const { kind, length = Number.POSITIVE_INFINITY } = type;
  if (type.fixed === true) return `CHAR(${length})`;
  if (kind === 'text') {
    if (length > 4_194_303) return 'LONGTEXT';
    if (length > 16_383) return 'MEDIUMTEXT';
    return length > 255 ? 'TEXT' : `VARCHAR(${length})`;
  }
  if (kind !== 'numeric') return kinds[kind];
  return decimalType(type, {
    name: 'DECIMAL',
    maxPrecision: 65,
    maxScale: 30,
    unbounded: 'DECIMAL(65,30)',
    asText: 'LONGTEXT',
  });
}

/**
 * InnoDB, row format DYNAMIC: values that may be longer than 255 bytes can be stored outside of the row, except for a pointer or their
 * first 40 bytes.
 */
function inRowBytes(type: ColumnType): number {
  const { kind, length = Number.POSITIVE_INFINITY } = type;
  if (kind === 'text') {
    if (length > 255) return 21;
    return length < 64 ? length * 4 + 1 : 41;
  }
  return kind === 'numeric' ? 30 : 9;
}
