/** Which values columns can have, where the schema enumerates them. */
import { mapInSlices } from '../in-slices.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { clarkName, type SourceModel, type ValueType } from '../model/source-model.ts';
import { rowColumnsOf } from '../model/wide-rows.ts';

/** Each value once, in the order of the schema. */
export type Enumeration = readonly string[];

/**
 * By indexes of table and column; null: the values are not enumerated, be it in one of several places that share the column. Of a
 * list: what its items can be. `source` is what the model was made of.
 */
export async function enumerationsOf(
  model: RelationalModel,
  source: SourceModel,
): Promise<(table: number, column: number) => Enumeration | null> {
  const known = new Map<string, Set<string> | null>();
  const columnsOf = rowColumnsOf(model);
  const note = (table: number, column: number, type: ValueType | null | undefined): void => {
    if (column < 0) return;
    const place = columnsOf(table)[column]!;
    const key = `${place.table} ${place.at}`;
    const values = type === null || type === undefined ? null : valuesOf(type);
    const before = known.get(key);
    if (before === null) return;
    if (values === null) known.set(key, null);
    else known.set(key, new Set([...(before ?? []), ...values]));
  };
  await mapInSlices(model.nodes, (node) => {
    const type = source.types[node.sourceType];
    note(node.table, node.textColumn, type?.value);
    if (node.attributes.length === 0) return;
    const types = new Map(type?.attributes.map((attribute) => [clarkName(attribute.name), attribute.type]));
    for (const { name, column } of node.attributes) note(node.table, column, types.get(clarkName(name)));
  });
  const lists = new Map<string, Enumeration>();
  return (table, column) => {
    const key = `${table} ${column}`;
    const values = known.get(key);
    if (values === undefined || values === null || values.size === 0) return null;
    const list = lists.get(key) ?? [...values];
    lists.set(key, list);
    return list;
  };
}

/** Null: any value of the type can stand there. */
function valuesOf({ variety, facets, itemType, memberTypes = [] }: ValueType): readonly string[] | null {
  if (variety === 'list') return itemType === undefined ? null : valuesOf(itemType);
  if (facets.enumeration !== undefined) return facets.enumeration;
  if (variety === 'atomic' || memberTypes.length === 0) return null;
  const members = memberTypes.map(valuesOf);
  return members.every((values) => values !== null) ? members.flat() : null;
}
