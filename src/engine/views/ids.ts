/** The view `_ids`: of each `xs:ID` in the documents, which row it is of, so that references (`xs:IDREF`) are followed by joins. */
import { structureWord } from '../map/names/identifiers.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { qualified, type Dialect } from '../sql/dialect.ts';
import { physicalName } from '../sql/physical-names.ts';
import { commentStatement, type CreatedView } from './create-view.ts';

export const idsViewName = '_ids';

/** SQLite takes no more than 500 SELECTs in one UNION. */
const mostInOneUnion = 400;

export interface IdsViewOptions {
  readonly dialect: Dialect;
  readonly sqlSchema: string | null;
  readonly has: (table: number) => boolean;
  readonly hasColumn: (table: number, column: number) => boolean;
}

/** Null where no table that is there has ids. */
export function idsView(
  model: RelationalModel,
  { dialect, sqlSchema, has, hasColumn }: IdsViewOptions,
): CreatedView | null {
  const mode = model.options?.nameMode ?? 'l';
  const quoted = (name: string): string => dialect.quote(physicalName(dialect, name));
  // where the texts of a union are of several types, PostgreSQL does not look into it for an index
  const asText = (expression: string): string =>
    dialect.name === 'postgresql' ? `CAST(${expression} AS text)` : expression;
  const [documentKey, id, tableName, rowKey] = ['document_key', 'id', 'table_name', 'row_key'].map((name) =>
    dialect.quote(physicalName(dialect, structureWord(name, mode))),
  );
  const selects = model.tables.flatMap((table, index) => {
    if (!has(index)) return [];
    const key = table.columns.find(({ role }) => role === 'row_key');
    const document = table.columns.findIndex(({ role }) => role === 'document');
    if (key === undefined || document === -1) return [];
    const relation = qualified(dialect, { sqlSchema, table: physicalName(dialect, table.name) });
    return table.columns.flatMap(({ sourceType, type, name }, at) => {
      if (sourceType !== 'ID' || type.list === true || !hasColumn(index, at)) return [];
      const told = dialect.literal(physicalName(dialect, model.tables[table.continues ?? index]!.name));
      return [
        `SELECT ${quoted(table.columns[document]!.name)} AS ${documentKey}, ${asText(quoted(name))} AS ${id}, ${asText(told)} AS ${tableName}, ` +
          `${quoted(key.name)} AS ${rowKey} FROM ${relation}`,
      ];
    });
  });
  if (selects.length === 0) return null;
  const view = { sqlSchema, table: physicalName(dialect, idsViewName) };
  // outside of the union, so that PostgreSQL looks up an id in the index of each table
  const query = `SELECT * FROM (\n${unionOf(selects)}\n) i WHERE ${id} IS NOT NULL`;
  const comment =
    'One row for each id that documents have: the table and the key of the row it is of. A reference is followed by the key of its document and its value.';
  const create = `CREATE VIEW ${qualified(dialect, view)} AS\n${query}`;
  return {
    name: view.table,
    comment,
    query,
    statements: [create, ...commentStatement(dialect, view, comment)],
  };
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
