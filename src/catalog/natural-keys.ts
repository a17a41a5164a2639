/** Natural keys that people declare of the tables of an origin. */
import type { RelationalModel } from '../engine/model/relational-model.ts';
import type { NaturalKeyColumn } from '../ports/catalog-store.ts';

/** With the keys that people declared; those of tables and columns that this logical schema does not have are left aside. */
export function withNaturalKeys(model: RelationalModel, keys: readonly NaturalKeyColumn[]): RelationalModel {
  const byTable = Map.groupBy(keys, ({ tableName }) => tableName);
  if (byTable.size === 0) return model;
  const tables = model.tables.map((table) => {
    const wanted = byTable.get(table.name) ?? [];
    const columns = wanted.map(({ columnName }) =>
      table.columns.findIndex(({ name }) => name === columnName),
    );
    if (columns.length === 0 || columns.includes(-1)) return table;
    return { ...table, uniqueKeys: [...table.uniqueKeys, { name: `${table.name}_natural_key`, columns }] };
  });
  return { ...model, tables };
}
