/** Rows of a query of MySQL or MariaDB: streamed in a transaction that only reads. */
import type { FieldPacket } from 'mysql2/promise';
import { backquoted, backslashLiteral } from '../../../engine/sql/dialect.ts';
import type { QueryColumn, QueryRows } from '../../../ports/row-source.ts';
import { findParameter, parameterFault, columnOf, selectRows, tableOf } from '../../rows/query.ts';
import { codeOf, mysqlFault, openMysql, type MysqlAddress } from './connection.ts';

const dialect = { quote: backquoted, literal: backslashLiteral };

/** Codes of types (MySQL, enum_field_types). */
const types: Readonly<Record<number, QueryColumn['type']>> = {
  0: 'numeric',
  1: 'smallint',
  2: 'smallint',
  3: 'integer',
  4: 'real',
  5: 'double',
  7: 'timestamptz',
  8: 'bigint',
  9: 'integer',
  10: 'date',
  12: 'timestamp',
  13: 'smallint',
  246: 'numeric',
};
/** the next wider type, for unsigned numbers */
const unsignedTypes: Readonly<Record<number, QueryColumn['type']>> = {
  2: 'integer',
  3: 'bigint',
  8: 'numeric',
};
const unsignedFlag = 32;
/** VARCHAR, BLOB and TEXT of all sizes, VAR_STRING, STRING */
const texts: ReadonlySet<number> = new Set([15, 249, 250, 251, 252, 253, 254]);
/** errors by which the server refuses text that other databases treat as a parameter */
const ofParameters: ReadonlySet<string> = new Set(['ER_PARSE_ERROR', 'ER_BAD_FIELD_ERROR']);
/** the character set of bytes */
const binary = 63;

export async function openMysqlQuery(address: MysqlAddress, query: string): Promise<QueryRows> {
  const { label } = address;
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw mysqlFault(error, label);
    }
  };
  // a variable that was never set is NULL, so a comparison with it selects no row
  const variable = findParameter(query, ['@'], 'mysql');
  if (variable !== null && !query.includes(':=')) throw parameterFault(variable, label);
  const table = tableOf(query);
  const connection = await asked(() => openMysql(address));
  await asked(async () => {
    // queries are written for the server's usual settings
    await connection.run("SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'");
    await connection.run('SET SESSION net_write_timeout = 3600');
    await connection.run('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await connection.run('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  });
  let known: Promise<readonly QueryColumn[]> | null = null;
  const describe = (): Promise<readonly QueryColumn[]> =>
    asked(async () => {
      const fields = await connection
        .describe(`SELECT * FROM ${table} LIMIT 0`)
        .catch((error: unknown): never => {
          const parameter = ofParameters.has(codeOf(error))
            ? findParameter(query, ['?', '$', ':'], 'mysql')
            : null;
          throw parameter === null ? error : parameterFault(parameter, label);
        });
      return fields.map((field) => ({ name: field.name, ...kindOf(field) }));
    });
  const columns = (): Promise<readonly QueryColumn[]> => (known ??= describe());
  return {
    label,
    columns,
    async *rows(order) {
      const all = await columns();
      const names = all.map(({ name }) => columnOf(backquoted, name));
      const sql = selectRows(dialect, table, names, order);
      try {
        yield* connection.stream(sql, (at) => all[at]!.holds === 'bytes');
      } catch (error) {
        throw mysqlFault(error, label);
      }
    },
    close: () => connection.close(),
  };
}

function kindOf({ columnType = 0, characterSet, flags }: FieldPacket): Pick<QueryColumn, 'type' | 'holds'> {
  if (texts.has(columnType)) return { type: 'text', holds: characterSet === binary ? 'bytes' : 'text' };
  const isUnsigned = typeof flags === 'number' && (flags & unsignedFlag) !== 0;
  const type = (isUnsigned ? unsignedTypes[columnType] : undefined) ?? types[columnType] ?? 'text';
  return { type, holds: 'other' };
}
