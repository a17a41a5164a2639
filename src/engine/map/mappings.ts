/** The source-to-target map: one line for every path and column (docs/decisions/service/catalogue.md, Mapping). */
import type { MappingEntry, PlanEdge, PlanNode, Table } from '../model/relational-model.ts';
import { clarkName, type SourceChild, type SourceModel, type ValueType } from '../model/source-model.ts';
import { documentationOfValue } from './tables/element-content.ts';
import { rowColumnsOf, type RowColumn } from '../model/wide-rows.ts';
import { hasOffsetBehind } from '../model/zones.ts';
import { createPathPrinter, type PathPrinter } from './names/paths.ts';
import { stronglyConnected } from './tables/type-graph.ts';

/** Number of lines beyond which the columns of a shared table are listed only for the first path that leads to it. */
export const manyMappings = 40_000;
/** Number of lines beyond which further paths to a shared table are not listed at all. */
const maxMappings = 80_000;

const nodeTypes: readonly MappingEntry['nodeType'][] = ['element', 'attribute', 'text', 'mixed', 'any'];

interface Plan {
  readonly tables: readonly Table[];
  readonly nodes: readonly PlanNode[];
  readonly roots: readonly PlanEdge[];
}

/**
 * Lists the lines of the map in document order. A shared table has one line for each path to it; recursion is written out once. If there
 * are too many lines, the deepest paths are left out.
 */
export function listMappings(
  source: SourceModel,
  plan: Plan,
  rootElements: readonly number[],
): MappingEntry[] {
  const paths = createPathPrinter(source, rootElements);
  const listing = new MappingListing(source, plan, paths);
  return listing.listMappings(
    plan.roots.map((edge, index) => ({ edge, xpath: paths.root(rootElements[index]!), above: null })),
  );
}

/** An element at one path. */
interface Occurrence {
  readonly edge: PlanEdge;
  readonly xpath: string;
  readonly above: Above | null;
}

/** The nodes above an element, from the inside out. A list, because elements may nest deeper than calls. */
interface Above {
  readonly nodes: readonly number[];
  readonly above: Above | null;
}

/** Lines of an element or of its content, and the elements below. */
interface Section {
  readonly lines: MappingEntry[];
  readonly below: readonly ListedElement[];
}

interface ListedElement {
  readonly occurrence: Occurrence;
  sections: readonly Section[];
}

/** The content of an element. */
interface Content extends Occurrence {
  /** the node of the element, then the node of its type if xsi:type names a different one */
  readonly nodes: readonly number[];
  readonly recursive: boolean;
}

class MappingListing {
  readonly #source: SourceModel;
  readonly #plan: Plan;
  readonly #paths: PathPrinter;
  readonly #visited = new Set<number>();
  readonly #rowColumns: (table: number) => readonly RowColumn[];
  /** keyed by type, -1 for documents: the documentation of its child elements, by their names */
  readonly #said = new Map<number, ReadonlyMap<string, string>>();
  /** per node: it can lead back to itself */
  readonly #cyclic: Uint8Array;
  #count = 0;
  /** the lines of the current section */
  #lines: MappingEntry[] = [];

  constructor(source: SourceModel, plan: Plan, paths: PathPrinter) {
    this.#source = source;
    this.#plan = plan;
    this.#paths = paths;
    this.#rowColumns = rowColumnsOf(plan);
    this.#cyclic = cyclicNodes(plan);
  }

  listMappings(roots: readonly Occurrence[]): MappingEntry[] {
    const listed: ListedElement[] = roots.map((occurrence) => ({ occurrence, sections: [] }));
    // level by level, because users ask most for elements near the roots
    const level = [...listed];
    for (let at = 0; at < level.length; at += 1) {
      const element = level[at]!;
      element.sections = this.#sectionsOf(element.occurrence);
      for (const { below } of element.sections) for (const child of below) level.push(child);
    }
    return inDocumentOrder(listed);
  }

  /** Lists the element's own line, then for each of its types the content. */
  #sectionsOf({ edge, xpath, above }: Occurrence): Section[] {
    const node = this.#plan.nodes[edge.node]!;
    const recursive = timesAbove(above, edge.node) > 0;
    const repeated = this.#visited.has(edge.node) && this.#count > manyMappings;
    if (repeated && this.#count > maxMappings) return [];
    const own: Section = { lines: [], below: [] };
    const said = this.#saidOf(edge, above);
    this.#lines = own.lines;
    if (edge.head !== undefined) {
      const head = this.#plan.nodes[edge.head.node]!;
      this.#add(head, {
        xpath,
        nodeType: 'element',
        edge,
        said,
        column: null,
        sourceType: this.#typeName(head),
      });
    }
    if (node.opensRow || node.presenceColumn >= 0) {
      const column = node.opensRow ? null : node.presenceColumn;
      this.#add(node, { xpath, nodeType: 'element', edge, said, column, sourceType: this.#typeName(node) });
    }
    if (repeated) return [own];
    this.#visited.add(edge.node);
    const types = node.typeEdges.filter((typeEdge) => timesAbove(above, typeEdge.node) < 2);
    const contents = [[edge.node], ...types.map((typeEdge) => [edge.node, typeEdge.node])];
    return [own, ...contents.map((nodes) => this.#contentSection({ edge, xpath, above, nodes, recursive }))];
  }

  #contentSection(content: Content): Section {
    const lines: MappingEntry[] = [];
    this.#lines = lines;
    const inside: Above = { nodes: content.nodes, above: content.above };
    const below = this.#content(content).map((edge) => {
      const xpath = this.#paths.child(content.xpath, edge.name);
      return { occurrence: { edge, xpath, above: inside }, sections: [] };
    });
    return { lines, below };
  }

  /** Lists the lines of the last of the nodes; returns the children that are to be listed. */
  #content({ edge, nodes, xpath, above, recursive }: Content): readonly PlanEdge[] {
    const node = this.#plan.nodes[nodes.at(-1)!]!;
    const type = this.#source.types[node.sourceType]!;
    const said = this.#saidOf(edge, above);
    const head = this.#plan.nodes[nodes[0]!]!;
    if (node.table !== head.table && node.opensRow) {
      const sourceType = this.#typeName(node);
      this.#add(node, { xpath, nodeType: 'element', edge, said, column: null, sourceType });
    }
    if (node.textColumn >= 0) {
      const sourceType = type.value === null ? 'string' : typeLabel(type.value);
      const nodeType = node.opensRow || type.complex ? 'text' : 'element';
      this.#add(node, { xpath, nodeType, edge, said, column: node.textColumn, sourceType });
    }
    const declarations = new Map(type.attributes.map((one) => [clarkName(one.name), one]));
    for (const attribute of node.attributes) {
      const declared = declarations.get(clarkName(attribute.name))!;
      this.#push({
        xpath: this.#paths.attribute(xpath, attribute.name),
        nodeType: 'attribute',
        sourceType: typeLabel(declared.type),
        minOccurs: declared.required ? 1 : 0,
        maxOccurs: 1,
        table: node.table,
        column: attribute.column,
        ...documented(
          declared.documentation ??
            documentationOfValue(type, declared, { documentation: node.opensRow ? undefined : said }),
        ),
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
    const inside: Above = { nodes, above };
    return node.edges.filter((child) => {
      const times = timesAbove(inside, child.node);
      if (!recursive) return times < 2;
      // the content of the second round of a recursion is listed there as well, except for further rounds
      if (this.#cyclic[child.node] === 0) return true;
      return times === 0 && this.#count <= manyMappings;
    });
  }

  /**
   * Returns the documentation of the element where it is referred to, or otherwise where it is declared. The node of a shared table also
   * represents other elements.
   */
  #saidOf({ name }: PlanEdge, above: Above | null): string | undefined {
    const parent = above === null ? -1 : this.#plan.nodes[above.nodes.at(-1)!]!.sourceType;
    let said = this.#said.get(parent);
    if (said === undefined) {
      const { elements, roots, types } = this.#source;
      const children = parent < 0 ? roots.map((element) => ({ element })) : types[parent]!.children;
      said = saidOfChildren(elements, children);
      this.#said.set(parent, said);
    }
    return said.get(clarkName(name));
  }

  #typeName(node: PlanNode): string {
    const type = this.#source.types[node.sourceType]!;
    return type.value !== null && !type.complex
      ? typeLabel(type.value)
      : (type.name?.localName ?? type.content);
  }

  #add(
    node: PlanNode,
    line: Pick<MappingEntry, 'xpath' | 'nodeType' | 'column' | 'sourceType'> & {
      readonly edge: PlanEdge;
      readonly said: string | undefined;
    },
  ): void {
    this.#push({
      xpath: line.xpath,
      nodeType: line.nodeType,
      sourceType: line.sourceType,
      minOccurs: line.edge.minOccurs,
      maxOccurs: line.edge.maxOccurs,
      table: node.table,
      column: line.column,
      ...documented(line.said),
    });
  }

  /**
   * The lines listed so far: xsi:type alternatives share their head's columns, but a path and column are listed once. By path; the rest of
   * the line is one number.
   */
  readonly #seen = new Map<string | null, number | Set<number>>();

  // columns are given by their index in the plan, and listed by their table and index in the model
  #push(line: MappingEntry): void {
    const column = line.column === null ? null : this.#rowColumns(line.table)[line.column]!;
    if (column === null) return this.#list(line);
    this.#list({ ...line, table: column.table, column: column.at });
    if (!hasOffsetBehind(this.#plan.tables[column.table]!.columns, column.at)) return;
    // the documentation of the time also describes its offset
    const { documentation: _, ...offset } = line;
    const behind = { table: column.table, column: column.at + 1 };
    this.#list({ ...offset, ...behind, sourceType: 'offset', minOccurs: 0 });
  }

  #list(entry: MappingEntry): void {
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
    this.#lines.push(entry);
    this.#count += 1;
  }
}

function timesAbove(above: Above | null, node: number): number {
  let times = 0;
  for (let next = above; next !== null; next = next.above) if (next.nodes.includes(node)) times += 1;
  return times;
}

function inDocumentOrder(roots: readonly ListedElement[]): MappingEntry[] {
  const lines: MappingEntry[] = [];
  const left = sectionsInTurn(roots);
  for (let section = left.pop(); section !== undefined; section = left.pop()) {
    for (const line of section.lines) lines.push(line);
    for (const next of sectionsInTurn(section.below)) left.push(next);
  }
  return lines;
}

/** Returns the sections in reverse order, as a stack needs them. */
function sectionsInTurn(elements: readonly ListedElement[]): Section[] {
  return elements.flatMap(({ sections }) => sections).toReversed();
}

function cyclicNodes(plan: Plan): Uint8Array {
  // requested once for each member
  const following = plan.nodes.map(({ edges, typeEdges }) =>
    [...edges, ...typeEdges].map((edge) => edge.node),
  );
  const roots = plan.roots.map((root) => root.node);
  return stronglyConnected(plan.nodes.length, roots, (node) => following[node]!).recursive;
}

/**
 * Returns a label such as `xs:decimal`; the label of a list says that it is one. Named types of the user get the name of the built-in type
 * they derive from.
 */
function typeLabel(value: ValueType): string {
  if (value.variety === 'list')
    return `list of ${value.itemType === undefined ? 'xs:anySimpleType' : typeLabel(value.itemType)}`;
  return value.variety === 'union' ? 'union' : `xs:${value.base}`;
}

function documented(documentation: string | undefined): { readonly documentation?: string } {
  return documentation === undefined ? {} : { documentation };
}

function saidOfChildren(
  elements: SourceModel['elements'],
  children: readonly Pick<SourceChild, 'element' | 'documentation'>[],
): ReadonlyMap<string, string> {
  const said = new Map<string, string>();
  const add = (element: number, reference: string | undefined): void => {
    const { name, documentation } = elements[element]!;
    const text = reference ?? documentation;
    if (text !== undefined && !said.has(clarkName(name))) said.set(clarkName(name), text);
  };
  for (const { element, documentation } of children) {
    add(element, documentation);
    for (const substitute of elements[element]!.substitutes) add(substitute, undefined);
  }
  return said;
}

// The identity of a line of the map.

/** Returns the identity of a line, which is the same in every version of a model: its path, and the kind of content there. */
export function lineIdentity(line: Pick<MappingEntry, 'xpath' | 'nodeType' | 'sourceType'>): string {
  return `${line.nodeType} ${line.nodeType === 'any' ? line.sourceType : ''} ${line.xpath}`;
}
