/** One Parquet file of the rows that were staged for it. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import {
  ParquetWriter,
  type ColumnFacts,
  type ParquetOptions,
} from '../../../../engine/parquet/file-writer.ts';
import { WriterMemory } from '../../../../engine/parquet/writer-memory.ts';
import { writeWhole } from '../../../../adapters/file-staging/durable-file.ts';
import type { RowsReader } from '../staged-rows.ts';
import { openZstdFrames } from '../zstd-frames.ts';

/** What a file is made by; threads hand it over. */
export interface FileTask extends Omit<ParquetOptions, 'compress' | 'write' | 'memory'> {
  /** of the new file */
  readonly path: string;
}

export interface WrittenFile {
  readonly bytes: number;
  readonly sha256: string;
  /** of its columns */
  readonly facts: readonly ColumnFacts[];
}

const pieceBytes = 512 * 1024;
const mostClosing = 8;

/** Writes files, one after another. */
export class FileMaker {
  readonly #memory = new WriterMemory();
  readonly #frames = openZstdFrames(this.#memory.buffers);
  readonly #closing = new ClosingFiles();

  /** MisfitError: a value does not fit the type of its column. */
  async write(source: RowsReader, { path, ...options }: FileTask): Promise<WrittenFile> {
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const target = await open(
        path,
        constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
        0o666,
      );
      try {
        let pending: { readonly part: Uint8Array; readonly release: (() => void) | undefined }[] = [];
        let pendingBytes = 0;
        const flush = async (): Promise<void> => {
          const written = pending;
          pending = [];
          pendingBytes = 0;
          for (const { part } of written) hash.update(part);
          await writeWhole(
            target,
            written.map(({ part }) => part),
          );
          for (const { release } of written) release?.();
        };
        const writer = new ParquetWriter({
          ...options,
          compress: (page) => this.#frames.compress(page),
          memory: this.#memory,
          write: async (part, release) => {
            pending.push({ part, release });
            pendingBytes += part.length;
            bytes += part.length;
            if (pendingBytes >= pieceBytes) await flush();
          },
        });
        do await writer.rows(source.read);
        while ((await source.grown?.()) === true);
        const facts = await writer.finish();
        await flush();
        await this.#closing.add(target);
        return { bytes, sha256: hash.digest('hex'), facts };
      } catch (error) {
        await target.close();
        throw error;
      }
    } finally {
      source.close();
    }
  }

  /** The files that were written are durable, but for their names. */
  settle(): Promise<void> {
    return this.#closing.settle();
  }

  close(): void {
    this.#frames.close();
  }
}

/** Files that are whole become durable while the next one is made. */
class ClosingFiles {
  #last: Promise<void>[] = [];

  async add(file: FileHandle): Promise<void> {
    const closed = file.sync().finally(() => file.close());
    // who waits for all of them hears of a failure
    closed.catch(() => undefined);
    this.#last.push(closed);
    if (this.#last.length > mostClosing) await this.#last.shift();
  }

  async settle(): Promise<void> {
    await Promise.all(this.#last);
  }
}
