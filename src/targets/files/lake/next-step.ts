/** Plans the changes that a job makes to the tables of a folder, from the rows that it staged. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tableIndexes } from '../../../engine/model/packed/models.ts';
import { hasOffsetBehind } from '../../../engine/model/zones.ts';
import { syncPath } from '../../../storage/staging/durable-file.ts';
import { type CodeRow, typesIn } from '../folder/manifest.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { physicalTables } from '../../../engine/sql/physical-model.ts';
import { codesTable, sideTableNames } from '../../../engine/model/side-tables.ts';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import type { SinkPlan, UnitFile } from '../../../ports/row-sink.ts';
import { columnSqlType } from '../../sql/duckdb/types.ts';
import { isTypedValue } from '../../rows/written-texts.ts';
import { columnId, widenedWords, type WidenedTypes } from '../../rows/unfit-columns.ts';
import type { FinishedFile } from '../../../storage/staging/staged-files.ts';
import { jobMark } from '../folder/place.ts';
import { tableColumns, type NamedColumn } from '../folder/table-columns.ts';
import { writeParquet } from '../parquet/writing.ts';
import { openDataFiles, writtenText, type DataFiles, type TypeChange, fileStatistics } from './data-files.ts';
import type { ExistingTables } from './existing-tables.ts';
import { loadsStep, sideColumns } from './loads-table.ts';
import { mergedDocumentFiles, mergeLakeColumns, type LakeMerge } from './merged-documents.ts';
import { isBesideData, jobsThatStay, removalStep, rowsOfDocuments, overwrittenBy } from './removed-rows.ts';
import {
  tableFolder,
  type LakeJob,
  type LakeManifest,
  type LakeStep,
  type LakeTable,
  type TableStep,
} from './manifest.ts';
import type { PartitionField } from './partition-fields.ts';
import { partitionedFiles } from './partitioning.ts';
import { typeToWrite } from './next-files.ts';
import { storedTypeIn } from './formats.ts';
import { fieldOf, type LakeColumn, type NewFile } from './table-format.ts';

export interface StagedJob {
  readonly plan: SinkPlan;
  readonly before: LakeManifest;
  /** see ParquetSettings (src/targets/files/parquet/writing.ts) */
  readonly deltas: boolean;
  readonly known: ExistingTables;
  /** the partition fields of new tables of the model */
  readonly partitions: ReadonlyMap<string, readonly PartitionField[]>;
  /** the folder of the staged files, and its name */
  readonly staging: string;
  readonly stagingName: string;
  /** files that executors have written, by table; all of them are in the staging folder */
  readonly adopted: ReadonlyMap<string, readonly UnitFile[]>;
  /** names of staged files, by table */
  readonly names: ReadonlyMap<string, string>;
  readonly staged: ReadonlyMap<string, FinishedFile>;
  /** types of columns with a value that their own cannot hold */
  readonly widened: WidenedTypes;
  /** by indexes in the model: whether a NOT NULL column is empty in some row */
  readonly isNullAllowed: (table: number, column: number) => boolean;
  readonly lastKeys: ReadonlyMap<string, number>;
  /** all codes of `_codes`; null keeps the existing ones */
  readonly codes: readonly CodeRow[] | null;
  /** null in other save modes than `merge` */
  readonly merge: LakeMerge | null;
}

export interface PlannedStep {
  readonly step: LakeStep;
  /** the number of rows, by table of the model */
  readonly rows: Readonly<Record<string, number>>;
  /** the changes, for the log */
  readonly changes: readonly string[];
}

const sideNames: readonly string[] = [
  sideTableNames.unmapped,
  sideTableNames.lexical,
  sideTableNames.documents,
];

export async function nextStep(job: StagedJob): Promise<PlannedStep> {
  const { plan, before, staging, merge } = job;
  const { idJob, jobUuid, installation = '', model, saveMode } = plan;
  const own = new Set(model.tables.map(({ name }) => name));
  const overwritten = saveMode === 'overwrite' ? await overwrittenBy(plan, job.known, before) : null;
  const files = openDataFiles(staging, staging);
  try {
    const made = await withWrittenTexts(job, files, await writeFiles(job));
    const written = await withMergedDocuments(job, files, made);
    const gone = await rowsOfDocuments(job.known, before, merge?.gone ?? []);
    const isMade = plan.allTables || saveMode === 'write-schema';
    const steps: TableStep[] = [];
    const place = { known: job.known, files, format: before.format, mark: jobMark(idJob, jobUuid), staging };
    const addStep = async (
      name: string,
      description: TableDescription,
      isWhole = own.has(name),
    ): Promise<void> => {
      const there = job.known.directoryOf(name);
      const added = written.get(name) ?? [];
      const replace = (saveMode === 'overwrite' || name === codesTable.name) && there !== null;
      const closing = name === sideTableNames.documents ? merge?.closing : undefined;
      const changes = added.length > 0 || replace || (closing?.keys.length ?? 0) > 0;
      if (!changes && gone.has(name)) steps.push(removalStep(name, there!, merge!.gone));
      if (!changes && (there !== null || !isMade || !own.has(name))) return;
      const columns = description.columns.map((column, at): LakeColumn => ({
        ...column,
        // the type is the same in all files
        sqlType: added[0]?.types?.[at] ?? storedTypeIn(before.format, column.sqlType),
      }));
      const made = added.flatMap((file) => (file.rows === 0 ? [] : [newFile(file)]));
      const partitioned = await partitionedFiles(
        { ...place, table: name, wanted: job.partitions.get(name) },
        columns,
        made,
      );
      steps.push({
        name,
        directory: there ?? tableFolder(name),
        comment: description.comment,
        columns: partitioned.columns,
        ...(partitioned.fields.length === 0 ? {} : { partitioning: partitioned.fields }),
        files: partitioned.files,
        replace,
        keptJobs: isWhole ? [] : (overwritten?.keptJobs ?? []),
        ...(isWhole || overwritten === null ? {} : { keptDocuments: overwritten.keptDocuments }),
        without: gone.has(name) ? merge!.gone : [],
        ...(closing === undefined ? {} : { closing }),
      });
    };
    for (const [index, table] of physicalTables(model, duckdb).entries())
      await addStep(model.tables[index]!.name, describeTable(job, index, table));
    // tables of other versions of the model
    for (const { name, directory } of before.tables)
      if (gone.has(name) && !own.has(name) && !sideNames.includes(name))
        steps.push(removalStep(name, directory, merge!.gone));
    for (const { name, directory } of overwritten?.others ?? []) {
      const { keptJobs, keptDocuments } = overwritten!;
      steps.push({ ...removalStep(name, directory, []), replace: true, keptJobs, keptDocuments });
    }
    for (const name of sideNames) await addStep(name, sideDescription(name, merge));
    // the codes include those of earlier jobs
    if (written.has(codesTable.name)) await addStep(codesTable.name, sideColumns(codesTable.name), true);
    const record = jobRecord(job, written, own, gone);
    steps.push(await loadsStep(record, job.known, staging));
    const known = new Map(before.tables.map((table) => [table.name, table]));
    for (const { name, directory } of steps)
      if (!known.has(name)) known.set(name, { name, directory, version: -1 } satisfies LakeTable);
    const manifest: LakeManifest = {
      ...before,
      jobs: [...(overwritten?.jobs ?? (await jobsThatStay(job.known, before, merge?.gone ?? []))), record],
      keys: highestKeys(job),
      tables: [...known.values()],
      ...(job.codes === null ? {} : { codes: job.codes }),
    };
    const step = {
      format: before.format,
      staging: job.stagingName,
      job: idJob,
      jobUuid,
      installation,
      tables: steps,
      manifest,
    } as const;
    const emptied = (overwritten?.others ?? []).map(
      ({ name }) => `${name}: rows of overwritten documents were deleted`,
    );
    return { step, rows: rowsByTable(written, own), changes: [...changesOf(job), ...emptied] };
  } finally {
    await files.close();
  }
}

interface TableDescription {
  readonly comment: string;
  readonly columns: readonly LakeColumn[];
}

function sideDescription(name: string, merge: LakeMerge | null): TableDescription {
  const { comment, columns } = sideColumns(name);
  const isMerged = merge !== null && name === sideTableNames.documents;
  return { comment, columns: isMerged ? [...columns, ...mergeLakeColumns] : columns };
}

function describeTable(
  { plan, widened, isNullAllowed }: StagedJob,
  index: number,
  table: ReturnType<typeof physicalTables>[number],
): TableDescription {
  return {
    comment: table.comment,
    columns: table.columns.map(({ nullable, comment }, at) => {
      const { name, type } = plan.model.tables[index]!.columns[at]!;
      return {
        name,
        sqlType: columnSqlType(widened.get(columnId(index, at)) ?? type),
        nullable: nullable || isNullAllowed(index, at),
        comment,
        isKey: plan.model.tables[index]!.columns[at]!.role === 'row_key',
        ...(hasOffsetBehind(plan.model.tables[index]!.columns, at)
          ? { offset: plan.model.tables[index]!.columns[at + 1]!.name }
          : {}),
      };
    }),
  };
}

type WrittenFiles = ReadonlyMap<string, readonly UnitFile[]>;

/** Writes the staged rows as Parquet, with the types of the existing tables, and adds the files of executors. Returns files by table. */
async function writeFiles(job: StagedJob): Promise<WrittenFiles> {
  const { plan, names, staged, staging, known, before, deltas } = job;
  const indexes = new Map(plan.model.tables.map(({ name }, index) => [name, index]));
  const widened = typesIn(plan.model, job.widened);
  const tables = [];
  for (const [name, fileName] of names) {
    const there = plan.saveMode === 'overwrite' && indexes.has(name) ? null : await known.columns(name);
    const columns = tableColumns(plan.model, name);
    tables.push({
      columns,
      widened: widened.get(name) ?? new Map(),
      typeOf: (column: NamedColumn, sqlType: string) => {
        const field = there?.get(column.name);
        return typeToWrite(field?.sqlType ?? null, storedTypeIn(before.format, sqlType));
      },
      fieldIdsOf: (types: readonly string[]) => {
        const fields = columns.map((column, at) =>
          fieldOf({ name: column.name, sqlType: types[at]!, nullable: true, comment: '' }),
        );
        return known.fieldIds(name, fields);
      },
      file: staged.get(fileName)!,
    });
  }
  const made = await writeParquet(staging, tables, { deltas });
  const tablesOf = new Map([...names].map(([table, fileName]) => [fileName, table]));
  const written = new Map(job.adopted);
  for (const [at, { file, facts, fieldIds }] of made.entries()) {
    const table = tablesOf.get(file.name)!;
    const columns = tables[at]!.columns.map(({ name }, column) => ({ name, sqlType: file.types[column]! }));
    const stats = fileStatistics(file.rows, columns, facts);
    const own = { ...file, table, stats, ...(fieldIds === null ? {} : { fieldIds }) };
    written.set(table, [...(written.get(table) ?? []), own]);
  }
  return written;
}

/** Replaces values in columns that are text in the tables, but not in the model, by the text in the documents. */
async function withWrittenTexts(
  { plan, staging, before, widened }: StagedJob,
  files: DataFiles,
  written: WrittenFiles,
): Promise<WrittenFiles> {
  const lexical = (written.get(sideTableNames.lexical) ?? []).filter(({ rows }) => rows > 0);
  if (lexical.length === 0) return written;
  const paths = lexical.map(({ name }) => join(staging, name));
  const tables = new Map(written);
  for (const [table, own] of written) {
    const index = tableIndexes(plan.model).get(table);
    if (index === undefined) continue;
    const columns = plan.model.tables[index]!.columns;
    const key = columns.find(({ role }) => role === 'row_key')!.name;
    const replaced: UnitFile[] = [];
    for (const file of own) {
      const typed = columns.map(({ name }, at) => ({ name, sqlType: file.types![at]! }));
      const texts = columns.filter(({ type }, at) => {
        if (typed[at]!.sqlType !== 'VARCHAR' || !isTypedValue(columns[at]!)) return false;
        // times of day without a zone are text in the format
        const isAlwaysText = storedTypeIn(before.format, columnSqlType(type)) === 'VARCHAR';
        return !isAlwaysText || widened.get(columnId(index, at))?.kind === 'text';
      });
      const conversions = new Map(
        texts.map(({ name: column }): [string, TypeChange] => [
          column,
          { from: 'VARCHAR', to: 'VARCHAR', written: writtenText(paths, { table, column, key }) },
        ]),
      );
      const rewriting = { conversions, columns: typed, where: null, fieldIds: file.fieldIds ?? null };
      const path = join(staging, file.name);
      const made =
        texts.length === 0 || file.rows === 0
          ? null
          : await files.rewrite(path, jobMark(plan.idJob, plan.jobUuid), rewriting);
      replaced.push(made === null ? file : { ...file, ...made });
      if (made === null) continue;
      await syncPath(join(staging, made.name));
      await rm(path);
    }
    tables.set(table, replaced);
  }
  return tables;
}

/** Adds merge columns, which identify documents, to the job's documents. */
async function withMergedDocuments(
  { plan, known, staging, merge }: StagedJob,
  files: DataFiles,
  written: WrittenFiles,
): Promise<WrittenFiles> {
  const { documents } = sideTableNames;
  const staged = (written.get(documents) ?? []).filter(({ rows }) => rows > 0);
  if (merge === null || staged.length === 0) return written;
  const place = { files, known, staging, mark: jobMark(plan.idJob, plan.jobUuid) };
  const told = await mergedDocumentFiles(place, merge, staged, sideColumns(documents).columns);
  return new Map([...written, [documents, told]]);
}

function newFile({ name, bytes, stats, fieldIds, partition }: UnitFile): NewFile {
  return {
    name,
    bytes,
    stats: stats!,
    ...(fieldIds === undefined ? {} : { fieldIds }),
    ...(partition === undefined ? {} : { partition }),
  };
}

/** Returns the job's record. The ledger's sums remain equal to what the target holds. `gone`: removed rows by table. */
function jobRecord(
  { plan, merge }: StagedJob,
  written: WrittenFiles,
  own: ReadonlySet<string>,
  gone: ReadonlyMap<string, number>,
): LakeJob {
  const rows = rowsByTable(written, own);
  const removed = [...gone].reduce((sum, [name, count]) => sum + (isBesideData(name) ? 0 : count), 0);
  return {
    job_uuid: plan.jobUuid,
    job: plan.idJob,
    installation: plan.installation ?? '',
    id_sch: plan.idSch,
    id_lschma: plan.idLschma,
    model_sha256: plan.modelHash,
    published_at: new Date().toISOString(),
    documents: rowsOf(written.get(sideTableNames.documents) ?? []) - (merge?.gone.length ?? 0),
    rows: Object.values(rows).reduce((sum, count) => sum + count, 0) - removed,
    tables: Object.keys(rows),
  };
}

/** Returns the highest key of each table. No key is used twice, even if the rows that had it were removed. */
function highestKeys({ before, lastKeys }: StagedJob): Readonly<Record<string, number>> {
  const keys: Record<string, number> = { ...before.keys };
  for (const [table, key] of lastKeys) if (key > (keys[table] ?? 0)) keys[table] = key;
  return keys;
}

function rowsByTable(written: WrittenFiles, own: ReadonlySet<string>): Record<string, number> {
  const counts = [...written].map(([name, files]) => [name, rowsOf(files)] as const);
  return Object.fromEntries(counts.filter(([name, rows]) => rows > 0 && own.has(name)));
}

function rowsOf(files: readonly UnitFile[]): number {
  return files.reduce((sum, { rows }) => sum + rows, 0);
}

function changesOf({ plan, widened, isNullAllowed }: StagedJob): string[] {
  return plan.model.tables.flatMap(({ name, columns }, table) =>
    columns.flatMap((column, at) => [
      ...widenedChange(`${name}.${column.name}`, widened.get(columnId(table, at))),
      ...(isNullAllowed(table, at) ? [`${name}.${column.name}: NOT NULL dropped`] : []),
    ]),
  );
}

function widenedChange(column: string, type: ColumnType | undefined): string[] {
  return type === undefined ? [] : [`${column}: ${widenedWords(type)}`];
}
