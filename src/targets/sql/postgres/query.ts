/** Rows of a query of PostgreSQL: a cursor in a transaction that only reads. */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import type { QueryCell, QueryColumn, QueryRows } from '../../../ports/row-source.ts';
import { findParameter, parameterFault, selectRows, tableOf, textsOf } from '../../rows/query.ts';
import { connectTarget, targetFault, type TargetAddress } from './connection.ts';

const dialect = { quote: doubleQuoted, literal: standardLiteral };

/** Types by the object ids of PostgreSQL's types (pg_type.dat). */
const types: Readonly<Record<number, Pick<QueryColumn, 'type' | 'holds'>>> = {
  16: { type: 'boolean', holds: 'other' },
  17: { type: 'text', holds: 'bytes' },
  20: { type: 'bigint', holds: 'other' },
  21: { type: 'smallint', holds: 'other' },
  23: { type: 'integer', holds: 'other' },
  25: { type: 'text', holds: 'text' },
  142: { type: 'text', holds: 'xml' },
  700: { type: 'real', holds: 'other' },
  701: { type: 'double', holds: 'other' },
  1042: { type: 'text', holds: 'text' },
  1043: { type: 'text', holds: 'text' },
  1082: { type: 'date', holds: 'other' },
  1083: { type: 'time', holds: 'other' },
  1114: { type: 'timestamp', holds: 'other' },
  1184: { type: 'timestamptz', holds: 'other' },
  1700: { type: 'numeric', holds: 'other' },
};

/** a message of the protocol, a syntax error, and a parameter that has no type */
const ofParameters: ReadonlySet<string> = new Set(['08P01', '42601', '42P02', '42P18']);

/** rows of a first fetch, and the intended size of a fetch in bytes */
const firstFetch = 16;
const wantedBytes = 4 * 1024 * 1024;
const maxRows = 4096;

export function openPostgresQuery(
  address: TargetAddress & { readonly label: string },
  query: string,
): QueryRows {
  const { label } = address;
  const sql = connectTarget(address, { single: true });
  // the extended protocol accepts only one statement
  const ask = async <T extends object>(statement: string) => {
    try {
      return await sql.unsafe<T[]>(statement, [], { simple: false } as object);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      const parameter = ofParameters.has(code) ? findParameter(query, ['?', '$', ':']) : null;
      throw parameter === null ? targetFault(error, label) : parameterFault(parameter, label);
    }
  };
  const table = tableOf(query);
  let known: Promise<readonly QueryColumn[]> | null = null;
  const describe = async (): Promise<readonly QueryColumn[]> => {
    await ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // overrides the settings of the server, which may be meant for people
    await ask('SET LOCAL extra_float_digits = 1');
    const { columns } = await ask(`SELECT * FROM ${table} LIMIT 0`);
    return columns.map(({ name, type }) => ({
      name,
      ...(types[type] ?? { type: 'text' as const, holds: 'other' as const }),
    }));
  };
  const columns = (): Promise<readonly QueryColumn[]> => (known ??= describe());
  return {
    label,
    columns,
    async *rows(order) {
      const all = await columns();
      const expressions = textsOf(all, doubleQuoted, 'text');
      await ask(
        `DECLARE svc_query NO SCROLL CURSOR FOR ${selectRows(dialect, table, uniquelyNamed(expressions), order)}`,
      );
      for (let count = firstFetch; ;) {
        const found = await ask<Record<string, QueryCell>>(`FETCH ${count} FROM svc_query`);
        const rows = found.map((row) => Object.values(row));
        yield* rows;
        if (rows.length < count) return;
        const bytes = rows.flat().reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
        count = Math.max(1, Math.min(maxRows, count * 4, Math.floor((wantedBytes * count) / (bytes + 1))));
      }
    },
    close: () => sql.end({ timeout: 0 }),
  };
}

/** Names columns by position, so that a row has a value for each column even if names repeat. */
function uniquelyNamed(expressions: readonly string[]): string[] {
  return expressions.map((expression, at) => `${expression} AS c${at}`);
}
