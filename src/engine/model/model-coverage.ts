/** Whether rows that one model wrote can be read by another without a loss. */
import type { ColumnRole, RelationalModel } from './relational-model.ts';

/** Columns that hold something of a document; the others link rows, or say where these came from. */
const telling: ReadonlySet<ColumnRole> = new Set([
  'value',
  'presence',
  'nil',
  'element_name',
  'type_name',
  'folded_position',
  'content',
]);

/** True where all content that `written` knows has the same place, by names of tables and columns, in `reading`. */
export function coversModel(reading: RelationalModel, written: RelationalModel): boolean {
  const known = placesOf(reading);
  for (const place of placesOf(written)) if (!known.has(place)) return false;
  return true;
}

function placesOf({ tables, mappings }: RelationalModel): Set<string> {
  const places = new Set<string>();
  for (const { name, columns } of tables)
    for (const column of columns) if (telling.has(column.role)) places.add(`${name}\n${column.name}`);
  for (const { xpath, table, column, active } of mappings) {
    if (xpath === null || active === false) continue;
    const { name, columns } = tables[table]!;
    places.add(`${xpath}\n${name}\n${column === null ? '' : columns[column]!.name}`);
  }
  return places;
}
