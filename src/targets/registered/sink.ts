/**
 * Rows into a place that a host application brings. A folder sink writes them as JSON Lines on this machine first; then one change of the store adds them and the new
 * state, which is the manifest of such a folder.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import { AppError } from '../../errors.ts';
import type { RowBatch, RowStore } from '../../ports/rows/registered.ts';
import type {
  Published,
  ReleaseRows,
  RowSink,
  SideTable,
  SinkPlan,
  UnconvertedValue,
  ZonesThere,
  ZoneTable,
} from '../../ports/rows/sink.ts';
import type { TargetLoad } from '../../ports/rows/target-load.ts';
import type { UnitTarget } from '../../ports/rows/units.ts';
import { fileNamePart } from '../files/folder/contents/file-names.ts';
import { tableColumns } from '../files/folder/contents/table-columns.ts';
import {
  manifestName,
  parseManifest,
  type ManifestFile,
  type TargetManifest,
} from '../files/folder/contents/manifest.ts';
import { zonesOfManifest } from '../files/folder/contents/next-manifest.ts';
import { loadsOf } from '../files/folder/ledger.ts';
import { createFolderRowSink } from '../files/folder/sink.ts';
import { passFence } from '../rows/staged-rows.ts';

export interface RegisteredRowSinkOptions {
  readonly store: RowStore;
  /** the target as people named it */
  readonly label: string;
  /** names the job in names of batches, as `jobMark` makes it */
  readonly jobMark: string;
  /** a folder of this machine, for this job alone; removed at the end */
  readonly staging: string;
  /** one writer at a time, on all machines */
  readonly lock: () => Promise<{ isHeld(): Promise<boolean>; release(): Promise<void> }>;
}

export function createRegisteredRowSink(options: RegisteredRowSinkOptions): RowSink {
  return new RegisteredRowSink(options);
}

class RegisteredRowSink implements RowSink {
  readonly widensInPlace: boolean;
  readonly scalesDecimals: boolean;
  readonly encoding: RowSink['encoding'];
  readonly label: string;
  readonly #options: RegisteredRowSinkOptions;
  readonly #local: RowSink;
  readonly #fetched = new Set<string>();
  #plan!: SinkPlan;
  #before: TargetManifest | null = null;
  #lock: Awaited<ReturnType<RegisteredRowSinkOptions['lock']>> | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: RegisteredRowSinkOptions) {
    this.#options = options;
    const { staging, jobMark, label } = options;
    this.#local = createFolderRowSink({
      directory: staging,
      format: 'jsonl',
      // an overwrite would give a name again, and names of batches are unique for ever
      fileNameOf: (table) => `${fileNamePart(table)}.${jobMark}`,
      fetch: (name) => this.#fetch(name),
    });
    this.widensInPlace = this.#local.widensInPlace;
    this.scalesDecimals = this.#local.scalesDecimals;
    this.encoding = this.#local.encoding;
    this.label = label;
  }

  /** Their rows lie here before they go there. */
  get units(): UnitTarget | null {
    return this.#local.units;
  }

  async loads(): Promise<readonly TargetLoad[]> {
    const manifest = await readStore(this.#options.store);
    return manifest === null ? [] : loadsOf(manifest);
  }

  async zonesThere(tables: readonly ZoneTable[]): Promise<ZonesThere> {
    const manifest = await readStore(this.#options.store);
    return manifest === null ? new Map() : zonesOfManifest(manifest, tables);
  }

  async open(plan: SinkPlan): Promise<'load' | 'skip'> {
    this.#plan = plan;
    const { staging, store, lock } = this.#options;
    await rm(staging, { recursive: true, force: true });
    if (plan.saveMode === 'print-schema') return this.#local.open(plan);
    this.#lock = await lock();
    this.#before = await readStore(store);
    await mkdir(staging, { recursive: true, mode: 0o700 });
    if (this.#before !== null) await writeFile(join(staging, manifestName), JSON.stringify(this.#before));
    return this.#local.open(plan);
  }

  keyOffsets(): Promise<ReadonlyMap<string, number>> {
    return this.#local.keyOffsets();
  }

  async loadedDocuments(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    const documents = this.#before?.tables.find(({ name }) => name === sideTableNames.documents);
    for (const { name } of documents?.files ?? []) await this.#fetch(name);
    return this.#local.loadedDocuments(sha256s);
  }

  write(table: number, rows: Uint8Array, rowCount: number, release?: ReleaseRows): Promise<void> {
    return this.#local.write(table, rows, rowCount, release);
  }

  writeSide(table: SideTable, rows: Uint8Array, rowCount: number, release?: ReleaseRows): Promise<void> {
    return this.#local.writeSide(table, rows, rowCount, release);
  }

  unconverted(value: UnconvertedValue): Promise<void> {
    return this.#local.unconverted(value);
  }

  allowNull(table: number, column: number): void {
    this.#local.allowNull(table, column);
  }

  async publish(fence: () => Promise<boolean>, lastKeys: ReadonlyMap<string, number>): Promise<Published> {
    const published = await this.#local.publish(() => Promise.resolve(true), lastKeys);
    const state = await readFile(join(this.#options.staging, manifestName), 'utf8').catch(() => null);
    if (published.already || state === null) return published;
    const after = parseManifest(state);
    if (after.jobs.length === (this.#before?.jobs.length ?? 0)) return published;
    const before = namesIn(this.#before);
    const names = namesIn(after);
    const add = after.tables.flatMap(({ name: table, files }) =>
      files.filter((file) => !before.has(file.name)).map((file) => this.#batch(table, file)),
    );
    const drop = [...before].filter((name) => !names.has(name));
    await this.#options.store.change({ state, add, drop }, async () => {
      if (!(await this.#lock!.isHeld()))
        throw new AppError('service_unavailable', `${this.label}: another job has taken the target over.`);
      await passFence(fence);
    });
    this.#before = after;
    return published;
  }

  async abort(): Promise<void> {
    await this.#local.abort();
    await this.#lock?.release();
    this.#lock = null;
  }

  async close(): Promise<void> {
    await this.abort()
      .finally(() => this.#local.close())
      .finally(() => (this.#closed ??= this.#options.store.close?.() ?? Promise.resolve()))
      .finally(() => rm(this.#options.staging, { recursive: true, force: true }));
  }

  async #fetch(name: string): Promise<void> {
    if (this.#fetched.has(name)) return;
    this.#fetched.add(name);
    await fetchBatch(this.#options.store, name, this.#options.staging);
  }

  #batch(table: string, { name, rows: rowCount, columns }: ManifestFile): RowBatch {
    const path = join(this.#options.staging, name);
    const known = new Map(
      tableColumns(this.#plan.model, table).map((column) => [column.name, column.type] as const),
    );
    return {
      name,
      table,
      columns: columns.map((column) => ({ name: column, type: known.get(column)! })),
      rowCount,
      lines: () => createReadStream(path),
      async *rows() {
        const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
        for await (const line of lines) if (line !== '') yield parseRow(line);
      },
    };
  }
}

/** The manifest that is a store's state. */
export async function readStore(store: RowStore): Promise<TargetManifest | null> {
  const state = await store.readState();
  return state === null ? null : parseManifest(state);
}

/** Writes a batch into a folder, under its name. */
export async function fetchBatch(store: RowStore, name: string, folder: string): Promise<void> {
  await pipeline(store.readLines(name), createWriteStream(join(folder, name), { mode: 0o600 }));
}

function namesIn(manifest: TargetManifest | null): Set<string> {
  return new Set(manifest?.tables.flatMap((table) => table.files.map(({ name }) => name)) ?? []);
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const exactDigits: Reviver = (_, value, context) =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? context.source
    : value;

function parseRow(line: string): Readonly<Record<string, unknown>> {
  return JSON.parse(line, exactDigits as (key: string, value: unknown) => unknown) as Readonly<
    Record<string, unknown>
  >;
}
