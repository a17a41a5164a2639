/** Reads back what `load.mysql.sql` made: the items of lists put together again, as PostgreSQL writes arrays. */
import { dialectOf } from '../../../../src/engine/sql/dialects/every-dialect.ts';
import { withListTables } from '../../../../src/engine/sql/list-tables.ts';
import { physicalName } from '../../../../src/engine/sql/physical-model.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import type { TestMariadb } from '../../../support/servers/mariadb.ts';
import type { TargetReader, TextRow } from '../../row-sinks/readers.ts';

const mysql = dialectOf('mysql');

export function mysqlReader(server: TestMariadb, database: string, model: RelationalModel): TargetReader {
  const { model: drawn, lists } = withListTables(model, mysql);
  const rowsOf = async (table: string): Promise<TextRow[] | null> => {
    const name = physicalName(mysql, table);
    const described = await server.run(
      `SELECT JSON_ARRAYAGG(JSON_ARRAY(column_name, data_type) ORDER BY ordinal_position) FROM information_schema.columns
       WHERE table_schema = ${mysql.literal(database)} AND table_name = ${mysql.literal(name)};`,
    );
    const columns = unescaped(described.split('\n')[1]!);
    if (columns === 'NULL') return null;
    // FLOAT shows six digits of what it holds
    const members = (JSON.parse(columns) as [string, string][]).flatMap(([column, type]) => {
      const value = type === 'float' ? `CAST(${mysql.quote(column)} AS DOUBLE)` : mysql.quote(column);
      return [mysql.literal(column), `CAST(${value} AS CHAR CHARACTER SET utf8mb4)`];
    });
    const printed = await server.run(
      `SET NAMES utf8mb4; SELECT JSON_OBJECT(${members.join(', ')}) FROM ${mysql.quote(name)} ORDER BY 1 + ${mysql.quote((JSON.parse(columns) as [string][])[0]![0])};`,
      undefined,
      database,
    );
    return printed
      .split('\n')
      .slice(1, -1)
      .map((line) => JSON.parse(unescaped(line)) as TextRow);
  };
  return {
    read: async (table) => {
      const rows = await rowsOf(table);
      if (rows === null || rows.length === 0) return rows;
      const owner = model.tables.findIndex(({ name }) => name === table);
      const columns = model.tables[owner]?.columns ?? [];
      const renamed = new Map(columns.map(({ name }) => [physicalName(mysql, name), name]));
      const [key] = Object.keys(rows[0]!);
      const own = await Promise.all(
        lists
          .filter((list) => list.owner === owner && !Object.hasOwn(rows[0]!, columns[list.column]!.name))
          .map(async ({ column, table: at }) => {
            const list = drawn.tables[at!]!;
            const [, parentKey, position, item] = list.columns.map(({ name }) => name);
            // a job makes the table with the first item
            const byRow = Map.groupBy((await rowsOf(list.name)) ?? [], (row) => row[parentKey!]);
            for (const items of byRow.values())
              if (items.some((row, index) => Number(row[position!]) !== index + 1))
                throw new Error(`positions in ${list.name}`);
            const count = drawn.tables[owner]!.columns[column]!.name;
            const of = (row: TextRow): string | null => {
              const items = (byRow.get(row[key!]!) ?? []).map((found) =>
                flagOf(columns[column]!.type.kind, found[item!]!)!,
              );
              if (items.length !== Number(row[count] ?? 0))
                throw new Error(`${items.length} items in ${list.name}`);
              if (row[count] === null) return null;
              return `{${items.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
            };
            return { name: columns[column]!.name, count, of };
          }),
      );
      return rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => {
            const list = own.find(({ count }) => count === column);
            if (list !== undefined) return [list.name, list.of(row)];
            const name = renamed.get(column) ?? column;
            return [name, flagOf(columns.find((one) => one.name === name)?.type.kind, value)];
          }),
        ),
      );
    },
  };
}

function flagOf(kind: string | undefined, value: string | null): string | null {
  if (kind !== 'boolean') return value;
  return { '0': 'false', '1': 'true' }[value ?? ''] ?? value;
}

/** The client's batch form: tabs, line ends and backslashes are escaped. */
function unescaped(text: string): string {
  return text.replaceAll(
    /\\([\\tn0])/g,
    (_, letter: string) => ({ t: '\t', n: '\n', '0': '\0' })[letter] ?? letter,
  );
}
