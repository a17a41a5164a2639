/** Reads tables of Parquet files: files of our writer in stored form and in the order of their keys, others with DuckDB. */
import { join, basename } from 'node:path';
import { open, type FileHandle } from 'node:fs/promises';
import { zstdDecompressSync } from 'node:zlib';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { fractionDigits } from '../../../engine/sql/physical-model.ts';
import type { ClosableBlocks, DocumentRowsOnly } from '../../rows/table-row-source.ts';
import { pathLiteral } from '../../sql/duckdb/database.ts';
import type { SourceTable } from '../../sql/duckdb/reader.ts';
import { lexicalText } from '../../sql/duckdb/types.ts';
import type { ManifestFile, ManifestTable } from './manifest.ts';
import type { NamedColumn } from './table-columns.ts';
import type { OpenedTables } from './layout.ts';
import { bytesOf, BufferRoom, bufferedValueBytes, pieceBytesOf, rowsInOrder } from './buffer-room.ts';
import { CellsKernel } from '../../../engine/parquet/reading/kernel/instance.ts';
import {
  ParquetFileReader,
  type ParquetRows,
  type RowsOnly,
} from '../../../engine/parquet/reading/file-reader.ts';
import {
  storedForm,
  type ChunkSource,
  type StoredForm,
} from '../../../engine/parquet/reading/stored-column.ts';
import type { RowBlock } from '../../../engine/unshred/rows/document-rows.ts';
import { cellIs, utf8Of } from '../../../engine/unshred/rows/values.ts';
import { SpareBuffers } from '../../../engine/spare-buffers.ts';
import { AppError } from '../../../errors.ts';

export async function openParquetTables(
  directory: string,
  label: string,
  tables: readonly ManifestTable[],
): Promise<OpenedTables> {
  const memory = createStoredRowsMemory();
  const room = new BufferRoom(false);
  const allBytes = bytesOf(tables.flatMap(({ files }) => files));
  return {
    table: (table, columns) => {
      const pieceBytes = pieceBytesOf(bytesOf(table.files), allBytes);
      return parquetTable({ directory, label, pieceBytes, memory }, room, table, columns);
    },
  };
}

interface ParquetFiles {
  readonly directory: string;
  readonly label: string;
  readonly pieceBytes: number;
  readonly memory: StoredRowsMemory;
}

function parquetTable(
  stored: ParquetFiles,
  room: BufferRoom,
  { files }: ManifestTable,
  columns: readonly NamedColumn[],
): SourceTable {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const names = new Set(files.flatMap((file) => file.columns));
  const asTheyLie = async (wanted: readonly string[]): Promise<ClosableBlocks | null> =>
    storedRows(stored, files, types, { key: null, only: null }, wanted);
  return {
    from: `(${files.map((file) => parquetFile(join(stored.directory, file.name), file, types)).join(' UNION ALL BY NAME ')})`,
    whole: (name) => (names.has(name) ? `${doubleQuoted(name)}::BIGINT` : null),
    holds: (name, text) => `${doubleQuoted(name)} = ${standardLiteral(text)}`,
    // the text as `lexicalText` makes it
    text: (name) => (names.has(name) ? { expression: doubleQuoted(name), decode: null } : null),
    inOrder: async (key, wanted, only) => {
      const found = await storedRows(stored, files, types, { key, only }, wanted);
      if (found !== null || only !== null) return found;
      return rowsInOrder({ files, room, asTheyLie }, key, wanted);
    },
    fewAsTheyLie: async (wanted) =>
      room.take(files, wanted.length, bufferedValueBytes.named) ? asTheyLie(wanted) : null,
  };
}

function storedRows(
  { directory, label, pieceBytes, memory }: ParquetFiles,
  files: readonly ManifestFile[],
  known: ReadonlyMap<string, ColumnType>,
  { key, only }: { readonly key: string | null; readonly only: DocumentRowsOnly | null },
  wanted: readonly string[],
): Promise<ClosableBlocks | null> {
  return openStoredRows({
    files: files.map(({ name: file, columns, types = [] }) => ({
      path: join(directory, file),
      columns: new Map(
        columns.map((name, at) => {
          const fraction = fractionDigits(known.get(name));
          return [name, { sqlType: types[at] ?? 'VARCHAR', fraction }] as const;
        }),
      ),
    })),
    key,
    only: only === null ? null : { column: only.column, number: BigInt(only.key) },
    wanted,
    blockBytes: pieceBytes,
    label,
    memory,
  });
}

function parquetFile(
  path: string,
  { columns, types = [] }: ManifestFile,
  known: ReadonlyMap<string, ColumnType>,
): string {
  const values = columns.map((name, at) => {
    const column = doubleQuoted(name);
    return `${lexicalText(column, types[at] ?? 'VARCHAR', fractionDigits(known.get(name)))} AS ${column}`;
  });
  return `SELECT ${values.join(', ')} FROM read_parquet(${pathLiteral(path)})`;
}

interface StoredRowsFile {
  readonly path: string;
  /** whether the file may lack some of the columns, which are empty then (false) */
  readonly mayLack?: boolean;
  /** keyed by column: the DuckDB type, and the digits after the point in the model (null if it has none) */
  readonly columns: ReadonlyMap<string, { readonly sqlType: string; readonly fraction: number | null }>;
}

interface StoredRowsOptions {
  readonly files: readonly StoredRowsFile[];
  /** the row key's column; null: the rows may have any order */
  readonly key: string | null;
  /** a condition on the value of a wanted column; null: all rows */
  readonly only?: RowsOnly | null;
  /** the names of the columns of a row */
  readonly wanted: readonly string[];
  /** the size of a block in bytes, unless a row is longer */
  readonly blockBytes: number;
  /** the name of the folder in messages */
  readonly label: string;
  readonly memory: StoredRowsMemory;
}

const rowsAtOnce = 2048;

/** The memory for reading that all tables of a folder share. */
export interface StoredRowsMemory {
  readonly kernel: CellsKernel;
  /** buffers for stored pages and for blocks */
  readonly buffers: SpareBuffers;
}

export function createStoredRowsMemory(): StoredRowsMemory {
  return { kernel: new CellsKernel(rowsAtOnce), buffers: new SpareBuffers() };
}

/** Returns null if a file is from another writer, or the rows are not in the order of their keys. */
export async function openStoredRows(options: StoredRowsOptions): Promise<ClosableBlocks | null> {
  const formed: FormedFile[] = [];
  let last: bigint | null = 0n;
  for (const file of options.files) {
    const opened = await OpenFile.open(file.path, options);
    try {
      const reader = await opened.reader();
      if (reader === null) return null;
      const forms = formsOf(file, reader.names);
      if (!reader.holds(forms)) return null;
      formed.push({ file, forms });
      if (options.key !== null) {
        const { key } = options;
        const form = forms.get(key);
        if (form === undefined) return null;
        last = await opened.told(() => reader.lastAscending(key, form, last!));
        if (last === null) return null;
      }
    } finally {
      await opened.close();
    }
  }
  return new StoredRows(options, formed);
}

interface FormedFile {
  readonly file: StoredRowsFile;
  readonly forms: ReadonlyMap<string, StoredForm>;
}

/** `names`: the columns of the file. */
function formsOf(
  { columns, mayLack = false }: StoredRowsFile,
  names: readonly string[],
): ReadonlyMap<string, StoredForm> {
  const there = new Set(names);
  return new Map(
    [...columns]
      .filter(([name]) => !mayLack || there.has(name))
      .map(([name, { sqlType, fraction }]) => [name, storedForm(sqlType, fraction)]),
  );
}

/** Returns the names of all columns in the files; null if a file is from another writer. */
export async function storedColumns(
  paths: readonly string[],
  options: Pick<StoredRowsOptions, 'label' | 'memory'>,
): Promise<ReadonlySet<string> | null> {
  const names = new Set<string>();
  for (const path of paths) {
    const opened = await OpenFile.open(path, options);
    try {
      const reader = await opened.reader();
      if (reader === null) return null;
      for (const name of reader.names) names.add(name);
    } finally {
      await opened.close();
    }
  }
  return names;
}

class StoredRows implements ClosableBlocks {
  readonly #options: StoredRowsOptions;
  readonly #files: readonly FormedFile[];
  #next = 0;
  #open: { readonly file: OpenFile; readonly rows: ParquetRows } | null = null;
  /** settles when the last requested block is ready */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: StoredRowsOptions, files: readonly FormedFile[]) {
    this.#options = options;
    this.#files = files;
  }

  next(): Promise<RowBlock | null> {
    const block = this.#read();
    // the caller of `next` gets the error
    this.#last = block.then(nothing, nothing);
    return block;
  }

  giveBack({ bytes, cells }: RowBlock): void {
    this.#options.memory.buffers.giveBack(bytes as Uint8Array<ArrayBuffer>);
    this.#options.memory.buffers.giveBack(cells as Int32Array<ArrayBuffer>);
  }

  /** Waits for the read-ahead block, because only then is the file that it opens known. */
  async close(): Promise<void> {
    await this.#last;
    await this.#closeFile();
  }

  async #read(): Promise<RowBlock | null> {
    for (;;) {
      const { file, rows } = this.#open ?? {};
      const all = rows === undefined ? null : await file!.told(() => rows.next());
      if (all !== null) {
        const block = this.#asked(all);
        if (block.rows > 0) return block;
        continue;
      }
      await this.#closeFile();
      const formed = this.#files[this.#next];
      if (formed === undefined) return null;
      this.#next += 1;
      await this.#begin(formed);
    }
  }

  /** Returns the wanted rows of a block; other rows of its row group are read along with them. */
  #asked(block: RowBlock): RowBlock {
    const { only, wanted } = this.#options;
    return only == null
      ? block
      : rowsOf(block, wanted.indexOf(only.column), String(only.number), wanted.length);
  }

  async #begin({ file, forms }: FormedFile): Promise<void> {
    const {
      wanted,
      blockBytes,
      memory: { buffers },
    } = this.#options;
    const opened = await OpenFile.open(file.path, this.#options);
    const columns = new Map(
      wanted.flatMap((name, at) => {
        const form = forms.get(name);
        return form === undefined ? [] : [[name, { form, at }] as const];
      }),
    );
    try {
      const reader = (await opened.reader())!;
      this.#open = {
        file: opened,
        rows: reader.rows({ columns, width: wanted.length, blockBytes, buffers }),
      };
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  async #closeFile(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    open?.rows.close();
    await open?.file.close();
  }
}

type ReadingOptions = Pick<StoredRowsOptions, 'only' | 'label' | 'memory'>;

class OpenFile {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #options: ReadingOptions;

  constructor(handle: FileHandle, path: string, options: ReadingOptions) {
    this.#handle = handle;
    this.#path = path;
    this.#options = options;
  }

  static async open(path: string, options: ReadingOptions): Promise<OpenFile> {
    return new OpenFile(await open(path), path, options);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Returns null if the file is from another writer. */
  async reader(): Promise<ParquetFileReader | null> {
    const {
      memory: { kernel, buffers },
      only = null,
    } = this.#options;
    const source: ChunkSource = {
      read: (at, length) => this.#read(at, length),
      release: (bytes) => buffers.giveBack(bytes),
      decompress,
    };
    const { size } = await this.#handle.stat();
    return this.told(() => ParquetFileReader.open(size, source, kernel, only));
  }

  /** Runs `work`, and reports damaged data as an error that names the folder. */
  async told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RangeError) && !(error instanceof WebAssembly.RuntimeError)) throw error;
      throw new AppError(
        'unprocessable_input',
        `${this.#options.label}: ${basename(this.#path)} was changed since it was written: ${error.message}. Load the documents again.`,
        { cause: error },
      );
    }
  }

  async #read(at: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = this.#options.memory.buffers.take(length);
    for (let filled = 0; filled < length;) {
      const { bytesRead } = await this.#handle.read(bytes, filled, length - filled, at + filled);
      if (bytesRead === 0) throw new RangeError('it ends too early');
      filled += bytesRead;
    }
    return bytes;
  }
}

/** Keeps the rows whose value in one of the `width` columns is that number. */
function rowsOf({ bytes, cells, rows }: RowBlock, column: number, number: string, width: number): RowBlock {
  const wanted = utf8Of(number);
  let kept = 0;
  for (let row = 0; row < rows; row += 1) {
    const at = row * width * 2;
    if (!cellIs({ bytes, cells, at }, column, wanted, 0, wanted.length)) continue;
    cells.copyWithin(kept * width * 2, at, at + width * 2);
    kept += 1;
  }
  return { bytes, cells: cells.subarray(0, kept * width * 2), rows: kept };
}

function decompress(bytes: Uint8Array, length: number): Uint8Array {
  let plain: Uint8Array;
  try {
    plain = zstdDecompressSync(bytes, {
      maxOutputLength: Math.max(1, length),
      chunkSize: Math.max(64, length),
    });
  } catch (error) {
    throw new RangeError('a page cannot be decompressed', { cause: error });
  }
  if (plain.length !== length) throw new RangeError('the length of a page differs from its header');
  return plain;
}

/** Replaces a block, which would otherwise stay in memory. */
function nothing(): undefined {
  return undefined;
}
