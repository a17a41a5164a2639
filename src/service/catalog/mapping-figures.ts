/**
 * Assigns values of documents to lines of the source-to-target map: the paths that documents had are walked in parallel with the plan
 * that loads them. A recursion is written out once in the map, and in the statistics: deeper content counts at the line of that
 * recursion. Places that a map beyond `manyMappings` lines leaves out get lines of their own.
 */
import { typesApart, nameByType } from '../../engine/infer/declared-places.ts';
import { addValues } from '../../engine/infer/merge-statistics.ts';
import {
  emptyValueStatistics,
  type DocumentStatistics,
  type ElementStatistics,
  type ValueStatistics,
} from '../../engine/infer/statistics.ts';
import { manyMappings } from '../../engine/map/mappings.ts';
import { type PathPrinter, createPathPrinter } from '../../engine/map/names/paths.ts';
import { xsiNamespace } from '../../engine/model/name-labels.ts';
import type { PlanEdge, PlanNode, RelationalModel } from '../../engine/model/relational-model.ts';
import { clarkName } from '../../engine/model/source-model.ts';
import { rowColumnsOf } from '../../engine/model/wide-rows.ts';
import type { MappingRecord, CatalogStore, StoredOrigin } from '../../ports/stores/catalog.ts';
import { chooseRoots } from '../../engine/map/chosen-roots.ts';
import { findOrigin } from './logical-schema.ts';

/** The figures of the documents at one line. */
export interface LineFigures {
  documents: number;
  /** rows, or values of the column that are not NULL */
  occurrences: number;
  /** per parent element */
  minOccurs: number;
  maxOccurs: number;
  /** null: the line has no value */
  values: ValueStatistics | null;
  /** for elements: the number of occurrences with children, and of those with text */
  withChildren: number;
  withText: number;
}

/** How often an element occurs in its parent elements. */
interface Occurs {
  readonly minOccurs: number;
  readonly maxOccurs: number;
}

interface Place extends Occurs {
  readonly element: number;
  /** path under which the map writes the place out: a path may go through a recursion more often than the map does */
  readonly xpath: string;
  readonly above: Above | null;
  /** the place in its parent; null: the schema has no place for it */
  readonly edge: PlanEdge | null;
  /** the plan of the declared type, whose row each element has, whatever its type; null: the schema has no place for it */
  readonly declared: PlanNode | null;
  /** the plan of the declared type, and those of types that xsi:type may name; none: the schema has no place for it */
  readonly nodes: readonly PlanNode[];
}

/** An element above a place, from the inside out. */
interface Above {
  readonly xpath: string;
  /** its plans: of the declared type, and of the type that its rows are of */
  readonly nodes: readonly PlanNode[];
  readonly above: Above | null;
}

type Lines = readonly MappingRecord[];

/**
 * Returns the figures of each line at which documents had something. `added`: the lines among them that `lines` leaves out, in the order
 * of the documents; their `id_map` is 0.
 */
export function figuresOfLines(
  statistics: DocumentStatistics,
  model: RelationalModel,
  lines: Lines,
  paths: PathPrinter,
): { readonly figures: ReadonlyMap<MappingRecord, LineFigures>; readonly added: Lines } {
  const { byType } = statistics;
  const shares = byType === undefined ? null : sharesByPath(statistics, paths);
  const walk = new FigureWalk(byType ?? statistics, model, lines, { paths, shares });
  walk.visit();
  return { figures: walk.figures, added: walk.added };
}

/** The number of documents that have a path, and how often it occurs in each parent element, whatever types xsi:type names. */
type Share = Pick<LineFigures, 'documents' | 'minOccurs' | 'maxOccurs'>;

function sharesByPath(
  { elements, roots }: DocumentStatistics,
  paths: PathPrinter,
): ReadonlyMap<string, Share> {
  const shares = new Map<string, Share>();
  const visited = new Set(roots);
  const open = roots.map((element) => {
    const xpath = paths.child('', elements[element]!);
    return { element, xpath, minOccurs: 1, maxOccurs: 1 };
  });
  for (const { element, xpath, minOccurs, maxOccurs } of open) {
    const { documents, attributes, count, children } = elements[element]!;
    shares.set(xpath, { documents, minOccurs, maxOccurs });
    for (const attribute of attributes)
      shares.set(paths.attribute(xpath, attribute), {
        documents: attribute.documents,
        minOccurs: attribute.count === count ? 1 : 0,
        maxOccurs: 1,
      });
    for (const child of children) {
      if (visited.has(child.element)) continue;
      visited.add(child.element);
      open.push({
        element: child.element,
        xpath: paths.child(xpath, elements[child.element]!),
        minOccurs: Number.isFinite(child.minOccurs) ? child.minOccurs : 0,
        maxOccurs: child.maxOccurs,
      });
    }
  }
  return shares;
}

class FigureWalk {
  readonly figures = new Map<MappingRecord, LineFigures>();
  readonly #statistics: DocumentStatistics;
  readonly #model: RelationalModel;
  readonly #paths: PathPrinter;
  readonly #shares: ReadonlyMap<string, Share> | null;
  readonly #lines: LinesOfColumns;
  readonly #rowColumns: ReturnType<typeof rowColumnsOf>;
  readonly #isVisited: Uint8Array;
  /** types that xsi:type may name and that statistics by type keep apart */
  readonly #apart: ReadonlySet<string>;
  /** the place whose figures are being noted */
  #place: Place | null = null;

  constructor(
    statistics: DocumentStatistics,
    model: RelationalModel,
    lines: Lines,
    { paths, shares }: { readonly paths: PathPrinter; readonly shares: ReadonlyMap<string, Share> | null },
  ) {
    this.#statistics = statistics;
    this.#model = model;
    this.#paths = paths;
    this.#shares = shares;
    this.#lines = new LinesOfColumns(lines);
    this.#rowColumns = rowColumnsOf(model);
    this.#isVisited = new Uint8Array(statistics.elements.length);
    this.#apart = typesApart(model);
  }

  get added(): Lines {
    return this.#lines.added;
  }

  visit(): void {
    const roots = new Map(this.#model.roots.map((edge) => [clarkName(edge.name), edge]));
    const open: Place[] = [];
    for (const element of this.#statistics.roots) {
      const { name } = nameByType(this.#statistics.elements[element]!);
      const edge = roots.get(clarkName(name));
      if (edge === undefined || this.#isVisited[element] === 1) continue;
      this.#isVisited[element] = 1;
      const xpath = this.#paths.child('', name);
      open.push({
        element,
        xpath,
        above: null,
        ...this.#plansOf(edge, element),
        minOccurs: 1,
        maxOccurs: 1,
      });
    }
    // the paths near the root before those that come back to the same elements
    for (const place of open) {
      this.#note(place);
      for (const { element, minOccurs, maxOccurs } of this.#statistics.elements[place.element]!.children) {
        if (this.#isVisited[element] === 1) continue;
        this.#isVisited[element] = 1;
        const { name } = nameByType(this.#statistics.elements[element]!);
        const edge = edgeTo(place.nodes, clarkName(name));
        const own: Above = { xpath: place.xpath, nodes: plansWithRows(place), above: place.above };
        const above =
          edge !== undefined && this.#lines.leavesOut ? writtenOut(own, this.#model.nodes[edge.node]!) : own;
        const xpath = this.#paths.child(above.xpath, name);
        if (edge === undefined) this.#noteOther(place, element, xpath);
        open.push({
          element,
          xpath,
          above,
          ...(edge === undefined ? { edge: null, declared: null, nodes: [] } : this.#plansOf(edge, element)),
          minOccurs: Number.isFinite(minOccurs) ? minOccurs : 0,
          maxOccurs,
        });
      }
    }
  }

  /** Returns the plans by which an element may be read; if all have the same xsi:type, only that of this type. */
  #plansOf(edge: PlanEdge, element: number): Pick<Place, 'edge' | 'declared' | 'nodes'> {
    const declared = this.#model.nodes[edge.node]!;
    return { edge, declared, nodes: this.#nodesOf(declared, element) };
  }

  #nodesOf(declared: PlanNode, element: number): readonly PlanNode[] {
    const statistics = this.#statistics.elements[element]!;
    const { attributes, count } = statistics;
    const { type } = nameByType(statistics);
    if (type !== null) {
      const edge = declared.typeEdges.find((typeEdge) => clarkName(typeEdge.name) === type);
      return edge === undefined ? [declared] : [this.#model.nodes[edge.node]!];
    }
    const named = attributes.find(
      ({ localName, namespaceUri }) => localName === 'type' && namespaceUri === xsiNamespace,
    );
    if (named === undefined) return [declared];
    // elements of types that have columns or tables of their own are counted apart
    const alike = declared.typeEdges.filter(({ name }) => !this.#apart.has(clarkName(name)));
    const types = alike.map((edge) => this.#model.nodes[edge.node]!);
    const { min, max } = named.value;
    if (named.count < count || min === null || min !== max) return [declared, ...types];
    const local = min.slice(min.indexOf(':') + 1);
    const only = alike.filter(({ name }) => name.localName === local);
    return only.length === 1 ? [this.#model.nodes[only[0]!.node]!, declared] : [declared, ...types];
  }

  #note(place: Place): void {
    const { declared, nodes, xpath } = place;
    this.#place = place;
    const element = this.#statistics.elements[place.element]!;
    const seen = {
      documents: element.documents,
      withChildren: element.withChildren,
      withText: element.withText,
    };
    const occurs = { minOccurs: place.minOccurs, maxOccurs: place.maxOccurs };
    if (declared === null) return this.#noteInactive(place);
    const rows = { ...seen, ...occurs, occurrences: element.count, values: null };
    const [own] = nodes;
    if (declared.opensRow) this.#add(xpath, declared.table, null, rows);
    else if (declared.presenceColumn >= 0)
      this.#addTo(xpath, declared, declared.presenceColumn, 'element', rows);
    // a member of a substitution group too wide for one table has a row in the table of the head, too
    const head = place.edge?.head;
    if (head !== undefined) this.#add(xpath, this.#model.nodes[head.node]!.table, null, rows);
    // a row of the type's own table hangs from that of the declared type
    if (own!.opensRow && own!.table !== declared.table) this.#add(xpath, own!.table, null, rows);
    const withText = nodes.find(({ textColumn }) => textColumn >= 0);
    if (withText !== undefined)
      this.#addTo(xpath, withText, withText.textColumn, 'text', {
        ...seen,
        ...occurs,
        occurrences: this.#filled(withText, withText.textColumn, element.text, element.nil),
        values: element.text,
      });
    const withRuns = nodes.find(({ textTable }) => textTable >= 0);
    if (withRuns !== undefined && element.textRuns > 0)
      this.#addContent(xpath, withRuns.textTable, 'mixed', {
        ...seen,
        ...occurs,
        occurrences: element.textRuns,
        values: element.text,
      });
    this.#noteAttributes(place, element);
  }

  #noteAttributes({ nodes, xpath }: Place, element: ElementStatistics): void {
    let others: LineFigures | null = null;
    for (const attribute of element.attributes) {
      const { documents, count, value } = attribute;
      const key = clarkName(attribute);
      const isRequired = count === element.count;
      const figures = {
        documents,
        minOccurs: isRequired ? 1 : 0,
        maxOccurs: 1,
        withChildren: 0,
        withText: 0,
      };
      const path = this.#paths.attribute(xpath, attribute);
      const node = nodes.find(({ attributes }) => attributes.some(({ name }) => clarkName(name) === key));
      const column = node?.attributes.find(({ name }) => clarkName(name) === key)?.column;
      if (node !== undefined && column !== undefined) {
        const occurrences = this.#filled(node, column, value, 0);
        this.#addTo(path, node, column, 'attribute', { ...figures, occurrences, values: value });
        continue;
      }
      // an XSD declares none of these
      if (attribute.namespaceUri === xsiNamespace) continue;
      for (const line of this.#lines.inactive(path))
        this.#put(line, { ...figures, occurrences: count, values: value });
      // statistics of earlier versions do not say how many elements have any of them
      if (others === null || count > others.occurrences)
        others = { ...figures, occurrences: count, values: null };
    }
    const withAny = nodes.find(({ anyAttributeColumn }) => anyAttributeColumn >= 0);
    if (withAny !== undefined && others !== null)
      this.#addTo(xpath, withAny, withAny.anyAttributeColumn, 'any', {
        ...others,
        occurrences: Math.max(others.occurrences, element.withOthers ?? 0),
      });
  }

  /** An element that only a wildcard lets in, or that is left out. */
  #noteOther({ nodes, xpath }: Place, element: number, ownPath: string): void {
    const { documents, count, withChildren, withText } = this.#statistics.elements[element]!;
    if (this.#lines.inactive(ownPath).length > 0) return;
    const node = nodes.find(({ wildcardTable }) => wildcardTable >= 0);
    if (node === undefined) return;
    const figures = {
      documents,
      occurrences: count,
      minOccurs: 0,
      maxOccurs: 1,
      withChildren,
      withText,
      values: null,
    };
    this.#addContent(xpath, node.wildcardTable, 'any', figures);
  }

  #noteInactive({ xpath, element, minOccurs, maxOccurs }: Place): void {
    const { documents, count, text, withChildren, withText } = this.#statistics.elements[element]!;
    for (const line of this.#lines.inactive(xpath))
      this.#put(line, {
        documents,
        occurrences: count,
        minOccurs,
        maxOccurs,
        withChildren,
        withText,
        values: text,
      });
  }

  /** Values that are not NULL in the column: empty ones are, unless it is a list or text without a fixed length. */
  #filled(node: PlanNode, column: number, values: ValueStatistics, nil: number): number {
    const { type } = this.#rowColumns(node.table)[column]!.column;
    const hasEmpty = (type.kind === 'text' && type.fixed !== true) || type.list === true;
    return Math.max(0, hasEmpty ? values.count - nil : values.count - Math.max(values.empty, nil));
  }

  #addContent(xpath: string, table: number, kind: MappingRecord['node_type'], figures: LineFigures): void {
    const { columns } = this.#model.tables[table]!;
    this.#add(xpath, table, columns.find(({ role }) => role === 'content')!.name, figures, kind);
  }

  /** `column`: as the plan counts it. */
  #addTo(
    xpath: string,
    node: PlanNode,
    column: number,
    kind: MappingRecord['node_type'],
    figures: LineFigures,
  ): void {
    const columns = this.#rowColumns(node.table);
    const { table, column: drawn } = columns[column]!;
    this.#add(xpath, table, drawn.name, figures, kind);
    const behind = columns[column + 1];
    const occurrences = figures.values?.withOffset ?? 0;
    if (behind?.column.role === 'offset' && occurrences > 0)
      this.#add(xpath, behind.table, behind.column.name, { ...figures, occurrences, values: null }, kind);
  }

  #add(
    xpath: string,
    table: number,
    column: string | null,
    figures: LineFigures,
    kind: MappingRecord['node_type'] = 'element',
  ): void {
    const { name } = this.#model.tables[table]!;
    const place = { table_name: name, column_name: column, xpath, node_type: kind };
    const line = this.#lines.of(place, this.#place!);
    const share = kind === 'mixed' || kind === 'any' ? undefined : this.#shares?.get(xpath);
    if (line !== undefined) this.#put(line, { ...figures, ...share });
  }

  #put(line: MappingRecord, more: LineFigures): void {
    const known = this.figures.get(line);
    if (known === undefined) {
      this.figures.set(line, { ...more });
      return;
    }
    // the number of documents that have both is unknown
    known.documents = Math.max(known.documents, more.documents);
    known.occurrences += more.occurrences;
    known.minOccurs = Math.min(known.minOccurs, more.minOccurs);
    known.maxOccurs = Math.max(known.maxOccurs, more.maxOccurs);
    known.withChildren += more.withChildren;
    known.withText += more.withText;
    known.values = together(known.values, more.values);
  }
}

function together(a: ValueStatistics | null, b: ValueStatistics | null): ValueStatistics | null {
  if (a === null || b === null) return a ?? b;
  const both = emptyValueStatistics();
  addValues(both, a);
  addValues(both, b);
  return both;
}

function plansWithRows({ declared, nodes: [own] }: Place): readonly PlanNode[] {
  return [declared, own].filter((node) => node != null);
}

/**
 * Returns the elements above a child of the plan `node` without the rounds of a recursion that the map does not write out
 * (`MappingListing`). Each time, the innermost element within one of the same plan is removed, with all elements between them.
 */
function writtenOut(above: Above, node: PlanNode): Above {
  let innermost = above;
  while (isLeftOut(innermost, node)) {
    const within = [...elementsFrom(innermost)];
    const at = within.findIndex((one) => outerAlike(one) !== null);
    if (at < 0) break;
    const repeated = within[at]!;
    const outer = outerAlike(repeated)!;
    innermost = within.slice(0, at).reduceRight<Above>(
      (last, { xpath, nodes }) => ({
        xpath: outer.xpath + xpath.slice(repeated.xpath.length),
        nodes,
        above: last,
      }),
      outer,
    );
  }
  return innermost;
}

/** Returns whether the map lists no child of that plan there, because it is in the third round of a recursion, or again in the second. */
function isLeftOut(above: Above, node: PlanNode): boolean {
  const times = elementsFrom(above)
    .filter(({ nodes }) => nodes.includes(node))
    .reduce((sum) => sum + 1, 0);
  return times >= (outerAlike(above) === null ? 2 : 1);
}

/** The nearest element above that is read by the same plan. */
function outerAlike({ nodes: [declared], above }: Above): Above | null {
  return elementsFrom(above).find(({ nodes }) => nodes.includes(declared!)) ?? null;
}

function* elementsFrom(innermost: Above | null): Generator<Above, undefined> {
  for (let at = innermost; at !== null; at = at.above) yield at;
}

function edgeTo(nodes: readonly PlanNode[], name: string): PlanEdge | undefined {
  for (const { edges } of nodes) {
    const found = edges.find((edge) => clarkName(edge.name) === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** lines of one column that are looked at for the one that a deeper place counts at */
const maxCandidates = 1_000;

/** The lines of each column, those of tables among them. */
class LinesOfColumns {
  /** lines of places that the map leaves out */
  readonly added: MappingRecord[] = [];
  readonly #byColumn = new Map<string, MappingRecord[]>();
  readonly #byPath = new Map<string, MappingRecord>();
  readonly #inactive = new Map<string, MappingRecord[]>();
  /** whether the map leaves out places */
  readonly leavesOut: boolean;

  constructor(lines: Lines) {
    this.leavesOut = lines.length > manyMappings;
    for (const line of lines) {
      const { xpath, active } = line;
      if (xpath === null || line.node_type === null) continue;
      if (!active) {
        this.#inactive.set(xpath, [...(this.#inactive.get(xpath) ?? []), line]);
        continue;
      }
      const key = columnKey(line);
      const known = this.#byColumn.get(key);
      if (known === undefined) this.#byColumn.set(key, [line]);
      else known.push(line);
      this.#byPath.set(pathKey(line), line);
    }
  }

  inactive(xpath: string): readonly MappingRecord[] {
    return this.#inactive.get(xpath) ?? [];
  }

  /**
   * Returns the line of the path. If there is none, the path is deeper in a recursion, and the result is the line with the same end
   * that shares most steps; in a map that leaves out places, the path gets a line.
   */
  of(place: LinePlace, { edge, declared }: Pick<Place, 'edge' | 'declared'>): MappingRecord | undefined {
    const own = this.#byPath.get(pathKey(place));
    if (own !== undefined) return own;
    const lines = (this.#byColumn.get(columnKey(place)) ?? []).slice(0, maxCandidates);
    const { xpath } = place;
    if (!this.leavesOut) return closest(lines, (line) => sharedSteps(line.xpath!, xpath));
    const inactive = this.inactive(xpath).find((line) => columnKey(line) === columnKey(place));
    if (inactive !== undefined) return inactive;
    const kind = kindOf(place.node_type);
    const model = closest(
      lines.filter((line) => kindOf(line.node_type) === kind),
      (line) => lastSteps(line.xpath!, xpath),
    );
    if (model === undefined) return undefined;
    const isValue = kind === 'value';
    // an element with rows of its own is described at the place where its parent refers to it
    const stepsOfText = isValue && declared?.opensRow === true ? 2 : 1;
    const line: MappingRecord = {
      ...model,
      id_map: 0,
      xpath,
      ...(isValue && edge !== null ? occursOf(model, edge) : {}),
      documentation: lastSteps(model.xpath!, xpath) < stepsOfText ? null : model.documentation,
    };
    this.#byPath.set(pathKey(line), line);
    this.added.push(line);
    return line;
  }
}

type LinePlace = Pick<MappingRecord, 'table_name' | 'column_name' | 'node_type'> & { readonly xpath: string };

function occursOf(
  { source_type: type }: MappingRecord,
  { minOccurs, maxOccurs }: PlanEdge,
): Pick<MappingRecord, 'min_occurs' | 'max_occurs'> {
  return { min_occurs: type === 'offset' ? 0 : minOccurs, max_occurs: maxOccurs };
}

function columnKey({
  table_name: table,
  column_name: column,
}: Pick<MappingRecord, 'table_name' | 'column_name'>): string {
  return `${table}\n${column ?? ''}`;
}

function pathKey(line: Pick<MappingRecord, 'table_name' | 'column_name' | 'xpath' | 'node_type'>): string {
  return `${columnKey(line)}\n${line.xpath}\n${kindOf(line.node_type)}`;
}

/** The first of the lines that are most alike. */
function closest(lines: Lines, likeness: (line: MappingRecord) => number): MappingRecord | undefined {
  let best: MappingRecord | undefined;
  let most = -1;
  for (const line of lines) {
    const alike = likeness(line);
    if (alike > most) [best, most] = [line, alike];
  }
  return best;
}

/** The text of a simple element has the kind of the element. */
function kindOf(kind: MappingRecord['node_type']): string {
  return kind === 'text' || kind === 'element' ? 'value' : (kind ?? '');
}

/** Counts the common steps at the beginning, and the common steps at the end. */
function sharedSteps(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  return left.at(-1) === right.at(-1) ? at + left.length + right.length : at;
}

/** Returns the number of equal steps at the end. */
function lastSteps(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  let count = 0;
  while (count < left.length && count < right.length && left.at(-1 - count) === right.at(-1 - count))
    count += 1;
  return count;
}

// The source-to-target map with every place that documents used. A stored map beyond `manyMappings` lines leaves out some of them.

/** The map of a logical schema, and the figures of documents at its lines. */
export interface DocumentMap {
  readonly lines: readonly MappingRecord[];
  /** lines without an entry: documents had nothing there */
  readonly figures: ReadonlyMap<MappingRecord, LineFigures>;
}

/** Joins a stored map with statistics. Lines that the stored map leaves out follow the stored lines of their table. */
export async function readDocumentMap(
  catalog: CatalogStore,
  idOrg: number,
  idLschma: number,
  { model: source, statistics }: Pick<StoredOrigin, 'model' | 'statistics'>,
  stored?: readonly MappingRecord[],
): Promise<DocumentMap> {
  const [logical, lines] = await Promise.all([
    catalog.loadLogicalSchema(idOrg, { idLschma }),
    stored ?? catalog.listMappings(idOrg, idLschma),
  ]);
  if (statistics === null || logical === null) return { lines, figures: new Map() };
  const { model } = logical;
  const roots = chooseRoots(
    source,
    model.roots.map((root) => root.name),
  );
  const paths = createPathPrinter({ ...source, namespaces: model.namespaces }, roots);
  const { figures, added } = figuresOfLines(statistics as DocumentStatistics, model, lines, paths);
  return { lines: insertByTable(lines, added), figures };
}

/** The lines of the map for all runs together; empty while the origin has no logical schema. AppError `not_found`: no such schema. */
export async function listMappings(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<readonly MappingRecord[]> {
  const { id_lschma: id } = await findOrigin(catalog, idOrg, idSch, idLschma);
  return id === null ? [] : await listMappingsOfLogicalSchema(catalog, idOrg, idSch, id);
}

/** The same by the logical schema; empty if it was removed. */
export async function listMappingsOfLogicalSchema(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma: number,
): Promise<readonly MappingRecord[]> {
  const stored = await catalog.listMappings(idOrg, idLschma);
  if (stored.length <= manyMappings) return stored;
  const origin = await catalog.loadOrigin(idOrg, idSch);
  return origin === null ? stored : (await readDocumentMap(catalog, idOrg, idLschma, origin, stored)).lines;
}

function insertByTable(
  stored: readonly MappingRecord[],
  added: readonly MappingRecord[],
): readonly MappingRecord[] {
  if (added.length === 0) return stored;
  const ofTable = Map.groupBy(added, (line) => line.id_tab);
  const last = new Map(stored.map((line, at) => [line.id_tab, at]));
  return stored.flatMap((line, at) =>
    last.get(line.id_tab) === at ? [line, ...(ofTable.get(line.id_tab) ?? [])] : [line],
  );
}
