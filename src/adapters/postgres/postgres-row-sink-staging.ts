/**
 * Staging tables: where rows lie, unseen, until their job publishes. Bytes are gathered by table and copied over a few
 * connections, each in one COPY at a time; a small job's rows stay in memory and are copied by the publishing transaction.
 */
import type { Socket } from 'node:net';
import { AppError } from '../../errors.ts';
import type { Sql, TransactionSql } from './connect.ts';
import { quickCompression, sessionSettings } from './postgres-row-sink-connection.ts';
import { startCopy, type CopyStream } from './postgres-row-sink-copy.ts';
import { runAll } from './postgres-row-sink-publication.ts';
import { createReferenceChecks, type ReferenceChecks } from './postgres-row-sink-references.ts';
import { StagedTable, type Release, type StagedForm } from './postgres-row-sink-staged-table.ts';

const chunkBytes = 64 * 1024;
/** below this a job needs no connections of its own */
const smallJobBytes = 2 * 1024 * 1024;
/** from here a connection leaves its table for one that waits */
const crowdedBytes = 6 * 1024 * 1024;
const fullBytes = 12 * 1024 * 1024;

export interface Lane {
  readonly sql: Sql;
  /** where the server reads what is written to it */
  socket: Socket | null;
  table: StagedTable | null;
  copy: CopyStream | null;
  running: boolean;
}

export interface StagingOptions {
  /** name of the staging schema, and the start of every table's name */
  readonly token: string;
  /** where the tables are made: the staging schema, or the target's where no schema may be made */
  readonly sqlSchema: string;
  readonly maxConnections: number;
  readonly connect: (onSocket: (socket: Socket) => void) => Sql;
  /** Makes the staging schema and shows that it is in use; called once, before the first table. */
  readonly prepare: () => Promise<void>;
  /** Alterations that give a table its keys, once all rows are there; '' for none. Asked when no more rows can come. */
  readonly keys: (key: number | string) => string;
}

export class StagingArea {
  /** process ids of the server's ends of the connections */
  readonly backends: number[] = [];
  readonly #options: StagingOptions;
  readonly #tables = new Map<number | string, StagedTable>();
  /** tables with bytes and without a lane */
  readonly #waiting = new Set<StagedTable>();
  readonly #lanes: Lane[] = [];
  #prepared: Promise<void> | null = null;
  #buffered = 0;
  #draining = false;
  #failure: { readonly error: unknown } | null = null;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: StagingOptions) {
    this.#options = options;
  }

  /** Whether rows have left this process. */
  get usesConnections(): boolean {
    return this.#lanes.length > 0;
  }

  get(key: number | string): StagedTable | undefined {
    return this.#tables.get(key);
  }

  /** `form` is asked for when the table takes its first rows: of a large model, most tables take none. */
  define(key: number | string, form: () => StagedForm): StagedTable {
    const { sqlSchema, token } = this.#options;
    const table = new StagedTable(key, sqlSchema, `${token}_${this.#tables.size}`, form);
    this.#tables.set(key, table);
    return table;
  }

  entries(): IterableIterator<[number | string, StagedTable]> {
    return this.#tables.entries();
  }

  /** Takes rows; waits while too many bytes are under way. */
  async write(table: StagedTable, bytes: Uint8Array, rows: number, release?: Release): Promise<void> {
    this.#check();
    table.push(bytes, release);
    table.rows += rows;
    this.#buffered += bytes.length;
    if (table.lane === null) this.#waiting.add(table);
    this.#schedule(table);
    while (this.#buffered > fullBytes) {
      await this.#wake.promise;
      this.#check();
    }
  }

  /** Brings all rows to the server and commits them, unless the job is small enough for `copyWithin`. */
  async drain(): Promise<void> {
    this.#check();
    if (this.#lanes.length === 0) return;
    this.#draining = true;
    while (this.#lanes.length < Math.min(this.#options.maxConnections, this.#waiting.size)) this.#addLane();
    for (const lane of this.#lanes) this.#start(lane);
    while (this.#lanes.some((lane) => lane.running)) {
      await this.#wake.promise;
      this.#check();
    }
    const checks = createReferenceChecks(this.#tables);
    await Promise.all(this.#lanes.map((lane) => this.#finish(lane, checks)));
    await Promise.all(this.#lanes.map((lane) => lane.sql.end({ timeout: 5 })));
    this.#checkCounts();
  }

  /** A small job's rows, copied inside the caller's transaction, the staging schema made there too. */
  async copyWithin(tx: TransactionSql): Promise<void> {
    if (this.#lanes.length > 0) return;
    const tables = [...this.#waiting];
    await runAll(
      tx,
      tables.map((table) => table.createStatement()),
    );
    for (const table of tables) {
      const copy = await startCopy(tx, table.copyStatement());
      table.created = true;
      while (table.pendingBytes > 0) {
        const { bytes, release } = table.take();
        await copy.write(bytes);
        release?.(bytes);
      }
      table.copied = await copy.finish();
    }
    this.#waiting.clear();
    this.#buffered = 0;
    this.#checkCounts();
  }

  /** Cuts all connections; what they had not committed is gone as soon as the server has noticed (see `backends`). */
  async destroy(): Promise<void> {
    this.#fail(new AppError('service_unavailable', 'The load was given up.'));
    // a schema that is being made now would appear after it was looked for
    await this.#prepared?.catch(() => undefined);
    await Promise.all(this.#lanes.map((lane) => lane.sql.end({ timeout: 0 })));
  }

  #checkCounts(): void {
    for (const table of this.#tables.values()) {
      if (table.rows === table.copied) continue;
      throw new AppError(
        'internal_error',
        `${table.rows} rows were written, and the database took ${table.copied}.`,
      );
    }
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#signal();
  }

  #signal(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  #schedule(table: StagedTable): void {
    if (table.lane !== null) {
      this.#start(table.lane);
      return;
    }
    if (this.#buffered < smallJobBytes) return;
    const idle = this.#lanes.find((lane) => !lane.running && lane.table === null);
    if (idle !== undefined) this.#start(idle);
    else if (this.#lanes.length < this.#options.maxConnections) this.#start(this.#addLane());
    else if (this.#buffered >= crowdedBytes) for (const lane of this.#lanes) this.#start(lane);
  }

  #addLane(): Lane {
    const sql = this.#options.connect((socket) => (lane.socket = socket));
    const lane: Lane = { sql, socket: null, table: null, copy: null, running: false };
    this.#lanes.push(lane);
    return lane;
  }

  #start(lane: Lane): void {
    if (lane.running || this.#failure !== null) return;
    const next = this.#next(lane);
    if (next === null) return;
    lane.running = true;
    void this.#run(lane, next).then(
      () => {
        lane.running = false;
        this.#signal();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** The table to copy next; it is the lane's from then on. */
  #next(lane: Lane): StagedTable | null {
    const own = lane.table;
    if (own !== null && own.pendingBytes >= (this.#draining ? 1 : chunkBytes)) return own;
    let largest: StagedTable | null = null;
    for (const table of this.#waiting) {
      if (largest === null || table.pendingBytes > largest.pendingBytes) largest = table;
    }
    if (largest === null) return null;
    if (!this.#draining) {
      const crowded = this.#buffered >= crowdedBytes;
      if (own === null ? largest.pendingBytes < chunkBytes && !crowded : !crowded) return null;
      if (own !== null && own.pendingBytes >= largest.pendingBytes) return null;
    }
    this.#waiting.delete(largest);
    largest.lane = lane;
    return largest;
  }

  async #run(lane: Lane, first: StagedTable): Promise<void> {
    for (let table: StagedTable | null = first; table !== null; table = this.#next(lane)) {
      this.#check();
      if (lane.table !== table) {
        await this.#close(lane);
        this.#release(lane.table);
        await this.#open(lane, table);
      } else if (table.hasLoosened) await this.#loosen(lane, table);
      const { bytes, release } = table.take();
      // its owner may hand the buffer to another thread: then it is empty here
      const { length } = bytes;
      await lane.copy!.write(bytes);
      release?.(bytes);
      this.#buffered -= length;
      this.#signal();
    }
  }

  /** Only now may another lane have it: before, its table was not there for others. */
  #release(table: StagedTable | null): void {
    if (table === null) return;
    table.lane = null;
    if (table.pendingBytes > 0) this.#waiting.add(table);
  }

  async #open(lane: Lane, table: StagedTable): Promise<void> {
    this.#prepared ??= this.#options.prepare();
    await this.#prepared;
    this.#check();
    if (lane.table === null) {
      // rows that have not been published need not outlive a crash
      const results = await lane.sql.unsafe(
        `${sessionSettings}; SET synchronous_commit = off; ${quickCompression}; SELECT pg_backend_pid() AS pid`,
      );
      this.backends.push((results.at(-1) as unknown as [{ pid: number }])[0].pid);
    }
    lane.table = table;
    const first = table.created ? table.takeLoosening() : table.createStatement();
    await lane.sql.unsafe(first === '' ? 'BEGIN' : `BEGIN; ${first}`);
    lane.copy = await startCopy(lane.sql, table.copyStatement(), lane.socket);
    table.created = true;
  }

  /** Between two COPYs of the same transaction. */
  async #loosen(lane: Lane, table: StagedTable): Promise<void> {
    table.copied += await lane.copy!.finish();
    await lane.sql.unsafe(table.takeLoosening());
    lane.copy = await startCopy(lane.sql, table.copyStatement(), lane.socket);
  }

  /** While one lane gives the largest table its key, the others check references of those that have theirs. */
  async #finish(lane: Lane, checks: ReferenceChecks): Promise<void> {
    await this.#close(lane);
    lane.table = null;
    this.#signal();
    for (;;) {
      this.#check();
      if (await checks.next(lane.sql)) continue;
      if (this.#lanes.every((other) => other.table === null)) return;
      await this.#wake.promise;
    }
  }

  async #close(lane: Lane): Promise<void> {
    const { table } = lane;
    if (lane.copy === null || table === null) return;
    table.copied += await lane.copy.finish();
    lane.copy = null;
    const keys =
      this.#draining && table.form.logged && table.pendingBytes === 0 ? this.#options.keys(table.key) : '';
    if (keys !== '') {
      await lane.sql.unsafe(`ALTER TABLE ${table.relation} ${keys}`);
    }
    await lane.sql.unsafe('COMMIT');
    table.keyed = keys !== '';
  }
}
