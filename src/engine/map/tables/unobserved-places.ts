/**
 * `--prune` by place: a type that is used in several places is drawn whole at each, and documents fill a different part of it at each.
 * Content that is absent from the statistics of documents at a place is removed from the drawing there, before names are given. If it
 * occurs later, it is kept as unmapped content.
 */
import type { DocumentStatistics, ValueStatistics } from '../../infer/statistics.ts';
import { xsiNamespace } from '../../model/name-labels.ts';
import { clarkName, type SourceModel } from '../../model/source-model.ts';
import type { PathPrinter } from '../names/paths.ts';
import type { ColumnDraft, Drawing, NodeDraft, TableDraft } from './model-builder.ts';
import {
  isUnboundedInteger,
  longDigits,
  widestInteger,
  columnTypeOf,
  widerColumnType,
} from './column-types.ts';
import { someHaveZone } from './zones.ts';
import { inferValue } from '../../infer/source-model.ts';
import type { ColumnType } from '../../model/relational-model.ts';

/** Returns the indexes of those `roots` that documents started with; all of `roots` if documents had none of them. */
export function observedRoots(
  { elements }: SourceModel,
  roots: readonly number[],
  statistics: DocumentStatistics,
): readonly number[] {
  const names = new Set(statistics.roots.map((root) => clarkName(statistics.elements[root]!)));
  const met = roots.filter((root) => names.has(clarkName(elements[root]!.name)));
  return met.length > 0 ? met : roots;
}

/** `paths`: prints the paths of the drawing. */
export function withoutUnobservedPlaces(
  drawing: Drawing,
  statistics: DocumentStatistics,
  paths: PathPrinter,
): Drawing {
  const places = new ObservedPlaces(statistics, paths);
  for (const root of statistics.roots) {
    const name = clarkName(statistics.elements[root]!);
    for (const edge of drawing.roots)
      if (clarkName(edge.name) === name) places.visit(edge.node, root, paths.child('', edge.name));
  }
  places.tellEmpty();
  places.settleUnions();
  for (const node of drawing.nodes) places.leaveOut(node);
  const nodes = reachableNodes(drawing);
  const used = usedColumns(drawing, nodes);
  const tables = drawing.tables.filter((table) => used.has(table));
  const kept = new Set(used.values().flatMap((columns) => columns));
  for (const table of tables) {
    const columns = used.get(table)!;
    for (const column of table.heldBy) if (!kept.has(column)) table.heldBy.delete(column);
    const hangs = table.heldBy.size > 0 || [...columns].some(({ role }) => role === 'parent_key');
    keepOnly(table.columns, (column) => columns.has(column) || isOfEveryRow(column, hangs));
    for (const opener of table.openers) if (!nodes.has(opener)) table.openers.delete(opener);
  }
  return { ...drawing, tables, nodes: drawing.nodes.filter((node) => nodes.has(node)) };
}

/** The content that documents had in the elements of one node of the drawing, over all places that the node represents. */
interface Met {
  /** clark names */
  readonly children: Set<string>;
  readonly attributes: Set<string>;
  typed: boolean;
  nil: boolean;
  otherChildren: boolean;
  otherAttributes: boolean;
  /** no element was without content */
  shows: boolean;
}

/** A node of the drawing, and an element that documents had there. */
interface Meeting {
  readonly node: NodeDraft;
  /** index in the statistics */
  readonly element: number;
  readonly xpath: string;
  /** the content of elements of the other types that xsi:type may name there; default: it names none */
  readonly elsewhere?: Held;
}

/** Clark names of the content of elements of some types. */
interface Held {
  readonly children: ReadonlySet<string>;
  readonly attributes: ReadonlySet<string>;
}

class ObservedPlaces {
  readonly #statistics: DocumentStatistics;
  readonly #paths: PathPrinter;
  readonly #met = new Map<NodeDraft, Met>();
  readonly #visited = new Map<NodeDraft, Set<number>>();
  /** tables and columns that already have the path at which they first occurred */
  readonly #told = new Set<TableDraft | ColumnDraft>();
  /** values found in columns of unions */
  readonly #unions = new Map<ColumnDraft, readonly ValueStatistics[]>();
  /** columns of text that was empty so far, with the first path */
  readonly #empty = new Map<ColumnDraft, string>();

  constructor(statistics: DocumentStatistics, paths: PathPrinter) {
    this.#statistics = statistics;
    this.#paths = paths;
  }

  visit(node: NodeDraft, element: number, xpath: string): void {
    const open: Meeting[] = [{ node, element, xpath }];
    for (const next of open) {
      const seen = this.#visited.get(next.node) ?? new Set();
      this.#visited.set(next.node, seen);
      if (seen.has(next.element)) continue;
      seen.add(next.element);
      this.#tell(next);
      open.push(...this.#note(next));
    }
  }

  /** Records the content of the element; returns its children and types, to be visited next. */
  #note({ node, element: at, xpath, elsewhere }: Meeting): Meeting[] {
    const element = this.#statistics.elements[at]!;
    const met = this.#observedContentOf(node);
    met.nil ||= element.nil > 0;
    const known = new Set(node.attributes.map(({ name }) => clarkName(name)));
    const shown = element.attributes.filter((attribute) => known.has(clarkName(attribute)));
    const full = element.withChildren + element.withText - element.mixed;
    met.shows &&= Math.max(full, ...shown.map(({ count }) => count)) >= element.count;
    const isTyped = element.attributes.some(
      ({ namespaceUri, localName }) => namespaceUri === xsiNamespace && localName === 'type',
    );
    met.typed ||= isTyped;
    const types = elsewhere ?? heldBy(isTyped ? node.typeEdges.map((edge) => edge.node) : []);
    for (const attribute of element.attributes) {
      const name = clarkName(attribute);
      met.attributes.add(name);
      if (attribute.namespaceUri === xsiNamespace || known.has(name)) continue;
      met.otherAttributes ||= !types.attributes.has(name);
    }
    const edges = new Map(node.edges.map((edge) => [clarkName(edge.name), edge]));
    const within: Meeting[] = [];
    for (const { element: child } of element.children) {
      const name = clarkName(this.#statistics.elements[child]!);
      met.children.add(name);
      const edge = edges.get(name);
      if (edge === undefined) {
        met.otherChildren ||= !types.children.has(name);
        continue;
      }
      const place = { element: child, xpath: this.#paths.child(xpath, edge.name) };
      if (edge.head !== null) within.push({ ...place, node: edge.head.node });
      within.push({ ...place, node: edge.node });
    }
    if (met.typed) {
      const all = heldBy([node, ...node.typeEdges.map((edge) => edge.node)]);
      for (const typed of node.typeEdges)
        within.push({ node: typed.node, element: at, xpath, elsewhere: all });
    }
    return within;
  }

  #observedContentOf(node: NodeDraft): Met {
    let met = this.#met.get(node);
    if (met === undefined) {
      met = {
        children: new Set(),
        attributes: new Set(),
        typed: false,
        nil: false,
        otherChildren: false,
        otherAttributes: false,
        shows: true,
      };
      this.#met.set(node, met);
    }
    return met;
  }

  /** Sets the XPath of columns and tables that several places share to the first path at which they occurred. */
  #tell({ node, element: at, xpath }: Meeting): void {
    const tell = (place: TableDraft | ColumnDraft | null, path = xpath): void => {
      if (place === null || place.xpath === null || this.#told.has(place)) return;
      this.#told.add(place);
      place.xpath = path;
    };
    const { text, attributes } = this.#statistics.elements[at]!;
    if (node.text !== null) this.#noteValue(node.text, text);
    if (node.opensRow) tell(node.table);
    for (const content of [node.textTable, node.wildcardTable]) {
      tell(content);
      for (const column of content?.columns ?? []) tell(column);
    }
    if (text.count > text.empty) tell(node.text);
    else if (node.text !== null && !this.#empty.has(node.text)) this.#empty.set(node.text, xpath);
    const { presence, nil, elementName, typeName, foldedPosition, anyAttribute } = node;
    for (const column of [presence, nil, elementName, typeName, foldedPosition, anyAttribute]) tell(column);
    const met = new Map(attributes.map((attribute) => [clarkName(attribute), attribute.value]));
    for (const { name, column } of node.attributes) {
      const value = met.get(clarkName(name));
      if (value === undefined) continue;
      this.#noteValue(column, value);
      tell(column, this.#paths.attribute(xpath, name));
    }
  }

  #noteValue(column: ColumnDraft, value: ValueStatistics): void {
    noteZone(column, value);
    column.hasOffsets ||= value.withOffset !== undefined;
    noteDigits(column, value);
    if (column.members.length > 0) this.#unions.set(column, [...(this.#unions.get(column) ?? []), value]);
  }

  /** Gives columns of unions the type that all of their values have. */
  settleUnions(): void {
    for (const [column, values] of this.#unions) settleUnion(column, values);
  }

  /** Marks text that was empty wherever it occurred. */
  tellEmpty(): void {
    for (const [column, xpath] of this.#empty)
      if (!this.#told.has(column)) Object.assign(column, { xpath, wasEmpty: true });
  }

  /**
   * Prunes content that documents never had. A node that no document reached keeps its content: it is not reached at all, or only through a
   * type that is named elsewhere.
   */
  leaveOut(node: NodeDraft): void {
    const met = this.#met.get(node);
    settleText(node, met !== undefined && met.children.size === 0 && !met.typed);
    if (met === undefined) return;
    keepOnly(node.attributes, ({ name }) => met.attributes.has(clarkName(name)));
    keepOnly(node.edges, ({ name }) => met.children.has(clarkName(name)));
    if (!met.otherChildren) node.wildcardTable = null;
    if (!met.otherAttributes) node.anyAttribute = null;
    if (!met.nil) node.nil = null;
    // if an element occurs without content later, its position is recorded separately
    if (met.shows) node.presence = null;
    if (!met.typed) {
      node.typeEdges.length = 0;
      node.typeName = null;
    }
    // in the same row, an element of a derived type shares the columns that say that it is there with the declared one
    for (const { node: typed, parentKey } of node.typeEdges)
      if (parentKey === null) Object.assign(typed, { nil: node.nil, presence: node.presence });
  }
}

/** Settles the text of mixed content: a column if documents had only text, and otherwise rows. */
function settleText(node: NodeDraft, isAlone: boolean): void {
  if (node.text === null || node.textTable === null) return;
  if (isAlone) {
    node.textTable = null;
    return;
  }
  node.text.requiredBy.delete(node);
  node.text = null;
  node.content = 'mixed';
}

function heldBy(nodes: readonly NodeDraft[]): Held {
  return {
    children: new Set(nodes.flatMap(({ edges }) => edges.map(({ name }) => clarkName(name)))),
    attributes: new Set(nodes.flatMap(({ attributes }) => attributes.map(({ name }) => clarkName(name)))),
  };
}

/** Records dates with times of which some values have a time zone. */
function noteZone(column: ColumnDraft, value: ValueStatistics): void {
  if (column.sourceType === 'dateTime' && column.type.kind === 'timestamp' && someHaveZone(value))
    column.type = { ...column.type, kind: 'timestamptz' };
}

/** Records whole numbers of any size of which some values have more digits than `bigint` holds. */
function noteDigits(column: ColumnDraft, { wholeDigits }: ValueStatistics): void {
  if (wholeDigits > longDigits && column.type.kind === 'bigint' && isUnboundedInteger(column.sourceType))
    column.type = widestInteger;
}

function keepOnly<T>(items: T[], isKept: (item: T) => boolean): void {
  items.splice(0, items.length, ...items.filter(isKept));
}

function reachableNodes({ roots }: Drawing): ReadonlySet<NodeDraft> {
  const reached = new Set<NodeDraft>();
  const open = roots.map(({ node }) => node);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (reached.has(node)) continue;
    reached.add(node);
    for (const edge of node.edges) open.push(edge.node, ...(edge.head === null ? [] : [edge.head.node]));
    for (const edge of node.typeEdges) open.push(edge.node);
  }
  return reached;
}

/** Returns, by table that still has rows, the columns that a node or an edge fills. */
function usedColumns(
  { roots }: Drawing,
  nodes: ReadonlySet<NodeDraft>,
): ReadonlyMap<TableDraft, ReadonlySet<ColumnDraft>> {
  const used = new Map<TableDraft, Set<ColumnDraft>>();
  const mark = (table: TableDraft | null, ...columns: readonly (ColumnDraft | null)[]): void => {
    if (table === null) return;
    const marked = used.get(table) ?? new Set();
    used.set(table, marked);
    for (const column of columns) if (column !== null) marked.add(column);
  };
  for (const { node, parentKey } of roots) mark(node.table, parentKey);
  for (const node of nodes) {
    const { table, text, presence, nil, elementName, typeName, foldedPosition, anyAttribute } = node;
    mark(table, text, presence, nil, elementName, typeName, foldedPosition, anyAttribute);
    mark(table, ...node.attributes.map(({ column }) => column));
    for (const content of [node.textTable, node.wildcardTable]) mark(content, ...(content?.columns ?? []));
    for (const { node: child, parentKey, childKey, head } of node.edges) {
      mark(table, childKey);
      mark(child.table, parentKey);
      if (head !== null) mark(head.node.table, head.parentKey);
    }
    for (const { node: child, parentKey } of node.typeEdges) mark(child.table, parentKey);
  }
  return used;
}

function isOfEveryRow({ role }: ColumnDraft, hangs: boolean): boolean {
  return ['row_key', 'document', 'extra'].includes(role) || (role === 'position' && hangs);
}

// Types of union columns whose members differ, by the values in documents: a date, if a union of dates and years had only dates.

const whole: readonly ColumnType['kind'][] = ['smallint', 'integer', 'bigint'];

/**
 * Gives a column that would be text the type that all of its values have, if the union has that type; a different value makes it text
 * again.
 */
export function settleUnion(column: ColumnDraft, met: readonly ValueStatistics[]): void {
  const values = met.filter(({ count, empty }) => count > empty);
  const [first, ...others] = values.map((value) => columnTypeOf(inferValue(value)));
  if (column.type.kind !== 'text' || column.type.list === true || first === undefined) return;
  const type = memberType(
    others.reduce(widerColumnType, first),
    column.members.map((member) => columnTypeOf(member)),
  );
  if (type === null) return;
  column.type = type;
  // 1 may be a flag or a number
  column.keepsForm = true;
  if (met.some(({ empty }) => empty > 0)) column.requiredBy.clear();
}

/** Returns the member type, or null if no member has the type of the values. */
function memberType({ kind, list }: ColumnType, members: readonly ColumnType[]): ColumnType | null {
  const kinds = new Set(members.flatMap((member) => (member.list === true ? [] : [member.kind])));
  const has = (...some: readonly ColumnType['kind'][]): boolean => !kinds.isDisjointFrom(new Set(some));
  if (list === true) return null;
  if (whole.includes(kind) && has(...whole)) return { kind: 'bigint' };
  if (whole.includes(kind) || kind === 'numeric')
    return has('numeric', 'double') ? { kind: 'numeric' } : null;
  if (kind === 'timestamp' || kind === 'timestamptz')
    return has('timestamp', 'timestamptz') ? { kind } : null;
  return kind !== 'text' && has(kind) ? { kind } : null;
}
