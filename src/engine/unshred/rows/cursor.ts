/** Reads the rows of one table. While the rows of a block are consumed the next block is being read, unless there are many tables. */
import type { RowBlock, RowBlocks } from './document-rows.ts';
import type { RowBytes } from './values.ts';

/** a longer block has rows so large that two blocks should not be in memory */
const aheadBytes = 1024 * 1024;

/** blocks that wait for being given back: those that rows of deep documents keep for long are left to the garbage collector */
const mostPassed = 4;

export interface CursorOptions {
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

export class RowCursor implements RowBytes {
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
    if (this.#passed.length > mostPassed) this.#passed.shift();
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
