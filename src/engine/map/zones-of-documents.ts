/**
 * Finds the columns of dates with times that hold instants in a target after documents are loaded, according to the statistics of these
 * documents.
 */
import type { DocumentStatistics, ValueStatistics } from '../infer/statistics.ts';
import { CLASS_DATETIME_ZONED } from '../infer/value-classes.ts';
import { factsOf } from '../model/facts.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { placeOf, withKinds } from '../model/retyped-columns.ts';
import { clarkName } from '../model/source-model.ts';
import { rowColumns } from '../model/wide-rows.ts';
import { hasZone } from '../model/zones.ts';

/** Returns whether some of the known values have a time zone. */
export function someHaveZone({ count, empty, classes, min, max }: ValueStatistics): boolean {
  if (count === empty) return false;
  return (classes & CLASS_DATETIME_ZONED) !== 0 || [min, max].some((text) => text !== null && hasZone(text));
}

/** Returns the model that a target has after these documents are loaded. */
export function withZonesOfDocuments(
  model: RelationalModel,
  statistics: DocumentStatistics,
): RelationalModel {
  const open = new Set(factsOf(model).openToZones.map(([table, column]) => placeOf(table, column)));
  if (open.size === 0) return model;
  const zoned = new Map<string, true>();
  const note = (table: number, column: number, value: ValueStatistics): void => {
    if (column < 0 || !someHaveZone(value)) return;
    const { table: part, at } = rowColumns(model, table)[column]!;
    if (open.has(placeOf(part, at))) zoned.set(placeOf(part, at), true);
  };
  const visited = new Set<string>();
  const meetings: (readonly [node: number, element: number])[] = [];
  const meet = (node: number, element: number): void => {
    const pair = `${node} ${element}`;
    if (visited.has(pair)) return;
    visited.add(pair);
    meetings.push([node, element]);
  };
  for (const root of statistics.roots)
    for (const edge of model.roots)
      if (clarkName(edge.name) === clarkName(statistics.elements[root]!)) meet(edge.node, root);
  for (const [at, index] of meetings) {
    const node = model.nodes[at]!;
    const element = statistics.elements[index]!;
    note(node.table, node.textColumn, element.text);
    const columns = new Map(node.attributes.map(({ name, column }) => [clarkName(name), column]));
    for (const attribute of element.attributes)
      note(node.table, columns.get(clarkName(attribute)) ?? -1, attribute.value);
    const edges = new Map(node.edges.map((edge) => [clarkName(edge.name), edge]));
    for (const child of element.children) {
      const edge = edges.get(clarkName(statistics.elements[child.element]!));
      if (edge === undefined) continue;
      meet(edge.node, child.element);
      if (edge.head !== undefined) meet(edge.head.node, child.element);
    }
    for (const edge of node.typeEdges) meet(edge.node, index);
  }
  return withKinds(model, zoned, () => 'timestamptz');
}
