/** Threads of a load, as their owner sees them: the messages that they exchange, and the gathering of their results. */
import { type Diagnostic, InputError } from '../../../engine/diagnostics.ts';
import type { DocumentStatistics } from '../../../engine/infer/statistics.ts';
import type { QName } from '../../../engine/model/source-model.ts';
import type { PackedRelationalModel } from '../../../engine/model/packed/models.ts';
import { type ErrorCode, AppError } from '../../../errors.ts';
import type { SideTable, UnconvertedValue, ReleaseRows, RowSink } from '../../../ports/row-sink.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import { type LoadFindings, addFindings } from '../findings.ts';
import type { KeyRange } from '../document-cut.ts';
import type { LoadingJob, DelegatedLoad } from '../row-loader.ts';
import type { UnitMember } from '../spark/work.ts';
import { UnitStatistics } from '../../../engine/infer/merge-statistics.ts';
import type { PassProgress } from '../../reports/progress-lines.ts';
import type { Worker } from 'node:worker_threads';
import { startThread } from '../../../installation.ts';

// The messages.

/** size of a slot: as large as the chunks in which rows of a table are handed over, except very long rows */
export const slotBytes = 192 * 1024;

export interface ThreadJob extends LoadingJob {
  readonly packed: PackedRelationalModel;
  readonly stored: Omit<StoredLogicalSchema, 'model'>;
  /** SHA-256 of the documents are known */
  readonly hashed: boolean;
}

/** Documents that follow one another. */
export interface ThreadUnit extends KeyRange {
  readonly number: number;
  readonly members: readonly UnitMember[];
}

export type ToThread =
  | { readonly kind: 'unit'; readonly unit: ThreadUnit }
  /** path of a file whose SHA-256 is asked for */
  | { readonly kind: 'hash'; readonly file: string }
  /** the sink has consumed that number of bytes, and their slots are free */
  | { readonly kind: 'taken'; readonly bytes: number; readonly slots: readonly number[] }
  | { readonly kind: 'end' };

/**
 * Rows in memory that both see, which is used again and again: buffers that change hands cost the one who gets them a collection of
 * garbage for each few of them.
 */
export interface SlotRows {
  readonly slot: number;
  readonly length: number;
  /** set when the slot is used for the first time */
  readonly memory: SharedArrayBuffer | null;
}

export interface RowsOfTable {
  readonly table: number | SideTable;
  readonly rows: SlotRows | Uint8Array;
  readonly rowCount: number;
}

type ThreadFault =
  | { readonly diagnostic: Diagnostic }
  | { readonly code: ErrorCode; readonly message: string };

export type FromThread =
  | { readonly kind: 'rows'; readonly tables: readonly RowsOfTable[] }
  | { readonly kind: 'unconverted'; readonly value: UnconvertedValue }
  | { readonly kind: 'allowNull'; readonly table: number; readonly column: number }
  | {
      readonly kind: 'unit';
      readonly unit: number;
      readonly statistics: DocumentStatistics | null;
      /** for a range of one document: the elements that are open around it; null: whole documents */
      readonly open: readonly QName[] | null;
      /** documents of the unit */
      readonly documents: number;
      readonly bytes: number;
    }
  | { readonly kind: 'failed'; readonly unit: number; readonly fault: ThreadFault }
  /** null: the file could not be read */
  | { readonly kind: 'hashed'; readonly sha256: string | null }
  | {
      readonly kind: 'end';
      readonly findings: LoadFindings;
      readonly lastKeys: ReadonlyMap<string, number>;
    };

// Gathers the results of all threads in one place.

interface StatisticsOfUnit extends Pick<FromThread & { kind: 'unit' }, 'unit' | 'open'> {
  readonly statistics: DocumentStatistics;
}

/** Passes one message after the other to the sink. */
export class Gathering {
  readonly #sink: RowSink;
  readonly #written: number[];
  readonly #findings: LoadFindings[] = [];
  readonly #statistics: StatisticsOfUnit[] = [];
  readonly #lastKeys = new Map<string, number>();
  #fault: { readonly unit: number; readonly fault: ThreadFault } | null = null;
  readonly #done = { documents: 0, bytes: 0, rows: 0 };
  #last: Promise<unknown> = Promise.resolve();

  constructor(sink: RowSink, tables: number) {
    this.#sink = sink;
    this.#written = Array.from({ length: tables }, () => 0);
  }

  get failed(): boolean {
    return this.#fault !== null;
  }

  /** Returns whether a unit need not be begun. Units before a failed one are still begun, because the first fault must be reported. */
  needsNot(unit: number): boolean {
    return this.#fault !== null && this.#fault.unit < unit;
  }

  /** progress of the units that have ended */
  get done(): Omit<PassProgress, 'pass'> {
    return { ...this.#done };
  }

  /** Hands the rows to the sink after those before them. `own` then returns them as memory that no other thread uses. */
  rows(
    { table, rowCount }: Pick<RowsOfTable, 'table' | 'rowCount'>,
    own: () => Uint8Array,
    release: ReleaseRows,
  ): Promise<void> {
    return this.#next(async () => {
      const rows = own();
      if (typeof table !== 'number') return this.#sink.writeSide(table, rows, rowCount, release);
      this.#written[table]! += rowCount;
      this.#done.rows += rowCount;
      return this.#sink.write(table, rows, rowCount, release);
    });
  }

  unconverted({ value }: FromThread & { kind: 'unconverted' }): Promise<void> {
    return this.#next(() => this.#sink.unconverted(value));
  }

  allowNull({ table, column }: FromThread & { kind: 'allowNull' }): Promise<void> {
    return this.#next(async () => this.#sink.allowNull(table, column));
  }

  unit({ unit, statistics, open, documents, bytes }: FromThread & { kind: 'unit' }): void {
    this.#done.documents += documents;
    this.#done.bytes += bytes;
    if (statistics !== null) this.#statistics.push({ unit, statistics, open });
  }

  fail({ unit, fault }: FromThread & { kind: 'failed' }): void {
    if (this.#fault === null || unit < this.#fault.unit) this.#fault = { unit, fault };
  }

  async end({ findings, lastKeys }: FromThread & { kind: 'end' }): Promise<void> {
    await this.#last;
    this.#findings.push(findings);
    for (const [table, key] of lastKeys)
      this.#lastKeys.set(table, Math.max(key, this.#lastKeys.get(table) ?? 0));
  }

  result(withStatistics: boolean): DelegatedLoad {
    if (this.#fault !== null) throw faultOf(this.#fault.fault);
    const statistics = withStatistics ? this.#addStatistics() : null;
    const findings = addFindings(this.#findings);
    return { written: this.#written, findings, statistics, lastKeys: this.#lastKeys };
  }

  #addStatistics(): DocumentStatistics {
    const all = new UnitStatistics();
    for (const { statistics, open } of this.#statistics.toSorted((a, b) => a.unit - b.unit))
      all.add(statistics, open);
    return all.result();
  }

  #next(work: () => Promise<void>): Promise<void> {
    const next = this.#last.then(work);
    this.#last = next;
    // the caller gets this rejection from `next`; each later turn fails too, as it waits for this one
    next.catch(() => undefined);
    return next;
  }
}

function faultOf(fault: ThreadFault): Error {
  if ('diagnostic' in fault) return new InputError(fault.diagnostic);
  return new AppError(fault.code, fault.message);
}

// The threads.

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
