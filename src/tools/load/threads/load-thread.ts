/** The program of a thread of src/tools/load/threads/in-threads.ts: converts units of documents to rows. */
import { statSync } from 'node:fs';
import { AppError } from '../../../errors.ts';
import { documentTest } from '../../../inputs/document-names.ts';
import { openInputs } from '../../../inputs/list-files.ts';
import type { InputMember } from '../../../inputs/members.ts';
import { inputFault, fleetingFileChunks } from '../../../inputs/open-file.ts';
import { memberOfRange } from '../../../inputs/readable-ranges.ts';
import { fileElsewhere, listedFile, walkFiles, type Walk } from '../../../inputs/walk-files.ts';
import { type LoadingJob, type LoaderSink, Loader, loaderSession } from '../row-loader.ts';
import type { UnitMember } from '../spark/work.ts';
import { parentPort, workerData } from 'node:worker_threads';
import { InputError } from '../../../engine/diagnostics.ts';
import { unpackRelationalModel } from '../../../engine/model/packed/models.ts';
import type { ReleaseRows, SideTable, UnconvertedValue } from '../../../ports/row-sink.ts';
import { checkLastKeys } from '../document-cut.ts';
import { createRejects } from '../findings.ts';
import { hashDocument } from '../../../inputs/read-document.ts';
import {
  slotBytes,
  type FromThread,
  type RowsOfTable,
  type SlotRows,
  type ThreadJob,
  type ThreadUnit,
  type ToThread,
} from './pool.ts';

// Opens the documents of a thread's units. Files opened for one unit serve the next, because units ascend.

/** Members of an archive behind the last one that was read. */
interface OpenArchive {
  readonly file: string;
  readonly members: AsyncIterator<InputMember>;
  /** place of the last one, from 0; -1 */
  last: number;
}

class UnitMembers {
  readonly #walk: Walk;
  #archive: OpenArchive | null = null;

  constructor({ takesXsd, archiveLimits, links }: Pick<LoadingJob, 'takesXsd' | 'archiveLimits' | 'links'>) {
    this.#walk = { test: documentTest(takesXsd), limits: archiveLimits, links };
  }

  /** Yields the members as the unit lists them: those of one archive are consecutive, in its order. */
  async *of(wanted: readonly UnitMember[]): AsyncIterable<InputMember> {
    for (let at = 0; at < wanted.length;) {
      const end = wanted.findIndex((unit, index) => index > at && isFile(unit) !== isFile(wanted[at]!));
      const alike = wanted.slice(at, end < 0 ? undefined : end);
      at += alike.length;
      yield* isFile(alike[0]!) ? this.#files(alike) : this.#packed(alike);
    }
  }

  /** Closes the open files. */
  async close(): Promise<void> {
    const archive = this.#archive;
    this.#archive = null;
    await archive?.members.return?.();
  }

  async *#files(wanted: readonly UnitMember[]): AsyncIterable<InputMember> {
    // the maker of the unit has checked the types of the files
    const files = wanted.map(({ file, name, path, elsewhere, root }) =>
      elsewhere === undefined
        ? { ...listedFile(file, name, sizeOf(file), 'given', root), archive: null }
        : fileElsewhere(path, name, elsewhere),
    );
    let at = 0;
    for await (const member of walkFiles(files, this.#walk)) {
      const { path, range } = wanted[at]!;
      at += 1;
      yield range === undefined ? { ...member, path } : memberOfRange({ ...member, path }, range);
    }
  }

  async *#packed(wanted: readonly UnitMember[]): AsyncIterable<InputMember> {
    for (const { file, member, name, path } of wanted) {
      if (this.#archive?.file !== file || this.#archive.last >= member) await this.#open(file);
      yield { ...(await this.#next(this.#archive!, member)), name, path };
    }
  }

  async #open(file: string): Promise<void> {
    await this.close();
    const { test, limits, links } = this.#walk;
    // the name chose its members when the units were made
    const inputs = await openInputs([file], test, limits, links);
    this.#archive = { file, members: inputs.members()[Symbol.asyncIterator](), last: -1 };
  }

  async #next(archive: OpenArchive, member: number): Promise<InputMember> {
    for (;;) {
      const { value, done } = await archive.members.next();
      if (done === true)
        throw new AppError('unprocessable_input', `${archive.file}: the file changed since the job began`);
      archive.last = value.source.member;
      if (archive.last === member) return value;
    }
  }
}

function isFile({ direct, packed }: UnitMember): boolean {
  return direct && !packed;
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw inputFault(error, file);
  }
}

// The thread.

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
/** keyed by table name: units do not all arrive in the order of their keys */
const highestKeys = new Map<string, number>();
const loader = createLoader();
const unitMembers = new UnitMembers(job);
let units: Promise<void> = Promise.resolve();
port.on('message', (message: ToThread) => {
  if (message.kind === 'taken') sink.taken(message.bytes, message.slots);
  else units = units.then(() => answer(message));
});
