/** The rows of one table, one after the other; while the rows of a block are taken the next block is on its way, unless there are many tables. */
import type { RowBlock, RowBlocks } from './document-rows.ts';
import type { RowBytes } from './values.ts';

/** a block that is longer has rows of which two blocks need not be held */
const aheadBytes = 1024 * 1024;

/** blocks that wait for being given back: those that rows of deep documents keep for long are left to the garbage collector */
const mostPassed = 4;

export interface CursorOptions {
  /** whether rows of a block may be asked for that the table has gone beyond; null: of any block */
  readonly isKept?: ((cells: Int32Array) => boolean) | null;
  /** whether the next block is to be on its way before it is needed: it takes as much memory again (it is) */
  readonly readsAhead?: () => boolean;
}

/** Stands at its first row. */
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
  /** no block is behind this one; false: it is not known */
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

  /** Passes over rows of the block; one at least is left, but for the last block. */
  pass(rows: number): void {
    this.at += rows * this.#width;
    if (this.at >= this.#end) this.at = -1;
  }

  /** Not again once there are no more rows. */
  advance(): Promise<void> | undefined {
    this.at += this.#width;
    if (this.at >= this.#end) return this.#fetch();
    this.goneOn();
    return undefined;
  }

  /** A row of the present block was taken: the last one of the block before has come to whoever asked for it. */
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
      // its fault is told where the rows are asked for
      () => undefined,
    );
  }

  /** The present block waits for being given back, where that can be. */
  #pass(): void {
    if (this.#block === null || this.#isKept === null || this.#blocks.giveBack === undefined) return;
    this.#passed.push(this.#block);
    if (this.#passed.length > mostPassed) this.#passed.shift();
  }

  /** The row that was taken last, of the present block, is on its way to whoever asked for it: that block is looked at when another is taken. */
  #giveBack(): void {
    if (this.#passed.length === 0) return;
    this.#passed = this.#passed.filter((block) => {
      const keeps = this.#isKept!(block.cells);
      if (!keeps) this.#blocks.giveBack!(block);
      return keeps;
    });
  }
}
