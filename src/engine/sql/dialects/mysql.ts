/** The dialect of MySQL and MariaDB. */
import type { ColumnType } from '../../model/relational-model.ts';
import { backquoted, backslashLiteral, decimalType, type Dialect } from '../dialect.ts';
import { standardDialect } from './standard.ts';

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
