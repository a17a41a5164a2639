/** Takes rows from their streams, together with their kept texts and unmapped content, and sees that no row is left behind. */
import { InputError } from '../diagnostics.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { rowColumnsOf, rowTables, type RowColumn } from '../model/wide-rows.ts';
import type { DocumentRows, LexicalRow, RowStream, RowValues, UnmappedRow } from './document-rows.ts';
import { joinedRows } from './joined-rows.ts';
import { roleColumn } from './writing-plan.ts';

export interface TakenRow {
  readonly values: RowValues;
  readonly key: string;
  /** values as written, by column name; null: none */
  readonly lexical: ReadonlyMap<string, string> | null;
  readonly unmapped: readonly UnmappedRow[] | null;
}

interface OpenTable {
  readonly rows: RowStream<RowValues>;
  /** the kept texts, by table of the row */
  readonly lexical: readonly RowStream<LexicalRow>[];
  readonly unmapped: RowStream<UnmappedRow> | null;
  readonly keyColumn: number;
}

export class RowReader {
  readonly rowCounts: Float64Array;
  readonly #model: RelationalModel;
  readonly #rows: DocumentRows;
  readonly #columns: (table: number) => readonly RowColumn[];
  /** by table; null: there are no rows */
  readonly #tables: (OpenTable | null | undefined)[] = [];
  /** documents that were kept whole; null: not asked for yet */
  #whole: { readonly rows: RowStream<UnmappedRow> | null } | null = null;
  /** highest key taken, by table */
  readonly #lastKeys: Float64Array;

  constructor(model: RelationalModel, rows: DocumentRows) {
    this.#model = model;
    this.#rows = rows;
    this.#columns = rowColumnsOf(model);
    this.rowCounts = new Float64Array(model.tables.length);
    this.#lastKeys = new Float64Array(model.tables.length);
  }

  /** Before anything else is asked of these tables. */
  async open(tables: readonly number[]): Promise<void> {
    for (const table of tables) if (this.#tables[table] === undefined) await this.#open(table);
  }

  exists(table: number): boolean {
    return this.#tables[table] !== null;
  }

  head(table: number): RowValues | null {
    return this.#tables[table]?.rows.head ?? null;
  }

  /** The head of a table, with its entries of the tables beside. */
  async take(table: number): Promise<TakenRow> {
    const { rows, keyColumn, lexical, unmapped } = this.#tables[table]!;
    const values = rows.head!;
    const key = values[keyColumn]!;
    this.rowCounts[table]! += 1;
    this.#lastKeys[table] = Math.max(this.#lastKeys[table]!, Number(key));
    const wait = rows.advance();
    if (wait !== undefined) await wait;
    let texts: Map<string, string> | null = null;
    for (const entries of lexical) {
      for (let entry = entries.head; entry !== null && entry.rowKey === key; entry = entries.head) {
        texts ??= new Map();
        texts.set(entry.columnName, entry.content);
        const more = entries.advance();
        if (more !== undefined) await more;
      }
    }
    let entries: UnmappedRow[] | null = null;
    for (
      let entry = unmapped?.head ?? null;
      entry !== null && entry.parentKey === key;
      entry = unmapped!.head
    ) {
      entries ??= [];
      entries.push(entry);
      const more = unmapped!.advance();
      if (more !== undefined) await more;
    }
    return { values, key, lexical: texts, unmapped: entries };
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
  async checkAllTaken(documentKey: string): Promise<void> {
    for (const [index, table] of this.#tables.entries()) {
      if (table === null || table === undefined) continue;
      const { name } = this.#model.tables[index]!;
      const last = this.#lastKeys[index]!;
      const { head } = table.rows;
      if (head !== null && this.#isBehind(index, head, documentKey))
        throw unplaced(name, `key ${head[table.keyColumn]}`);
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

  /** Whether the row hangs from one that has been written. */
  #isBehind(table: number, values: RowValues, documentKey: string): boolean {
    return this.#columns(table).some(({ column: { role, references } }, column) => {
      const value = values[column] ?? null;
      if (value === null) return false;
      if (role === 'document') return Number(value) <= Number(documentKey);
      return role === 'parent_key' && references !== null && Number(value) <= this.#lastKeys[references]!;
    });
  }

  async #open(index: number): Promise<void> {
    const parts = rowTables(this.#model, index);
    const rows = await joinedRows(this.#model, this.#rows, parts);
    if (rows === null || rows.head === null) {
      this.#tables[index] = null;
      return;
    }
    const lexical: RowStream<LexicalRow>[] = [];
    for (const part of parts) {
      const entries = await this.#rows.lexical(part);
      if (entries !== null) lexical.push(entries);
    }
    this.#tables[index] = {
      rows,
      lexical,
      unmapped: await this.#rows.unmapped(index),
      keyColumn: roleColumn(this.#model.tables[index]!, 'row_key'),
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
