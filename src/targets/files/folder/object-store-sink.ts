/**
 * Rows into a folder of a file store that is elsewhere. A folder sink writes them here first; then the files go there under names
 * that no manifest lists yet, and the new manifest, one object, makes them the folder's. A journal beside it tells who comes next
 * what a dead attempt has left, and what is still to be done after a manifest that was written last.
 */
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import { passFence } from '../../rows/staged-rows.ts';
import type { FileLayoutName } from '../../../ports/rows/layouts.ts';
import type { FileStore } from '../../../ports/files/organisation-files.ts';
import type {
  UnconvertedValue,
  Published,
  ReleaseRows,
  RowSink,
  SideTable,
  SinkPlan,
  ZonesThere,
  ZoneTable,
} from '../../../ports/rows/sink.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import type { UnitTarget } from '../../../ports/rows/units.ts';
import { fetchFiles } from '../../../adapters/local-files/fetched-objects.ts';
import { loadsOf } from './ledger.ts';
import type { ColumnsThreadOptions } from './columns/beside.ts';
import { createFolderRowSink } from './sink.ts';
import { zonesOfManifest } from './contents/next-manifest.ts';
import { fileNamePart } from './contents/file-names.ts';
import { scriptNames } from './layouts/every-layout.ts';
import {
  dataPackageName,
  isObject,
  isOwnName,
  manifestName,
  parseManifest,
  type TargetManifest,
} from './contents/manifest.ts';

export interface ObjectFolderRowSinkOptions {
  readonly files: Pick<FileStore, 'listFiles' | 'read' | 'write' | 'discard'>;
  /** as the store resolved it */
  readonly location: string;
  /** the folder as people named it */
  readonly label: string;
  readonly format: FileLayoutName;
  /** `s3://BUCKET/PREFIX`, for scripts that load the files from there */
  readonly address: string;
  /** names the job in names of files, as `jobMark` makes it */
  readonly jobMark: string;
  /** a folder of this machine, for this job alone; removed at the end */
  readonly staging: string;
  /** as of FolderRowSinkOptions */
  readonly columnsThread?: ColumnsThreadOptions;
  /** as in ParquetSettings; absent: false, as the scripts beside the files are for warehouses, of which not all take them */
  readonly deltas?: boolean;
  /** one writer at a time, on all machines */
  readonly lock: () => Promise<{ isHeld(): Promise<boolean>; release(): Promise<void> }>;
}

interface Journal {
  readonly job_uuid: string;
  /** new ones */
  readonly files: readonly string[];
  /** files of an earlier manifest, to be removed once the new one is there */
  readonly remove: readonly string[];
  /** texts of scripts by their names */
  readonly scripts: Readonly<Record<string, string>>;
}

const journalPrefix = '.svc-publish-';

export function createObjectFolderRowSink(options: ObjectFolderRowSinkOptions): RowSink {
  return new ObjectFolderRowSink(options);
}

class ObjectFolderRowSink implements RowSink {
  readonly widensInPlace: boolean;
  readonly scalesDecimals: boolean;
  readonly encoding: RowSink['encoding'];
  readonly label: string;
  readonly #options: ObjectFolderRowSinkOptions;
  readonly #local: RowSink;
  #plan!: SinkPlan;
  #before: TargetManifest | null = null;
  #lock: Awaited<ReturnType<ObjectFolderRowSinkOptions['lock']>> | null = null;
  #fetched = false;

  constructor(options: ObjectFolderRowSinkOptions) {
    this.#options = options;
    // Named for the job, also where an overwrite would give a name again: what a manifest lists never changes
    const fileNameOf = (table: string): string => `${fileNamePart(table)}.${options.jobMark}`;
    this.#local = createFolderRowSink({
      directory: options.staging,
      format: options.format,
      fileNameOf,
      location: options.address.replace(/\/+$/, ''),
      fetch: async (name) => void (await fetchFiles(options.files, this.#at(name), options.staging)),
      deltas: options.deltas ?? false,
      ...(options.columnsThread === undefined ? {} : { columnsThread: options.columnsThread }),
    });
    this.widensInPlace = this.#local.widensInPlace;
    this.scalesDecimals = this.#local.scalesDecimals;
    this.encoding = this.#local.encoding;
    this.label = options.label;
  }

  /** Their files lie here before they go there. */
  get units(): UnitTarget | null {
    return this.#local.units;
  }

  async loads(): Promise<readonly TargetLoad[]> {
    const manifest = await this.#manifest();
    return manifest === null ? [] : loadsOf(manifest);
  }

  async zonesThere(tables: readonly ZoneTable[]): Promise<ZonesThere> {
    const manifest = await this.#manifest();
    return manifest === null ? new Map() : zonesOfManifest(manifest, tables);
  }

  async open(plan: SinkPlan): Promise<'load' | 'skip'> {
    this.#plan = plan;
    const { staging } = this.#options;
    await rm(staging, { recursive: true, force: true });
    if (plan.saveMode === 'print-schema') return this.#local.open(plan);
    this.#lock = await this.#options.lock();
    this.#before = await this.#manifest();
    await this.#clearJournals();
    await mkdir(staging, { recursive: true, mode: 0o700 });
    if (this.#before !== null) await writeFile(join(staging, manifestName), JSON.stringify(this.#before));
    // one that no job wrote is somebody else's, and stays
    if (this.#before?.data_package !== true && (await this.#isThere(dataPackageName)))
      await writeFile(join(staging, dataPackageName), '');
    return this.#local.open(plan);
  }

  keyOffsets(): Promise<ReadonlyMap<string, number>> {
    return this.#local.keyOffsets();
  }

  async loadedDocuments(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    if (!this.#fetched) {
      this.#fetched = true;
      const own = this.#before?.tables.find(({ name }) => name === sideTableNames.documents);
      for (const { name } of own?.files ?? [])
        await fetchFiles(this.#options.files, this.#at(name), this.#options.staging);
    }
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
    const text = await readFile(join(this.#options.staging, manifestName), 'utf8').catch(() => null);
    if (published.already || text === null) return published;
    const after = JSON.parse(text) as TargetManifest;
    if (after.jobs.length === (this.#before?.jobs.length ?? 0)) return published;
    const journal = await this.#journal(after);
    const known = scriptsOf(this.#before);
    const scripts = scriptNames(after).filter((name) => !known.includes(name));
    await this.#refuseForeign([...journal.files, ...scripts]);
    await this.#put(this.#journalName(journal), new TextEncoder().encode(JSON.stringify(journal)));
    for (const name of journal.files) await this.#upload(name);
    if (!(await this.#lock!.isHeld())) {
      throw new AppError('service_unavailable', `${this.label}: the lock of the folder is lost.`);
    }
    await passFence(fence);
    await this.#put(manifestName, new TextEncoder().encode(text));
    this.#before = after;
    await this.#finish(journal);
    return published;
  }

  async abort(): Promise<void> {
    await this.#local.abort();
    if (this.#lock === null) return;
    await this.#clearJournals();
    await this.#lock.release();
    this.#lock = null;
  }

  async close(): Promise<void> {
    await this.abort()
      .finally(() => this.#local.close())
      .finally(() => rm(this.#options.staging, { recursive: true, force: true }));
  }

  #at(name: string): string {
    return `${this.#options.location}/${name}`;
  }

  async #put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#options.files.write(this.#at(name), bytes);
  }

  async #isThere(name: string): Promise<boolean> {
    const { files, location } = this.#options;
    for await (const file of files.listFiles(location)) if (file.name === name) return true;
    return false;
  }

  async #text(name: string): Promise<string | null> {
    const body = await this.#options.files.read(this.#at(name));
    return body === null ? null : new Response(body).text();
  }

  async #manifest(): Promise<TargetManifest | null> {
    const text = await this.#text(manifestName);
    return text === null ? null : parseManifest(text);
  }

  async #journal(after: TargetManifest): Promise<Journal> {
    const before = namesIn(this.#before);
    const names = namesIn(after);
    const scripts = await Promise.all(
      scriptNames(after).map(async (name) => [
        name,
        await readFile(join(this.#options.staging, name), 'utf8'),
      ]),
    );
    return {
      job_uuid: this.#plan.jobUuid,
      files: [...names].filter((name) => !before.has(name)),
      remove: [
        ...[...before].filter((name) => !names.has(name)),
        ...scriptsOf(this.#before).filter((name) => !scriptNames(after).includes(name)),
      ],
      scripts: Object.fromEntries(scripts),
    };
  }

  #journalName({ job_uuid: jobUuid }: Journal): string {
    return `${journalPrefix}${jobUuid}.json`;
  }

  /** Files that no manifest lists belong to somebody else. */
  async #refuseForeign(names: readonly string[]): Promise<void> {
    const wanted = new Set(names);
    for await (const { name } of this.#options.files.listFiles(this.#options.location)) {
      if (wanted.has(name))
        throw new AppError('conflict', `${this.label}: ${name} exists and was not written by a job.`);
    }
  }

  async #upload(name: string): Promise<void> {
    const file = await open(join(this.#options.staging, name), 'r');
    const body = Readable.toWeb(file.createReadStream()) as unknown as ReadableStream<Uint8Array>;
    await this.#options.files.write(this.#at(name), body);
  }

  async #finish(journal: Journal): Promise<void> {
    for (const [name, text] of Object.entries(journal.scripts))
      await this.#put(name, new TextEncoder().encode(text));
    for (const name of journal.remove) await this.#options.files.discard(this.#at(name));
    await this.#options.files.discard(this.#at(this.#journalName(journal)));
  }

  /** A journal whose job the manifest knows is finished; the files of another are taken away. */
  async #clearJournals(): Promise<void> {
    const { files, location } = this.#options;
    const left: string[] = [];
    for await (const { name } of files.listFiles(location))
      if (name.startsWith(journalPrefix)) left.push(name);
    if (left.length === 0) return;
    // what this process believes may not be what was stored
    const manifest = await this.#manifest();
    const listed = namesIn(manifest);
    for (const name of left) {
      const text = await this.#text(name);
      if (text === null) continue;
      const journal = JSON.parse(text) as Journal;
      const scripts = isObject(journal.scripts) ? Object.keys(journal.scripts) : null;
      if (scripts === null || ![...journal.files, ...journal.remove, ...scripts].every(isOwnName))
        throw new AppError('conflict', `${this.label}: ${name} is not a journal of this version.`);
      const isThere = manifest?.jobs.some((job) => job.job_uuid === journal.job_uuid);
      if (isThere === true) {
        await this.#finish(journal);
        continue;
      }
      for (const file of journal.files) if (!listed.has(file)) await files.discard(this.#at(file));
      await files.discard(this.#at(name));
    }
  }
}

/** Null: an empty folder. */
function scriptsOf(manifest: TargetManifest | null): readonly string[] {
  return manifest === null ? [] : scriptNames(manifest);
}

function namesIn(manifest: TargetManifest | null): Set<string> {
  return new Set(manifest?.tables.flatMap((table) => table.files.map(({ name }) => name)) ?? []);
}
