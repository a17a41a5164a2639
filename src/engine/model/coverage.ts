/** Tests if one model can read the rows that another wrote without loss. */
import { useOf } from './column-uses.ts';
import type { PlanEdge, PlanNode, RelationalModel } from './relational-model.ts';
import { clarkName } from './source-model.ts';
import { rowColumnsOf } from './wide-rows.ts';

/** True if all content that `written` knows has the same place, by names of tables and columns, in `reading`. */
export function coversModel(reading: RelationalModel, written: RelationalModel): boolean {
  if (!namesAlike(reading, written)) return false;
  const known = columnsOf(reading);
  for (const column of columnsOf(written)) if (!known.has(column)) return false;
  return plansAlike(reading, written);
}

type Step = Pick<PlanEdge, 'name' | 'node' | 'parentKeyColumn'> & Partial<PlanEdge>;

/**
 * True if each element of `written` has its values in the same columns in `reading`, and hangs from the parent row by the same key.
 * Folded children without a position come in the order of the plan, which must also be the same.
 */
function plansAlike(reading: RelationalModel, written: RelationalModel): boolean {
  const met = new Set<string>();
  const open: (readonly [number, number])[] = [];
  const [inReading, inWritten] = [placeNames(reading), placeNames(written)];
  const follow = (
    steps: readonly Step[],
    others: readonly Step[],
    holders: readonly [written: number, reading: number],
  ): boolean => {
    const positions = new Map(others.map(({ name }, at) => [clarkName(name), at]));
    let last = -1;
    return steps.every((step) => {
      const position = positions.get(clarkName(step.name));
      if (position === undefined) return false;
      const other = others[position]!;
      if (inWritten.keysOf(step, holders[0]) !== inReading.keysOf(other, holders[1])) return false;
      const pair = `${step.node} ${other.node}`;
      if (!met.has(pair)) open.push([step.node, other.node]);
      met.add(pair);
      const { opensRow, foldedPositionColumn } = written.nodes[step.node]!;
      if (opensRow || foldedPositionColumn >= 0) return true;
      const isInOrder = position > last;
      last = position;
      return isInOrder;
    });
  };
  if (!follow(written.roots, reading.roots, [-1, -1])) return false;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, other] = [written.nodes[next[0]]!, reading.nodes[next[1]]!];
    const columns = inReading.columnsOf(other);
    if (!inWritten.columnsOf(node).every((column) => columns.includes(column))) return false;
    // rows that do not say which of several elements they are, or hold
    if (node.elementNameColumn < 0 && other.elementNameColumn >= 0) return false;
    if (!follow(node.edges, other.edges, next) || !follow(node.typeEdges, other.typeEdges, next))
      return false;
  }
  return true;
}

interface PlaceNames {
  /** columns of the values and content of an element */
  columnsOf(node: PlanNode): readonly string[];
  /** keys that connect an element's row with that of the parent element, a node */
  keysOf(step: Step, above: number): string;
}

function placeNames(model: RelationalModel): PlaceNames {
  const rowColumns = rowColumnsOf(model);
  const nameOf = (table: number, at: number): string => {
    const column = at < 0 ? undefined : rowColumns(table)[at];
    return column === undefined ? '' : `${model.tables[column.table]!.name}.${column.column.name}`;
  };
  const tableOf = (table: number): string => (table < 0 ? '' : model.tables[table]!.name);
  return {
    columnsOf: (node) => {
      const { table, attributes } = node;
      const slots = [
        ['text', node.textColumn],
        ['presence', node.presenceColumn],
        ['nil', node.nilColumn],
        ['element', node.elementNameColumn],
        ['type', node.typeNameColumn],
        ['position', node.foldedPositionColumn],
        ['any', node.anyAttributeColumn],
        ...attributes.map(({ name, column }) => [`@${clarkName(name)}`, column] as const),
      ] as const;
      return [
        `${node.opensRow ? 'row of' : 'in'} ${tableOf(table)}`,
        ...slots.flatMap(([slot, column]) => (column < 0 ? [] : [`${slot} ${nameOf(table, column)}`])),
        ...(node.textTable < 0 ? [] : [`text in ${tableOf(node.textTable)}`]),
        ...(node.wildcardTable < 0 ? [] : [`any in ${tableOf(node.wildcardTable)}`]),
      ];
    },
    keysOf: ({ node, parentKeyColumn, childKeyColumn = -1, role = '', head }, above) =>
      [
        nameOf(model.nodes[node]!.table, parentKeyColumn),
        above < 0 ? '' : nameOf(model.nodes[above]!.table, childKeyColumn),
        role,
        head === undefined ? '' : nameOf(model.nodes[head.node]!.table, head.parentKeyColumn),
      ].join('\n'),
  };
}

/** True if paths and labels mean the same names. Documents of another namespace are different, however similar. */
function namesAlike(reading: RelationalModel, written: RelationalModel): boolean {
  const roots = new Set(reading.roots.map(({ name }) => `{${name.namespaceUri}}${name.localName}`));
  return (
    written.roots.every(({ name }) => roots.has(`{${name.namespaceUri}}${name.localName}`)) &&
    Object.entries(written.namespaces).every(([prefix, uri]) => (reading.namespaces[prefix] ?? uri) === uri)
  );
}

function columnsOf({ tables }: RelationalModel): Set<string> {
  const found = new Set<string>();
  for (const { name, columns } of tables)
    for (const column of columns) {
      if (column.role === 'extra') continue;
      const use = useOf(column, tables);
      const parent = column.references === null ? '' : tables[column.references]!.name;
      found.add([name, column.name, use, parent].join('\n'));
    }
  return found;
}
