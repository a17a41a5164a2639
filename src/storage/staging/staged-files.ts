/** The files of one job, in its staging folder: gathered in memory by table, written in large pieces, hashed on the way. */
import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReleaseRows } from '../../ports/row-sink.ts';
import { syncPath, moveFile, writeWhole } from './durable-file.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../errors.ts';

/** Rows as a sink receives them (src/ports/row-sink.ts). */
export type HandedRows = readonly [rows: Uint8Array, rowCount: number, release?: ReleaseRows];

const pieceBytes = 1024 * 1024;
const allPiecesBytes = 8 * 1024 * 1024;
/** a model may have more tables than a process may have open files */
const maxOpenFiles = 64;
/** files whose bytes are made durable at the same time */
const syncedAtOnce = 16;
/** Bytes after which a large file is synced while it grows, so that little is left to sync at its end. */
const syncEachBytes = 32 * 1024 * 1024;

export interface FinishedFile {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  /** empty for scratch */
  readonly sha256: string;
  /** no row is longer: rows come whole */
  readonly longestWriteBytes: number;
  /** DuckDB's types of the columns, for Parquet files */
  readonly types?: readonly string[];
  /** the sheet that has the rows, of a workbook that holds several tables */
  readonly sheet?: string;
  /** whole content, if it is in memory and not on disk */
  readonly held?: readonly Uint8Array[];
}

/** The current state of a file on disk. */
export type AppendedFile = Pick<FinishedFile, 'name' | 'bytes' | 'longestWriteBytes'>;

interface Piece {
  readonly bytes: Uint8Array;
  readonly release: ReleaseRows | undefined;
}

class StagedFile {
  readonly name: string;
  readonly hash: Hash | null;
  pending: Piece[] = [];
  pendingBytes = 0;
  bytes = 0;
  rows = 0;
  longestWriteBytes = 0;
  exists = false;
  handle: FileHandle | null = null;
  /** written since a sync was begun */
  unsyncedBytes = 0;
  /** settles when the sync ends, with its fault if it failed */
  syncing: Promise<{ readonly fault: unknown } | null> | null = null;

  constructor(name: string, isScratch: boolean) {
    this.name = name;
    this.hash = isScratch ? null : createHash('sha256');
  }
}

/** Flags for a file of our own, never through a link. */
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

export class StagedFiles {
  readonly #directory: string;
  readonly #isScratch: boolean;
  readonly #holdsSmall: boolean;
  readonly #files = new Map<string, StagedFile>();
  readonly #adopted = new Set<string>();
  /** open files, the least recently written first */
  readonly #open = new Set<StagedFile>();
  #buffered = 0;
  readonly #appended: ((file: AppendedFile) => void) | undefined;
  /** writes follow one another, however they are called */
  #last: Promise<void> = Promise.resolve();

  /**
   * `isScratch`: this process reads them and throws them away; they are neither hashed nor durable. `holdsSmall`: of those, the ones that
   * fit in memory together do not come to the disk. `appended` hears of each file that has more bytes on the disk.
   */
  constructor(
    directory: string,
    {
      isScratch = false,
      holdsSmall = false,
      appended,
    }: {
      readonly isScratch?: boolean;
      readonly holdsSmall?: boolean;
      readonly appended?: ((file: AppendedFile) => void) | undefined;
    } = {},
  ) {
    this.#appended = appended;
    this.#directory = directory;
    this.#isScratch = isScratch;
    this.#holdsSmall = isScratch && holdsSmall;
  }

  has(name: string): boolean {
    return this.#files.has(name) || this.#adopted.has(name);
  }

  /** Adopts a complete and durable file that another process wrote, under the given name; `finish` does not report it. */
  async adopt(path: string, name: string): Promise<void> {
    await moveFile(path, join(this.#directory, name));
    this.#adopted.add(name);
  }

  async write(name: string, ...[bytes, rows, release]: HandedRows): Promise<void> {
    let file = this.#files.get(name);
    if (file === undefined) this.#files.set(name, (file = new StagedFile(name, this.#isScratch)));
    file.pending.push({ bytes, release });
    file.pendingBytes += bytes.length;
    file.rows += rows;
    file.longestWriteBytes = Math.max(file.longestWriteBytes, bytes.length);
    this.#buffered += bytes.length;
    // one piece is written while the next is made
    const before = this.#last;
    if (file.pendingBytes >= pieceBytes) {
      this.#flush(file);
      await before;
    } else if (this.#buffered >= allPiecesBytes)
      for (const other of this.#files.values()) await this.#flush(other);
  }

  /** Writes all files that are not held in memory to disk, durably unless they are scratch. Returns the files written here. */
  async finish(): Promise<FinishedFile[]> {
    await this.#last;
    const all = [...this.#files.values()];
    const written = this.#holdsSmall ? all.filter(({ exists }) => exists) : all;
    for (let at = 0; at < written.length; at += syncedAtOnce) {
      const files = written.slice(at, at + syncedAtOnce);
      for (const file of files) {
        await this.#flush(file);
        await this.#handleOf(file);
      }
      if (!this.#isScratch) await Promise.all(files.map(makeDurable));
      for (const file of files) await this.#close(file);
    }
    if (this.#adopted.size > 0 || (all.length > 0 && !this.#isScratch)) await syncPath(this.#directory);
    return all.map(({ name, rows, exists, bytes, pending, pendingBytes, hash, longestWriteBytes }) => ({
      name,
      rows,
      bytes: bytes + pendingBytes,
      sha256: hash?.digest('hex') ?? '',
      longestWriteBytes,
      ...(this.#holdsSmall && !exists ? { held: pending.map((piece) => piece.bytes) } : {}),
    }));
  }

  /** Waits for pending writes; nothing is written afterwards. */
  async settle(): Promise<void> {
    // the caller of the write has received the error
    await this.#last.catch(() => undefined);
    for (const file of this.#open) await this.#close(file).catch(() => undefined);
  }

  #flush(file: StagedFile): Promise<void> {
    const pieces = file.pending;
    const bytes = file.pendingBytes;
    file.pending = [];
    file.pendingBytes = 0;
    for (const piece of pieces) file.hash?.update(piece.bytes);
    this.#last = this.#last.then(() => this.#append(file, pieces, bytes));
    // the caller that awaits it gets the error; the chain itself must not become an unhandled rejection
    this.#last.catch(() => undefined);
    return this.#last;
  }

  async #append(file: StagedFile, pieces: readonly Piece[], bytes: number): Promise<void> {
    if (bytes === 0 && file.exists) return;
    const handle = await this.#handleOf(file);
    await writeWhole(
      handle,
      pieces.map((piece) => piece.bytes),
    );
    for (const piece of pieces) piece.release?.(piece.bytes);
    file.bytes += bytes;
    this.#buffered -= bytes;
    file.unsyncedBytes += bytes;
    this.#appended?.(file);
    if (!this.#isScratch && file.syncing === null && file.unsyncedBytes >= syncEachBytes)
      beginSync(file, handle);
  }

  async #handleOf(file: StagedFile): Promise<FileHandle> {
    if (file.handle === null) {
      const [oldest] = this.#open;
      if (oldest !== undefined && this.#open.size >= maxOpenFiles) await this.#close(oldest);
      file.handle = await open(join(this.#directory, file.name), appending, 0o666);
      file.exists = true;
    }
    this.#open.delete(file);
    this.#open.add(file);
    return file.handle;
  }

  async #close(file: StagedFile): Promise<void> {
    const { handle } = file;
    file.handle = null;
    this.#open.delete(file);
    await file.syncing;
    await handle?.close();
  }
}

/** Makes the current content of a file durable, concurrently with later writes. */
function beginSync(file: StagedFile, handle: FileHandle): void {
  file.unsyncedBytes = 0;
  file.syncing = handle.datasync().then(
    () => {
      file.syncing = null;
      return null;
    },
    // reported when the whole file must be durable
    (fault: unknown) => ({ fault }),
  );
}

async function makeDurable({ syncing, handle }: StagedFile): Promise<void> {
  const failed = await syncing;
  if (failed !== null) throw failed.fault;
  await handle!.sync();
}

// Retries transfers over unreliable connections: they are resumed as long as that succeeds, and refused if the file has changed.

const firstPauseMs = 200;

interface Arrival {
  /** number of received bytes, or any other measure that shows that a further try is worthwhile */
  readonly progress: () => number;
  /** consecutive tries without progress after which it is given up */
  readonly tries: number;
  readonly signal: AbortSignal;
}

/**
 * Repeats `attempt` until it returns null, which means completion; other results are faults, and the pauses grow while there is no
 * progress. Returns null, or the fault of the last try. An exception of `attempt` ends it.
 */
export async function takeUp<Fault>(
  attempt: () => Promise<Fault | null>,
  { progress, tries, signal }: Arrival,
): Promise<Fault | null> {
  let before = progress();
  for (let failures = 1; ; failures += 1) {
    const fault = await attempt();
    if (fault === null) return null;
    const here = progress();
    if (here > before) failures = 1;
    before = here;
    if (failures >= tries) return fault;
    await pause(firstPauseMs * 2 ** (failures - 1), undefined, { signal });
  }
}

const arrivalBytes = 4 * 1024 * 1024;

/**
 * Yields the bytes [from, to), a piece at a time; the next piece is requested while the current one is processed. `ask`: returns all
 * bytes of a piece.
 */
export async function* inPieces(
  { from, to }: { readonly from: number; readonly to: number },
  ask: (from: number, to: number) => Promise<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const askAt = (at: number): Promise<Uint8Array> => {
    const piece = ask(at, Math.min(to, at + arrivalBytes));
    // the fault is handled by the caller that awaits it
    piece.catch(() => undefined);
    return piece;
  };
  let next = from < to ? askAt(from) : null;
  for (let at = from; next !== null; at += arrivalBytes) {
    const piece: Uint8Array = await next;
    next = at + arrivalBytes < to ? askAt(at + arrivalBytes) : null;
    yield piece;
  }
}

const changeCause = 'changed';

/** Returns whether a file could not be read because it has changed. */
export function isChange(error: unknown): boolean {
  return error instanceof AppError && error.cause === changeCause;
}

/** The error for a file that is longer than listed: it has grown, or its server is wrong. */
export function longerThanListed(label: string, bytes: number): AppError {
  return new AppError(
    'unprocessable_input',
    `${label}: the server sends more than the ${bytes} bytes that it listed, so nothing was loaded; if the file was replaced during the read, run the job again`,
    { cause: changeCause },
  );
}

export function changed(label: string): AppError {
  return new AppError(
    'unprocessable_input',
    `${label}: changed while it was read, so nothing was loaded; run the job again when no program writes the file`,
    { cause: changeCause },
  );
}
