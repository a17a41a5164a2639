/** What the records of tables tell of keys, made from a model without a database. */
import { keyHolders, rootTables } from '../../../src/engine/model/keys.ts';
import type { Column, RelationalModel, Table } from '../../../src/engine/model/relational-model.ts';
import type { ColumnRecord } from '../../../src/ports/stores/catalog.ts';

export function keyOf(
  model: RelationalModel,
  column: Column,
  table: number,
): Pick<ColumnRecord, 'key' | 'references'> {
  if (column.role === 'row_key') return { key: 'PK', references: null };
  if (column.role === 'document' && rootTables(model).has(table))
    return { key: 'FK', references: '_documents.document_key' };
  const parent = column.references === null ? undefined : model.tables[column.references];
  if (parent === undefined) return { key: null, references: null };
  const rowKey = parent.columns.find(({ role }) => role === 'row_key');
  return { key: 'FK', references: rowKey === undefined ? null : `${parent.name}.${rowKey.name}` };
}

export function parentOf(model: RelationalModel, table: Table): string | null {
  const parents = table.columns.flatMap((column) =>
    column.role === 'parent_key' ? (column.references ?? []) : [],
  );
  const holder = keyHolders(model).get(model.tables.indexOf(table))?.[0];
  if (holder !== undefined) parents.push(holder.table);
  const parent = parents.find((index) => model.tables[index] !== table) ?? parents[0];
  return parent === undefined ? null : (model.tables[parent]?.name ?? null);
}
