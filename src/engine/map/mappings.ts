/** The source-to-target map: one line for every path and column (interface-decisions §3, Mapping). */
import type { MappingEntry, PlanEdge, PlanNode, Table } from '../model/relational-model.ts';
import type { SourceModel, ValueType } from '../model/source-model.ts';
import { rowColumnsOf, type RowColumn } from '../model/wide-rows.ts';
import { createPathPrinter, type PathPrinter } from './paths.ts';
import { stronglyConnected } from './type-graph.ts';

/** Lines beyond which the columns of a shared table are listed for the first path alone that leads to it. */
const manyMappings = 40_000;
/** Lines beyond which further paths to a shared table are not listed at all. */
const mostMappings = 80_000;

const nodeTypes: readonly MappingEntry['nodeType'][] = ['element', 'attribute', 'text', 'mixed', 'any'];

interface Plan {
  readonly tables: readonly Table[];
  readonly nodes: readonly PlanNode[];
  readonly roots: readonly PlanEdge[];
}

/** A shared table has one line per path that leads to it; recursion is written out once. */
export function listMappings(
  source: SourceModel,
  plan: Plan,
  rootElements: readonly number[],
): MappingEntry[] {
  const paths = createPathPrinter(source, rootElements);
  const listing = new MappingListing(source, plan, paths);
  for (const [index, root] of plan.roots.entries()) listing.visit(root, paths.root(rootElements[index]!), []);
  return listing.entries;
}

class MappingListing {
  readonly entries: MappingEntry[] = [];
  readonly #source: SourceModel;
  readonly #plan: Plan;
  readonly #paths: PathPrinter;
  readonly #visited = new Set<number>();
  readonly #rowColumns: (table: number) => readonly RowColumn[];
  /** per node: it can lead back to itself */
  readonly #cyclic: Uint8Array;

  constructor(source: SourceModel, plan: Plan, paths: PathPrinter) {
    this.#source = source;
    this.#plan = plan;
    this.#paths = paths;
    this.#rowColumns = rowColumnsOf(plan);
    this.#cyclic = cyclicNodes(plan);
  }

  visit(edge: PlanEdge, xpath: string, ancestors: readonly number[]): void {
    const node = this.#plan.nodes[edge.node]!;
    const recursive = ancestors.includes(edge.node);
    const repeated = this.#visited.has(edge.node) && this.entries.length > manyMappings;
    if (repeated && this.entries.length > mostMappings) return;
    if (node.opensRow) {
      this.#add(node, { xpath, nodeType: 'element', edge, column: null, sourceType: this.#typeName(node) });
    } else if (node.presenceColumn >= 0) {
      this.#add(node, {
        xpath,
        nodeType: 'element',
        edge,
        column: node.presenceColumn,
        sourceType: this.#typeName(node),
      });
    }
    if (repeated) return;
    this.#visited.add(edge.node);
    this.#content(edge, node, xpath, [...ancestors, edge.node], recursive);
    for (const typeEdge of node.typeEdges) {
      const target = this.#plan.nodes[typeEdge.node]!;
      if (ancestors.includes(typeEdge.node)) continue;
      this.#content(edge, target, xpath, [...ancestors, edge.node, typeEdge.node], recursive);
    }
  }

  #content(
    edge: PlanEdge,
    node: PlanNode,
    xpath: string,
    ancestors: readonly number[],
    recursive: boolean,
  ): void {
    const type = this.#source.types[node.sourceType]!;
    if (node.textColumn >= 0) {
      const sourceType = type.value === null ? 'string' : typeLabel(type.value);
      const nodeType = node.opensRow || type.complex ? 'text' : 'element';
      this.#add(node, { xpath, nodeType, edge, column: node.textColumn, sourceType });
    }
    for (const [index, attribute] of node.attributes.entries()) {
      const declared = type.attributes[index]!;
      this.#push({
        xpath: this.#paths.attribute(xpath, attribute.name),
        nodeType: 'attribute',
        sourceType: typeLabel(declared.type),
        minOccurs: declared.required ? 1 : 0,
        maxOccurs: 1,
        table: node.table,
        column: attribute.column,
        ...(declared.documentation === undefined ? {} : { documentation: declared.documentation }),
      });
    }
    for (const [table, nodeType] of [
      [node.textTable, 'mixed'],
      [node.wildcardTable, 'any'],
    ] as const) {
      if (table < 0) continue;
      const column = this.#plan.tables[table]!.columns.findIndex((candidate) => candidate.role === 'content');
      this.#push({ xpath, nodeType, sourceType: nodeType, minOccurs: 0, maxOccurs: null, table, column });
    }
    if (node.anyAttributeColumn >= 0) {
      this.#push({
        xpath,
        nodeType: 'any',
        sourceType: 'anyAttribute',
        minOccurs: 0,
        maxOccurs: 1,
        table: node.table,
        column: node.anyAttributeColumn,
      });
    }
    for (const child of node.edges) {
      const inner = this.#plan.nodes[child.node]!;
      // what stands below the second round of a recursion is listed there too, but for further rounds
      if (recursive && (inner.opensRow ? this.#cyclic[child.node] === 1 : ancestors.includes(child.node)))
        continue;
      this.visit(child, this.#paths.child(xpath, child.name), ancestors);
    }
  }

  #typeName(node: PlanNode): string {
    const type = this.#source.types[node.sourceType]!;
    return type.value !== null && !type.complex
      ? typeLabel(type.value)
      : (type.name?.localName ?? type.content);
  }

  #add(
    node: PlanNode,
    line: Pick<MappingEntry, 'xpath' | 'nodeType' | 'column' | 'sourceType'> & { readonly edge: PlanEdge },
  ): void {
    const documentation = this.#source.elements[node.sourceElement]!.documentation;
    this.#push({
      xpath: line.xpath,
      nodeType: line.nodeType,
      sourceType: line.sourceType,
      minOccurs: line.edge.minOccurs,
      maxOccurs: line.edge.maxOccurs,
      table: node.table,
      column: line.column,
      ...(documentation === undefined ? {} : { documentation }),
    });
  }

  /** xsi:type alternatives share their head's columns: a path and column are listed once. By path, the others as one number. */
  readonly #seen = new Map<string | null, number | Set<number>>();

  // columns are given as the plan counts them, and listed where they lie
  #push(line: MappingEntry): void {
    const place = line.column === null ? null : this.#rowColumns(line.table)[line.column]!;
    const entry = place === null ? line : { ...line, table: place.table, column: place.at };
    const identity =
      (entry.table * 0x10000 + (entry.column ?? -1) + 1) * 8 + nodeTypes.indexOf(entry.nodeType);
    // nearly every path has one column: a set for each of hundreds of thousands would be most of the work
    const seen = this.#seen.get(entry.xpath);
    if (seen === undefined) this.#seen.set(entry.xpath, identity);
    else if (typeof seen === 'number') {
      if (seen === identity) return;
      this.#seen.set(entry.xpath, new Set([seen, identity]));
    } else if (seen.has(identity)) return;
    else seen.add(identity);
    this.entries.push(entry);
  }
}

function cyclicNodes(plan: Plan): Uint8Array {
  // asked for as often as it has members
  const following = plan.nodes.map(({ edges, typeEdges }) =>
    [...edges, ...typeEdges].map((edge) => edge.node),
  );
  const roots = plan.roots.map((root) => root.node);
  return stronglyConnected(plan.nodes.length, roots, (node) => following[node]!).recursive;
}

/** `xs:decimal`; a list says so. Named types of the user keep the built-in they derive from. */
function typeLabel(value: ValueType): string {
  if (value.variety === 'list')
    return `list of ${value.itemType === undefined ? 'xs:anySimpleType' : typeLabel(value.itemType)}`;
  return value.variety === 'union' ? 'union' : `xs:${value.base}`;
}
