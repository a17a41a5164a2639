/** The program of a thread of src/tools/load/threads/in-threads.ts: converts units of documents to rows. */
import { parentPort, workerData } from 'node:worker_threads';
import { InputError } from '../../../engine/diagnostics.ts';
import { unpackRelationalModel } from '../../../engine/model/packed/models.ts';
import { AppError } from '../../../errors.ts';
import type { ReleaseRows, SideTable, UnconvertedValue } from '../../../ports/rows/sink.ts';
import type { LoaderSink } from '../drained-rows.ts';
import { checkLastKeys } from '../document-cut.ts';
import { Loader, loaderSession } from '../row-loader.ts';
import { createRejects } from '../findings.ts';
import { fleetingFileChunks } from '../../inputs/open-file.ts';
import { hashDocument } from '../../inputs/read-document.ts';
import {
  slotBytes,
  type FromThread,
  type RowsOfTable,
  type SlotRows,
  type ThreadJob,
  type ThreadUnit,
  type ToThread,
} from './messages.ts';
import { UnitMembers } from './unit-members.ts';

/** bytes under way to the sink, beyond which the thread waits */
const fullBytes = 8 * 1024 * 1024;
/** target size of a message with rows: each message costs both sides a turn */
const messageBytes = 1024 * 1024;

const port = parentPort!;
const job = workerData as ThreadJob;

function send(message: FromThread, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

/** Sends a message after the rows that came before. */
function tell(message: Exclude<FromThread, { kind: 'rows' }>): void {
  sink.hand();
  send(message);
}

async function load(unit: ThreadUnit): Promise<void> {
  const { number, members, key, document } = unit;
  try {
    const before = loader.done;
    loader.expect({
      hashes: job.hashed ? members.map(({ sha256 }) => sha256) : null,
      leftOut: new Map(members.flatMap(({ leftOut }, at) => (leftOut === undefined ? [] : [[at, leftOut]]))),
    });
    if (job.request.keys === 'sequence') loader.numberFrom(key, document);
    for await (const member of unitMembers.of(members)) {
      const loaded = loader.load(member);
      if (loaded !== undefined) await loaded;
    }
    const lastKeys = loader.lastKeys();
    for (const [table, last] of lastKeys) highestKeys.set(table, Math.max(last, highestKeys.get(table) ?? 0));
    checkLastKeys(lastKeys, unit, members[0]!.path, 'load it without --workers');
    const { documents, bytes } = loader.done;
    tell({
      kind: 'unit',
      unit: number,
      statistics: loader.takeStatistics(),
      open: members[0]!.range?.within?.open.names ?? null,
      documents: documents - before.documents,
      bytes: bytes - before.bytes,
    });
  } catch (error) {
    if (error instanceof InputError)
      tell({ kind: 'failed', unit: number, fault: { diagnostic: error.diagnostic } });
    else if (error instanceof AppError)
      tell({ kind: 'failed', unit: number, fault: { code: error.code, message: error.message } });
    else throw error;
  }
}

function answer(message: ToThread & { kind: 'unit' | 'hash' | 'end' }): Promise<void> {
  switch (message.kind) {
    case 'unit':
      return load(message.unit);
    case 'hash':
      return hash(message.file);
    case 'end':
      return end();
  }
}

async function hash(file: string): Promise<void> {
  const chunks = () => fleetingFileChunks(file, job.links);
  tell({ kind: 'hashed', sha256: await hashDocument({ chunks }).catch(() => null) });
}

async function end(): Promise<void> {
  await unitMembers.close();
  await loader.flush();
  tell({ kind: 'end', findings: loader.findings(), lastKeys: highestKeys });
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
  readonly scalesDecimals = job.scalesDecimals;
  #underWay = 0;
  #waiting: RowsOfTable[] = [];
  #waitingBytes = 0;
  #room = Promise.withResolvers<void>();
  readonly #slots: Uint8Array[] = [];
  readonly #free: number[] = [];

  async write(
    table: number | SideTable,
    rows: Uint8Array,
    rowCount: number,
    release?: ReleaseRows,
  ): Promise<void> {
    this.#underWay += rows.length;
    this.#waitingBytes += rows.length;
    if (rows.length > slotBytes) this.#waiting.push({ table, rows, rowCount });
    else {
      this.#waiting.push({ table, rows: this.#inSlot(rows), rowCount });
      release?.(rows);
    }
    if (this.#waitingBytes >= messageBytes) this.hand();
    while (this.#underWay > fullBytes) await this.#room.promise;
  }

  /** Sends the waiting rows in one message. */
  hand(): void {
    const tables = this.#waiting;
    if (tables.length === 0) return;
    this.#waiting = [];
    this.#waitingBytes = 0;
    const own = tables.flatMap(({ rows }) =>
      rows instanceof Uint8Array ? [rows.buffer as ArrayBuffer] : [],
    );
    send({ kind: 'rows', tables }, own);
  }

  writeSide(table: SideTable, rows: Uint8Array, rowCount: number): Promise<void> {
    return this.write(table, rows, rowCount);
  }

  async unconverted(value: UnconvertedValue): Promise<void> {
    tell({ kind: 'unconverted', value });
  }

  allowNull(table: number, column: number): void {
    tell({ kind: 'allowNull', table, column });
  }

  taken(bytes: number, slots: readonly number[]): void {
    this.#free.push(...slots);
    this.#underWay -= bytes;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
  }

  #inSlot(rows: Uint8Array): SlotRows {
    let memory: SharedArrayBuffer | null = null;
    let slot = this.#free.pop();
    if (slot === undefined) {
      memory = new SharedArrayBuffer(slotBytes);
      slot = this.#slots.push(new Uint8Array(memory)) - 1;
    }
    this.#slots[slot]!.set(rows);
    return { slot, length: rows.length, memory };
  }
}

const sink = new PortSink();
/** by table name: units do not all arrive in the order of their keys */
const highestKeys = new Map<string, number>();
const loader = createLoader();
const unitMembers = new UnitMembers(job);
let units: Promise<void> = Promise.resolve();
port.on('message', (message: ToThread) => {
  if (message.kind === 'taken') sink.taken(message.bytes, message.slots);
  else units = units.then(() => answer(message));
});
