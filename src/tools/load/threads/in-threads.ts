/**
 * `--workers N`: documents are shredded in threads (src/tools/load/threads/load-thread.ts), their rows given to the sink here. No thread waits for another:
 * each unit of documents has a range of keys of its own, as wide as it has bytes, so that keys ascend in the order of the documents
 * as they do with one worker; only that they leave gaps, and that rows come in no particular order.
 */
import { Worker } from 'node:worker_threads';
import { InputError } from '../../../engine/diagnostics.ts';
import { addStatistics } from '../../../engine/infer/merge-statistics.ts';
import { emptyStatistics, type DocumentStatistics } from '../../../engine/infer/statistics.ts';
import { packRelationalModel } from '../../../engine/model/packed/models.ts';
import { AppError } from '../../../errors.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import type { RowSink } from '../../../ports/rows/sink.ts';
import { splitDocument } from '../../inputs/readable-ranges.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import type { DocumentHashes } from '../document-hashes.ts';
import { addFindings, type LoadFindings } from '../findings.ts';
import type { FromThread, ThreadFault, ThreadJob, ThreadUnit, ToThread } from './load-thread.ts';
import type { DelegatedLoad, LoadOptions } from '../row-loader.ts';
import { loadingJob } from '../order.ts';
import type { PassProgress } from '../../reports/progress-lines.ts';
import type { UnitMember } from '../spark/work.ts';
import type { ToolSession } from '../../session/tool-session.ts';

export interface ThreadLoad {
  readonly inputs: InputSet;
  readonly logical: StoredLogicalSchema;
  readonly sink: RowSink;
  readonly options: LoadOptions;
  /** which of the documents are to be loaded */
  readonly known: Pick<DocumentHashes, 'hashes' | 'leftOut'>;
}

/** Size of a unit, at least: what it costs to begin one is small beside that. */
const minUnitBytes = 256 * 1024;
const maxUnitBytes = 32 * 2 ** 20;
const maxUnitDocuments = 256;
/** Units for a worker: what the last ones take longer than others is shared by so many. */
const unitsPerWorker = 8;
/** Keys of a unit whose bytes are packed: nobody knows how many they are before they are read. */
const packedRange = 2 ** 32;

export async function loadInThreads(session: ToolSession, load: ThreadLoad): Promise<DelegatedLoad> {
  const gathering = new Gathering(load.sink, load.logical.model.tables.length);
  const job = threadJob(session, load);
  const unitBytes = Math.min(
    maxUnitBytes,
    Math.max(minUnitBytes, load.inputs.totalBytes / (session.request.workers! * unitsPerWorker)),
  );
  const units = unitsOf(session, load, await load.sink.keyOffsets(), unitBytes)[Symbol.asyncIterator]();
  const threads: Thread[] = [];
  let done = 0;
  try {
    await Promise.all(
      Array.from({ length: session.request.workers! }, async () => {
        for (let thread: Thread | null = null; ;) {
          const next = gathering.failed ? null : await units.next();
          if (next === null || next.done === true) {
            if (thread !== null) await thread.end();
            return;
          }
          if (thread === null) threads.push((thread = new Thread(job, gathering)));
          const { unit, diskBytes } = next.value;
          await thread.load(unit);
          done += diskBytes;
          session.progress(done / Math.max(1, load.inputs.totalBytes), {
            pass: 'loading',
            ...gathering.done,
          });
        }
      }),
    );
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
    // a document whose parts are being looked for is open
    await units.return?.(undefined);
  }
  return gathering.result(load.options.withStatistics);
}

function threadJob(session: ToolSession, { logical, sink, options, known }: ThreadLoad): ThreadJob {
  const { model, ...stored } = logical;
  return {
    ...loadingJob(session, sink, options),
    packed: packRelationalModel(model),
    stored,
    hashed: known.hashes !== null,
  };
}

interface PlacedUnit {
  readonly unit: ThreadUnit;
  /** on disk, for progress */
  readonly diskBytes: number;
}

/** Documents in their order, large ones with a row tag in ranges, cut into units with ranges of keys. */
async function* unitsOf(
  { limits, kernels }: ToolSession,
  { inputs, options, known }: ThreadLoad,
  keyOffsets: ReadonlyMap<string, number>,
  unitBytes: number,
): AsyncGenerator<PlacedUnit> {
  let members: UnitMember[] = [];
  let number = 0;
  let diskBytes = 0;
  let packed = false;
  let firstIndex = 0;
  // what the target holds may reach as far in any table
  let key = Math.max(0, ...keyOffsets.values());
  const documentOffset = keyOffsets.get('_documents') ?? 0;
  const cut = (): PlacedUnit => {
    const range = packed ? packedRange : diskBytes + 1024;
    const document = options.rowTag === null ? documentOffset + firstIndex : key;
    const unit = { number, members, key, document, lastKey: key + range };
    if (!Number.isSafeInteger(unit.lastKey))
      throw new AppError(
        'unprocessable_input',
        '--workers: there are too many documents to number; leave it out',
      );
    const placed = { unit, diskBytes };
    key += range;
    number += 1;
    members = [];
    diskBytes = 0;
    packed = false;
    return placed;
  };
  let inputIndex = -1;
  let file = '';
  const { rowTag, rejects } = options;
  for await (const member of inputs.members()) {
    inputIndex += 1;
    const { source, name, path, diskBytes: bytes } = member;
    // members of an archive that has to be read from its start stay together
    const splits = source.file !== file || source.direct;
    file = source.file;
    const full = diskBytes + bytes > unitBytes || members.length >= maxUnitDocuments;
    if (members.length > 0 && full && splits) yield cut();
    const sha256 = known.hashes?.[inputIndex];
    if (rejects.has(inputIndex) || sha256 === null) {
      diskBytes += bytes;
      continue;
    }
    if (members.length === 0) firstIndex = inputIndex;
    packed ||= source.packed;
    const leftOut = known.leftOut?.get(inputIndex);
    const named = { ...source, name, path, inputIndex, sha256: sha256 ?? '' };
    const whole: UnitMember = leftOut === undefined ? named : { ...named, leftOut };
    const ranges =
      rowTag === null
        ? null
        : await splitDocument(member, { rowTag, limits, kernels, rangeBytes: unitBytes });
    for (const range of ranges ?? []) {
      members.push({ ...whole, range });
      diskBytes += range.to - range.from;
      yield cut();
    }
    if (ranges !== null) continue;
    members.push(whole);
    diskBytes += bytes;
  }
  if (members.length > 0) yield cut();
}

/** What threads send, in one place: one message after the other goes to the sink. */
class Gathering {
  readonly #sink: RowSink;
  readonly #written: number[];
  readonly #findings: LoadFindings[] = [];
  readonly #statistics: { readonly unit: number; readonly statistics: DocumentStatistics }[] = [];
  readonly #lastKeys = new Map<string, number>();
  #fault: { readonly unit: number; readonly fault: ThreadFault } | null = null;
  readonly #done = { documents: 0, bytes: 0, rows: 0 };
  #last: Promise<unknown> = Promise.resolve();

  constructor(sink: RowSink, tables: number) {
    this.#sink = sink;
    this.#written = Array.from({ length: tables }, () => 0);
  }

  /** No more units are to be begun: those before the one that failed go on, as the first fault is the one to be told. */
  get failed(): boolean {
    return this.#fault !== null;
  }

  /** what units that have ended have brought */
  get done(): Omit<PassProgress, 'pass'> {
    return { ...this.#done };
  }

  /** The rows go to the sink when it has taken those before them. */
  rows(message: FromThread & { kind: 'rows' }, release: (rows: Uint8Array) => void): Promise<void> {
    const { table, rows, rowCount } = message;
    return this.#next(async () => {
      if (typeof table !== 'number') return this.#sink.writeSide(table, rows, rowCount);
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

  unit({ unit, statistics, documents, bytes }: FromThread & { kind: 'unit' }): void {
    this.#done.documents += documents;
    this.#done.bytes += bytes;
    if (statistics !== null) this.#statistics.push({ unit, statistics });
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
    let statistics: DocumentStatistics | null = null;
    if (withStatistics) {
      statistics = emptyStatistics();
      for (const part of this.#statistics.toSorted((a, b) => a.unit - b.unit))
        addStatistics(statistics, part.statistics);
    }
    const findings = addFindings(this.#findings);
    return { written: this.#written, findings, statistics, lastKeys: this.#lastKeys };
  }

  #next(work: () => Promise<void>): Promise<void> {
    const next = this.#last.then(work);
    this.#last = next;
    // the caller gets this rejection from `next`; each later turn fails too, as it waits for this one
    next.catch(() => undefined);
    return next;
  }
}

/** Does not end by itself: `terminate` has to follow. */
class Thread {
  readonly #worker: Worker;
  #answered = Promise.withResolvers<void>();

  constructor(job: ThreadJob, gathering: Gathering) {
    this.#worker = new Worker(new URL('../../bin/load-thread.mjs', import.meta.url), {
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
  load(unit: ThreadUnit): Promise<void> {
    return this.#ask({ kind: 'unit', unit });
  }

  /** Rows that it still holds, and what it found. */
  end(): Promise<void> {
    return this.#ask({ kind: 'end' });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(message: ToThread): Promise<void> {
    this.#answered = Promise.withResolvers();
    this.#send(message);
    return this.#answered.promise;
  }

  async #take(message: FromThread, gathering: Gathering): Promise<void> {
    switch (message.kind) {
      case 'rows': {
        const bytes = message.rows.length;
        await gathering.rows(message, (rows) => this.#send({ kind: 'spare', rows }));
        this.#send({ kind: 'taken', bytes });
        return;
      }
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
      case 'end':
        await gathering.end(message);
    }
    this.#answered.resolve();
  }

  #send(message: ToThread): void {
    const transfer = message.kind === 'spare' ? [message.rows.buffer as ArrayBuffer] : [];
    this.#worker.postMessage(message, transfer);
  }
}

function faultOf(fault: ThreadFault): Error {
  if ('diagnostic' in fault) return new InputError(fault.diagnostic);
  return new AppError(fault.code, fault.message);
}
