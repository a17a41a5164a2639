/** Determines whether dates with times have a time zone, from the rules of their type. */
import { type ValueType, clarkName } from '../../model/source-model.ts';
import { hasZone } from '../../model/zones.ts';
import { mayAllowText } from '../../xsd/values/pattern.ts';
import type { DocumentStatistics, ValueStatistics } from '../../infer/statistics.ts';
import { CLASS_DATETIME_ZONED } from '../../infer/value-classes.ts';
import { factsOf } from '../../model/facts.ts';
import type { RelationalModel } from '../../model/relational-model.ts';
import { placeOf, withKinds } from '../../model/retyped-columns.ts';
import { rowColumns } from '../../model/wide-rows.ts';
import { type PreviousNames, useOfDraft } from '../names/history.ts';
import { newColumn, type ColumnDraft, type TableDraft } from './model-builder.ts';

/** Returns undefined if values may have a zone but need not. */
export function zoneOf({ zone, facets }: ValueType): ValueType['zone'] {
  const { patterns, enumeration } = facets;
  if (zone !== undefined) return zone;
  if (enumeration !== undefined)
    return agreed(
      enumeration.some((text) => !hasZone(text)),
      enumeration.some(hasZone),
    );
  if (patterns === undefined) return undefined;
  const allows = (text: string): boolean => mayAllowText(patterns, text);
  return agreed(
    sampleTimes.some(allows),
    sampleZones.some((end) => sampleTimes.some((time) => allows(time + end))),
  );
}

function agreed(hasLocal: boolean, hasZoned: boolean): ValueType['zone'] {
  return hasLocal === hasZoned ? undefined : hasZoned ? 'always' : 'never';
}

/** Times that patterns commonly allow: full minutes, midnight, and seconds with different numbers of digits after the point. */
const sampleTimes = ['10:20:11', '10:20:00', '00:00:00'].flatMap((clock) =>
  [0, 1, 2, 3, 4, 5, 6, 7, 9].map(
    (digits) => `2024-10-21T${clock}${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`,
  ),
);
const sampleZones = ['Z', '+01:00', '-05:00', '+00:00'];

// Finds the columns of dates with times that hold instants in a target after documents are loaded, according to the statistics of these
// documents.

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

// Columns for the offsets from UTC that dates with times are written with; they follow the columns of the times
// (docs/decisions/model/offsets-of-times.md).

/**
 * Adds columns of offsets to a table whose path is settled. Times that documents have with offsets get one, unless an earlier version had
 * the time without it.
 */
export function addOffsets(table: TableDraft, previous: PreviousNames): void {
  const columns = table.columns.flatMap((column) => {
    if (column.role !== 'value' || column.type.list === true) return [column];
    const offset = newColumn({
      role: 'offset',
      type: { kind: 'smallint' },
      steps: column.steps,
      xpath: column.xpath,
      offsetOf: column,
    });
    const isDrawn = isNewWithOffsets(column, table, previous);
    return isDrawn || previous.column(table.usePath, useOfDraft(offset, table)) !== undefined
      ? [column, offset]
      : [column];
  });
  table.columns.splice(0, table.columns.length, ...columns);
}

function isNewWithOffsets(column: ColumnDraft, table: TableDraft, previous: PreviousNames): boolean {
  if (!column.hasOffsets || column.type.kind !== 'timestamptz') return false;
  return previous.parts(table.usePath)?.partOf(useOfDraft(column, table)) === undefined;
}
