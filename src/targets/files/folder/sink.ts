/**
 * Rows into a folder: one file per table and job, a manifest that lists them, and a script that loads them. New files wait in
 * a folder inside; a journal makes all of them appear as one step (docs/decisions/loading/staging-and-publishing.md).
 */
import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { otherKeysMessage } from '../../../engine/model/key-columns.ts';
import { membersOf } from '../../../engine/model/packed/lazy-array.ts';
import { tableIndexes } from '../../../engine/model/packed/table-names.ts';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { codesTable, sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import { layoutFacts, type FileLayoutName } from '../../../ports/rows/layouts.ts';
import type {
  Published,
  RowEncoding,
  RowSink,
  SideTable,
  ZonesThere,
  ZoneTable,
} from '../../../ports/rows/sink.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import type { UnitTarget } from '../../../ports/rows/units.ts';
import { readFolderLoads, readFolderZones } from './ledger.ts';
import { documentsIn } from './loaded-documents.ts';
import { passFence, StagedRowSink } from '../../rows/staged-rows.ts';
import { fileFault } from '../../../adapters/file-staging/faults.ts';
import {
  StagedFiles,
  type FinishedFile,
  type HandedRows,
} from '../../../adapters/file-staging/staged-files.ts';
import { tableColumns } from './contents/table-columns.ts';
import { hasScript, layoutOf, scriptNames, writeScripts } from './layouts/every-layout.ts';
import type { FileMaking, FolderLayout } from './layouts/folder-layout.ts';
import { lockFolder, type FileLock } from '../../../adapters/file-staging/lock.ts';
import { makeFolders, type CreatedFolders } from '../../../adapters/file-staging/created-folders.ts';
import {
  commitJournal,
  dataPackageName,
  finishJournal,
  readManifest,
  stagingPrefix,
  type TargetManifest,
  type ManifestTable,
} from './contents/manifest.ts';
import {
  isByLogicalSchema,
  nextManifest,
  remainingTables,
  tableOfOtherKeys,
  rowsByTable,
  type FileOfJob,
  type ManifestStep,
} from './contents/next-manifest.ts';
import { exists, refuseForeignFiles } from './contents/foreign-files.ts';
import { keptCodes, type KeptCodes } from './contents/code-rows.ts';
import { encodedRows } from './contents/encoded-rows.ts';
import { fileNamePart, freeFileName } from './contents/file-names.ts';
import { columnsIn, inWords, typesIn, widenedInWords } from './contents/noted-columns.ts';
import { textColumnsOf, withWrittenTexts } from './written/text-columns.ts';
import type { ColumnsThreadOptions } from './columns/beside.ts';
import type { ColumnTyping, ParquetSettings } from './parquet.ts';
import { TableRows } from './table-rows.ts';
import { createFileUnits } from './units/driver.ts';
import { tableName } from './units/token.ts';
import { makeStaging, removeDeadStaging } from '../../../adapters/file-staging/marked-folder.ts';
import { pinFolder, type PinnedFolder } from '../../../adapters/local-files/open-folder.ts';

export interface FolderRowSinkOptions extends Partial<ParquetSettings> {
  readonly directory: string;
  readonly format: FileLayoutName;
  /** a table's name as part of a file's name (letters, digits, `_` and `-` as they are, all else percent-encoded) */
  readonly fileNameOf?: (table: string) => string;
  /** the path was checked and its links resolved: one that stands in it by now is refused (false) */
  readonly refuseLinks?: boolean;
  /** Makes a file that the manifest lists readable in the folder; absent: it is. */
  readonly fetch?: (name: string) => Promise<void>;
  /** where the files will lie in a bucket, `s3://BUCKET/PREFIX` */
  readonly location?: string;
  /** of a thread that makes Parquet files beside the load (src/targets/files/folder/columns/thread.ts); absent: all is done in this one */
  readonly columnsThread?: ColumnsThreadOptions;
  /** how long to wait for another job that writes into the folder (15 minutes) */
  readonly lockTimeoutMs?: number;
}

export function createFolderRowSink(options: FolderRowSinkOptions): RowSink {
  return new FolderRowSink(options);
}

class FolderRowSink extends StagedRowSink implements RowSink {
  readonly encoding: RowEncoding;
  readonly widensInPlace = false;
  readonly scalesDecimals: boolean;
  readonly label: string;
  readonly #options: FolderRowSinkOptions;
  readonly #layout: FolderLayout;
  /** where it is worked: the folder itself, held open once it is there */
  #directory: string;
  #pinned: PinnedFolder | null = null;
  /** names of the files that this job writes, by table */
  readonly #names = new Map<string, string>();
  /** names of files that stay, by table */
  readonly #taken = new Map<string, ReadonlySet<string>>();
  /** names of new files that take the places of files of earlier jobs */
  #rewritten: ReadonlySet<string> = new Set();
  /** files that executors have written, by table */
  readonly #adopted = new Map<string, FileOfJob[]>();
  #units: UnitTarget | null = null;
  #rows: TableRows | null = null;
  #lock: FileLock | null = null;
  #createdFolders: CreatedFolders | null = null;
  #manifest!: TargetManifest;
  /** the manifest's tables that stay, after an overwrite */
  #kept: readonly ManifestTable[] = [];
  #staging = '';
  #files: StagedFiles | null = null;
  /** null: the staged files are the folder's */
  #making: FileMaking | null = null;

  constructor(options: FolderRowSinkOptions) {
    super();
    this.#options = options;
    this.#directory = resolve(options.directory);
    this.#layout = layoutOf(options.format);
    this.encoding = layoutFacts(options.format).encoding;
    this.scalesDecimals = this.#layout.scalesDecimals;
    this.label = options.directory;
  }

  async loads(): Promise<readonly TargetLoad[]> {
    const links = this.#options.refuseLinks === true ? 'refuse' : 'follow';
    return this.guarded(() => readFolderLoads(this.#directory, links));
  }

  zonesThere(tables: readonly ZoneTable[]): Promise<ZonesThere> {
    const links = this.#options.refuseLinks === true ? 'refuse' : 'follow';
    return this.guarded(() => readFolderZones(this.#directory, links, tables));
  }

  /** The plan is all that is needed later. */
  protected override prepare(): void {}

  async keyOffsets(): Promise<ReadonlyMap<string, number>> {
    if (this.outcome !== 'load' || this.plan.keys === 'hash') return new Map();
    return new Map(Object.entries(this.#manifest.keys));
  }

  async loadedDocuments(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    const { stored } = this.#layout;
    if (stored === null)
      throw new AppError('invalid_option', `${this.label}: -f ${this.#options.format} is not read again.`);
    return this.guarded(() => documentsIn(this.#directory, stored, this.#ownDocuments(), new Set(sha256s)));
  }

  override get units(): UnitTarget | null {
    const { format, deltas = true } = this.#options;
    const kind = this.#layout.units;
    if (kind === null) return null;
    return (this.#units ??= createFileUnits({
      model: this.plan.model,
      tokenFor: async (settled) => ({ kind: 'folder', format, deltas, settled }),
      rulesFor: kind === 'typed' ? async () => ({}) : null,
      take: async ({ table, ...file }, path, unit) => {
        const ofTable = tableName(this.plan.model, table);
        const name = this.#nameFor(ofTable, `u${unit}.${format}`);
        await this.#files!.adopt(path, name);
        const adopted = this.#adopted.get(ofTable) ?? [];
        adopted.push({ ...file, name });
        this.#adopted.set(ofTable, adopted);
      },
      nullAllowed: this.nullAllowed,
      unfit: this.unfit,
      guarded: (work) => this.guarded(work),
    }));
  }

  async write(table: number, ...rows: HandedRows): Promise<void> {
    await this.#write(this.plan.model.tables[table]!.name, ...rows);
  }

  async writeSide(table: SideTable, ...rows: HandedRows): Promise<void> {
    await this.#write(sideTableNames[table], ...rows);
  }

  protected override async publishStaged(
    fence: () => Promise<boolean>,
    lastKeys: ReadonlyMap<string, number>,
  ): Promise<Published> {
    const { allTables, saveMode, model } = this.plan;
    if (allTables || saveMode === 'write-schema') {
      const filled = new Set([...this.#kept.map((table) => table.name), ...this.#adopted.keys()]);
      for (const name of membersOf(model.tables, 'name'))
        if (!filled.has(name)) await this.#write(name, new Uint8Array(0), 0);
    }
    const codes = await this.#writeCodes();
    const added = await this.#withWrittenTexts(await this.#added());
    const manifest = await this.#nextManifest(lastKeys, codes.rows, added);
    const names = new Set(manifest.tables.flatMap(({ files }) => files.map(({ name }) => name)));
    const before = new Set(this.#manifest.tables.flatMap(({ files }) => files.map(({ name }) => name)));
    const made = new Set([...added.values()].flatMap((files) => files.map(({ name }) => name)));
    await this.#checkForeignFiles(manifest, names);
    const scripts = await writeScripts(join(this.#directory, this.#staging), this.plan, manifest);
    if (!(await this.#lock!.isHeld())) {
      throw new AppError('service_unavailable', `${this.label}: another job has taken the folder over.`);
    }
    await passFence(fence);
    await commitJournal(this.#directory, {
      staging: this.#staging,
      files: [...[...names].filter((name) => made.has(name) || this.#rewritten.has(name)), ...scripts],
      remove: [
        ...[...before].filter((name) => !names.has(name)),
        ...this.#ownScripts().filter((name) => !scriptNames(manifest).includes(name)),
      ],
      manifest,
    });
    // the journal needs the staged files now, whatever happens to this process
    this.outcome = 'nothing';
    this.#staging = '';
    this.#createdFolders = null;
    await finishJournal(this.#directory);
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

  async abort(): Promise<void> {
    this.outcome = 'nothing';
    await this.#files?.settle();
    await this.#making?.end();
    if (this.#lock === null) return;
    await this.guarded(async () => {
      if (this.#staging !== '')
        await rm(join(this.#directory, this.#staging), { recursive: true, force: true });
      await this.#lock?.release();
      this.#lock = null;
      await this.#createdFolders?.remove();
    });
  }

  async close(): Promise<void> {
    try {
      await this.abort();
    } finally {
      await this.#pinned?.close();
      this.#pinned = null;
    }
  }

  protected override async openTarget(): Promise<'load' | 'skip'> {
    const plan = this.plan;
    this.#createdFolders = await makeFolders(this.#directory);
    this.#pinned = await pinFolder(this.#directory, this.#options.refuseLinks === true ? 'refuse' : 'follow');
    this.#directory = this.#pinned.path;
    this.#lock = await lockFolder(this.#directory, this.#options.lockTimeoutMs ?? 15 * 60_000, this.label);
    await finishJournal(this.#directory);
    // nobody else writes here now: what is still staged belongs to the dead
    for (const name of await readdir(this.#directory))
      if (name.startsWith(stagingPrefix)) await removeDeadStaging(join(this.#directory, name));
    const { format, columnsThread, deltas = true } = this.#options;
    this.#manifest = (await readManifest(this.#directory)) ?? {
      version: 1,
      format,
      jobs: [],
      keys: {},
      tables: [],
    };
    const { idJob, jobUuid } = plan;
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
        `${this.label}: the folder holds ${this.#manifest.format} files; take -f ${this.#manifest.format}, another folder, or replace them (-S o).`,
      );
    }
    this.#staging = `${stagingPrefix}${idJob}-${randomBytes(4).toString('hex')}`;
    await makeStaging(join(this.#directory, this.#staging));
    const directory = join(this.#directory, this.#staging);
    const typings = (): Map<string, ColumnTyping> => this.#typings();
    this.#making =
      this.#layout.makeFiles?.({
        directory,
        columnsThread,
        deltas,
        typings,
        model: plan.model,
        stagedNames: () => this.#names,
        fileName: () => this.#nameForAll(),
      }) ?? null;
    const isScratch = this.#making !== null;
    const appended = this.#making?.appended;
    this.#files = new StagedFiles(directory, { isScratch, holdsSmall: isScratch, appended });
    this.#rows = new TableRows(this.#layout, plan.model, this.#files);
    this.outcome = 'load';
    return plan.saveMode === 'write-schema' ? 'skip' : 'load';
  }

  /** What stays of the jobs that wrote into tables of this model, or by it beside them: documents that it does not know, kept whole. */
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

  #fileOf(table: string): string {
    let name = this.#names.get(table);
    if (name === undefined) this.#names.set(table, (name = this.#nameFor(table, this.#options.format)));
    return name;
  }

  #nameFor(table: string, extension: string, others: ReadonlySet<string> = new Set()): string {
    const part = (this.#options.fileNameOf ?? fileNamePart)(table);
    let taken = this.#taken.get(table);
    if (taken === undefined) {
      const files = this.#kept.find(({ name }) => name === table)?.files ?? [];
      this.#taken.set(table, (taken = new Set(files.map(({ name }) => name))));
    }
    return freeFileName(part, this.plan.idJob, extension, taken.union(others));
  }

  /** For a file with the rows of all tables. */
  async #nameForAll(): Promise<string> {
    const part = (this.#options.fileNameOf ?? fileNamePart)((await this.plan.schemaName?.()) ?? 'tables');
    const taken = new Set(this.#kept.flatMap(({ files }) => files.map(({ name }) => name)));
    return freeFileName(part, this.plan.idJob, this.#options.format, taken);
  }

  async #write(table: string, ...rows: HandedRows): Promise<void> {
    await this.guarded(() => this.#rows!.write(table, this.#fileOf(table), ...rows));
  }

  /** The file of `_codes` is written anew. */
  async #writeCodes(): Promise<KeptCodes> {
    const kept = await keptCodes(this.plan, this.#manifest, (table) => this.#isWritten(table));
    if (kept.rows === null) return kept;
    this.#kept = this.#kept.filter(({ name }) => name !== codesTable.name);
    await this.#write(codesTable.name, ...encodedRows(kept.rows, this.encoding, codesTable.columns));
    return kept;
  }

  #isWritten(table: string): boolean {
    return this.#names.has(table) || this.#adopted.has(table);
  }

  /** Files of columns that are text by now have values as documents write them. */
  async #withWrittenTexts(added: ManifestStep['added']): Promise<ManifestStep['added']> {
    const { model } = this.plan;
    const { format, fetch = () => Promise.resolve() } = this.#options;
    const { stored } = this.#layout;
    if (stored === null) return added;
    const names = new Set<string>();
    const written = await withWrittenTexts({
      model,
      rewriting: { rewrite: stored.rewrite, directory: this.#directory },
      staging: join(this.#directory, this.#staging),
      kept: this.#kept,
      added,
      columnsOf: (table) => tableColumns(model, table).map((column) => column.name),
      widened: typesIn(model, this.widened),
      fetch,
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

  /** By table; those that executors wrote first. */
  async #added(): Promise<ReadonlyMap<string, readonly FileOfJob[]>> {
    const finished = await this.#finish();
    const tables = new Set([...this.#adopted.keys(), ...this.#names.keys()]);
    return new Map(
      [...tables].map((table) => {
        const own = finished.get(this.#names.get(table) ?? '');
        return [table, [...(this.#adopted.get(table) ?? []), ...(own === undefined ? [] : [own])]] as const;
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

  /** By the name of the staged file. */
  async #finish(): Promise<Map<string, FinishedFile>> {
    const staged = await this.#files!.finish();
    const files = (await this.#making?.write(staged)) ?? staged;
    return new Map(staged.map(({ name }, at) => [name, files[at]!]));
  }

  /** By the name of the staged file, as values are by now. */
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
    return new Map([...this.#names].map(([table, name]) => [name, typing(table)]));
  }

  /** Scripts of the files that were here before. */
  #ownScripts(): readonly string[] {
    return this.#manifest.jobs.length === 0 ? [] : scriptNames(this.#manifest);
  }

  async #checkForeignFiles(manifest: TargetManifest, names: ReadonlySet<string>): Promise<void> {
    const listed = this.#manifest.tables.flatMap(({ files }) => files.map(({ name }) => name));
    const known = new Set([...listed, ...this.#ownScripts()]);
    await refuseForeignFiles(this.#directory, this.label, known, [...names, ...scriptNames(manifest)]);
  }

  /** One that no job wrote is somebody else's, and stays. */
  async #hasPackage(): Promise<boolean> {
    if (!hasScript(this.#options.format, dataPackageName)) return false;
    return this.#manifest.data_package === true || !(await exists(join(this.#directory, dataPackageName)));
  }

  protected override faultOf(error: unknown): unknown {
    return fileFault(error, this.label);
  }
}
