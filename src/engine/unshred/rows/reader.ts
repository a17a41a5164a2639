/**
 * Reads the rows of documents from their tables, together with their kept texts and unmapped content, and checks that all rows are used.
 */
import { pathSteps } from '../../model/name-labels.ts';
import type {
  UnmappedRow,
  RowBlock,
  RowBlocks,
  DocumentRows,
  LexicalRow,
  RowStream,
} from './document-rows.ts';
import { type RowBytes, cellText, textOf, cellNumber, isNull, numberIn, cellIs } from './values.ts';
import { InputError } from '../../diagnostics.ts';
import type { RelationalModel } from '../../model/relational-model.ts';
import { type RowChild, type RowGroup, roleColumn } from '../writing-plan.ts';
import { childOf, positionOf, type RowKey } from './children.ts';
import { rowColumnsOf, rowTables, type RowColumn } from '../../model/wide-rows.ts';
import type { ElementsKernel, StandingTables } from '../kernel/instance.ts';
import type { XmlOutput } from '../xml-output.ts';
import { withOffsets, withWrittenForms, rowsAsWritten } from './written-forms.ts';

// The entries of `_unmapped` that belong to one row, by the folded element that contains them.

export interface KeptItem {
  readonly position: number;
  readonly kind: 'element' | 'text';
  readonly content: string;
}

/** The unmapped content that was kept of one element. */
export interface KeptElement {
  /** label of the name -> value */
  readonly attributes: [label: string, value: string][];
  /** URIs by prefix that its content uses */
  readonly namespaces: Map<string, string>;
  /** child elements and text, by position */
  readonly items: KeptItem[];
  /** label of a folded child whose position does not follow from the order of the model -> its position */
  readonly positions: Map<string, number>;
}

/** Indexed by labels below the row's element, each with a slash before it; '' for the row's element itself. */
type KeptElements = ReadonlyMap<string, KeptElement>;

/** `depth`: steps of the path to the row's own element, the root's included. */
function indexKeptContent(rows: readonly UnmappedRow[], depth: number): KeptElements {
  const kept = new Map<string, KeptElement>();
  for (const { position, xpath, kind, content } of rows) {
    const steps = pathSteps(xpath).slice(depth);
    const own = kind === 'text' ? undefined : steps.pop();
    const element = elementAt(kept, steps);
    const prefix = kind === 'attribute' ? /^@xmlns:(.+)$/.exec(own ?? '')?.[1] : undefined;
    if (prefix !== undefined) element.namespaces.set(prefix, content ?? '');
    else if (kind === 'attribute') element.attributes.push([(own ?? '').slice(1), content ?? '']);
    else if (kind === 'place') element.positions.set(own ?? '', position);
    else element.items.push({ position, kind: kind === 'text' ? 'text' : 'element', content: content ?? '' });
  }
  for (const { items } of kept.values()) items.sort((a, b) => a.position - b.position);
  return kept;
}

/** The element at these steps; those on the way get an entry too, so that each shows its element is there. */
function elementAt(kept: Map<string, KeptElement>, steps: readonly string[]): KeptElement {
  let path = '';
  for (let at = 0; ; at += 1) {
    let element = kept.get(path);
    if (element === undefined)
      kept.set(path, (element = { attributes: [], namespaces: new Map(), items: [], positions: new Map() }));
    if (at === steps.length) return element;
    path += `/${steps[at]!}`;
  }
}

// The rows of one table. The next block is read while the rows of a block are consumed, unless there are many tables.

/** a longer block has rows so large that two blocks should not be in memory */
const aheadBytes = 1024 * 1024;

/** blocks that wait for being given back: those that rows of deep documents keep for long are left to the garbage collector */
const maxPassed = 4;

interface CursorOptions {
  /** whether rows of a block may still be needed after the table has moved past it; null: rows of any block */
  readonly isKept?: ((cells: Int32Array) => boolean) | null;
  /** whether the next block is read before it is needed, which doubles the memory (default: true) */
  readonly readsAhead?: () => boolean;
}

/** Opens a cursor at the first row. */
export async function openCursor(
  blocks: RowBlocks,
  columns: number,
  options: CursorOptions = {},
): Promise<RowCursor> {
  const cursor = new RowCursor(blocks, columns, options);
  await cursor.advance();
  return cursor;
}

class RowCursor implements RowBytes {
  bytes: Uint8Array = new Uint8Array(0);
  cells: Int32Array = new Int32Array(0);
  /** below 0: there are no more rows */
  at = 0;
  /** no block is after this one; false: unknown */
  isLast = false;
  readonly #blocks: RowBlocks;
  readonly #width: number;
  readonly #isKept: ((cells: Int32Array) => boolean) | null;
  readonly #readsAhead: () => boolean;
  /** blocks before the present one */
  #passed: RowBlock[] = [];
  #block: RowBlock | null = null;
  /** no row but the first of the present block was asked for */
  #isNew = false;
  #end = 0;
  #coming: Promise<RowBlock | null> | null = null;

  constructor(blocks: RowBlocks, columns: number, { isKept = null, readsAhead = () => true }: CursorOptions) {
    this.#blocks = blocks;
    this.#isKept = isKept;
    this.#readsAhead = readsAhead;
    this.#width = columns * 2;
  }

  /** The end of the block's cells in `cells`. */
  get end(): number {
    return this.#end;
  }

  /** Skips rows of the block. At least one remains, except in the last block. */
  pass(rows: number): void {
    this.at += rows * this.#width;
    if (this.at >= this.#end) this.at = -1;
  }

  /** Must not be called again after the last row. */
  advance(): Promise<void> | undefined {
    this.at += this.#width;
    if (this.at >= this.#end) return this.#fetch();
    this.goneOn();
    return undefined;
  }

  /** Called when a row of the present block was consumed: the consumer has received the last row of the previous block. */
  goneOn(): void {
    if (!this.#isNew) return;
    this.#isNew = false;
    this.#giveBack();
  }

  async #fetch(): Promise<void> {
    // meanwhile there is no row
    this.at = -1;
    this.isLast = false;
    this.#giveBack();
    this.#pass();
    const block = await (this.#coming ?? this.#blocks.next());
    this.#coming = null;
    if (block === null) return;
    this.#block = block;
    this.#isNew = true;
    this.bytes = block.bytes;
    this.cells = block.cells;
    this.#end = block.rows * this.#width;
    this.at = 0;
    if (block.bytes.length > aheadBytes || !this.#readsAhead()) return;
    this.#coming = this.#blocks.next();
    this.#coming.then(
      (next) => (this.isLast = next === null),
      // its fault is reported when the rows are requested
      () => undefined,
    );
  }

  /** Marks the present block to be given back, if the source supports that. */
  #pass(): void {
    if (this.#block === null || this.#isKept === null || this.#blocks.giveBack === undefined) return;
    this.#passed.push(this.#block);
    if (this.#passed.length > maxPassed) this.#passed.shift();
  }

  /**
   * The consumer may not have received the last row of the present block yet. The block is therefore checked when another row is
   * consumed.
   */
  #giveBack(): void {
    if (this.#passed.length === 0) return;
    this.#passed = this.#passed.filter((block) => {
      const keeps = this.#isKept!(block.cells);
      if (!keeps) this.#blocks.giveBack!(block);
      return keeps;
    });
  }
}

// Rows that are not stored at the place where they must be written, because others added or changed them. They are found by their parents'
// keys.

interface StrayRow extends RowBytes {
  readonly table: number;
  readonly keyFrom: number;
  readonly keyTo: number;
  readonly lexical: ReadonlyMap<string, string> | null;
  readonly unmapped: readonly UnmappedRow[] | null;
}

/** The next one of the rows that may be in an element. */
interface StrayChild {
  readonly stray: StrayRow;
  readonly position: number;
}

const maxNamed = 5;

export class Strays {
  /** number of rows of each table that are stored where they are written */
  readonly inPlace: Float64Array;
  readonly #rows: readonly StrayRow[];
  readonly #left: Set<StrayRow>;
  /** keyed by table and column, then by the column's value; in the order of the rows */
  readonly #indexes = new Map<string, ReadonlyMap<string | null, readonly StrayRow[]>>();

  /** `rows`: of each table in the order of their keys. */
  constructor(rows: readonly StrayRow[], inPlace: Float64Array) {
    this.#rows = rows;
    this.#left = new Set(rows);
    this.inPlace = inPlace;
  }

  /** Yields the rows with `key` in that column that have not been written. */
  *hanging(table: number, column: number, key: string): Iterable<StrayRow> {
    for (const stray of this.#index(table, column).get(key) ?? []) if (this.#left.has(stray)) yield stray;
  }

  /** `row`: the parent's row. Returns null at the end of the group. */
  childOf(
    { table, keyColumn, positionColumn, uses }: RowGroup,
    parent: RowKey,
    row: RowBytes,
  ): (StrayChild & { readonly child: RowChild }) | null {
    let first: (StrayChild & { child: RowChild }) | null = null;
    for (const use of uses) {
      const isAbove = use.childKeyColumn < 0;
      const column = isAbove ? use.parentKeyColumn : keyColumn;
      const key = isAbove
        ? textOf(parent.bytes, parent.keyFrom, parent.keyTo)
        : cellText(row, use.childKeyColumn);
      for (const stray of key === null ? [] : this.hanging(table, column, key)) {
        const child = childOf(use, stray);
        const position = positionOf(stray, positionColumn);
        if (child !== null && (first === null || position < first.position))
          first = { stray, position, child };
      }
    }
    return first;
  }

  take(stray: StrayRow): void {
    this.#left.delete(stray);
  }

  /** Throws InputError `unplaced_rows` if a row was not written. */
  checkAllTaken({ tables }: RelationalModel): void {
    const [first] = this.#left;
    if (first === undefined) return;
    const { name } = tables[first.table]!;
    const keys = [...this.#left]
      .filter(({ table }) => table === first.table)
      .map(({ bytes, keyFrom, keyTo }) => textOf(bytes, keyFrom, keyTo));
    const more = this.#left.size - Math.min(maxNamed, keys.length);
    const rows = keys.length === 1 ? `the row of ${name} with key` : `the rows of ${name} with the keys`;
    const others = more === 0 ? '' : ` and ${more} more`;
    throw unplacedRows(
      `${rows} ${keys.slice(0, maxNamed).join(', ')}${others} ${this.#left.size === 1 ? 'has' : 'have'} no place in the document: no parent row in the document has their parent key; correct that key and document_key, or delete the rows`,
    );
  }

  #index(table: number, column: number): ReadonlyMap<string | null, readonly StrayRow[]> {
    const name = `${table} ${column}`;
    let index = this.#indexes.get(name);
    if (index === undefined) {
      const rows = this.#rows.filter((stray) => stray.table === table);
      this.#indexes.set(name, (index = Map.groupBy(rows, (stray) => cellText(stray, column))));
    }
    return index;
  }
}

function unplacedRows(message: string): InputError {
  return new InputError({ code: 'unplaced_rows', severity: 'error', message });
}

// The rows of all tables.

export interface CurrentRow extends RowBytes {
  /** start and end of the row's key in `bytes` */
  readonly keyFrom: number;
  readonly keyTo: number;
  /** values as written, by column name; null: none */
  readonly lexical: ReadonlyMap<string, string> | null;
  /** unmapped content; null: there is none */
  readonly kept: KeptElements | null;
  /** the unmapped rows as stored */
  readonly unmapped: readonly UnmappedRow[] | null;
}

interface OpenTable {
  readonly cursor: RowCursor;
  readonly keyCell: number;
  /** the kept texts that are not in cells, by table of the row */
  readonly lexical: readonly RowStream<LexicalRow>[];
  readonly unmapped: RowStream<UnmappedRow> | null;
  taken: number;
  /** number of times that the next row has changed */
  moves: number;
  /** the next row comes too late in its table: it and all rows after it are strays */
  isBlocked: boolean;
  /** the last row read, which has the highest key */
  last: CurrentRow | null;
}

/** the most tables with rows for which a block is read ahead while another is used, which doubles the memory */
const maxAhead = 256;

export class RowReader {
  readonly #model: RelationalModel;
  readonly #rows: DocumentRows;
  /** rows that are not stored where they must be written; null: none are known */
  readonly strays: Strays | null;
  readonly #columns: (table: number) => readonly RowColumn[];
  /** indexed by table; null: there are no rows */
  readonly #tables: (OpenTable | null | undefined)[] = [];
  /** documents that were kept whole; null: not asked for yet */
  #whole: { readonly rows: RowStream<UnmappedRow> | null } | null = null;
  /** whether a row of the block with these cells may still be needed; null: blocks are not given back */
  #isOpen: ((cells: Int32Array) => boolean) | null = null;
  #kernel: ElementsKernel | null = null;
  #makeKernel: (() => ElementsKernel | null) | null = null;
  /** number of tables that still have rows */
  #openTables = 0;
  /** row elements, until there is a kernel */
  #elementsBefore = 0;

  /** `strays`: of the one document that there are rows of. */
  constructor(model: RelationalModel, rows: DocumentRows, strays: Strays | null = null) {
    this.#model = model;
    this.#rows = rows;
    this.strays = strays;
    this.#columns = rowColumnsOf(model);
  }

  /** The number of rows read so far, by table. */
  get rowCounts(): Float64Array {
    const { length } = this.#model.tables;
    return Float64Array.from({ length }, (_, table) => this.#tables[table]?.taken ?? 0);
  }

  /** Must be called before these tables are used otherwise. Returns undefined if they are open. */
  open(tables: readonly number[]): Promise<void> | undefined {
    for (const table of tables) if (this.#tables[table] === undefined) return this.#openAll(tables);
    return undefined;
  }

  /** Returns the next row of the table, or null if there is none. */
  head(table: number): RowBytes | null {
    const open = this.#tables[table];
    if (open === undefined || open === null || open.isBlocked || open.cursor.at < 0) return null;
    return this.strays !== null && open.taken >= this.strays.inPlace[table]! ? null : open.cursor;
  }

  /** Returns the number of times that the head of the table has changed. */
  moves(table: number): number {
    return this.#tables[table]?.moves ?? 0;
  }

  /** Reads the head of a table with its entries of the side tables. `depth`: depth of its element; the root's is 1. */
  take(table: number, depth: number): CurrentRow | Promise<CurrentRow> {
    const open = this.#tables[table]!;
    const row = rowAt(open);
    open.taken += 1;
    open.moves += 1;
    open.last = row;
    const wait = open.cursor.advance();
    const isAlone = open.lexical.length === 0 && open.unmapped === null;
    if (this.#kernel !== null) {
      if (isAlone) this.#kernel.stand(table, open.cursor);
      else this.#kernel.leave(table);
    }
    const taken = isAlone ? row : this.#withBeside(open, row, depth, null, null);
    return wait === undefined ? taken : wait.then(() => taken);
  }

  /** After `after` elements, `writePlain` may use the kernel. Must not be called if rows are not stored where they must be written. */
  useKernel(make: () => ElementsKernel | null, after: number): void {
    this.#makeKernel = make;
    this.#elementsBefore = after;
  }

  /** Writes the next row of the table as that child, with all its content, if the kernel can. Returns false if no row was read. */
  writePlain(table: number, child: RowChild, out: XmlOutput): boolean {
    if (this.#kernel === null && this.#makeKernel !== null && (this.#elementsBefore -= 1) < 0) {
      this.#kernel = this.#makeKernel();
      this.#makeKernel = null;
    }
    const kernel = this.#kernel;
    if (kernel === null) return false;
    const end = kernel.write(table, child, this.#standing);
    if (end === 0) return false;
    out.markupBytes(kernel.bytes, kernel.from, end);
    kernel.forTaken(this.#passed);
    return true;
  }

  /**
   * Gives blocks of rows back when the tables have moved past them, unless `isOpen` returns true because a row of the block may still be
   * needed. Must be called before tables are opened.
   */
  giveBackBlocks(isOpen: (cells: Int32Array) => boolean): void {
    this.#isOpen = isOpen;
  }

  readonly #readsAhead = (): boolean => this.#openTables <= maxAhead;

  readonly #standing: StandingTables = (table) => {
    const open = this.#tables[table];
    if (open === undefined) return undefined;
    if (open === null || open.isBlocked) return null;
    const { cursor, keyCell, lexical, unmapped } = open;
    let nextBeside = Infinity;
    for (const { head } of lexical) if (head !== null) nextBeside = Math.min(nextBeside, Number(head.rowKey));
    const kept = unmapped?.head ?? null;
    if (kept !== null) nextBeside = Math.min(nextBeside, Number(kept.parentKey));
    const columns = this.#columns(table).length;
    return { rows: cursor, columns, keyColumn: keyCell / 2, nextBeside };
  };

  readonly #passed = (table: number, rows: number): void => {
    const open = this.#tables[table]!;
    open.cursor.pass(rows - 1);
    open.last = rowAt(open);
    open.cursor.pass(1);
    open.cursor.goneOn();
    open.taken += rows;
    open.moves += rows;
  };

  /** The row with its entries, those that have been found before included. */
  #withBeside(
    open: OpenTable,
    row: CurrentRow,
    depth: number,
    found: Map<string, string> | null,
    foundUnmapped: UnmappedRow[] | null,
  ): CurrentRow | Promise<CurrentRow> {
    const number = numberIn(row.bytes, row.keyFrom, row.keyTo);
    let key: string | null = null;
    // beyond 2^53 numbers are equal that are not the same
    const isOf = (text: string): boolean =>
      Number(text) === number && text === (key ??= textOf(row.bytes, row.keyFrom, row.keyTo));
    let texts = found;
    for (const entries of open.lexical) {
      for (let entry = entries.head; entry !== null && isOf(entry.rowKey); entry = entries.head) {
        texts ??= new Map();
        texts.set(entry.columnName, entry.content);
        const wait = entries.advance();
        if (wait !== undefined)
          return wait.then(() => this.#withBeside(open, row, depth, texts, foundUnmapped));
      }
    }
    let unmapped = foundUnmapped;
    const { unmapped: entries } = open;
    for (let entry = entries?.head ?? null; entry !== null && isOf(entry.parentKey); entry = entries!.head) {
      unmapped ??= [];
      unmapped.push(entry);
      const wait = entries!.advance();
      if (wait !== undefined) return wait.then(() => this.#withBeside(open, row, depth, texts, unmapped));
    }
    if (texts === null && unmapped === null) return row;
    return { ...row, lexical: texts, kept: keptOf(unmapped, depth), unmapped };
  }

  /** A document that was kept whole because its root is none of the model's; null: it was not. */
  async wholeDocument(documentKey: string): Promise<string | null> {
    this.#whole ??= { rows: await this.#rows.unmapped(null) };
    const head = this.#whole.rows?.head ?? null;
    return head?.parentKey === documentKey ? (head.content ?? '') : null;
  }

  async takeWhole(documentKey: string): Promise<string | null> {
    const content = await this.wholeDocument(documentKey);
    if (content !== null) await this.#whole!.rows!.advance();
    return content;
  }

  /** Handles a head of the table that should have come earlier: the table has no more rows at the place where they must be written. */
  block(table: number): void {
    const open = this.#tables[table]!;
    open.isBlocked = true;
    open.moves += 1;
    this.#kernel?.leave(table);
  }

  /** Does the same as `take` for a row that is stored elsewhere. */
  takeStray(stray: StrayRow, depth: number): CurrentRow {
    this.strays!.take(stray);
    return { ...stray, kept: keptOf(stray.unmapped, depth) };
  }

  /** Reads all remaining rows of the only document that has rows, whether they were requested or not. */
  async takeStrays(): Promise<Strays> {
    const inPlace = this.rowCounts;
    const strays: StrayRow[] = [];
    const tables = this.#model.tables.flatMap(({ continues }, table) =>
      continues === undefined ? [table] : [],
    );
    await this.#openAll(tables);
    this.#unblock();
    for (const table of tables)
      while (this.head(table) !== null) strays.push({ ...(await this.take(table, 0)), table });
    return new Strays(strays, inPlace);
  }

  /**
   * Skips rows of this or an earlier document that have no place because others added or changed them, and adds the keys of their
   * documents to `late`. Returns the fault of the first one of this document, or null if there is none. Throws InputError `unplaced_rows`
   * for a row of no known document, and for content kept of rows that do not exist.
   */
  async leaveBehind(documentKey: string, late: Set<string>): Promise<InputError | null> {
    const document = Number(documentKey);
    let first: InputError | null = null;
    this.#unblock();
    for (const [index, table] of this.#tables.entries()) {
      if (table === null || table === undefined) continue;
      const { name } = this.#model.tables[index]!;
      let lastWritten: { readonly row: CurrentRow | null } | null = null;
      for (let head = this.head(index); head !== null && this.#isBehind(index, head, document);) {
        const of = this.#documentOf(index, head);
        late.add(of);
        if (of === documentKey) first ??= this.#unplacedHead(index, head);
        lastWritten ??= { row: table.last === null ? null : keyAlone(table.last) };
        await this.take(index, 0);
        head = this.head(index);
      }
      if (lastWritten !== null) table.last = lastWritten.row;
      if (table.lexical.length === 0 && table.unmapped === null) continue;
      const last = this.#lastKey(index);
      for (const { head: lexical } of table.lexical) {
        if (lexical !== null && Number(lexical.rowKey) <= last)
          throw unplaced('_lexical', `table ${name} and key ${lexical.rowKey}`);
      }
      const unmapped = table.unmapped?.head ?? null;
      if (unmapped !== null && Number(unmapped.parentKey) <= last) {
        throw unplaced('_unmapped', `parent ${name} and key ${unmapped.parentKey}`);
      }
    }
    return first;
  }

  /** Returns the highest key read, or 0 if there is none. */
  #lastKey(table: number): number {
    const last = this.#tables[table]?.last ?? null;
    return last === null ? 0 : numberIn(last.bytes, last.keyFrom, last.keyTo);
  }

  /** True if the parent of the row has already been written. */
  #isBehind(table: number, row: RowBytes, document: number): boolean {
    return this.#columns(table).some(({ column: { role, references } }, column) => {
      if (role !== 'document' && (role !== 'parent_key' || references === null)) return false;
      if (isNull(row, column)) return false;
      return cellNumber(row, column) <= (role === 'document' ? document : this.#lastKey(references!));
    });
  }

  #documentOf(table: number, row: RowBytes): string {
    const columns = this.#columns(table);
    const document = cellText(
      row,
      columns.findIndex(({ column: { role } }) => role === 'document'),
    );
    if (document !== null) return document;
    throw this.#unplacedHead(table, row);
  }

  #unplacedHead(table: number, row: RowBytes): InputError {
    const key = cellText(row, this.#tables[table]!.keyCell / 2);
    return unplaced(this.#model.tables[table]!.name, `key ${key}`);
  }

  #unblock(): void {
    for (const [index, table] of this.#tables.entries()) {
      if (table === null || table === undefined || !table.isBlocked) continue;
      table.isBlocked = false;
      table.moves += 1;
      this.#kernel?.leave(index);
    }
  }

  async #openAll(tables: readonly number[]): Promise<void> {
    for (const table of tables) if (this.#tables[table] === undefined) await this.#open(table);
  }

  async #open(index: number): Promise<void> {
    const parts = rowTables(this.#model, index);
    const blocks = await joinedRows(this.#model, this.#rows, parts);
    const columns = this.#columns(index);
    const keyColumn = roleColumn(this.#model.tables[index]!, 'row_key');
    const written =
      blocks === null
        ? null
        : rowsAsWritten(withWrittenForms(withOffsets(blocks, columns), columns), {
            columns,
            keyColumn,
            entries: () => this.#lexicalOf(parts),
          });
    const isOpen = this.#isOpen;
    const isKept =
      isOpen === null
        ? null
        : (cells: Int32Array) => isOpen(cells) || this.#tables[index]?.last?.cells === cells;
    const cursor =
      written === null
        ? null
        : await openCursor(written.blocks, columns.length, { isKept, readsAhead: this.#readsAhead });
    if (cursor === null || cursor.at < 0) {
      this.#tables[index] = null;
      return;
    }
    this.#openTables += 1;
    const unmapped = await this.#rows.unmapped(index);
    this.#tables[index] = {
      cursor,
      keyCell: keyColumn * 2,
      lexical: written!.left(),
      unmapped: unmapped?.head == null ? null : unmapped,
      taken: 0,
      moves: 0,
      isBlocked: false,
      last: null,
    };
  }

  async #lexicalOf(tables: readonly number[]): Promise<RowStream<LexicalRow>[]> {
    const streams: RowStream<LexicalRow>[] = [];
    for (const table of tables) {
      const entries = await this.#rows.lexical(table);
      if (entries !== null && entries.head !== null) streams.push(entries);
    }
    return streams;
  }
}

/** Returns the present row of the table, without the content kept beside it. */
function rowAt({ cursor: { bytes, cells, at }, keyCell }: OpenTable): CurrentRow {
  const [keyFrom, keyTo] = [cells[at + keyCell]!, cells[at + keyCell + 1]!];
  return { bytes, cells, at, keyFrom, keyTo, lexical: null, kept: null, unmapped: null };
}

/** The row with its key alone, apart from its block. */
function keyAlone(row: CurrentRow): CurrentRow {
  // a Buffer's own slice shares its memory
  const bytes = new Uint8Array(row.bytes.subarray(row.keyFrom, row.keyTo));
  return { ...row, bytes, cells: new Int32Array(0), at: 0, keyFrom: 0, keyTo: bytes.length };
}

function keptOf(unmapped: readonly UnmappedRow[] | null, depth: number): KeptElements | null {
  return unmapped === null ? null : indexKeptContent(unmapped, depth);
}

function unplaced(table: string, row: string): InputError {
  return unplacedRows(
    `the row of ${table} with ${row} has no place in the document: it was changed, or its document_key is wrong; correct document_key, or delete the row`,
  );
}

// Joins the rows of a wide table, which are stored in several tables (src/engine/model/wide-rows.ts), by their row key.

/** Returns the rows of the first table of `parts`, with the columns of the other tables added; null if the first table does not exist. */
async function joinedRows(
  { tables }: RelationalModel,
  rows: DocumentRows,
  [first, ...others]: readonly number[],
): Promise<RowBlocks | null> {
  const blocks = await rows.table(first!);
  if (blocks === null || others.length === 0) return blocks;
  const partOf = async (table: number, of: RowBlocks | null): Promise<Part> => {
    const columns = tables[table]!.columns.length;
    const cursor = of === null ? null : await openCursor(of, columns);
    return { cursor, columns, keyColumn: roleColumn(tables[table]!, 'row_key') };
  };
  const own = await partOf(first!, blocks);
  const parts: Part[] = [];
  for (const table of others) parts.push(await partOf(table, await rows.table(table)));
  return new JoinedBlocks(own, parts);
}

interface Part {
  /** null: rows of an earlier model do not have this part */
  readonly cursor: RowCursor | null;
  readonly columns: number;
  readonly keyColumn: number;
}

/** such rows are wide */
const blockRows = 64;
const blockBytes = 256 * 1024;

class JoinedBlocks implements RowBlocks {
  readonly #first: Part;
  readonly #others: readonly Part[];

  constructor(first: Part, others: readonly Part[]) {
    this.#first = first;
    this.#others = others;
  }

  async next(): Promise<RowBlock | null> {
    const first = this.#first.cursor!;
    const copy = new BlockCopy();
    let rows = 0;
    for (; rows < blockRows && copy.length < blockBytes && first.at >= 0; rows += 1) {
      const { bytes, cells, at } = first;
      const key = at + this.#first.keyColumn * 2;
      const taken = [first];
      copy.add(first, this.#first.columns);
      for (const { cursor, columns, keyColumn } of this.#others) {
        const isOf = cursor !== null && cursor.at >= 0;
        if (isOf && cellIs(cursor, keyColumn, bytes, cells[key]!, cells[key + 1]!)) {
          copy.add(cursor, columns);
          taken.push(cursor);
        } else copy.addNothing(columns);
      }
      for (const cursor of taken) await cursor.advance();
    }
    return rows === 0 ? null : copy.block(rows);
  }
}

class BlockCopy {
  length = 0;
  #bytes = new Uint8Array(4096);
  readonly #cells: number[] = [];

  add({ bytes, cells, at }: RowBytes, columns: number): void {
    for (let cell = at; cell < at + columns * 2; cell += 2) {
      const from = cells[cell]!;
      if (from < 0) this.#cells.push(-1, -1);
      else this.#value(bytes.subarray(from, cells[cell + 1]));
    }
  }

  addNothing(columns: number): void {
    for (let cell = 0; cell < columns; cell += 1) this.#cells.push(-1, -1);
  }

  block(rows: number): RowBlock {
    return { bytes: this.#bytes, cells: Int32Array.from(this.#cells), rows };
  }

  #value(value: Uint8Array): void {
    const end = this.length + value.length;
    if (end > this.#bytes.length) {
      const longer = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      longer.set(this.#bytes.subarray(0, this.length));
      this.#bytes = longer;
    }
    this.#bytes.set(value, this.length);
    this.#cells.push(this.length, end);
    this.length = end;
  }
}
