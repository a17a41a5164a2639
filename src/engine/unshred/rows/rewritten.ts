/** Rewrites blocks of rows on their way to the consumer. */
import { SpareBuffers } from '../../spare-buffers.ts';
import type { RowBlock, RowBlocks } from './document-rows.ts';

/** Returns the block itself if it needs no changes, or another one in memory of `buffers`. */
export type Rewrite = (block: RowBlock, buffers: SpareBuffers) => RowBlock | Promise<RowBlock>;

export class RewrittenBlocks implements RowBlocks {
  readonly #blocks: RowBlocks;
  readonly #rewrite: Rewrite;
  readonly #buffers = new SpareBuffers();
  /** source of the last block, if the block is a copy */
  #copied: RowBlock | null = null;
  /** blocks that were handed on as they are */
  readonly #asTheyAre = new WeakSet<RowBlock>();

  constructor(blocks: RowBlocks, rewrite: Rewrite) {
    this.#blocks = blocks;
    this.#rewrite = rewrite;
  }

  async next(): Promise<RowBlock | null> {
    const before = this.#copied;
    this.#copied = null;
    const block = await this.#blocks.next();
    if (before !== null) this.#blocks.giveBack?.(before);
    if (block === null) return null;
    const rewritten = await this.#rewrite(block, this.#buffers);
    if (rewritten === block) this.#asTheyAre.add(block);
    else this.#copied = block;
    return rewritten;
  }

  giveBack(block: RowBlock): void {
    if (this.#asTheyAre.delete(block)) this.#blocks.giveBack?.(block);
    else {
      this.#buffers.giveBack(block.bytes as Uint8Array<ArrayBuffer>);
      this.#buffers.giveBack(block.cells as Int32Array<ArrayBuffer>);
    }
  }
}

/** Returns a copy of the block with additional room after its bytes. */
export function copyWithRoom(
  { bytes, cells, rows }: RowBlock,
  room: number,
  buffers: SpareBuffers,
): RowBlock {
  const ownBytes = buffers.take(bytes.length + room);
  const ownCells = buffers.takeInts(cells.length);
  ownBytes.set(bytes);
  ownCells.set(cells);
  return { bytes: ownBytes, cells: ownCells, rows };
}
