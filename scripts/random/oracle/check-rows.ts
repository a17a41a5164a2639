/**
 * Checks rows against the documents they were made of, by the catalogue's map alone: every value lies in the column whose line selects it
 * and in the row of its element, every row hangs from the row of its parent element, and the counts of the map are those of the documents.
 */
import type { Column, Table } from '../../../src/engine/model/relational-model.ts';
import { isElement, type ElementNode } from '../documents/generator.ts';
import { keyOf, xsiUri, type Schema, type Simple } from '../schema/terms.ts';
import type { MapLine } from './map-tree.ts';
import { columnOf, PlacedDocuments, type LoadedRows, type Row, type Seen } from './placed-documents.ts';
import { isCellOf, offsetOf } from './values.ts';

/** Returns what is wrong, in words; `schema`: the set that the model was made of, null if it was made of the documents. */
export function checkRows(
  loaded: LoadedRows,
  documents: readonly ElementNode[],
  schema: Schema | null,
): string[] {
  const check = new RowCheck(loaded, schema);
  for (const document of documents) check.placed.place(document);
  check.alignRows();
  check.checkValues();
  check.checkCounts();
  return check.faults;
}

class RowCheck {
  readonly faults: string[] = [];
  readonly placed: PlacedDocuments;
  readonly #loaded: LoadedRows;
  readonly #typed: boolean;
  readonly #tables: ReadonlyMap<string, Table>;
  /** rows by table, in the order of their keys */
  readonly #sorted = new Map<string, readonly Row[]>();
  readonly #cells = new Map<Row, Map<string, string>>();
  readonly #counts = new Map<MapLine, number>();
  /** the map leaves open in which rows some values lie */
  #isOpen = false;

  constructor(loaded: LoadedRows, schema: Schema | null) {
    this.#loaded = loaded;
    this.#typed = schema !== null;
    this.#tables = new Map(loaded.tables.map((table) => [table.name, table]));
    this.placed = new PlacedDocuments(
      loaded,
      schema,
      (fault) => this.#hasNoLine(fault),
      (line) => this.#count(line),
    );
    for (const { name, columns } of loaded.tables) {
      const key = columns.find(({ role }) => role === 'row_key')!.name;
      const rows = (loaded.rows[name] ?? []).toSorted((a, b) => Number(BigInt(a[key]!) - BigInt(b[key]!)));
      this.#sorted.set(name, rows);
    }
  }

  #fault(text: string): void {
    if (this.faults.length < 8) this.faults.push(text);
  }

  /** A map of very many lines leaves columns out, and says so: then it cannot tell where values lie. */
  #hasNoLine(text: string): void {
    if (this.placed.map.leavesOut) this.#isOpen = true;
    else this.#fault(text);
  }

  #count(line: MapLine): void {
    this.#counts.set(line, (this.#counts.get(line) ?? 0) + 1);
  }

  /** Row keys ascend in document order, so the rows of a table and its elements have one order. */
  alignRows(): void {
    for (const { name, kind, continues } of this.#loaded.tables) {
      if (kind !== 'element' || continues !== undefined) continue;
      const [rows, elements] = [this.#sorted.get(name)!, this.placed.elements.get(name) ?? []];
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
        for (const seen of this.placed.elements.get(name) ?? [])
          this.#checkParent(name, columns, seen.rows.get(name)!, seen.parent, seen.position, seen);
      else if (kind !== 'element') this.#checkParts(name, columns);
    }
  }

  #checkParts(name: string, columns: readonly Column[]): void {
    const content = columns.find(({ role }) => role === 'content')!.name;
    const isKept = (row: Row): boolean => this.#typed || row[content]!.trim() !== '';
    const [rows, parts] = [this.#sorted.get(name)!.filter(isKept), this.placed.parts.get(name) ?? []];
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
    for (const seen of this.placed.seen) {
      this.#checkElement(seen);
      for (const attribute of seen.node.attributes) {
        const isOfXsi = attribute.name.uri === xsiUri;
        const place = this.placed.map.attribute(seen.place, attribute.name);
        const listed = place?.lines ?? [];
        const lines = listed.filter(({ table_name: table }) => this.placed.isAt(table, seen.home, listed));
        for (const line of lines) {
          // another place's line represents this one
          if (place!.parent !== seen.place || this.placed.deeper.has(seen))
            this.placed.recursive.add(columnOf(line));
          this.#checkCell(seen, line, attribute.value, attribute.type);
        }
        const any = seen.lines.some(
          ({ node_type: kind, table_name: table }) =>
            kind === 'any' && this.#tables.get(table)!.kind === 'element',
        );
        if (lines.length === 0 && !isOfXsi && !any)
          this.#hasNoLine(`no line for ${seen.place.xpath}/@${keyOf(attribute.name)}`);
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
      this.placed.textColumnOf(seen) === undefined;
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
    const base = this.placed.baseOf(table);
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
      if (
        told !== counted &&
        !this.placed.recursive.has(column) &&
        (this.#typed || line.node_type !== 'mixed')
      )
        this.#fault(
          `${line.xpath} -> ${column}: the catalogue counts ${told}, the documents have ${counted}`,
        );
      const sum = sums.get(column) ?? [0, 0];
      sums.set(column, [sum[0] + told, sum[1] + counted]);
    }
    for (const [column, [told, counted]] of sums) {
      // without a schema, it is open whether white space between elements is text
      const isUncertain = !this.#typed && this.#tables.get(column.split(' ')[0]!)!.kind === 'text';
      if (told !== counted && this.placed.recursive.has(column) && !isUncertain)
        this.#fault(`${column}: the catalogue counts ${told} in all, the documents have ${counted}`);
    }
  }
}

/** Whether a text has QNames, whose prefixes documents choose. */
function isNamed(text: string): boolean {
  return text.includes('\uE000');
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
