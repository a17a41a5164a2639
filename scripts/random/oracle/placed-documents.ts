/** Places the elements of documents in the catalogue's map: which lines speak of them, and in which tables they should have rows. */
import type { Table } from '../../../src/engine/model/relational-model.ts';
import { isElement, type ElementNode } from '../documents/generator.ts';
import { keyOf, wholeParticle, withDerived, xsiUri, type Complex, type Schema } from '../schema/terms.ts';
import { MapTree, type MapLine, type Place } from './map-tree.ts';

export type Row = Readonly<Record<string, string | null>>;

export interface LoadedRows {
  readonly tables: readonly Table[];
  readonly namespaces: Readonly<Record<string, string>>;
  readonly rootUri: string;
  readonly lines: readonly MapLine[];
  /** the catalogue's figures of lines; null: not asked */
  readonly occurrences: ReadonlyMap<MapLine, number> | null;
  /** by table name, in any order */
  readonly rows: Readonly<Record<string, readonly Row[]>>;
  /** lines of columns that the target keeps elsewhere; absent: none */
  readonly skips?: (line: MapLine) => boolean;
}

/** An element of a document, at its place in the map. */
export interface Seen {
  readonly node: ElementNode;
  readonly parent: Seen | null;
  readonly place: Place;
  /** its place among the children and text runs of its parent; without runs of white space */
  readonly position: readonly [all: number, withoutSpace: number];
  /** its row by table; the last one is that of its own type */
  readonly rows: Map<string, Row>;
  /** the lines that speak of it, of those of its place */
  readonly lines: readonly MapLine[];
  /** the table that its values lie in */
  readonly home: string | null;
}

/** A text run or an element of a wildcard, which has a row of its own. */
export interface Part {
  readonly owner: Seen;
  readonly text: string | null;
  readonly position: Seen['position'];
}

export class PlacedDocuments {
  readonly map: MapTree;
  /** every element that the map has a place for, in document order */
  readonly seen: Seen[] = [];
  /** by table: elements that should have rows there, in document order */
  readonly elements = new Map<string, Seen[]>();
  /** by table: text runs and content of wildcards that should have rows there */
  readonly parts = new Map<string, Part[]>();
  /** elements whose place is that of another one, of the same type */
  readonly deeper = new Set<Seen>();
  /** columns that also hold values of places below those that the map writes out */
  readonly recursive = new Set<string>();
  readonly #loaded: LoadedRows;
  readonly #typed: boolean;
  readonly #typeNames: ReadonlySet<string | null>;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #report: (fault: string) => void;
  readonly #count: (line: MapLine) => void;

  /** `report` takes what has no place, `count` the line of each part. */
  constructor(
    loaded: LoadedRows,
    schema: Schema | null,
    report: (fault: string) => void,
    count: (line: MapLine) => void,
  ) {
    this.#loaded = loaded;
    this.#typed = schema !== null;
    this.#typeNames = new Set(schema?.complexes.map(({ name }) => name!.local));
    this.#tables = new Map(loaded.tables.map((table) => [table.name, table]));
    this.#report = report;
    this.#count = count;
    this.map = new MapTree(loaded.lines, loaded.namespaces, loaded.rootUri, schema);
    for (const line of this.map.recursiveLines()) this.recursive.add(columnOf(line));
  }

  place(root: ElementNode): void {
    const place = this.map.root(root.name);
    if (place === undefined) this.#report(`no line for the root ${keyOf(root.name)}`);
    else this.#visit(this.#see(root, null, place, [1, 1]), false);
  }

  #see(node: ElementNode, parent: Seen | null, place: Place, position: Seen['position']): Seen {
    const all = this.map.linesOf(place);
    const tables = this.#tablesOf(node, all, parent?.home ?? null);
    const home = tables.at(-1) ?? parent?.home ?? null;
    const lines = all.filter(({ table_name: table, column_name: column }) =>
      column === null ? tables.includes(table) : this.isAt(table, home, all),
    );
    return { node, parent, place, position, rows: new Map(), lines, home };
  }

  /** A type that is too wide for the table of its head has one of its own, which a map without types cannot tell apart. */
  #tablesOf(node: ElementNode, lines: readonly MapLine[], home: string | null): string[] {
    const rows = lines.filter(({ column_name: column }) => column === null);
    if (rows.length < 2) return rows.map(({ table_name: table }) => table);
    // the declared type, and of those of xsi:type the nearest one
    const own = node.type?.kind === 'complex' ? basesOf(node.type) : [];
    const nearest = own.find((type) => rows.some(({ source_type: one }) => one === type));
    // each member of a substitution group too wide for one table has a row in a table of its type, too
    const isGroup = this.#tables
      .get(rows[0]!.table_name)!
      .columns.some(({ role, name }) => role === 'element_name' && /^element(?:_\d+)?$/.test(name));
    const fitting = rows.filter(
      ({ source_type: type }, at) =>
        at === 0 || (isGroup && at === 1) || type === nearest || !this.#typeNames.has(type),
    );
    const tables: string[] = [];
    for (const { table_name: table } of fitting)
      if (home === null || [home, ...tables].some((above) => this.#isBelow(table, above))) tables.push(table);
    return tables;
  }

  /** Whether rows of a table hang from those of another one. */
  #isBelow(table: string, above: string): boolean {
    const refers = (from: string, to: string, role: string): boolean =>
      this.#tables
        .get(from)!
        .columns.some((one) => one.role === role && this.#loaded.tables[one.references!]!.name === to);
    return refers(table, above, 'parent_key') || refers(above, table, 'child_key');
  }

  /** Whether a column is of the rows of `home`; a column without a rival at its place is. */
  isAt(table: string, home: string | null, lines: readonly MapLine[]): boolean {
    const base = this.baseOf(table);
    const rivals = new Set(
      lines.filter((one) => one.column_name !== null).map((one) => this.baseOf(one.table_name)),
    );
    if (rivals.size < 2 || home === null || base === home) return true;
    return this.#tables.get(table)!.kind === 'element' ? !rivals.has(home) : this.#isBelow(table, home);
  }

  /** The first table of a row that several tables hold. */
  baseOf(table: string): string {
    const { continues } = this.#tables.get(table)!;
    return continues === undefined ? table : this.baseOf(this.#loaded.tables[continues]!.name);
  }

  #visit(seen: Seen, isDeeper: boolean): void {
    const { node, place } = seen;
    this.seen.push(seen);
    if (isDeeper) this.deeper.add(seen);
    for (const line of seen.lines) {
      const { table_name: table, column_name: column } = line;
      if (isDeeper) this.recursive.add(columnOf(line));
      if (column === null) append(this.elements, table, seen);
    }
    let [all, withoutSpace] = [0, 0];
    for (const child of node.children) {
      if (this.#typed && node.content === 'simple') break;
      all += 1;
      if (isElement(child) || child.trim() !== '') withoutSpace += 1;
      const position = [all, withoutSpace] as const;
      if (!isElement(child)) this.#part(seen, 'mixed', child, position);
      else {
        const found = this.map.child(place, child.name);
        const below =
          found ??
          (child.type === null && this.#typed ? undefined : this.map.childOfAlike(place, child.name));
        if (below !== undefined)
          this.#visit(this.#see(child, seen, below, position), isDeeper || found === undefined);
        else if (child.type === null ? !this.#part(seen, 'any', null, position) : holdsSomething(child))
          this.#report(`no line for ${place.xpath}/${keyOf(child.name)}`);
      }
    }
  }

  /** Whether the map has a line for what stands between or instead of declared elements. */
  #part(owner: Seen, kind: 'mixed' | 'any', text: string | null, position: Seen['position']): boolean {
    const line = owner.lines.find(
      (one) =>
        one.node_type === kind &&
        this.#tables.get(one.table_name)!.kind === (kind === 'any' ? 'wildcard' : 'text'),
    );
    if (line === undefined) return false;
    if (kind === 'mixed' && this.textColumnOf(owner) !== undefined) return true;
    if (this.#typed || text === null || text.trim() !== '') {
      append(this.parts, line.table_name, { owner, text, position });
      this.#count(line);
    }
    return true;
  }

  /** The line of the column that the text of a mixed element lies in, as its type has no child elements; others of its place may have. */
  textColumnOf({ node, lines }: Seen): MapLine | undefined {
    const { type } = node;
    if (type?.kind !== 'complex' || !type.mixed || type.isAnyType || wholeParticle(type) !== null)
      return undefined;
    // the declared type, and one that others are derived from, have the rows that derived types need
    if (!node.isDerived || withDerived(type).length > 1) return undefined;
    return lines.find(
      (line) => line.node_type === 'text' && this.#tables.get(line.table_name)!.kind === 'element',
    );
  }
}

export function columnOf({ table_name: table, column_name: column }: MapLine): string {
  return `${table} ${column ?? '*'}`;
}

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** A required element that documents only have empty needs no column. */
function holdsSomething({ children, attributes }: ElementNode): boolean {
  return children.length > 0 || attributes.some(({ name }) => name.uri !== xsiUri);
}

/** Names of a type and those it derives from. */
function basesOf(type: Complex): (string | null)[] {
  const own = type.name?.local ?? null;
  return type.base?.kind === 'complex' ? [own, ...basesOf(type.base)] : [own];
}
