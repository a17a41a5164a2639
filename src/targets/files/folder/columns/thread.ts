/** A thread that makes a Parquet file of rows while they still come. */
import { closeSync, openSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import type { FileTask, WrittenFile } from './one-file.ts';

export type ToColumnsThread =
  /** rows: a file that is open, of this process */
  | { readonly kind: 'begin'; readonly task: FileTask; readonly rows: number }
  /** the file has so many bytes by now */
  | { readonly kind: 'grown'; readonly bytes: number }
  /** and no more */
  | { readonly kind: 'whole' };

export type FromColumnsThread =
  | { readonly kind: 'written'; readonly file: WrittenFile }
  | { readonly kind: 'failed' };

export type StartThread = (options: WorkerOptions) => Worker;

interface Begun {
  /** of its rows */
  readonly path: string;
  readonly task: FileTask;
  readonly rows: number;
}

export class ColumnsThread {
  readonly #worker: Worker;
  readonly #answer = Promise.withResolvers<FromColumnsThread>();
  #begun: Begun | null = null;

  /** `startThread`: the thread takes and posts the messages above. */
  constructor(startThread: StartThread) {
    // little is new there that is not kept
    this.#worker = startThread({ env: {}, resourceLimits: { maxYoungGenerationSizeMb: 8 } });
    // the file that it would have made is made without it
    const lose = (): void => this.#answer.resolve({ kind: 'failed' });
    this.#worker.on('error', lose);
    this.#worker.on('exit', lose);
    this.#worker.on('message', (message: FromColumnsThread) => this.#answer.resolve(message));
  }

  /** Where the rows come that were begun; null: none were, or their file was asked for. */
  get followed(): string | null {
    return this.#begun?.path ?? null;
  }

  /** Begins the file of rows that still come into `path`, once: `grown` tells of them, and `write` asks for what became of it. */
  follow(path: string, task: FileTask): void {
    const rows = openSync(path, 'r');
    this.#begun = { path, rows, task: { ...task, path: `${path}.columns` } };
    this.#send({ kind: 'begin', task: this.#begun.task, rows });
  }

  grown(path: string, bytes: number): void {
    if (this.#begun?.path === path) this.#send({ kind: 'grown', bytes });
  }

  /** All rows are there: puts the file in their place. Null: they stay, as the file was to be another by now, or was not made, for whatever cause. */
  async write(task: FileTask): Promise<WrittenFile | null> {
    const begun = this.#begun;
    if (begun === null || !areSame(begun, task)) return null;
    this.#send({ kind: 'grown', bytes: task.rowsBytes });
    this.#send({ kind: 'whole' });
    const answer = await this.#answer.promise;
    if (answer.kind === 'failed') return null;
    await rename(begun.task.path, task.path);
    return answer.file;
  }

  /** What it has begun, and what was not asked for, is gone. */
  async end(): Promise<void> {
    const begun = this.#begun;
    this.#begun = null;
    await this.#worker.terminate();
    if (begun === null) return;
    closeSync(begun.rows);
    await rm(begun.task.path, { force: true });
  }

  #send(message: ToColumnsThread): void {
    this.#worker.postMessage(message, []);
  }
}

/** Whether what was begun while rows came is what their types ask for now. */
function areSame({ path, task }: Begun, now: FileTask): boolean {
  return (
    path === now.path && essenceOf(task) === essenceOf(now) && now.longestRowBytes <= task.longestRowBytes
  );
}

function essenceOf({ columns, keyValues, deltas }: FileTask): string {
  return JSON.stringify([columns, keyValues, deltas]);
}
