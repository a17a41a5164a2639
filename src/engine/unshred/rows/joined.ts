/** Joins the rows of a wide table, which are stored in several tables (src/engine/model/wide-rows.ts), by their row key. */
import type { RelationalModel } from '../../model/relational-model.ts';
import type { DocumentRows, RowBlock, RowBlocks } from './document-rows.ts';
import { cellIs, type RowBytes } from './values.ts';
import { openCursor, type RowCursor } from './cursor.ts';
import { roleColumn } from '../writing-plan.ts';

/** Returns the rows of the first of `parts` with the columns of the others, or null if that table does not exist. */
export async function joinedRows(
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
