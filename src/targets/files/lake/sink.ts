/**
 * Writes rows into a folder of Delta or Iceberg tables, one per relational table, which warehouses and engines read directly. New files
 * wait in a folder inside; once the step is decided, each table gets a version with the job's rows, `_loads` last.
 */
import type { UnitRules } from '../units.ts';
import { join } from 'node:path';
import { hasOtherKeys, otherKeysMessage } from '../../../engine/model/keys.ts';
import { codesTable, sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type {
  CurrentDocument,
  MergeOrder,
  UnmappedOfDocument,
  Fence,
  Published,
  RowSink,
  ExistingZones,
  ZoneTable,
  TargetLoad,
} from '../../../ports/row-sink.ts';
import { StagedFileSink } from '../sink.ts';
import { StagedFiles, type HandedRows } from '../../../storage/staging/staged-files.ts';
import type { KeptCodes } from '../folder/table-columns.ts';
import { jobMark } from '../folder/place.ts';
import { holderOf, type HeldLakePlace, type LakeTarget } from './place.ts';
import { isByLogicalSchema } from '../folder/manifest.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import { currentLakeDocuments, unmappedLakeContent, planMerge } from './merged-documents.ts';
import { finishStep, holdPlace } from './finish-step.ts';
import { compactSome, defaultMaxFiles } from './compaction.ts';
import { readLakeLoads, readLakeZones } from './look.ts';
import { ExistingTables } from './existing-tables.ts';
import { eachAtOnce } from '../place/journal.ts';
import { emptyManifest, tableFolder, type LakeManifest, type LakeStep } from './manifest.ts';
import { checkPartitioning, partitioningOf, partitionsOf } from './partitioning.ts';
import type { PartitionField } from './partition-fields.ts';
import { nextStep } from './next-step.ts';
import { formatsOf } from './formats.ts';
import { type LakeFormatName, dataFileName } from './table-format.ts';
import { lakeUnitRules } from './units.ts';

export interface LakeRowSinkOptions {
  readonly target: LakeTarget;
  readonly format: LakeFormatName;
  /**
   * see ParquetSettings (src/targets/files/parquet/writing.ts); absent: true for Delta alone, because some readers of Iceberg do not
   * support them
   */
  readonly deltas?: boolean;
  /** the number of files that a table may have before a job compacts it (64) */
  readonly maxFiles?: number;
}

export function createLakeRowSink(options: LakeRowSinkOptions): RowSink {
  return new LakeRowSink(options);
}

class LakeRowSink extends StagedFileSink<LakeStep, HeldLakePlace> implements RowSink {
  readonly encoding = 'words';
  readonly scalesDecimals = true;
  readonly label: string;
  protected readonly localLabel: string;
  readonly #options: LakeRowSinkOptions;
  readonly #deltas: boolean;
  #partitions: ReadonlyMap<string, readonly PartitionField[]> = new Map();
  #manifest!: LakeManifest;
  #known!: ExistingTables;

  constructor(options: LakeRowSinkOptions) {
    super();
    this.#options = options;
    this.#deltas = options.deltas ?? options.format === 'delta';
    this.label = this.localLabel = options.target.label;
  }

  async loads(): Promise<readonly TargetLoad[]> {
    return this.guarded(() => readLakeLoads(this.#options.target));
  }

  async existingZones(tables: readonly ZoneTable[]): Promise<ExistingZones> {
    return this.guarded(() => readLakeZones(this.#options.target, tables));
  }

  protected override prepare({ model, partition = [] }: typeof this.plan): void {
    this.#partitions = partitionsOf(model, this.#options.format, partition);
    for (const format of formatsOf(this.#options.format))
      for (const { name, columns } of model.tables)
        format.checkColumnNames(
          name,
          columns.map((column) => column.name),
        );
  }

  async keyOffsets(): Promise<ReadonlyMap<string, number>> {
    if (this.outcome !== 'load' || this.plan.keys === 'hash') return new Map();
    return this.guarded(async () => {
      const keys = new Map(Object.entries(this.#manifest.keys));
      for (const [table, key] of await this.#known.foreignKeys(this.plan.model))
        if (key > (keys.get(table) ?? 0)) keys.set(table, key);
      return keys;
    });
  }

  async loadedDocuments(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.plan.saveMode === 'overwrite') return new Set();
    return this.guarded(() => this.#known.documentsOf(this.#ownJobs(), new Set(sha256s)));
  }

  protected override unitRules(): UnitRules {
    const { model, saveMode } = this.plan;
    return lakeUnitRules({
      model,
      lakeFormat: this.#options.format,
      deltas: this.#deltas,
      existingColumns: async (table, isSide) =>
        saveMode === 'overwrite' && !isSide ? null : this.#known.columns(table),
      fieldIds: (table, fields) => this.#known.fieldIds(table, fields),
      partitioning: (table) =>
        partitioningOf({ known: this.#known, table, wanted: this.#partitions.get(table) }),
    });
  }

  protected override fileNameFor(): string {
    const { idJob, jobUuid } = this.plan;
    return dataFileName(jobMark(idJob, jobUuid));
  }

  protected override writeFile(_: string, name: string, rows: HandedRows): Promise<void> {
    return this.files!.write(name, ...rows);
  }

  async *currentDocuments(keys: ReadonlySet<string> | null): AsyncIterable<CurrentDocument> {
    yield* await this.guarded(() => currentLakeDocuments(this.#known, this.#manifest.jobs, this.plan, keys));
  }

  async *unmappedContent(of: 'others' | 'all'): AsyncIterable<UnmappedOfDocument> {
    yield* await this.guarded(() => unmappedLakeContent(this.#known, of === 'all' ? null : this.plan));
  }

  protected override async publishStaged(
    fence: Fence,
    lastKeys: ReadonlyMap<string, number>,
    order: MergeOrder,
  ): Promise<Published> {
    const place = this.held!;
    const merge =
      this.plan.saveMode === 'merge'
        ? await planMerge(this.#known, this.#manifest.jobs, this.plan, order)
        : null;
    const codes = await this.#writeCodes();
    const { step, rows, changes } = await nextStep({
      plan: this.plan,
      before: this.#manifest,
      deltas: this.#deltas,
      known: this.#known,
      partitions: this.#partitions,
      staging: join(place.local, this.staging),
      stagingName: this.staging,
      adopted: this.adopted,
      names: this.names,
      staged: new Map((await this.files!.finish()).map((file) => [file.name, file])),
      widened: this.widened,
      isNullAllowed: (table, column) => this.nullAllowed.has(columnId(table, column)),
      lastKeys,
      codes: codes.rows,
      merge,
    });
    await this.#known.close();
    await this.decide(step, fence, merge?.counts);
    const { changes: altered, fileCounts } = await finishStep(place, { isRecovery: false });
    const compacted = await this.#compact(place, fileCounts);
    return {
      rows,
      already: false,
      ...(merge === null ? {} : { merged: merge.counts }),
      changes: [
        ...codes.changes,
        ...changes,
        ...altered.filter((line) => !isTold(line, changes)),
        ...compacted,
      ],
      ...(this.plan.keys === 'hash' ? {} : { keys: step.manifest.keys }),
    };
  }

  /** Compacts tables after the job is published. A fault is only reported, and the next job tries again. */
  async #compact(place: HeldLakePlace, fileCounts: ReadonlyMap<string, number>): Promise<readonly string[]> {
    const { maxFiles = defaultMaxFiles } = this.#options;
    const crowded = [...fileCounts].flatMap(([table, count]) => (count > maxFiles ? [table] : []));
    if (crowded.length === 0) return [];
    try {
      return await compactSome(place, new Set(crowded));
    } catch (error) {
      return [`files of ${crowded.join(', ')} are not compacted yet: ${(error as Error).message}`];
    }
  }

  protected override async endWork(): Promise<void> {
    await this.#known?.close();
  }

  protected override async openTarget(): Promise<'load' | 'skip'> {
    const { jobUuid, model, saveMode } = this.plan;
    const place = (this.held = await holdPlace(this.#options.target, true));
    const { format } = this.#options;
    this.#manifest = (await place.readManifest()) ?? emptyManifest(format);
    if (this.#manifest.format !== format)
      throw new AppError(
        'conflict',
        `${this.label}: the folder holds tables of ${this.#manifest.format}; use -f ${this.#manifest.format}, or another folder.`,
      );
    this.#known = new ExistingTables(place, this.#manifest, join(place.local, this.nameStaging()));
    if (this.#manifest.jobs.some((job) => job.job_uuid === jobUuid)) {
      this.outcome = 'already';
      this.staging = '';
      return 'skip';
    }
    await this.#checkTables(place);
    const names = model.tables.map(({ name }) => name);
    if (!(await this.mayLoad(() => this.#known.filled(names)))) return 'skip';
    this.files = new StagedFiles(await place.stage(this.staging), { isScratch: true, holdsSmall: true });
    this.outcome = 'load';
    return saveMode === 'write-schema' ? 'skip' : 'load';
  }

  /** Checks that the existing tables can hold the rows, and that jobs wrote them. */
  async #checkTables(place: HeldLakePlace): Promise<void> {
    const { model, saveMode, codes } = this.plan;
    const keepsCodes = codes === 'table' || codes === 'check';
    const besides = [...Object.values(sideTableNames), ...(keepsCodes ? [codesTable.name] : [])];
    await eachAtOnce([...model.tables.map(({ name }) => name), ...besides], (name) =>
      this.#checkHolder(place, name),
    );
    await this.#known.lookAt(model.tables.map(({ name }) => name));
    for (const { name, columns } of model.tables) {
      const known = await this.#known.columns(name);
      await checkPartitioning(this.#known, this.label, name, this.#partitions.get(name));
      if (known !== null && saveMode !== 'overwrite' && hasOtherKeys(columns, (key) => known.has(key)))
        throw new AppError('conflict', otherKeysMessage(this.label, name));
    }
  }

  /**
   * Checks that a folder of the table is free, or was made by an attempt that died. In the latter case, anything that others added to the
   * table remains.
   */
  async #checkHolder(place: HeldLakePlace, table: string): Promise<void> {
    if (this.#known.directoryOf(table) !== null) return;
    const folder = tableFolder(table);
    const holder = await holderOf(place, folder);
    if (holder === 'an attempt') this.#known.adopt(table, folder);
    if (holder === 'others')
      throw new AppError('conflict', `${this.label}: ${folder} exists and was not written by a job.`);
  }

  /** Returns the jobs that wrote into tables of this model or loaded by its logical schema; their documents stay. */
  #ownJobs(): readonly string[] {
    const own = new Set(this.plan.model.tables.map((table) => table.name));
    return this.#manifest.jobs
      .filter((job) => {
        if (job.tables.length === 0) return false;
        return isByLogicalSchema(job, this.plan) || job.tables.some((name) => own.has(name));
      })
      .map((job) => job.job_uuid);
  }

  /** Rewrites `_codes` if the job's codes differ. */
  async #writeCodes(): Promise<KeptCodes> {
    const kept = await this.keptCodes(this.#manifest);
    if (kept.rows === null || JSON.stringify(kept.rows) === JSON.stringify(this.#manifest.codes))
      return { ...kept, rows: null };
    await this.writeCodes(kept.rows);
    return kept;
  }
}

/** `altered`: the change of a table; `changes`: the changes that the job's values required, in other words. */
function isTold(altered: string, changes: readonly string[]): boolean {
  return (
    changes.includes(altered) ||
    changes.includes(altered.replace(/: .* widened to VARCHAR$/, ': widened to text')) ||
    changes.includes(altered.replace(/: .* widened to DECIMAL\(38,0\)$/, ': widened to numeric'))
  );
}
