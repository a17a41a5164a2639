/** What a thread of src/tools/load/threads/in-threads.ts runs: units of documents to rows. */
import { parentPort, workerData } from 'node:worker_threads';
import { InputError, type Diagnostic } from '../../../engine/diagnostics.ts';
import type { DocumentStatistics } from '../../../engine/infer/statistics.ts';
import { unpackRelationalModel, type PackedRelationalModel } from '../../../engine/model/packed/models.ts';
import { AppError, type ErrorCode } from '../../../errors.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import type { UnconvertedValue, SideTable } from '../../../ports/rows/sink.ts';
import type { LoadFindings } from '../findings.ts';
import type { LoaderSink } from '../drained-rows.ts';
import { Loader } from '../row-loader.ts';
import { loaderSession, type LoadingJob } from '../order.ts';
import { createRejects } from '../rejects.ts';
import { membersOf } from '../spark/attempt.ts';
import type { UnitMember } from '../spark/work.ts';

export interface ThreadJob extends LoadingJob {
  readonly packed: PackedRelationalModel;
  readonly stored: Omit<StoredLogicalSchema, 'model'>;
  /** SHA-256 of the documents are known */
  readonly hashed: boolean;
}

/** Documents that follow one another. */
export interface ThreadUnit {
  readonly number: number;
  readonly members: readonly UnitMember[];
  /** rows and documents are numbered above these */
  readonly key: number;
  readonly document: number;
  /** no row may have a key beyond */
  readonly lastKey: number;
}

export type ToThread =
  | { readonly kind: 'unit'; readonly unit: ThreadUnit }
  /** the sink has taken as many bytes */
  | { readonly kind: 'taken'; readonly bytes: number }
  /** a buffer that the sink needs no more */
  | { readonly kind: 'spare'; readonly rows: Uint8Array }
  | { readonly kind: 'end' };

export type ThreadFault =
  { readonly diagnostic: Diagnostic } | { readonly code: ErrorCode; readonly message: string };

export type FromThread =
  | {
      readonly kind: 'rows';
      readonly table: number | SideTable;
      readonly rows: Uint8Array;
      readonly rowCount: number;
    }
  | { readonly kind: 'unconverted'; readonly value: UnconvertedValue }
  | { readonly kind: 'allowNull'; readonly table: number; readonly column: number }
  | {
      readonly kind: 'unit';
      readonly unit: number;
      readonly statistics: DocumentStatistics | null;
      /** documents of the unit */
      readonly documents: number;
      readonly bytes: number;
    }
  | { readonly kind: 'failed'; readonly unit: number; readonly fault: ThreadFault }
  | {
      readonly kind: 'end';
      readonly findings: LoadFindings;
      readonly lastKeys: ReadonlyMap<string, number>;
    };

/** bytes under way to the sink, beyond which the thread waits */
const fullBytes = 8 * 1024 * 1024;

const port = parentPort!;
const job = workerData as ThreadJob;

function send(message: FromThread, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

async function load({ number, members, key, document, lastKey }: ThreadUnit): Promise<void> {
  try {
    const before = loader.done;
    loader.expect({
      hashes: job.hashed ? members.map(({ sha256 }) => sha256) : null,
      leftOut: new Map(members.flatMap(({ leftOut }, at) => (leftOut === undefined ? [] : [[at, leftOut]]))),
    });
    if (job.request.keys === 'sequence') loader.numberFrom(key, document);
    for await (const member of membersOf(job, members)) await loader.load(member);
    checkKeys(members, lastKey);
    const { documents, bytes } = loader.done;
    send({
      kind: 'unit',
      unit: number,
      statistics: loader.takeStatistics(),
      documents: documents - before.documents,
      bytes: bytes - before.bytes,
    });
  } catch (error) {
    if (error instanceof InputError)
      send({ kind: 'failed', unit: number, fault: { diagnostic: error.diagnostic } });
    else if (error instanceof AppError)
      send({ kind: 'failed', unit: number, fault: { code: error.code, message: error.message } });
    else throw error;
  }
}

/** Entities of a document's own DTD may make more rows than it has bytes. */
function checkKeys(members: readonly UnitMember[], lastKey: number): void {
  for (const key of loader.lastKeys().values()) {
    if (key <= lastKey) continue;
    throw new AppError(
      'unprocessable_input',
      `${members[0]!.path}: it, or a document after it, has more rows than bytes; load it without --workers`,
    );
  }
}

async function end(): Promise<void> {
  await loader.flush();
  send({ kind: 'end', findings: loader.findings(), lastKeys: loader.lastKeys() });
}

function createLoader(): Loader {
  const { packed, stored } = job;
  const logical = { ...stored, model: unpackRelationalModel(packed.plan, () => packed.mappings) };
  const session = loaderSession(job);
  const { withStatistics, rowTag } = job;
  const options = { withStatistics, rowTag, rejects: createRejects(session.log) };
  return new Loader(session, logical, sink, options, new Map(), 0);
}

/** The sink at the other end of the port. */
class PortSink implements LoaderSink {
  readonly encoding = job.encoding;
  readonly widensInPlace = job.widensInPlace;
  #underWay = 0;
  #room = Promise.withResolvers<void>();
  #release: ((rows: Uint8Array) => void) | null = null;

  async write(
    table: number | SideTable,
    rows: Uint8Array,
    rowCount: number,
    release?: (rows: Uint8Array) => void,
  ): Promise<void> {
    this.#release ??= release ?? null;
    this.#underWay += rows.length;
    send({ kind: 'rows', table, rows, rowCount }, [rows.buffer as ArrayBuffer]);
    while (this.#underWay > fullBytes) await this.#room.promise;
  }

  writeSide(table: SideTable, rows: Uint8Array, rowCount: number): Promise<void> {
    return this.write(table, rows, rowCount);
  }

  async unconverted(value: UnconvertedValue): Promise<void> {
    send({ kind: 'unconverted', value });
  }

  allowNull(table: number, column: number): void {
    send({ kind: 'allowNull', table, column });
  }

  taken(bytes: number): void {
    this.#underWay -= bytes;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
  }

  /** A buffer that was sent has come back. */
  recycle(rows: Uint8Array): void {
    this.#release?.(rows);
  }
}

const sink = new PortSink();
const loader = createLoader();
let units: Promise<void> = Promise.resolve();
port.on('message', (message: ToThread) => {
  if (message.kind === 'taken') sink.taken(message.bytes);
  else if (message.kind === 'spare') sink.recycle(message.rows);
  else units = units.then(() => (message.kind === 'unit' ? load(message.unit) : end()));
});
