/** Whether rows that one model wrote can be read by another without a loss. */
import { useOf } from './column-uses.ts';
import type { PlanEdge, RelationalModel } from './relational-model.ts';
import { clarkName } from './source-model.ts';

/** True where all content that `written` knows has the same place, by names of tables and columns, in `reading`. */
export function coversModel(reading: RelationalModel, written: RelationalModel): boolean {
  if (!namesAlike(reading, written)) return false;
  // what columns stand for is compared where both say so: earlier releases do not
  const byUse = [reading, written].every(({ tables }) => tables.every(({ path }) => path !== undefined));
  const known = mappedTargets(reading, byUse);
  for (const target of mappedTargets(written, byUse)) if (!known.has(target)) return false;
  return ordersAlike(reading, written);
}

/**
 * Whether children that lie in their parent's row without a position come in one order: it is that of the plan. Walks the elements
 * that both models know.
 */
function ordersAlike(reading: RelationalModel, written: RelationalModel): boolean {
  const met = new Set<string>();
  const open: (readonly [number, number])[] = [];
  const meet = (
    edges: readonly Pick<PlanEdge, 'name' | 'node'>[],
    others: readonly Pick<PlanEdge, 'name' | 'node'>[],
  ): number[] => {
    const positions = new Map(others.map(({ name }, at) => [clarkName(name), at]));
    return edges.flatMap(({ name, node }) => {
      const position = positions.get(clarkName(name));
      if (position === undefined) return [];
      const pair = [node, others[position]!.node] as const;
      if (!met.has(pair.join(' '))) open.push(pair);
      met.add(pair.join(' '));
      const { opensRow, foldedPositionColumn } = written.nodes[node]!;
      return opensRow || foldedPositionColumn >= 0 ? [] : [position];
    });
  };
  meet(written.roots, reading.roots);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, other] = [written.nodes[next[0]]!, reading.nodes[next[1]]!];
    const positions = meet(node.edges, other.edges);
    if (positions.some((position, at) => at > 0 && positions[at - 1]! > position)) return false;
    meet(node.typeEdges, other.typeEdges);
  }
  return true;
}

/** Paths and labels mean the same names: documents of another namespace are others, however alike. */
function namesAlike(reading: RelationalModel, written: RelationalModel): boolean {
  const roots = new Set(reading.roots.map(({ name }) => `{${name.namespaceUri}}${name.localName}`));
  return (
    written.roots.every(({ name }) => roots.has(`{${name.namespaceUri}}${name.localName}`)) &&
    Object.entries(written.namespaces).every(([prefix, uri]) => (reading.namespaces[prefix] ?? uri) === uri)
  );
}

function mappedTargets({ tables, mappings }: RelationalModel, byUse: boolean): Set<string> {
  const targets = new Set<string>();
  for (const { name, columns } of tables)
    for (const column of columns) {
      if (column.role === 'extra') continue;
      const use = byUse ? useOf(column, tables)! : column.role;
      const parent = column.references === null ? '' : tables[column.references]!.name;
      targets.add([name, column.name, use, parent].join('\n'));
    }
  for (const { xpath, table, column, active } of mappings) {
    if (xpath === null || active === false) continue;
    const { name, columns } = tables[table]!;
    targets.add(`${xpath}\n${name}\n${column === null ? '' : columns[column]!.name}`);
  }
  return targets;
}
