/** One DuckDB database in this process; its native module is loaded when the first database is opened. */
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';

export interface DuckDb {
  /** Runs one statement or several, and returns the number of rows that the last one changed. */
  run(sql: string): Promise<number>;
  /** Returns rows by column name; whole numbers beyond 32 bits are bigints. */
  read<T>(sql: string): Promise<T[]>;
  /** Closes the file; safe to call again. */
  close(): void;
}

export interface DuckDbOptions {
  /** the one folder whose files statements may read and write */
  readonly directory: string;
  /** a folder in that folder, for data that does not fit into memory (`spill`) */
  readonly spill?: string;
  readonly memoryBytes: number;
  /** a new file gets the smallest blocks: it is larger on disk, but data that waits for the end of a transaction need not stay in memory */
  readonly smallBlocks?: boolean;
  /** a new file that nobody else knows: commits go directly into it, and not through the log, for which long values are copied in memory */
  readonly skipsLog?: boolean;
  /** how long to wait for another process that has the file open (0) */
  readonly busyTimeoutMs?: number;
  /** the name of the file in messages (default: its path) */
  readonly label?: string;
  /** interrupts the current statement, and prevents further ones except those that end a transaction */
  readonly signal?: AbortSignal;
}

const pollMs = 250;

/** Memory that a transaction keeps for each column that it fills, in a file with blocks of the usual size. */
const openColumnBytes = 40 * 1024;

/** A block of the usual size: the memory that a column needs while its table is filled or altered. */
const blockBytes = 256 * 1024;

/**
 * DuckDB's memory: usually, if it may have to sort or join; and if it only fills tables of a new file. DuckDB keeps any memory that it gets
 * beyond that.
 */
const [usualBytes, fillingBytes] = [128 * 1024 * 1024, 32 * 1024 * 1024];

/**
 * Returns the memory for reading rows of up to `longestRowBytes`, and for filling so many columns in one transaction, of which the widest
 * table has `widestTable`. `onlyFills`: only tables of a new file are filled.
 */
export function memoryFor(
  longestRowBytes: number,
  filledColumns: number,
  widestTable = 0,
  onlyFills = false,
): number {
  return (
    Math.max(onlyFills ? fillingBytes : usualBytes, longestRowBytes * 24) +
    filledColumns * openColumnBytes +
    widestTable * blockBytes
  );
}

/** Returns the bytes that DuckDB may get if rows need more than usual: half of the memory available to this process. */
export function maxMemory(): number {
  const constrained = process.constrainedMemory();
  return Math.min(totalmem(), constrained === 0 ? Infinity : constrained) / 2;
}

/**
 * Returns whether DuckDB would have done it with more memory: it keeps 2,048 rows of a table at once, and long values of many more while it
 * fills one.
 */
export function lacksMemory(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Out of Memory Error|(?:failed to|could not) (?:pin|allocate|free)/.test(error.message)
  );
}

function memoryLimit(bytes: number): string {
  return `${Math.ceil(bytes / 1024)}KiB`;
}

/**
 * Opens a file, which is created if it is missing, or `:memory:`. AppErrors: `service_unavailable` if another process has the file open,
 * `conflict` if the file is not a DuckDB database.
 */
export async function openDuckDb(path: string, options: DuckDbOptions): Promise<DuckDb> {
  const settings = {
    // only bundled extensions: nothing is ever downloaded
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    temp_directory: options.spill ?? join(options.directory, 'spill'),
    // frees the memory of a row group immediately
    allocator_bulk_deallocation_flush_threshold: '1MB',
    // with two threads, one waits for the other in a loop: half as much processor time again, and hardly any gain in speed
    threads: '1',
    ...(options.smallBlocks === true ? { default_block_size: '16384' } : {}),
    ...(options.skipsLog === true ? { checkpoint_threshold: '1B' } : {}),
  };
  const { instance } = await openWhenFree(path, settings, options.memoryBytes, options);
  try {
    const connection = await instance.connect();
    // DuckDB checks the directory once as a pattern, and once as the result of that pattern
    const allowed = [pathLiteral(options.directory), standardLiteral(options.directory)];
    await connection.run(
      `SET TimeZone = 'UTC'; SET allowed_directories = [${allowed.join(', ')}];
       SET enable_external_access = false; SET lock_configuration = true`,
    );
    return opened(connection, () => instance.closeSync(), options.signal);
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}

/** Waits for another process that has the file open. DuckDB reads the file's log into it, which may take more memory than `memoryBytes`. */
async function openWhenFree(
  path: string,
  settings: Readonly<Record<string, string>>,
  memoryBytes: number,
  options: Pick<DuckDbOptions, 'busyTimeoutMs' | 'label'>,
): Promise<{ readonly instance: DuckDBInstance; readonly memoryBytes: number }> {
  const duckDb = await import('@duckdb/node-api');
  const deadline = Date.now() + (options.busyTimeoutMs ?? 0);
  for (let given = memoryBytes; ;) {
    try {
      const limited = { ...settings, memory_limit: memoryLimit(given) };
      return { instance: await duckDb.DuckDBInstance.create(path, limited), memoryBytes: given };
    } catch (error) {
      if (lacksMemory(error) && given * 2 <= maxMemory()) {
        given *= 2;
        continue;
      }
      const fault = openFault(error, options.label ?? path);
      const isBusy = fault instanceof AppError && fault.code === 'service_unavailable';
      if (!isBusy || Date.now() >= deadline) throw fault;
      await sleep(pollMs);
    }
  }
}

export interface DuckDbReader {
  read<T>(sql: string): Promise<T[]>;
  /** for one stream of rows */
  connect(): Promise<DuckDBConnection>;
  /** Doubles the memory limit, after a `lacksMemory`; returns false if the limit is already the highest. */
  raiseMemory(): Promise<boolean>;
  /**
   * Lowers the memory limit once to the amount that reading piece by piece needs. DuckDB fills any memory beyond that with data that it has
   * already read.
   */
  lowerMemory(): Promise<void>;
  close(): void;
}

/** memory for sorting; more is spilled to the folder */
const readerBytes = 192 * 1024 * 1024;
/** memory for one table that is read piece by piece; for Parquet, its row group */
const streamBytes = 12 * 1024 * 1024;
const maxStreams = 64;
/** memory for tables with long texts, which are read piece by piece: for all of them together, and for each */
const [piecesBytes, pieceStreamBytes] = [32 * 1024 * 1024, 4 * 1024 * 1024];

export interface DuckDbReaderOptions extends Pick<DuckDbOptions, 'busyTimeoutMs' | 'label'> {
  /** a folder whose files queries may read */
  readonly data?: string;
  /** single files that queries may read */
  readonly files?: readonly string[];
  /** most bytes of data in the folder for data that does not fit into memory (DuckDB's own limit: nine tenths of the free disk) */
  readonly spillBytes?: number;
  /** how many tables are read at once */
  readonly streams: number;
  /** statements of other people are run: settings cannot be changed, including the memory limit */
  readonly isLocked?: boolean;
}

/**
 * Opens a file, or an empty database (`:memory:`), for reading only, with any number of connections. Throws AppErrors like `openDuckDb`.
 * `spill`: a folder for data that does not fit into memory.
 */
export async function openDuckDbReader(
  path: string,
  spill: string,
  options: DuckDbReaderOptions,
): Promise<DuckDbReader> {
  const usualBytes = readerBytes + Math.min(options.streams, maxStreams) * streamBytes;
  const settings = {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    temp_directory: spill,
    // frees the memory of decoded row groups immediately: a tenth of the process's memory, at no cost in time
    allocator_bulk_deallocation_flush_threshold: '1MB',
    threads: '2',
    ...(path === ':memory:' ? {} : { access_mode: 'READ_ONLY' }),
    ...(options.spillBytes === undefined ? {} : { max_temp_directory_size: memoryLimit(options.spillBytes) }),
  };
  const { data, files = [], isLocked = false } = options;
  const { instance, memoryBytes: openedBytes } = await openWhenFree(path, settings, usualBytes, options);
  let memoryBytes = openedBytes;
  let isLowered = false;
  const first = await instance.connect();
  const allowed = [spill, ...(data === undefined ? [] : [data])].map(standardLiteral);
  // DuckDB checks a path once as a pattern, and once as the result of that pattern
  const single = files.flatMap((file) => [pathLiteral(file), standardLiteral(file)]);
  await first.run(
    `SET TimeZone = 'UTC'; SET GLOBAL TimeZone = 'UTC'; SET allowed_directories = [${allowed.join(', ')}];
     SET allowed_paths = [${single.join(', ')}]; SET enable_external_access = false; SET lock_configuration = ${isLocked}`,
  );
  return {
    raiseMemory: async () => {
      if (isLocked || memoryBytes * 2 > maxMemory()) return false;
      memoryBytes *= 2;
      await first.run(`SET GLOBAL memory_limit = '${memoryLimit(memoryBytes)}'`);
      return true;
    },
    lowerMemory: async () => {
      if (isLowered || isLocked) return;
      isLowered = true;
      const bytes = piecesBytes + Math.min(options.streams, maxStreams) * pieceStreamBytes;
      if (bytes >= memoryBytes) return;
      try {
        await first.run(`SET GLOBAL memory_limit = '${memoryLimit(bytes)}'`);
        memoryBytes = bytes;
      } catch (error) {
        // the data read so far already takes more memory
        if (!lacksMemory(error)) throw error;
      }
    },
    read: async <T>(sql: string) => (await first.runAndReadAll(sql)).getRowObjectsJS() as T[],
    connect: () => instance.connect(),
    close: () => {
      first.closeSync();
      instance.closeSync();
    },
  };
}

/** Statements that end a transaction: they are not interrupted, so that its outcome is known. */
const ending: ReadonlySet<string> = new Set(['COMMIT', 'ROLLBACK', 'CHECKPOINT']);

function opened(connection: DuckDBConnection, closeInstance: () => void, signal?: AbortSignal): DuckDb {
  let isOpen = true;
  let isEnding = false;
  const interrupt = (): void => {
    if (!isEnding) connection.interrupt();
  };
  signal?.addEventListener('abort', interrupt);
  return {
    run: async (sql) => {
      isEnding = ending.has(sql);
      if (!isEnding) signal?.throwIfAborted();
      return (await connection.run(sql)).rowsChanged;
    },
    read: async <T>(sql: string) => {
      signal?.throwIfAborted();
      return (await connection.runAndReadAll(sql)).getRowObjectsJS() as T[];
    },
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      signal?.removeEventListener('abort', interrupt);
      connection.closeSync();
      closeInstance();
    },
  };
}

function openFault(error: unknown, label: string): unknown {
  const message = error instanceof Error ? error.message : '';
  if (message.includes('Could not set lock')) {
    const [, program, id] = /held in (.+?)(?: \(PID (\d+)\))/.exec(message) ?? [];
    const holder = id === undefined ? '' : ` (${program}, process ${id})`;
    return new AppError(
      'service_unavailable',
      `${label} is open in another program${holder}, and DuckDB allows only one at a time: end that program or let it close the file, and run the job again.`,
      { cause: error },
    );
  }
  if (
    /not a valid DuckDB database|Corrupt database file|Serialization Error|storage version/i.test(message)
  ) {
    return new AppError('conflict', `${label} exists and is not a database that this DuckDB can read.`, {
      cause: error,
    });
  }
  if (/database file with version number/i.test(message)) {
    return new AppError(
      'conflict',
      `${label} was written by a newer DuckDB than this one: let the newer one write Parquet, or a file for older versions (ATTACH … (STORAGE_VERSION 'v1.0.0')).`,
      { cause: error },
    );
  }
  return error;
}

/** Folds names the way DuckDB compares them. */
export function foldedName(name: string): string {
  return name.toLowerCase();
}

/** Returns a path as a literal that matches one file, whatever characters are in it. */
export function pathLiteral(path: string): string {
  return standardLiteral(path.replaceAll(/[*?[\]]/g, (character) => `[${character}]`));
}
