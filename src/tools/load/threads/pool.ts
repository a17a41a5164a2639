/** Threads of a load, as their owner sees them. */
import type { Worker } from 'node:worker_threads';
import { startThread } from '../../../installation.ts';
import type { Gathering } from './gathering.ts';
import {
  slotBytes,
  type FromThread,
  type RowsOfTable,
  type ThreadJob,
  type ThreadUnit,
  type ToThread,
} from './messages.ts';

const spareCopies = 32;

/** All begin at once: they read their code while the first units are looked for. One more begins when none is free. */
export class Threads {
  readonly #begin: () => Thread;
  readonly #all: Thread[];
  readonly #free: Thread[];

  constructor(begin: () => Thread, count: number) {
    this.#begin = begin;
    this.#all = Array.from({ length: count }, begin);
    this.#free = [...this.#all];
  }

  async lend<Answer>(work: (thread: Thread) => Promise<Answer>): Promise<Answer> {
    let thread = this.#free.pop();
    if (thread === undefined) this.#all.push((thread = this.#begin()));
    const answer = await work(thread);
    this.#free.push(thread);
    return answer;
  }

  /** Makes the threads hand over the rows that they still hold. */
  async end(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.end()));
  }

  async terminate(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.terminate()));
  }
}

/** Does not end by itself: `terminate` has to follow. */
export class Thread {
  readonly #worker: Worker;
  readonly #slots: Uint8Array[] = [];
  readonly #copies = new Copies();
  #answered = Promise.withResolvers<string | null>();

  constructor(job: ThreadJob, gathering: Gathering) {
    this.#worker = startThread('tools/load', {
      workerData: job,
      env: {},
    });
    const fail = (error: unknown): void => this.#answered.reject(error);
    this.#worker.on('error', fail);
    this.#worker.on('exit', () => fail(new Error('a thread of the load ended without an answer')));
    this.#worker.on('message', (message: FromThread) => {
      this.#take(message, gathering).catch(fail);
    });
    // a thread may fail before its answer is awaited
    this.#answered.promise.catch(() => undefined);
  }

  /** A document at fault is an answer too. */
  async load(unit: ThreadUnit): Promise<void> {
    await this.#ask({ kind: 'unit', unit });
  }

  /** SHA-256 (hex) of a file; null: it could not be read. */
  hash(file: string): Promise<string | null> {
    return this.#ask({ kind: 'hash', file });
  }

  /** Returns the rows that the thread still holds, and its findings. */
  async end(): Promise<void> {
    await this.#ask({ kind: 'end' });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(message: ToThread): Promise<string | null> {
    this.#answered = Promise.withResolvers();
    this.#send(message);
    return this.#answered.promise;
  }

  async #take(message: FromThread, gathering: Gathering): Promise<void> {
    switch (message.kind) {
      case 'rows':
        return this.#hand(message, gathering);
      case 'unconverted':
        return gathering.unconverted(message);
      case 'allowNull':
        return gathering.allowNull(message);
      case 'unit':
        gathering.unit(message);
        break;
      case 'failed':
        gathering.fail(message);
        break;
      case 'hashed':
        this.#answered.resolve(message.sha256);
        return;
      case 'end':
        await gathering.end(message);
    }
    this.#answered.resolve(null);
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message, []);
  }

  async #hand({ tables }: FromThread & { kind: 'rows' }, gathering: Gathering): Promise<void> {
    // all rows must be in the sink's queue before another message's rows
    await Promise.all(tables.map((each) => this.#give(each, gathering)));
    const bytes = tables.reduce((sum, { rows }) => sum + rows.length, 0);
    const slots = tables.flatMap(({ rows }) => (rows instanceof Uint8Array ? [] : [rows.slot]));
    this.#send({ kind: 'taken', bytes, slots });
  }

  #give(each: RowsOfTable, gathering: Gathering): Promise<void> {
    const { rows } = each;
    if (rows instanceof Uint8Array)
      return gathering.rows(
        each,
        () => rows,
        () => undefined,
      );
    const { slot, length, memory } = rows;
    if (memory !== null) this.#slots[slot] = new Uint8Array(memory);
    return gathering.rows(
      each,
      () => this.#copies.copy(this.#slots[slot]!, length),
      (copy) => this.#copies.recycle(copy),
    );
  }
}

/** Copies of slots, in buffers that are used again when a sink has done with them: not every one can do with memory that others see. */
class Copies {
  readonly #spare: ArrayBuffer[] = [];

  copy(slot: Uint8Array, length: number): Uint8Array {
    const copy = new Uint8Array(this.#spare.pop() ?? new ArrayBuffer(slotBytes), 0, length);
    copy.set(slot.subarray(0, length));
    return copy;
  }

  recycle({ buffer }: Uint8Array): void {
    if (buffer.byteLength === slotBytes && this.#spare.length < spareCopies)
      this.#spare.push(buffer as ArrayBuffer);
  }
}
