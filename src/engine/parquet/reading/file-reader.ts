/**
 * Reads rows of a file that our writer made, as blocks of text (docs/decisions/loading/columns.md), without making a string or an object
 * for each value. For each requested column, one page and the dictionary are in memory. If only rows of one number are requested, row
 * groups whose bounds exclude it are not read.
 */
import type { RowBlock } from '../../unshred/rows/document-rows.ts';
import type { CellsKernel } from './kernel/instance.ts';
import type { SpareBuffers } from '../../spare-buffers.ts';
import { readFooter, type FileLayout, type StoredBounds } from './footer.ts';
import {
  StoredLists,
  StoredColumn,
  type ChunkSource,
  type ColumnRows,
  type StoredForm,
} from './stored-column.ts';

/** Rows of which a column of whole numbers of 64 bits has that number. */
export interface RowsOnly {
  readonly column: string;
  readonly number: bigint;
}

export interface RowsWanted {
  /** columns of the file by name, each with its conversion to text and its index in the rows */
  readonly columns: ReadonlyMap<string, { readonly form: StoredForm; readonly at: number }>;
  /** number of columns of a row; those that the file does not have are empty */
  readonly width: number;
  /** bytes of a block if its rows are shorter; its cells have twice as many */
  readonly blockBytes: number;
  /** buffers for blocks */
  readonly buffers: SpareBuffers;
}

export class ParquetFileReader {
  readonly #file: FileLayout;
  readonly #source: ChunkSource;
  readonly #kernel: CellsKernel;

  constructor(file: FileLayout, source: ChunkSource, kernel: CellsKernel) {
    this.#file = file;
    this.#source = source;
    this.#kernel = kernel;
  }

  /**
   * Returns null if the file is not of our writer. Throws RangeError if it is damaged. `only`: row groups without such a row are skipped.
   */
  static async open(
    size: number,
    source: ChunkSource,
    kernel: CellsKernel,
    only: RowsOnly | null = null,
  ): Promise<ParquetFileReader | null> {
    const file = await readFooter(size, source.read, only?.column ?? null);
    if (file === null) return null;
    const groups = only === null ? file.groups : file.groups.filter(({ bounds }) => mayHave(bounds, only));
    return new ParquetFileReader({ ...file, groups }, source, kernel);
  }

  /** The names of the file's columns. */
  get names(): readonly string[] {
    return this.#file.columns.map(({ name }) => name);
  }

  /** True if the file has these columns with exactly these types. */
  holds(columns: ReadonlyMap<string, StoredForm>): boolean {
    const known = new Map(this.#file.columns.map((column) => [column.name, column]));
    return [...columns].every(([name, { physical, scale, isList }]) => {
      const column = known.get(name);
      return column?.physical === physical && column.scale === scale && column.isList === isList;
    });
  }

  /**
   * Returns the last of a column's whole numbers if each row's is greater than the previous one and the first is greater than `last`.
   * Returns null if not.
   */
  async lastAscending(name: string, form: StoredForm, last: bigint): Promise<bigint | null> {
    const at = this.#file.columns.findIndex((column) => column.name === name);
    const column = new StoredColumn(this.#kernel, form, this.#source);
    let greatest: bigint | null = last;
    try {
      for (const { rows, chunks } of this.#file.groups) {
        column.beginChunk(chunks[at]!);
        for (let taken = 0; taken < rows;) {
          if (column.rowsLeft === 0) await column.nextPage();
          const count = Math.min(this.#kernel.rows, column.rowsLeft);
          greatest = column.ascend(count, greatest);
          if (greatest === null) return null;
          taken += count;
        }
      }
    } finally {
      column.close();
    }
    return greatest;
  }

  rows(wanted: RowsWanted): ParquetRows {
    return new ParquetRows(this.#file, this.#source, this.#kernel, wanted);
  }
}

function mayHave(bounds: StoredBounds | null, { number }: RowsOnly): boolean {
  return bounds === null || (bounds[0] <= number && number <= bounds[1]);
}

/** rows of a block whose cells have more than twice as many bytes as its texts may have */
const leastRows = 64;

export class ParquetRows {
  readonly #file: FileLayout;
  readonly #kernel: CellsKernel;
  readonly #wanted: RowsWanted;
  readonly #columns: readonly {
    readonly stored: ColumnRows;
    readonly chunk: number;
    readonly at: number;
  }[];
  #group = 0;
  #rowsLeft = 0;

  constructor(file: FileLayout, source: ChunkSource, kernel: CellsKernel, wanted: RowsWanted) {
    this.#file = file;
    this.#kernel = kernel;
    this.#wanted = wanted;
    this.#columns = file.columns.flatMap(({ name }, chunk) => {
      const found = wanted.columns.get(name);
      if (found === undefined) return [];
      const Column = found.form.isList ? StoredLists : StoredColumn;
      return [{ stored: new Column(kernel, found.form, source), chunk, at: found.at }];
    });
  }

  /** Returns the next rows, at least one, or null at the end. Throws RangeError if the file is damaged. */
  async next(): Promise<RowBlock | null> {
    while (this.#rowsLeft === 0) {
      const group = this.#file.groups[this.#group];
      if (group === undefined) return null;
      this.#group += 1;
      this.#rowsLeft = group.rows;
      for (const { stored, chunk } of this.#columns) stored.beginChunk(group.chunks[chunk]!);
    }
    let rows = Math.min(this.#rowsLeft, this.#kernel.rows);
    for (const { stored } of this.#columns) {
      if (stored.rowsLeft === 0) await stored.nextPage();
      rows = Math.min(rows, stored.rowsLeft);
    }
    const usual = this.#columns.reduce((sum, { stored }) => sum + stored.usualBytes(rows), 0);
    const { blockBytes, width } = this.#wanted;
    if (usual > blockBytes) rows = Math.max(1, Math.floor((rows * blockBytes) / usual));
    rows = Math.min(rows, Math.max(leastRows, Math.floor((blockBytes * 2) / (width * 8))));
    this.#rowsLeft -= rows;
    return this.#block(rows);
  }

  close(): void {
    for (const { stored } of this.#columns) stored.close();
  }

  #block(rows: number): RowBlock {
    const kernel = this.#kernel;
    const { width } = this.#wanted;
    const most = this.#columns.reduce((sum, { stored }) => sum + stored.maxBytes(rows), 0);
    const { texts, cells } = kernel.blockRoom(most, rows * width);
    const cellsEnd = cells + rows * width * 8;
    if (this.#columns.length < width) kernel.bytes.fill(0xff, cells, cellsEnd);
    let end = texts;
    for (const { stored, at } of this.#columns) end = stored.take(rows, cells + at * 8, width * 8, end);
    const { buffers } = this.#wanted;
    const block = { bytes: buffers.take(end - texts), cells: buffers.takeInts(rows * width * 2), rows };
    block.bytes.set(kernel.bytes.subarray(texts, end));
    block.cells.set(new Int32Array(kernel.bytes.buffer, cells, rows * width * 2));
    return block;
  }
}
