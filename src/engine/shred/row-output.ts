/** Encoded rows on their way out: one buffer per table, handed over when full. */
import { ByteBuffer } from './byte-buffer.ts';
import type { RowEncoder } from './row-encoding.ts';

export interface RowChunk {
  /** index of a table of the model, or the name of a side table */
  readonly table: number | 'documents' | 'unmapped' | 'lexical';
  readonly bytes: Uint8Array;
  readonly rowCount: number;
}

const fullAt = 128 * 1024;
/** all buffers of a model with thousands of tables together */
const allBuffersBytes = 24 * 1024 * 1024;

const utf8 = new TextEncoder();

export class RowOutput {
  /** full buffers, oldest first; the consumer empties it */
  readonly chunks: RowChunk[] = [];
  readonly rowCounts: Float64Array;
  readonly #encoder: RowEncoder;
  readonly #buffers: (ByteBuffer | undefined)[] = [];
  readonly #pendingRows: Int32Array;
  readonly #sides = new Map<Exclude<RowChunk['table'], number>, { buffer: ByteBuffer; rows: number }>();
  readonly #threshold: number;

  constructor(tableCount: number, encoder: RowEncoder) {
    this.rowCounts = new Float64Array(tableCount);
    this.#pendingRows = new Int32Array(tableCount);
    this.#encoder = encoder;
    this.#threshold = Math.max(
      8 * 1024,
      Math.min(fullAt, Math.floor(allBuffersBytes / Math.max(1, tableCount))),
    );
  }

  buffer(table: number): ByteBuffer {
    return (this.#buffers[table] ??= new ByteBuffer(4096));
  }

  /** A row of `table` has been written to its buffer. */
  rowWritten(table: number): void {
    this.rowCounts[table]! += 1;
    this.#pendingRows[table]! += 1;
    if (this.#buffers[table]!.length >= this.#threshold) this.#hand(table);
  }

  /** A row of a side table: text, whole numbers, or NULL. */
  side(
    table: Exclude<RowChunk['table'], number>,
    values: readonly (string | number | Uint8Array | null)[],
  ): void {
    let entry = this.#sides.get(table);
    if (entry === undefined) this.#sides.set(table, (entry = { buffer: new ByteBuffer(4096), rows: 0 }));
    const { buffer } = entry;
    for (const [index, value] of values.entries()) {
      if (index > 0) buffer.pushByte(this.#encoder.separator);
      if (value === null) this.#encoder.pushNull(buffer);
      else if (typeof value === 'number') buffer.pushInteger(value);
      else {
        const bytes = typeof value === 'string' ? utf8.encode(value) : value;
        this.#encoder.pushText(buffer, bytes, 0, bytes.length);
      }
    }
    buffer.pushByte(10);
    entry.rows += 1;
    if (buffer.length >= fullAt) this.#handSide(table);
  }

  /** Hands over everything, full or not. */
  flush(): void {
    for (const [table, buffer] of this.#buffers.entries())
      if (buffer !== undefined && buffer.length > 0) this.#hand(table);
    for (const [table, { buffer }] of this.#sides) if (buffer.length > 0) this.#handSide(table);
  }

  #hand(table: number): void {
    this.chunks.push({ table, bytes: this.#buffers[table]!.take(), rowCount: this.#pendingRows[table]! });
    this.#pendingRows[table] = 0;
  }

  #handSide(table: Exclude<RowChunk['table'], number>): void {
    const entry = this.#sides.get(table)!;
    this.chunks.push({ table, bytes: entry.buffer.take(), rowCount: entry.rows });
    entry.rows = 0;
  }
}
