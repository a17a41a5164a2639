/**
 * Checks rows against the documents they were made of, by the catalogue's map alone: every value lies in the column whose line selects it
 * and in the row of its element, every row hangs from the row of its parent element, and the counts of the map are those of the documents.
 */
import type { Column, Table } from '../../../src/engine/model/relational-model.ts';
import { isElement, type ElementNode } from '../documents/generator.ts';
import { keyOf, wholeParticle, xsiUri, type Complex, type Schema, type Simple } from '../schema/terms.ts';
import { MapTree, type MapLine, type Place } from './map-tree.ts';
import { isCellOf, offsetOf } from './values.ts';

export type Row = Readonly<Record<string, string | null>>;

export interface LoadedRows {
  readonly tables: readonly Table[];
  readonly namespaces: Readonly<Record<string, string>>;
  readonly rootUri: string;
  readonly lines: readonly MapLine[];
  /** what the catalogue says of lines; null: not asked */
  readonly occurrences: ReadonlyMap<MapLine, number> | null;
  /** by table name, in any order */
  readonly rows: Readonly<Record<string, readonly Row[]>>;
  /** lines of columns that the target keeps elsewhere; absent: none */
  readonly skips?: (line: MapLine) => boolean;
}

/** An element of a document, at its place in the map. */
interface Seen {
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
interface Part {
  readonly owner: Seen;
  readonly text: string | null;
  readonly position: Seen['position'];
}

/** Returns what is wrong, in words; `schema`: the set that the model was made of, null if it was made of the documents. */
export function checkRows(
  loaded: LoadedRows,
  documents: readonly ElementNode[],
  schema: Schema | null,
): string[] {
  const check = new RowCheck(loaded, schema);
  for (const document of documents) check.place(document);
  check.alignRows();
  check.checkValues();
  check.checkCounts();
  // a map of very many lines leaves out paths, and some of these have no other path that is alike
  const isLarge = loaded.lines.length > 40_000;
  return isLarge && check.faults.some((fault) => fault.startsWith('no line for')) ? [] : check.faults;
}

class RowCheck {
  readonly faults: string[] = [];
  readonly #loaded: LoadedRows;
  readonly #typed: boolean;
  readonly #map: MapTree;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #sorted = new Map<string, readonly Row[]>();
  readonly #elements = new Map<string, Seen[]>();
  readonly #parts = new Map<string, Part[]>();
  readonly #seen: Seen[] = [];
  /** elements whose place is that of another one, of the same type */
  readonly #deeper = new Set<Seen>();
  readonly #cells = new Map<Row, Map<string, string>>();
  readonly #counts = new Map<MapLine, number>();
  readonly #typeNames: ReadonlySet<string | null>;
  /** the map leaves open in which rows some values lie */
  #isOpen = false;
  /** columns that also hold values of places below those that the map writes out */
  readonly #recursive = new Set<string>();

  constructor(loaded: LoadedRows, schema: Schema | null) {
    this.#loaded = loaded;
    this.#typed = schema !== null;
    this.#typeNames = new Set(schema?.complexes.map(({ name }) => name!.local));
    this.#map = new MapTree(loaded.lines, loaded.namespaces, loaded.rootUri, schema);
    this.#tables = new Map(loaded.tables.map((table) => [table.name, table]));
    for (const line of this.#map.recursiveLines()) this.#recursive.add(columnOf(line));
    for (const { name, columns } of loaded.tables) {
      const key = columns.find(({ role }) => role === 'row_key')!.name;
      const rows = (loaded.rows[name] ?? []).toSorted((a, b) => Number(BigInt(a[key]!) - BigInt(b[key]!)));
      this.#sorted.set(name, rows);
    }
  }

  #fault(text: string): void {
    if (this.faults.length < 8) this.faults.push(text);
  }

  place(root: ElementNode): void {
    const place = this.#map.root(root.name);
    if (place === undefined) this.#fault(`no line for the root ${keyOf(root.name)}`);
    else this.#visit(this.#see(root, null, place, [1, 1]), false);
  }

  #see(node: ElementNode, parent: Seen | null, place: Place, position: Seen['position']): Seen {
    const all = this.#map.linesOf(place);
    const tables = this.#tablesOf(node, all, parent?.home ?? null);
    const home = tables.at(-1) ?? parent?.home ?? null;
    const lines = all.filter(({ table_name: table, column_name: column }) =>
      column === null ? tables.includes(table) : this.#isAt(table, home, all),
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
    const fitting = rows.filter(
      ({ source_type: type }, at) => at === 0 || type === nearest || !this.#typeNames.has(type),
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
  #isAt(table: string, home: string | null, lines: readonly MapLine[]): boolean {
    const base = this.#baseOf(table);
    const rivals = new Set(
      lines.filter((one) => one.column_name !== null).map((one) => this.#baseOf(one.table_name)),
    );
    if (rivals.size < 2 || home === null || base === home) return true;
    return this.#tables.get(table)!.kind === 'element' ? !rivals.has(home) : this.#isBelow(table, home);
  }

  /** The first table of a row that several tables hold. */
  #baseOf(table: string): string {
    const { continues } = this.#tables.get(table)!;
    return continues === undefined ? table : this.#baseOf(this.#loaded.tables[continues]!.name);
  }

  #visit(seen: Seen, isDeeper: boolean): void {
    const { node, place } = seen;
    this.#seen.push(seen);
    if (isDeeper) this.#deeper.add(seen);
    for (const line of seen.lines) {
      const { table_name: table, column_name: column } = line;
      if (isDeeper) this.#recursive.add(columnOf(line));
      if (column === null) append(this.#elements, table, seen);
    }
    let [all, withoutSpace] = [0, 0];
    for (const child of node.children) {
      if (this.#typed && node.content === 'simple') break;
      all += 1;
      if (isElement(child) || child.trim() !== '') withoutSpace += 1;
      const position = [all, withoutSpace] as const;
      if (!isElement(child)) this.#part(seen, 'mixed', child, position);
      else {
        const found = this.#map.child(place, child.name);
        const below =
          found ??
          (child.type === null && this.#typed ? undefined : this.#map.childOfAlike(place, child.name));
        if (below !== undefined)
          this.#visit(this.#see(child, seen, below, position), isDeeper || found === undefined);
        else if (child.type === null ? !this.#part(seen, 'any', null, position) : holdsSomething(child))
          this.#fault(`no line for ${place.xpath}/${keyOf(child.name)}`);
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
    if (kind === 'mixed' && this.#textColumnOf(owner) !== undefined) return true;
    if (this.#typed || text === null || text.trim() !== '') {
      append(this.#parts, line.table_name, { owner, text, position });
      this.#count(line);
    }
    return true;
  }

  /** The line of the column that the text of a mixed element lies in, as its type has no child elements; others of its place may have. */
  #textColumnOf({ node, lines }: Seen): MapLine | undefined {
    const { type } = node;
    if (type?.kind !== 'complex' || !type.mixed || type.isAnyType || wholeParticle(type) !== null)
      return undefined;
    // the declared type has the rows that types derived from it need
    if (!node.isDerived) return undefined;
    return lines.find(
      (line) => line.node_type === 'text' && this.#tables.get(line.table_name)!.kind === 'element',
    );
  }

  #count(line: MapLine): void {
    this.#counts.set(line, (this.#counts.get(line) ?? 0) + 1);
  }

  /** Row keys ascend in document order, so the rows of a table and its elements have one order. */
  alignRows(): void {
    for (const { name, kind, continues } of this.#loaded.tables) {
      if (kind !== 'element' || continues !== undefined) continue;
      const [rows, elements] = [this.#sorted.get(name)!, this.#elements.get(name) ?? []];
      // a child may lie in the row of a type that xsi:type names, and have rows below the declared type: no map tells these apart
      const ofDeclared = elements.filter(({ parent }) => parent?.node.isDerived !== true);
      if (rows.length === ofDeclared.length && rows.length < elements.length) this.#isOpen = true;
      if (
        rows.length > 0 &&
        !this.#loaded.lines.some((line) => line.table_name === name && line.column_name === null)
      )
        this.#fault(`${name}: ${rows.length} rows, and no line of the map says of which elements`);
      else if (rows.length !== elements.length && !this.#isOpen)
        this.#fault(`${name}: ${rows.length} rows for ${elements.length} elements`);
      for (const [at, seen] of elements.entries()) if (rows[at] !== undefined) seen.rows.set(name, rows[at]);
    }
    if (this.faults.length > 0 || this.#isOpen) return;
    for (const { name, kind, columns, continues } of this.#loaded.tables) {
      if (kind === 'element' && continues === undefined)
        for (const seen of this.#elements.get(name) ?? [])
          this.#checkParent(name, columns, seen.rows.get(name)!, seen.parent, seen.position, seen);
      else if (kind !== 'element') this.#checkParts(name, columns);
    }
  }

  #checkParts(name: string, columns: readonly Column[]): void {
    const content = columns.find(({ role }) => role === 'content')!.name;
    const isKept = (row: Row): boolean => this.#typed || row[content]!.trim() !== '';
    const [rows, parts] = [this.#sorted.get(name)!.filter(isKept), this.#parts.get(name) ?? []];
    if (rows.length !== parts.length)
      return this.#fault(`${name}: ${rows.length} rows for ${parts.length} parts`);
    for (const [at, { owner, text, position }] of parts.entries()) {
      const row = rows[at]!;
      if (text !== null && row[content] !== text && !isNamed(text))
        this.#fault(`${name}.${content}: ${JSON.stringify(row[content])} for ${JSON.stringify(text)}`);
      this.#checkParent(name, columns, row, owner, position);
    }
  }

  /** The row names its parent by a key, or the row above names it; and it knows its position. */
  #checkParent(
    name: string,
    columns: readonly Column[],
    row: Row,
    parent: Seen | null,
    [all, withoutSpace]: Seen['position'],
    self: Seen | null = null,
  ): void {
    const key = row[columns.find(({ role }) => role === 'row_key')!.name]!;
    const links = columns
      .filter(({ role, name: column }) => role === 'parent_key' && row[column] !== null)
      .map(({ name: column, references }) => ({
        table: this.#loaded.tables[references!]!.name,
        key: row[column],
      }));
    const [link] = links;
    // a type apart hangs from the row of its head
    if (
      self !== null &&
      link !== undefined &&
      link.table !== name &&
      this.#keyIn(self, link.table) === link.key
    )
      return;
    const above = nearestWithRows(parent);
    if (above === null) {
      if (links.length > 0) this.#fault(`${name} ${key}: a root has a parent`);
      return;
    }
    const isLinked =
      link === undefined ? this.#isChildOf(above, name, key) : this.#keyIn(above, link.table) === link.key;
    if (!isLinked || links.length > 1)
      this.#fault(
        `${name} ${key}: its parent is ${JSON.stringify(links)}, not ${above.place.xpath} ${JSON.stringify([...above.rows.values()][0])}`,
      );
    const position = columns.find(({ role }) => role === 'position');
    const written = position === undefined ? null : row[position.name];
    // without a schema, it is open whether white space between elements is text
    const isRight = written === String(all) || (!this.#typed && Number(written) >= withoutSpace);
    if (written !== null && !isRight) this.#fault(`${name} ${key}: position ${written}, not ${all}`);
  }

  #keyIn(seen: Seen, table: string): string | null | undefined {
    const row = seen.rows.get(table);
    return row?.[this.#tables.get(table)!.columns.find(({ role }) => role === 'row_key')!.name];
  }

  #isChildOf(above: Seen, name: string, key: string): boolean {
    return [...above.rows.keys()].some((table) =>
      this.#rowsOf(above, table).some(([columns, row]) =>
        columns.some(
          ({ role, references, name: column }) =>
            role === 'child_key' && this.#loaded.tables[references!]!.name === name && row[column] === key,
        ),
      ),
    );
  }

  /** The row of an element, and its continuations in further tables. */
  #rowsOf(seen: Seen, table: string): readonly (readonly [readonly Column[], Row])[] {
    const row = seen.rows.get(table)!;
    const { columns } = this.#tables.get(table)!;
    const key = this.#keyIn(seen, table);
    const index = this.#loaded.tables.findIndex(({ name }) => name === table);
    const further = this.#loaded.tables.filter(({ continues }) => continues === index);
    return [
      [columns, row],
      ...further.flatMap(({ name, columns: others }) => {
        const own = others.find(({ role }) => role === 'row_key')!.name;
        const found = this.#sorted.get(name)!.find((one) => one[own] === key);
        return found === undefined ? [] : [[others, found] as const];
      }),
    ];
  }

  checkValues(): void {
    if (this.faults.length > 0 || this.#isOpen) return;
    for (const seen of this.#seen) {
      this.#checkElement(seen);
      for (const attribute of seen.node.attributes) {
        const isOfXsi = attribute.name.uri === xsiUri;
        const place = this.#map.attribute(seen.place, attribute.name);
        const listed = place?.lines ?? [];
        const lines = listed.filter(({ table_name: table }) => this.#isAt(table, seen.home, listed));
        for (const line of lines) {
          // the line of another place stands for this one
          if (place!.parent !== seen.place || this.#deeper.has(seen)) this.#recursive.add(columnOf(line));
          this.#checkCell(seen, line, attribute.value, attribute.type);
        }
        const any = seen.lines.some(
          ({ node_type: kind, table_name: table }) =>
            kind === 'any' && this.#tables.get(table)!.kind === 'element',
        );
        if (lines.length === 0 && !isOfXsi && !any)
          this.#fault(`no line for ${seen.place.xpath}/@${keyOf(attribute.name)}`);
      }
    }
    for (const { name, kind, columns } of this.#loaded.tables)
      for (const row of kind === 'element' ? this.#sorted.get(name)! : [])
        for (const { name: column, role } of columns)
          if (
            ['value', 'presence', 'offset'].includes(role) &&
            (row[column] ?? null) !== null &&
            this.#cells.get(row)?.has(column) !== true
          )
            this.#fault(`${name}.${column}: ${JSON.stringify(row[column])}, which no document has there`);
  }

  #checkElement(seen: Seen): void {
    const { node } = seen;
    const hasElements = node.children.some(isElement);
    const text = node.children.filter((child) => !isElement(child)).join('');
    const hasAny = node.attributes.some(({ name, type }) => type === null && name.uri !== xsiUri);
    // elements of other types at the place have their text in a column
    const hasRuns =
      this.#typed && seen.lines.some((line) => this.#tables.get(line.table_name)!.kind === 'text');
    const isOfOthers = (line: MapLine): boolean =>
      hasRuns &&
      line.node_type === 'text' &&
      node.content === 'mixed' &&
      this.#textColumnOf(seen) === undefined;
    for (const line of seen.lines) {
      const { table_name: table, column_name: column, node_type: kind } = line;
      if (column === null) {
        if (seen.rows.has(table)) this.#count(line);
        continue;
      }
      const { role } = this.#columnOf(table, column);
      if (role === 'presence') this.#setCell(seen, line, 'true', (cell) => /^(?:t|true|1)$/.test(cell));
      else if (kind === 'any' && this.#tables.get(table)!.kind === 'element') {
        if (hasAny) this.#setCell(seen, line, 'attributes', () => true);
      } else if (
        this.#tables.get(table)!.kind === 'element' &&
        !hasElements &&
        !isOfOthers(line) &&
        (kind !== 'mixed' || text !== '')
      )
        this.#checkCell(seen, line, text, node.value, isNil(node));
    }
    this.#checkNames(seen);
  }

  /** A column that names the element of its row. */
  #checkNames({ node, rows }: Seen): void {
    for (const [table, row] of rows)
      for (const { role, name: column } of this.#tables.get(table)!.columns) {
        const cell = row[column] ?? null;
        if (
          role === 'element_name' &&
          /^(?:element|role)(?:_\d+)?$/.test(column) &&
          cell !== null &&
          cell.replace(/^.*[/:}]/, '') !== node.name.local
        )
          this.#fault(`${table}.${column}: ${cell}, not ${node.name.local}`);
      }
  }

  #columnOf(table: string, column: string): Column {
    return this.#tables.get(table)!.columns.find(({ name }) => name === column)!;
  }

  #checkCell(seen: Seen, line: MapLine, text: string, declared: Simple | null, isNull = false): void {
    const { type, role } = this.#columnOf(line.table_name, line.column_name!);
    if (role === 'offset') {
      const [, zone] = /T.*([+-]\d\d:\d\d)\s*$/.exec(text) ?? [];
      if (zone !== undefined) this.#setCell(seen, line, text, (cell) => Number(cell) === offsetOf(zone));
      return;
    }
    const declaredHere = this.#typed ? declared : null;
    const isEmpty =
      type.kind === 'text' ? text === '' && type.fixed === true : text.trim() === '' && type.list !== true;
    if (!isNull && !isEmpty)
      this.#setCell(seen, line, text, (cell) => isCellOf(type, cell, text, declaredHere));
  }

  /** The cell of the nearest row above that the column is of. */
  #setCell(seen: Seen, line: MapLine, text: string, isRight: (cell: string) => boolean): void {
    if (this.#loaded.skips?.(line) === true) return;
    const { table_name: table, column_name: column } = line;
    const base = this.#baseOf(table);
    let owner: Seen | null = seen;
    while (owner !== null && !owner.rows.has(base)) owner = owner.parent;
    const row =
      owner === null
        ? undefined
        : this.#rowsOf(owner, base).find(([columns]) => columns === this.#tables.get(table)!.columns)?.[1];
    const where = `${table}.${column} (${line.xpath})`;
    if (row === undefined) return this.#fault(`${where}: no row for ${JSON.stringify(text)}`);
    const cells = this.#cells.get(row) ?? new Map<string, string>();
    this.#cells.set(row, cells);
    if (cells.has(column!))
      this.#fault(`${where}: two values, ${JSON.stringify([cells.get(column!), text])}`);
    cells.set(column!, text);
    const cell = row[column!];
    if (cell === null || cell === undefined || !isRight(cell))
      this.#fault(`${where}: ${JSON.stringify(cell)} for ${JSON.stringify(text)}`);
    else this.#count(line);
  }

  /** The sums of the catalogue's figures are those of rows and columns, and each line has what documents have at its places. */
  checkCounts(): void {
    const { occurrences, lines } = this.#loaded;
    if (occurrences === null || this.faults.length > 0 || this.#isOpen) return;
    const sums = new Map<string, [number, number]>();
    for (const line of lines) {
      if (line.xpath === null) continue;
      const column = columnOf(line);
      const [told, counted] = [occurrences.get(line) ?? 0, this.#counts.get(line) ?? 0];
      if (told !== counted && !this.#recursive.has(column) && (this.#typed || line.node_type !== 'mixed'))
        this.#fault(
          `${line.xpath} -> ${column}: the catalogue counts ${told}, the documents have ${counted}`,
        );
      const sum = sums.get(column) ?? [0, 0];
      sums.set(column, [sum[0] + told, sum[1] + counted]);
    }
    for (const [column, [told, counted]] of sums) {
      // without a schema, it is open whether white space between elements is text
      const isUncertain = !this.#typed && this.#tables.get(column.split(' ')[0]!)!.kind === 'text';
      if (told !== counted && this.#recursive.has(column) && !isUncertain)
        this.#fault(`${column}: the catalogue counts ${told} in all, the documents have ${counted}`);
    }
  }
}

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function columnOf({ table_name: table, column_name: column }: MapLine): string {
  return `${table} ${column ?? '*'}`;
}

/** Whether a text has QNames, whose prefixes documents choose. */
function isNamed(text: string): boolean {
  return text.includes('\uE000');
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

function nearestWithRows(seen: Seen | null): Seen | null {
  let at = seen;
  while (at !== null && at.rows.size === 0) at = at.parent;
  return at;
}

function isNil({ attributes }: ElementNode): boolean {
  return attributes.some(
    ({ name, value }) => name.uri === xsiUri && name.local === 'nil' && /^\s*(?:true|1)\s*$/.test(value),
  );
}
