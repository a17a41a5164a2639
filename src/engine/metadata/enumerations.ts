/** Which values columns can have, where the schema enumerates them. */
import { mapInSlices } from '../in-slices.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { clarkName, type SourceModel, type ValueType } from '../model/source-model.ts';
import { rowColumnsOf } from '../model/wide-rows.ts';

/** Each value once, in the order of the schema. */
export type Enumeration = readonly string[];

export interface EnumeratedValues {
  readonly values: Enumeration;
  /** what the schema says of values; what it says nothing of is not there */
  readonly said: ReadonlyMap<string, string>;
}

/**
 * By indexes of table and column; null: the values are not enumerated, be it in one of several places that share the column. Of a
 * list: what its items can be. `source` is what the model was made of.
 */
export async function enumerationsOf(
  model: RelationalModel,
  source: SourceModel,
): Promise<(table: number, column: number) => EnumeratedValues | null> {
  const known = new Map<string, Map<string, string | null> | null>();
  const columnsOf = rowColumnsOf(model);
  const note = (table: number, column: number, type: ValueType | null | undefined): void => {
    if (column < 0) return;
    const place = columnsOf(table)[column]!;
    const key = `${place.table} ${place.at}`;
    const values = type === null || type === undefined ? null : valuesOf(type);
    const before = known.get(key);
    if (before === null) return;
    if (values === null) known.set(key, null);
    else known.set(key, united(before ?? new Map(), values));
  };
  await mapInSlices(model.nodes, (node) => {
    const type = source.types[node.sourceType];
    note(node.table, node.textColumn, type?.value);
    if (node.attributes.length === 0) return;
    const types = new Map(type?.attributes.map((attribute) => [clarkName(attribute.name), attribute.type]));
    for (const { name, column } of node.attributes) note(node.table, column, types.get(clarkName(name)));
  });
  const lists = new Map<string, EnumeratedValues>();
  return (table, column) => {
    const key = `${table} ${column}`;
    const values = known.get(key);
    if (values === undefined || values === null || values.size === 0) return null;
    let list = lists.get(key);
    if (list === undefined) {
      const said = [...values].flatMap(([value, text]) => (text === null ? [] : [[value, text] as const]));
      list = { values: [...values.keys()], said: new Map(said) };
      lists.set(key, list);
    }
    return list;
  };
}

type Values = ReadonlyMap<string, string | null>;

/** Of two places, what the first says of a value counts. */
function united(first: Values, second: Values): Map<string, string | null> {
  const all = new Map(first);
  for (const [value, text] of second) all.set(value, all.get(value) ?? text);
  return all;
}

/** With what is said of each; null: any value of the type can stand there. */
function valuesOf({ variety, facets, itemType, memberTypes = [] }: ValueType): Values | null {
  if (variety === 'list') return itemType === undefined ? null : valuesOf(itemType);
  const { enumeration, enumerationDocumentation = [] } = facets;
  if (enumeration !== undefined)
    return new Map(enumeration.map((value, at) => [value, enumerationDocumentation[at] ?? null]));
  if (variety === 'atomic' || memberTypes.length === 0) return null;
  const members = memberTypes.map(valuesOf);
  return members.every((values) => values !== null) ? members.reduce(united, new Map()) : null;
}
