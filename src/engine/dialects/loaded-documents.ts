/** Which documents have rows in a model's tables of a target: the question in SQL. */
import type { RelationalModel } from '../model/relational-model.ts';
import { sideTableNames } from '../model/side-tables.ts';
import { doubleQuoted } from './dialect.ts';
import type { PhysicalTable } from './physical-model.ts';

/** Where rows name their document: tables of root elements. */
export interface DocumentColumn {
  readonly table: string;
  readonly column: string;
}

export function documentColumns(
  model: RelationalModel,
  tables: readonly PhysicalTable[],
): readonly DocumentColumn[] {
  return model.tables.flatMap(({ columns }, index) =>
    columns.flatMap(({ role }, at) =>
      role === 'document' ? [{ table: tables[index]!.name, column: tables[index]!.columns[at]!.name }] : [],
    ),
  );
}

/** `sha256` of every document with a row in one of the tables; a document of another model in the same target does not count. */
export function loadedDocumentsQuery(
  roots: readonly DocumentColumn[],
  relation: (table: string) => string,
): string {
  const documents = relation(sideTableNames.documents);
  if (roots.length === 0) return `SELECT sha256 FROM ${documents} WHERE false`;
  const keys = roots.map(({ table, column }) => `SELECT ${doubleQuoted(column)} FROM ${relation(table)}`);
  return `SELECT sha256 FROM ${documents} WHERE document_key IN (${keys.join(' UNION ALL ')})`;
}
