/**
 * Makes a Parquet file of the largest table while its rows are still written. A thread makes it during the load, or while the files of the
 * other tables are made.
 */
import type { ColumnsThread, StartThread, ColumnTyping, ParquetSettings } from './writing.ts';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { AppendedFile, FinishedFile } from '../../../storage/staging/staged-files.ts';

/**
 * The minimum size on disk, of all tables and of the largest one: with fewer rows the load would end before the thread has done anything.
 */
const worthwhileBytes = 24 * 1024 * 1024;
const leastLargestBytes = 8 * 1024 * 1024;
/** The maximum length that later rows may have. */
const longestRowBytes = 4 * 1024 * 1024;

/** The thread that makes one of the files. */
export interface ColumnsThreadOptions {
  readonly startThread: StartThread;
  /** it begins after all rows are written, when the memory of the threads that shred documents is free */
  readonly isLate: boolean;
}

export interface ColumnsBesideOptions extends ParquetSettings {
  /** the staging folder */
  readonly directory: string;
  /** undefined: no thread is used */
  readonly columnsThread: ColumnsThreadOptions | undefined;
  /** the types of the tables with rows so far, by the name of the staged file */
  readonly typings: () => ReadonlyMap<string, ColumnTyping>;
}

export class ColumnsBeside {
  readonly #options: ColumnsThreadOptions | undefined;
  readonly #deltas: boolean;
  readonly #directory: string;
  readonly #typings: () => ReadonlyMap<string, ColumnTyping>;
  readonly #bytes = new Map<string, number>();
  #allBytes = 0;
  /** name and bytes of the largest file */
  #largest: readonly [name: string, bytes: number] = ['', 0];
  #thread: Promise<ColumnsThread | null> | null = null;
  #begun: ColumnsThread | null = null;
  #hasEnded = false;

  constructor({ columnsThread, deltas, directory, typings }: ColumnsBesideOptions) {
    this.#options = columnsThread;
    this.#deltas = deltas;
    this.#directory = directory;
    this.#typings = typings;
  }

  /** Called when a staged file has grown on the disk. */
  readonly appended = ({ name, bytes }: AppendedFile): void => {
    this.#allBytes += bytes - (this.#bytes.get(name) ?? 0);
    this.#bytes.set(name, bytes);
    if (bytes >= this.#largest[1]) this.#largest = [name, bytes];
    this.#begun?.grown(join(this.#directory, name), bytes);
    if (this.#options?.isLate === false) this.#beginWhereWorthwhile();
  };

  /** Turns each staged file into Parquet, in place and durably, and ends the thread. */
  async write(staged: readonly FinishedFile[]): Promise<FinishedFile[]> {
    // loaded only for Parquet
    const { writeParquet } = await import('./writing.ts');
    // if the other tables are small, the thread would finish no sooner than this one
    if (this.#allBytes - this.#largest[1] >= leastLargestBytes) this.#beginWhereWorthwhile();
    const thread = await this.#thread;
    const typings = this.#typings();
    const tables = staged.map((file) => ({ ...typings.get(file.name)!, file }));
    const written = await writeParquet(this.#directory, tables, { deltas: this.#deltas, thread });
    await this.end();
    return written.map(({ file }) => file);
  }

  /** Ends the thread, which makes no further file. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const thread = await this.#thread;
    this.#thread = null;
    this.#begun = null;
    await thread?.end();
  }

  #beginWhereWorthwhile(): void {
    if (this.#thread !== null || this.#options === undefined) return;
    if (this.#allBytes < worthwhileBytes || this.#largest[1] < leastLargestBytes) return;
    if (availableParallelism() < 2) return;
    // without a thread, the files are made one after the other at the end of the load
    this.#thread = this.#begin(this.#options.startThread).catch(() => null);
  }

  async #begin(startThread: StartThread): Promise<ColumnsThread | null> {
    const { ColumnsThread, fileTask, typesOf } = await import('./writing.ts');
    const [largest] = this.#largest;
    const typing = this.#typings().get(largest)!;
    const types = await typesOf(typing, new Map());
    if (this.#hasEnded) return null;
    const path = join(this.#directory, largest);
    const file = { bytes: this.#bytes.get(largest)!, longestWriteBytes: longestRowBytes };
    const task = fileTask(path, { columns: typing.columns, file }, types, null, this.#deltas);
    const thread = new ColumnsThread(startThread);
    try {
      thread.follow(path, task);
    } catch (error) {
      await thread.end();
      throw error;
    }
    thread.grown(path, this.#bytes.get(largest)!);
    this.#begun = thread;
    return thread;
  }
}
