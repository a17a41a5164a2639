/** The dialect of SQL Server. */
import type { ColumnType } from '../../model/relational-model.ts';
import { decimalType, type Dialect, type QualifiedTable } from '../dialect.ts';
import { standardDialect } from './standard.ts';

const kinds: Readonly<Record<Exclude<ColumnType['kind'], 'text' | 'numeric'>, string>> = {
  boolean: 'BIT',
  smallint: 'SMALLINT',
  integer: 'INT',
  bigint: 'BIGINT',
  real: 'REAL',
  double: 'FLOAT(53)',
  date: 'DATE',
  time: 'TIME(7)',
  timestamp: 'DATETIME2(7)',
  timestamptz: 'DATETIMEOFFSET(7)',
};

/** SQL Server 2016 and later, Azure SQL. Names are limited to 128 UTF-16 units, which 128 bytes never exceed. */
export const sqlserver: Dialect = {
  ...standardDialect,
  name: 'sqlserver',
  title: 'SQL Server',
  identifierMaxBytes: 128,
  maxColumns: 1024,
  capabilities: {
    ...standardDialect.capabilities,
    createIfNotExists: false,
    uniqueKeys: 'filtered-index',
    indexes: 'plain',
    keyIndexes: 'partial',
    keyTextMaxLength: 425,
  },
  comments: {
    kind: 'statement',
    maxLength: 3750,
    table: (table, text) => description(table, text),
    column: (table, column, text) => `${description(table, text)}, N'COLUMN', ${literal(column)}`,
  },
  quote,
  literal,
  localTime: (instant, minutes) => `CAST(SWITCHOFFSET(${instant}, ${minutes}) AS DATETIME2(7))`,
  joinedText: ({ text, order }) =>
    `STRING_AGG(CAST(${text} AS nvarchar(max)), ${literal('\n')}) WITHIN GROUP (ORDER BY ${order})`,
  typeName,
  createSchema: (sqlSchema) =>
    `IF SCHEMA_ID(${literal(sqlSchema)}) IS NULL EXEC(${literal(`CREATE SCHEMA ${quote(sqlSchema)}`)})`,
};

function quote(identifier: string): string {
  return `[${identifier.replaceAll(']', ']]')}]`;
}

function literal(text: string): string {
  return `N'${text.replaceAll("'", "''")}'`;
}

function description({ sqlSchema, table }: QualifiedTable, text: string): string {
  const owner = literal(sqlSchema ?? 'dbo');
  return `EXEC sys.sp_addextendedproperty N'MS_Description', ${literal(text)}, N'SCHEMA', ${owner}, N'TABLE', ${literal(table)}`;
}

/** Lengths are in UTF-16 units, up to 2 a character. */
function typeName(type: ColumnType): string {
  const { kind, length = Number.POSITIVE_INFINITY } = type;
  if (type.fixed === true && type.fitsBytes === true) return `NCHAR(${length})`;
  const units = type.fitsBytes === true ? length : 2 * length;
  if (kind === 'text') return units <= 4000 ? `NVARCHAR(${units})` : 'NVARCHAR(MAX)';
  if (kind !== 'numeric') return kinds[kind];
  return decimalType(type, {
    name: 'DECIMAL',
    maxPrecision: 38,
    maxScale: 38,
    unbounded: 'DECIMAL(38,18)',
    asText: 'NVARCHAR(MAX)',
  });
}
