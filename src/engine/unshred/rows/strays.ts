/**
 * Rows of a document that are not stored where they must be written, because others added or changed them. They are found by their
 * parents' keys.
 */
import { InputError } from '../../diagnostics.ts';
import type { RelationalModel } from '../../model/relational-model.ts';
import type { RowChild, RowGroup } from '../writing-plan.ts';
import { childOf, positionOf, type RowKey } from './children.ts';
import type { UnmappedRow } from './document-rows.ts';
import { cellText, textOf, type RowBytes } from './values.ts';

export interface StrayRow extends RowBytes {
  readonly table: number;
  readonly keyFrom: number;
  readonly keyTo: number;
  readonly lexical: ReadonlyMap<string, string> | null;
  readonly unmapped: readonly UnmappedRow[] | null;
}

/** The next one of the rows that may be in an element. */
export interface StrayChild {
  readonly stray: StrayRow;
  readonly position: number;
}

const mostNamed = 5;

export class Strays {
  /** number of rows of each table that are stored where they are written */
  readonly inPlace: Float64Array;
  readonly #rows: readonly StrayRow[];
  readonly #left: Set<StrayRow>;
  /** by table and column, then by the column's value; in the order of the rows */
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
    const more = this.#left.size - Math.min(mostNamed, keys.length);
    const rows = keys.length === 1 ? `the row of ${name} with key` : `the rows of ${name} with the keys`;
    const others = more === 0 ? '' : ` and ${more} more`;
    throw unplacedRows(
      `${rows} ${keys.slice(0, mostNamed).join(', ')}${others} ${this.#left.size === 1 ? 'has' : 'have'} no place in the document: no row of it that may have such rows below it has the key that they name above them; correct that key, and document_key, or take the rows out`,
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

export function unplacedRows(message: string): InputError {
  return new InputError({ code: 'unplaced_rows', severity: 'error', message });
}
