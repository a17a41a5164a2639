/**
 * Writes rows into a folder, on a disk or in a bucket: one file per table and job, a manifest that lists them, and scripts that load them.
 * New files are staged; one step publishes all of them.
 */
import type { UnitRules } from '../units.ts';
import { StagedFileSink } from '../sink.ts';
import { join } from 'node:path';
import { otherKeysMessage } from '../../../engine/model/keys.ts';
import { membersOf } from '../../../engine/model/packed/reader.ts';
import { tableIndexes } from '../../../engine/model/packed/models.ts';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { codesTable } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import { layoutFacts, type FileLayoutName } from '../../../ports/layouts.ts';
import type {
  Published,
  RowEncoding,
  RowSink,
  ExistingZones,
  ZoneTable,
  TargetLoad,
} from '../../../ports/row-sink.ts';
import {
  loadsOf,
  dataPackageName,
  type TargetManifest,
  type ManifestTable,
  isByLogicalSchema,
  nextManifest,
  remainingTables,
  tableOfOtherKeys,
  rowsByTable,
  zonesOfManifest,
  type FileOfJob,
  type ManifestStep,
  columnsIn,
  inWords,
  typesIn,
  widenedInWords,
} from './manifest.ts';
import { documentFiles } from './loaded-documents.ts';
import { StagedFiles, type FinishedFile, type HandedRows } from '../../../storage/staging/staged-files.ts';
import { tableColumns, type KeptCodes } from './table-columns.ts';
import { hasScript, layoutOf, scriptNames, writeScripts } from './every-layout.ts';
import { type FileMaking, type FolderLayout, TableRows } from './layout.ts';
import {
  fileNamePart,
  freeFileName,
  carryOut,
  diskFolder,
  type FolderStep,
  type FolderTarget,
  type HeldFolder,
} from './place.ts';
import { textColumnsOf, withWrittenTexts } from './text-columns.ts';
import type { ColumnsThreadOptions } from '../parquet/beside.ts';
import type { ColumnTyping, ParquetSettings } from '../parquet/writing.ts';
import { bucketFolder, type BucketFolderOptions } from './bucket.ts';
import type { DiskOptions } from '../place/disk.ts';
import { storeFolder, type StoreFolderOptions } from './row-store.ts';

/** Options that do not depend on the place of the folder. */
interface FolderFilesOptions extends Partial<ParquetSettings> {
  readonly format: FileLayoutName;
  /** address of the folder in a bucket, as in the manifest; scripts load the files from there */
  readonly location?: string;
  /**
   * options of a thread that makes Parquet files beside the load (src/targets/files/parquet/beside.ts); absent: the main thread makes them
   * all
   */
  readonly columnsThread?: ColumnsThreadOptions;
}

export interface FolderRowSinkOptions extends FolderFilesOptions, DiskOptions {}

/** Creates a sink for a folder of this machine. */
export function createFolderRowSink(options: FolderRowSinkOptions): RowSink {
  return new FolderRowSink(diskFolder(options), options, fileNamePart);
}

/** `location`: also for scripts that load the files from there. */
export interface ObjectFolderRowSinkOptions extends FolderFilesOptions, BucketFolderOptions {
  readonly location: string;
  /** the job's mark in file names, from `jobMark` */
  readonly jobMark: string;
}

/**
 * Creates a sink for a folder in a remote file store. Parquet files have the encodings that all warehouses read, unless `deltas` is set.
 */
export function createObjectFolderRowSink(options: ObjectFolderRowSinkOptions): RowSink {
  const { format, columnsThread, deltas = false, location, jobMark } = options;
  const written = {
    format,
    deltas,
    // scripts can only load files from an address
    ...(/^[a-z][a-z0-9+.-]*:\/\//i.test(location) ? { location: location.replace(/\/+$/, '') } : {}),
    ...(columnsThread === undefined ? {} : { columnsThread }),
  };
  // file names contain the job even if an overwrite could reuse a name: a file that a manifest lists never changes
  return new FolderRowSink(bucketFolder(options), written, (table) => `${fileNamePart(table)}.${jobMark}`);
}

export interface StoreRowSinkOptions extends StoreFolderOptions {
  /** the job's mark in names of batches, as in ObjectFolderRowSinkOptions */
  readonly jobMark: string;
}

/** Creates a sink for a store that a host application provides; it writes JSON Lines. */
export function createStoreRowSink(options: StoreRowSinkOptions): RowSink {
  return new FolderRowSink(
    storeFolder(options),
    { format: 'jsonl' },
    (table) => `${fileNamePart(table)}.${options.jobMark}`,
  );
}

class FolderRowSink extends StagedFileSink<FolderStep, HeldFolder> implements RowSink {
  readonly encoding: RowEncoding;
  readonly scalesDecimals: boolean;
  readonly label: string;
  protected readonly localLabel: string;
  readonly #place: FolderTarget;
  readonly #options: FolderFilesOptions;
  /** Returns a table's name as part of a file's name. */
  readonly #fileNameOf: (table: string) => string;
  readonly #layout: FolderLayout;
  /** names of files that remain, by table */
  readonly #taken = new Map<string, ReadonlySet<string>>();
  /** names of new files that replace files of earlier jobs */
  #rewritten: ReadonlySet<string> = new Set();
  #rows: TableRows | null = null;
  #manifest!: TargetManifest;
  /** the tables of the manifest that remain after an overwrite */
  #kept: readonly ManifestTable[] = [];
  /** null: the staged files are the final files */
  #making: FileMaking | null = null;

  constructor(place: FolderTarget, options: FolderFilesOptions, fileNameOf: (table: string) => string) {
    super();
    this.#place = place;
    this.#options = options;
    this.#fileNameOf = fileNameOf;
    this.#layout = layoutOf(options.format);
    this.encoding = layoutFacts(options.format).encoding;
    this.scalesDecimals = this.#layout.scalesDecimals;
    this.label = place.label;
    this.localLabel = place.localLabel;
  }

  async loads(): Promise<readonly TargetLoad[]> {
    const manifest = await this.guarded(() => this.#place.look());
    return manifest === null ? [] : loadsOf(manifest);
  }

  async existingZones(tables: readonly ZoneTable[]): Promise<ExistingZones> {
    const manifest = await this.guarded(() => this.#place.look());
    return manifest === null ? new Map() : zonesOfManifest(manifest, tables);
  }

  /** The plan itself is enough for later. */
  protected override prepare(): void {}

  async keyOffsets(): Promise<ReadonlyMap<string, number>> {
    if (this.outcome !== 'load' || this.plan.keys === 'hash') return new Map();
    return new Map(Object.entries(this.#manifest.keys));
  }

  async loadedDocuments(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    const { stored } = this.#layout;
    if (stored === null)
      throw new AppError(
        'invalid_option',
        `${this.label}: files written with -f ${this.#options.format} cannot be read back.`,
      );
    return this.guarded(async () => {
      const held = this.held!;
      const wanted = new Set(sha256s);
      const found = new Set<string>();
      for (const name of documentFiles(this.#ownDocuments())) {
        const path = await held.localFile(name);
        for await (const sha256 of stored.documentHashes(held.local, path))
          if (wanted.has(sha256)) found.add(sha256);
      }
      return found;
    });
  }

  protected override unitRules(): UnitRules | null {
    const { format, deltas = true } = this.#options;
    const kind = this.#layout.units;
    if (kind === null) return null;
    return {
      tokenFor: async (settled) => ({ kind: 'folder', format, deltas, settled }),
      rulesFor: kind === 'typed' ? async () => ({}) : null,
    };
  }

  protected override fileNameFor(table: string, unit: number | null): string {
    const { format } = this.#options;
    return this.#nameFor(table, unit === null ? format : `u${unit}.${format}`);
  }

  protected override writeFile(table: string, name: string, rows: HandedRows): Promise<void> {
    return this.#rows!.write(table, name, ...rows);
  }

  protected override async publishStaged(
    fence: () => Promise<boolean>,
    lastKeys: ReadonlyMap<string, number>,
  ): Promise<Published> {
    const { allTables, saveMode, model } = this.plan;
    if (allTables || saveMode === 'write-schema') {
      const filled = new Set([...this.#kept.map((table) => table.name), ...this.adopted.keys()]);
      for (const name of membersOf(model.tables, 'name'))
        if (!filled.has(name)) await this.writeRows(name, new Uint8Array(0), 0);
    }
    const codes = await this.#writeCodes();
    const added = await this.#withWrittenTexts(await this.#added());
    const manifest = await this.#nextManifest(lastKeys, codes.rows, added);
    const names = new Set(manifest.tables.flatMap(({ files }) => files.map(({ name }) => name)));
    const before = new Set(this.#manifest.tables.flatMap(({ files }) => files.map(({ name }) => name)));
    const made = new Set([...added.values()].flatMap((files) => files.map(({ name }) => name)));
    const held = this.held!;
    const staging = this.staging;
    await this.#checkForeignFiles(manifest, names);
    const step: FolderStep = {
      staging,
      files: [...names].filter((name) => made.has(name) || this.#rewritten.has(name)),
      scripts: await writeScripts(join(held.local, staging), this.plan, manifest),
      remove: [
        ...[...before].filter((name) => !names.has(name)),
        ...this.#ownScripts().filter((name) => !scriptNames(manifest).includes(name)),
      ],
      manifest,
      model: this.plan.model,
    };
    await this.decide(step, fence);
    await carryOut(held, step);
    return {
      rows: rowsByTable(added),
      already: false,
      changes: [
        ...codes.changes,
        ...widenedInWords(typesIn(this.plan.model, this.widened)),
        ...inWords(columnsIn(this.plan.model, this.nullAllowed), 'NOT NULL dropped'),
      ],
      ...(this.plan.keys === 'hash' ? {} : { keys: manifest.keys }),
    };
  }

  protected override async endWork(): Promise<void> {
    await this.#making?.end();
  }

  override async close(): Promise<void> {
    try {
      await this.abort();
    } finally {
      await this.#place.close();
    }
  }

  protected override async openTarget(): Promise<'load' | 'skip'> {
    const plan = this.plan;
    const held = await this.#place.hold();
    this.held = held;
    const { format, columnsThread, deltas = true } = this.#options;
    this.#manifest = (await held.readManifest()) ?? {
      version: 1,
      format,
      jobs: [],
      keys: {},
      tables: [],
    };
    const { jobUuid } = plan;
    if (this.#manifest.jobs.some((job) => job.job_uuid === jobUuid)) {
      this.outcome = 'already';
      return 'skip';
    }
    const own = tableIndexes(plan.model);
    const filled = this.#manifest.tables.filter((table) => own.has(table.name) && table.rows > 0);
    if (!(await this.mayLoad(() => Promise.resolve(filled.map(({ name }) => name))))) return 'skip';
    this.#kept =
      plan.saveMode === 'overwrite' ? remainingTables(this.#manifest, plan) : this.#manifest.tables;
    const other = tableOfOtherKeys(plan.model, this.#kept);
    if (other !== undefined) throw new AppError('conflict', otherKeysMessage(this.label, other.name));
    if (this.#kept.length > 0 && this.#manifest.format !== format) {
      throw new AppError(
        'conflict',
        `${this.label}: the folder holds ${this.#manifest.format} files; use -f ${this.#manifest.format}, another folder, or replace them (-S o).`,
      );
    }
    const directory = await held.stage(this.nameStaging());
    const typings = (): Map<string, ColumnTyping> => this.#typings();
    this.#making =
      this.#layout.makeFiles?.({
        directory,
        columnsThread,
        deltas,
        typings,
        model: plan.model,
        stagedNames: () => this.names,
        fileName: () => this.#nameForAll(),
      }) ?? null;
    const isScratch = this.#making !== null;
    const appended = this.#making?.appended;
    this.files = new StagedFiles(directory, { isScratch, holdsSmall: isScratch, appended });
    this.#rows = new TableRows(this.#layout, plan.model, this.files);
    this.outcome = 'load';
    return plan.saveMode === 'write-schema' ? 'skip' : 'load';
  }

  /**
   * Returns the kept files of the jobs that wrote into tables of this model or loaded by this logical schema. Their documents, which this
   * job does not know, are kept whole.
   */
  #ownDocuments(): readonly ManifestTable[] {
    const own = tableIndexes(this.plan.model);
    const jobs = new Set(
      this.#kept.flatMap(({ name, files }) => (own.has(name) ? files.map((file) => file.job_uuid) : [])),
    );
    for (const job of this.#manifest.jobs) if (isByLogicalSchema(job, this.plan)) jobs.add(job.job_uuid);
    return this.#kept.map((table) => ({
      ...table,
      files: table.files.filter((file) => jobs.has(file.job_uuid)),
    }));
  }

  #nameFor(table: string, extension: string, others: ReadonlySet<string> = new Set()): string {
    const part = this.#fileNameOf(table);
    let taken = this.#taken.get(table);
    if (taken === undefined) {
      const files = this.#kept.find(({ name }) => name === table)?.files ?? [];
      this.#taken.set(table, (taken = new Set(files.map(({ name }) => name))));
    }
    return freeFileName(part, this.plan.idJob, extension, taken.union(others));
  }

  /** Returns the name of a file with the rows of all tables. */
  async #nameForAll(): Promise<string> {
    const part = this.#fileNameOf((await this.plan.schemaName?.()) ?? 'tables');
    const taken = new Set(this.#kept.flatMap(({ files }) => files.map(({ name }) => name)));
    return freeFileName(part, this.plan.idJob, this.#options.format, taken);
  }

  /** Rewrites the file of `_codes`. */
  async #writeCodes(): Promise<KeptCodes> {
    const kept = await this.keptCodes(this.#manifest);
    if (kept.rows === null) return kept;
    this.#kept = this.#kept.filter(({ name }) => name !== codesTable.name);
    await this.writeCodes(kept.rows);
    return kept;
  }

  /** Rewrites files whose columns are text in the folder so that values are as in the documents. */
  async #withWrittenTexts(added: ManifestStep['added']): Promise<ManifestStep['added']> {
    const { model } = this.plan;
    const { format } = this.#options;
    const held = this.held!;
    const { stored } = this.#layout;
    if (stored === null) return added;
    const names = new Set<string>();
    const written = await withWrittenTexts({
      model,
      rewriting: { rewrite: stored.rewrite, directory: held.local },
      staging: join(held.local, this.staging),
      kept: this.#kept,
      added,
      columnsOf: (table) => tableColumns(model, table).map((column) => column.name),
      widened: typesIn(model, this.widened),
      localFile: (name) => held.localFile(name),
      nameFor: (table) => {
        const taken = new Set([...names, ...(added.get(table) ?? []).map(({ name }) => name)]);
        const name = this.#nameFor(table, format, taken);
        names.add(name);
        return name;
      },
    });
    this.#kept = written.kept;
    this.#rewritten = names;
    return written.added;
  }

  /** Returns the new files by table; files of executors come first. */
  async #added(): Promise<ReadonlyMap<string, readonly FileOfJob[]>> {
    const finished = await this.#finish();
    const tables = new Set([...this.adopted.keys(), ...this.names.keys()]);
    return new Map(
      [...tables].map((table) => {
        const own = finished.get(this.names.get(table) ?? '');
        return [table, [...(this.adopted.get(table) ?? []), ...(own === undefined ? [] : [own])]] as const;
      }),
    );
  }

  async #nextManifest(
    lastKeys: ReadonlyMap<string, number>,
    codes: KeptCodes['rows'],
    added: ManifestStep['added'],
  ): Promise<TargetManifest> {
    return nextManifest({
      plan: this.plan,
      before: this.#manifest,
      kept: this.#kept,
      added,
      columnsOf: (table) => tableColumns(this.plan.model, table).map((column) => column.name),
      widened: typesIn(this.plan.model, this.widened),
      nullAllowed: columnsIn(this.plan.model, this.nullAllowed),
      lastKeys,
      format: this.#options.format,
      location: this.#options.location,
      hasPackage: await this.#hasPackage(),
      codes,
    });
  }

  /** Finishes the files, and returns them by the name of the staged file. */
  async #finish(): Promise<Map<string, FinishedFile>> {
    const staged = await this.files!.finish();
    const files = (await this.#making?.write(staged)) ?? staged;
    return new Map(staged.map(({ name }, at) => [name, files[at]!]));
  }

  /** Returns the column types by the name of the staged file, for the values so far. */
  #typings(): Map<string, ColumnTyping> {
    const widened = typesIn(this.plan.model, this.widened);
    const texts = textColumnsOf(this.plan.model, this.#kept, widened);
    const text: ColumnType = { kind: 'text' };
    const typing = (table: string): ColumnTyping => ({
      columns: tableColumns(this.plan.model, table),
      widened: new Map([
        ...(widened.get(table) ?? []),
        ...[...(texts.get(table)?.all ?? [])].map((column) => [column, text] as const),
      ]),
    });
    return new Map([...this.names].map(([table, name]) => [name, typing(table)]));
  }

  /** Returns the scripts of the existing files. */
  #ownScripts(): readonly string[] {
    return this.#manifest.jobs.length === 0 ? [] : scriptNames(this.#manifest);
  }

  async #checkForeignFiles(manifest: TargetManifest, names: ReadonlySet<string>): Promise<void> {
    const listed = this.#manifest.tables.flatMap(({ files }) => files.map(({ name }) => name));
    const known = new Set([...listed, ...this.#ownScripts()]);
    const others = [...names, ...scriptNames(manifest)].filter((name) => !known.has(name));
    const found = await this.held!.findFirst(others);
    if (found !== null)
      throw new AppError('conflict', `${this.label}: ${found} exists and was not written by a job.`);
  }

  /** Returns whether the folder has a `datapackage.json` of a job. A file of another origin is never replaced. */
  async #hasPackage(): Promise<boolean> {
    if (!hasScript(this.#options.format, dataPackageName)) return false;
    return this.#manifest.data_package === true || (await this.held!.findFirst([dataPackageName])) === null;
  }
}
