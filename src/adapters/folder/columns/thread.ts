/** A thread that makes Parquet files beside what else is done: of rows that are all there, or that still come. */
import { closeSync, openSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { MisfitError } from '../../../engine/parquet/file-writer.ts';
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
  | { readonly kind: 'misfit'; readonly column: number }
  | { readonly kind: 'failed' };

interface Followed {
  /** of its rows */
  readonly path: string;
  readonly task: FileTask;
  readonly rows: number;
}

export class ColumnsThread {
  readonly #worker: Worker;
  #answer = Promise.withResolvers<FromColumnsThread>();
  #followed: Followed | null = null;
  #isLost = false;

  /** `module`: of the thread; it takes and posts the messages above. */
  constructor(module: URL) {
    this.#worker = new Worker(module, { env: {} });
    // the files that it would have made are made without it
    const lose = (): void => {
      this.#isLost = true;
      this.#answer.resolve({ kind: 'failed' });
    };
    this.#worker.on('error', lose);
    this.#worker.on('exit', lose);
    this.#worker.on('message', (message: FromColumnsThread) => this.#answer.resolve(message));
  }

  /** Begins a file of rows that still come into `path`: `grown` tells of them, and `write` asks for what became of it. */
  follow(path: string, task: FileTask): void {
    const rows = openSync(path, 'r');
    this.#followed = { path, rows, task: { ...task, path: `${path}.columns` } };
    this.#begin(this.#followed.task, rows);
  }

  grown(path: string, bytes: number): void {
    if (this.#followed?.path === path) this.#send({ kind: 'grown', bytes });
  }

  /**
   * Makes a file of the rows in `staged`, which are all there, and under the same name before; one at a time. Null: it was not made, for
   * whatever cause. MisfitError: a value does not fit the type of its column.
   */
  async write(staged: string, task: FileTask): Promise<WrittenFile | null> {
    const followed = this.#followed;
    if (followed === null) return this.#make(staged, task);
    this.#followed = null;
    try {
      this.#send({ kind: 'grown', bytes: task.rowsBytes });
      this.#send({ kind: 'whole' });
      const answer = await this.#answer.promise;
      if (followed.path !== task.path || !areSame(followed.task, task)) return null;
      const file = fileOf(answer);
      if (file !== null) await rename(followed.task.path, task.path);
      return file;
    } finally {
      closeSync(followed.rows);
      await rm(followed.task.path, { force: true });
    }
  }

  /** The table whose rows were followed comes first. */
  get first(): string | null {
    return this.#followed?.path ?? null;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
    if (this.#followed !== null) closeSync(this.#followed.rows);
    this.#followed = null;
  }

  async #make(staged: string, task: FileTask): Promise<WrittenFile | null> {
    const rows = openSync(staged, 'r');
    try {
      this.#begin(task, rows);
      this.#send({ kind: 'grown', bytes: task.rowsBytes });
      this.#send({ kind: 'whole' });
      return fileOf(await this.#answer.promise);
    } finally {
      closeSync(rows);
    }
  }

  #begin(task: FileTask, rows: number): void {
    this.#answer = Promise.withResolvers();
    if (this.#isLost) this.#answer.resolve({ kind: 'failed' });
    this.#send({ kind: 'begin', task, rows });
  }

  #send(message: ToColumnsThread): void {
    this.#worker.postMessage(message, []);
  }
}

/** Whether what was begun while rows came is what their types ask for now. */
function areSame(begun: FileTask, now: FileTask): boolean {
  return essenceOf(begun) === essenceOf(now) && now.longestRowBytes <= begun.longestRowBytes;
}

function essenceOf({ columns, keyValues, deltas }: FileTask): string {
  return JSON.stringify([columns, keyValues, deltas]);
}

function fileOf(answer: FromColumnsThread): WrittenFile | null {
  if (answer.kind === 'misfit') throw new MisfitError(answer.column);
  return answer.kind === 'written' ? answer.file : null;
}
