/** The thread that makes a Parquet file beside the load (src/targets/files/parquet/beside.ts). */
import { readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { FileMaker, type FileTask } from '../../../targets/files/parquet/file-maker.ts';
import type { FromColumnsThread, ToColumnsThread } from '../../../targets/files/parquet/writing.ts';
import type { RowsReader } from '../../../targets/files/parquet/staged-rows.ts';

const port = parentPort!;
const maker = new FileMaker();
let rows: GrowingRows | null = null;

/** Rows of a file that others open, write and close. */
class GrowingRows implements RowsReader {
  readonly #file: number;
  #at = 0;
  #bytes = 0;
  #isWhole = false;
  #change = Promise.withResolvers<void>();

  constructor(file: number) {
    this.#file = file;
  }

  readonly read = (target: Uint8Array): number => {
    const length = Math.min(target.length, this.#bytes - this.#at);
    if (length === 0) return 0;
    const taken = readSync(this.#file, target, 0, length, this.#at);
    this.#at += taken;
    return taken;
  };

  async grown(): Promise<boolean> {
    while (this.#at === this.#bytes && !this.#isWhole) {
      await this.#change.promise;
      this.#change = Promise.withResolvers();
    }
    return this.#at < this.#bytes;
  }

  close(): void {}

  grow(bytes: number): void {
    this.#bytes = Math.max(this.#bytes, bytes);
    this.#change.resolve();
  }

  end(): void {
    this.#isWhole = true;
    this.#change.resolve();
  }
}

port.on('message', (message: ToColumnsThread) => {
  switch (message.kind) {
    case 'begin':
      rows = new GrowingRows(message.rows);
      void make(message.task, rows);
      return;
    case 'grown':
      rows?.grow(message.bytes);
      return;
    case 'whole':
      rows?.end();
  }
});

async function make(task: FileTask, source: RowsReader): Promise<void> {
  try {
    const file = await maker.write(source, task);
    await maker.settle();
    answer({ kind: 'written', file });
  } catch {
    // the fault occurs again, and is reported, when the file is made without the thread
    answer({ kind: 'failed' });
  }
}

function answer(message: FromColumnsThread): void {
  port.postMessage(message, []);
}
