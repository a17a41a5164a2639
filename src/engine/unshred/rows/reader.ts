/** Takes rows from their tables, together with their kept texts and unmapped content, and sees that no row is left behind. */
import { InputError } from '../../diagnostics.ts';
import type { RelationalModel } from '../../model/relational-model.ts';
import { rowColumnsOf, rowTables, type RowColumn } from '../../model/wide-rows.ts';
import type { DocumentRows, LexicalRow, RowStream, UnmappedRow } from './document-rows.ts';
import { indexKeptContent, type KeptElements } from '../kept-content.ts';
import { joinedRows } from './joined.ts';
import { cellNumber, cellText, isNull, numberIn, textOf, type RowBytes } from './values.ts';
import { openCursor, type RowCursor } from './cursor.ts';
import { roleColumn } from '../writing-plan.ts';

export interface TakenRow extends RowBytes {
  /** where the row's key begins and ends in `bytes` */
  readonly keyFrom: number;
  readonly keyTo: number;
  /** values as written, by column name; null: none */
  readonly lexical: ReadonlyMap<string, string> | null;
  /** what is unmapped; null: nothing is */
  readonly kept: KeptElements | null;
}

interface OpenTable {
  readonly cursor: RowCursor;
  readonly keyCell: number;
  /** the kept texts, by table of the row */
  readonly lexical: readonly RowStream<LexicalRow>[];
  readonly unmapped: RowStream<UnmappedRow> | null;
  taken: number;
  /** the row taken last, which has the highest key */
  last: TakenRow | null;
}

export class RowReader {
  readonly #model: RelationalModel;
  readonly #rows: DocumentRows;
  readonly #columns: (table: number) => readonly RowColumn[];
  /** by table; null: there are no rows */
  readonly #tables: (OpenTable | null | undefined)[] = [];
  /** documents that were kept whole; null: not asked for yet */
  #whole: { readonly rows: RowStream<UnmappedRow> | null } | null = null;

  constructor(model: RelationalModel, rows: DocumentRows) {
    this.#model = model;
    this.#rows = rows;
    this.#columns = rowColumnsOf(model);
  }

  /** Rows taken so far, by table. */
  get rowCounts(): Float64Array {
    return Float64Array.from(this.#model.tables, (_, table) => this.#tables[table]?.taken ?? 0);
  }

  /** Before anything else is asked of these tables; undefined: they are open. */
  open(tables: readonly number[]): Promise<void> | undefined {
    for (const table of tables) if (this.#tables[table] === undefined) return this.#openAll(tables);
    return undefined;
  }

  /** Standing at the next row of the table; null where there is none. */
  head(table: number): RowBytes | null {
    const cursor = this.#tables[table]?.cursor;
    return cursor === undefined || cursor.at < 0 ? null : cursor;
  }

  /** The head of a table, with its entries of the tables beside. `depth`: of the element that it is the row of, the root's is 1. */
  take(table: number, depth: number): TakenRow | Promise<TakenRow> {
    const open = this.#tables[table]!;
    const { bytes, cells, at } = open.cursor;
    const keyFrom = cells[at + open.keyCell]!;
    const keyTo = cells[at + open.keyCell + 1]!;
    const row = { bytes, cells, at, keyFrom, keyTo, lexical: null, kept: null };
    open.taken += 1;
    open.last = row;
    const wait = open.cursor.advance();
    const taken =
      open.lexical.length === 0 && open.unmapped === null
        ? row
        : this.#withBeside(open, row, depth, null, null);
    return wait === undefined ? taken : wait.then(() => taken);
  }

  /** The row with its entries, those that have been found before included. */
  #withBeside(
    open: OpenTable,
    row: TakenRow,
    depth: number,
    found: Map<string, string> | null,
    foundUnmapped: UnmappedRow[] | null,
  ): TakenRow | Promise<TakenRow> {
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
    return { ...row, lexical: texts, kept: unmapped === null ? null : indexKeptContent(unmapped, depth) };
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

  /** A row that belongs to this or an earlier document and found no place was not to be passed over in silence. */
  checkAllTaken(documentKey: string): void {
    const document = Number(documentKey);
    for (const [index, table] of this.#tables.entries()) {
      if (table === null || table === undefined) continue;
      const { name } = this.#model.tables[index]!;
      const head = this.head(index);
      if (head !== null && this.#isBehind(index, head, document))
        throw unplaced(name, `key ${cellText(head, table.keyCell / 2)}`);
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
  }

  /** Highest key taken; 0: none. */
  #lastKey(table: number): number {
    const last = this.#tables[table]?.last ?? null;
    return last === null ? 0 : numberIn(last.bytes, last.keyFrom, last.keyTo);
  }

  /** Whether the row hangs from one that has been written. */
  #isBehind(table: number, row: RowBytes, document: number): boolean {
    return this.#columns(table).some(({ column: { role, references } }, column) => {
      if (role !== 'document' && (role !== 'parent_key' || references === null)) return false;
      if (isNull(row, column)) return false;
      return cellNumber(row, column) <= (role === 'document' ? document : this.#lastKey(references!));
    });
  }

  async #openAll(tables: readonly number[]): Promise<void> {
    for (const table of tables) if (this.#tables[table] === undefined) await this.#open(table);
  }

  async #open(index: number): Promise<void> {
    const parts = rowTables(this.#model, index);
    const blocks = await joinedRows(this.#model, this.#rows, parts);
    const cursor = blocks === null ? null : await openCursor(blocks, this.#columns(index).length);
    if (cursor === null || cursor.at < 0) {
      this.#tables[index] = null;
      return;
    }
    const lexical: RowStream<LexicalRow>[] = [];
    for (const part of parts) {
      const entries = await this.#rows.lexical(part);
      if (entries !== null && entries.head !== null) lexical.push(entries);
    }
    const unmapped = await this.#rows.unmapped(index);
    this.#tables[index] = {
      cursor,
      keyCell: roleColumn(this.#model.tables[index]!, 'row_key') * 2,
      lexical,
      unmapped: unmapped?.head == null ? null : unmapped,
      taken: 0,
      last: null,
    };
  }
}

function unplaced(table: string, row: string): InputError {
  return new InputError({
    code: 'unplaced_rows',
    severity: 'error',
    message: `the row of ${table} with ${row} has no place in the document: rows were changed, or do not lie in document order`,
  });
}
