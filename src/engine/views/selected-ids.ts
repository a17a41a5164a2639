/** The ids that documents have, selected from all tables that have some. */
import { structureWord } from '../map/names/identifiers.ts';
import type { MeantIds } from '../model/references.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { qualified, type Dialect } from '../sql/dialect.ts';
import { physicalName } from '../sql/physical-names.ts';

/** SQLite allows at most 500 SELECTs in one UNION. */
const mostInOneUnion = 400;

export interface SelectedIds {
  /** names of the selected columns, quoted */
  readonly columns: { readonly [of in 'documentKey' | 'id' | 'tableName' | 'rowKey']: string };
  /** one SELECT for each column of ids, put together; an id may be NULL */
  readonly union: string;
}

/** Returns a query for the document, the table and the row key of each id. */
export function selectedIds(
  model: RelationalModel,
  ids: readonly MeantIds[],
  { dialect, sqlSchema }: { readonly dialect: Dialect; readonly sqlSchema: string | null },
): SelectedIds {
  const mode = model.options?.nameMode ?? 'l';
  const quoted = (name: string): string => dialect.quote(physicalName(dialect, name));
  // PostgreSQL uses no index for a union whose texts have several types
  const asText = (expression: string): string =>
    dialect.looksUpIds === true ? `CAST(${expression} AS text)` : expression;
  const [documentKey, id, tableName, rowKey] = ['document_key', 'id', 'table_name', 'row_key'].map((name) =>
    dialect.quote(physicalName(dialect, structureWord(name, mode))),
  ) as [string, string, string, string];
  const selects = ids.flatMap(({ table: index, column }) => {
    const table = model.tables[index]!;
    const key = table.columns.find(({ role }) => role === 'row_key');
    const document = table.columns.find(({ role }) => role === 'document');
    if (key === undefined || document === undefined) return [];
    const relation = qualified(dialect, { sqlSchema, table: physicalName(dialect, table.name) });
    const told = dialect.literal(physicalName(dialect, model.tables[table.continues ?? index]!.name));
    return [
      `SELECT ${quoted(document.name)} AS ${documentKey}, ${asText(quoted(table.columns[column]!.name))} AS ${id}, ${asText(told)} AS ${tableName}, ` +
        `${quoted(key.name)} AS ${rowKey} FROM ${relation}`,
    ];
  });
  return { columns: { documentKey, id, tableName, rowKey }, union: unionOf(selects) };
}

function unionOf(selects: readonly string[]): string {
  if (selects.length <= mostInOneUnion) return selects.join('\nUNION ALL\n');
  const parts: string[] = [];
  for (let at = 0; at < selects.length; at += mostInOneUnion)
    parts.push(
      `SELECT * FROM (\n${selects.slice(at, at + mostInOneUnion).join('\nUNION ALL\n')}\n) part${parts.length + 1}`,
    );
  return parts.join('\nUNION ALL\n');
}
