/** Computes the next version of a table from a step: the files to remove, rewrite and add, and the changes of columns. */
import { eachAtOnce } from '../place/journal.ts';
import type { LakePlace, HeldLakePlace } from './place.ts';
import {
  type TableFormat,
  type TableVersion,
  type FieldIds,
  type NewFile,
  type TableChange,
  fieldOf,
  type LakeColumn,
  type LakeField,
  canTakeZone,
  dataFolder,
} from './table-format.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../errors.ts';
import { join } from 'node:path';
import { sideTableNames, fileKeyName } from '../../../engine/model/side-tables.ts';
import {
  writtenText,
  type TypeChange,
  rowFiles,
  parquet,
  wholeRows,
  type DataFiles,
  type TypedName,
  type PresentFile,
  type LocalRows,
  type Rewriting,
} from './data-files.ts';
import { closedValues, unmergedCondition } from './merged-documents.ts';
import { mainFormat, numberingFormat } from './formats.ts';
import type { TableStep, LakeStep } from './manifest.ts';
import type { PartitionValues } from './partition-fields.ts';
import { addsZone, settledType, type DecimalDigits } from '../../sql/duckdb/types.ts';
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { filesOf } from './removed-rows.ts';
import { jobMark } from '../folder/place.ts';

// Reads the newest versions of tables, and waits if another writer made one first.

export class NewestVersions {
  readonly #place: LakePlace;
  readonly #seen = new Map<string, TableVersion>();
  /** the results for the next calls of `of`, by format and directory */
  readonly #ahead = new Map<string, TableVersion | null>();

  constructor(place: LakePlace) {
    this.#place = place;
  }

  /** Returns the newest version; null if there is no table. AppErrors as of `TableFormat.readTable`. */
  async of(format: TableFormat, { name, directory }: TableAt): Promise<TableVersion | null> {
    const key = `${format.name} ${directory}`;
    const ahead = this.#ahead.get(key);
    this.#ahead.delete(key);
    return ahead === undefined ? this.#read(format, { name, directory }) : ahead;
  }

  /** Reads several tables at a time, for later calls of `of`. */
  async lookAt(format: TableFormat, tables: readonly TableAt[]): Promise<void> {
    await eachAtOnce(tables, async (table) => {
      this.#ahead.set(`${format.name} ${table.directory}`, await this.#read(format, table));
    });
  }

  async #read(format: TableFormat, { name, directory }: TableAt): Promise<TableVersion | null> {
    const label = `${this.#place.label}: ${name}`;
    const key = `${format.name} ${directory}`;
    const seen = this.#seen.get(key);
    const now =
      seen === undefined
        ? await format.readTable(this.#place, directory, label)
        : await format.readSince(this.#place, directory, label, seen);
    if (now === null) this.#seen.delete(key);
    else this.#seen.set(key, now);
    return now;
  }
}

interface TableAt {
  readonly name: string;
  readonly directory: string;
}

interface ConflictPolicy {
  readonly maxTries: number;
  /** the maximum pause before the second try; it doubles with each further one */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/** waits about half a minute for a writer that is always first */
const usualPolicy: ConflictPolicy = { maxTries: 100, firstPauseMs: 10, longestPauseMs: 500 };

export class Conflicts {
  readonly #policy: ConflictPolicy;
  readonly #pause: (ms: number) => Promise<unknown>;
  #count = 0;

  constructor(policy: ConflictPolicy = usualPolicy, pause: (ms: number) => Promise<unknown> = sleep) {
    this.#policy = policy;
    this.#pause = pause;
  }

  /**
   * Waits before the next try, for a random time up to the maximum, so that writers do not collide repeatedly. `label`: the name of what
   * could not be written, for people. AppError `service_unavailable` after the last try.
   */
  async next(label: string): Promise<void> {
    const { maxTries, firstPauseMs, longestPauseMs } = this.#policy;
    this.#count += 1;
    if (this.#count >= maxTries)
      throw new AppError(
        'service_unavailable',
        `${label}: other programs committed first in each of ${maxTries} attempts. The commit of this job is pending; the next job that writes there finishes it. Run it again when other programs write less often`,
      );
    await this.#pause(Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#count - 1)) * Math.random());
  }
}

// The next version.

export interface FormatPlace {
  readonly table: TableStep;
  readonly format: TableFormat;
  readonly rewritten: RewrittenFiles;
}

interface FormatChange extends Pick<TableChange, 'fields' | 'operation' | 'removed' | 'added'> {
  /** the changes other than rows, in words */
  readonly changes: readonly string[];
  /** files that a compaction leaves as they are, and why, in words */
  readonly left?: readonly string[];
}

/** Returns the change that follows `state`, which is null if there is no table. */
export function changeAfter(
  inStep: StepPlace,
  inFormat: FormatPlace,
  state: TableVersion | null,
): Promise<FormatChange> {
  const { merges } = inFormat.table;
  return merges === undefined
    ? changeOf(inStep, inFormat, state)
    : mergedFiles(inStep, inFormat, merges, state);
}

async function changeOf(
  inStep: StepPlace,
  inFormat: FormatPlace,
  state: TableVersion | null,
): Promise<FormatChange> {
  const { place, step, files, newest } = inStep;
  const { table, format, rewritten } = inFormat;
  const { directory } = table;
  const present = [...(state?.files ?? [])].map(([name, of]) => ({
    path: `${directory}/${name}`,
    name,
    of,
  }));
  for (const { path } of present) await place.checkFile(path);
  const pathOf = (file: NewFile): string => `${directory}/${dataFolder}/${file.name}`;
  const next = await nextVersion(format, state, table, async (column) =>
    files.digits(
      [...(await rowFiles(place, present)), ...(await localFiles(place, table.files.map(pathOf)))],
      column,
    ),
  );
  const columns = next.fields.flatMap(({ name, sqlType }) => (sqlType === null ? [] : [{ name, sqlType }]));
  const numbering = numberingFormat(step.format);
  const fieldIds =
    numbering === format || table.files[0]?.fieldIds === undefined
      ? await fieldIdsIn(newest, inFormat, numbering, state, next.fields)
      : table.files[0].fieldIds;
  const going =
    table.replace || next.there.size > 0
      ? present
      : await touchedFiles(place, files, present, columns, table);
  if (going.length > 0 && state!.isAppendOnly)
    throw new AppError(
      'conflict',
      `${place.label}: ${table.name} has the property delta.appendOnly, but this job rewrites rows; remove the property.`,
    );
  const where = table.replace ? await keptRows(place, newest, table, step) : without(table.without);
  const conversions = await withWrittenTexts(inStep, table, next.there);
  const added: NewFile[] = [];
  for (const file of next.clears ? [] : going) {
    const kept = await rewritten.of((await rowFiles(place, [file]))[0]!, {
      conversions,
      columns,
      where,
      fieldIds,
      ...(table.closing === undefined ? {} : { values: closedValues(table.closing) }),
    });
    if (kept !== null) added.push(inPartition(kept, file.of.partition));
  }
  for (const own of table.files) {
    const isAsItIs = next.own.size === 0 && (fieldIds === null || hasFieldIds(own, fieldIds));
    const settled = isAsItIs
      ? own
      : await rewritten.of(await place.localFile(pathOf(own)), {
          conversions: next.own,
          columns,
          where: null,
          fieldIds,
        });
    if (settled !== null) added.push(inPartition(settled, own.partition ?? []));
  }
  return {
    fields: next.fields,
    operation: operationOf(table),
    removed: going.map(({ name }) => name),
    added,
    changes: next.changes,
  };
}

/** Replaces values in columns that become text by the text in the documents, if the typed values differ from it. */
async function withWrittenTexts(
  { place, step, newest }: StepPlace,
  { name: table, columns }: TableStep,
  changes: ReadonlyMap<string, TypeChange>,
): Promise<ReadonlyMap<string, TypeChange>> {
  const key = columns.find(({ isKey }) => isKey === true)?.name;
  const name = sideTableNames.lexical;
  const directory = step.manifest.tables.find((one) => one.name === name)?.directory;
  if (key === undefined || directory === undefined) return changes;
  if (![...changes.values()].some(({ to }) => to === 'VARCHAR')) return changes;
  const state = await newest.of(mainFormat(step.format), { name, directory });
  const files = [...(state?.files ?? [])].map(([path, of]) => ({ path: `${directory}/${path}`, of }));
  if (files.length === 0) return changes;
  const lexical = await rowFiles(place, files);
  return new Map(
    [...changes].map(([column, change]) => [
      column,
      change.to === 'VARCHAR' ? { ...change, written: writtenText(lexical, { table, column, key }) } : change,
    ]),
  );
}

/** Merges each list of files that the table still has into one file with the same rows. */
async function mergedFiles(
  { step, newest }: StepPlace,
  inFormat: FormatPlace,
  merges: NonNullable<TableStep['merges']>,
  state: TableVersion | null,
): Promise<FormatChange> {
  const { table, rewritten } = inFormat;
  const fields = state?.fields ?? [];
  const columns = fields.flatMap(({ name, sqlType }) => (sqlType === null ? [] : [{ name, sqlType }]));
  const fieldIds = await fieldIdsIn(newest, inFormat, numberingFormat(step.format), state, fields);
  const added: NewFile[] = [];
  const removed: string[] = [];
  const left: string[] = [];
  for (const paths of columns.length < fields.length ? [] : merges) {
    const there = paths.flatMap((path) => state?.files.get(path) ?? []);
    // another writer has removed one of the files
    if (there.length < paths.length) continue;
    const rows = there.reduce((sum, file) => sum + file.rows, 0);
    const merged = await rewritten.merged(paths, rows, { columns, fieldIds }).catch((error: unknown) => {
      // the step is decided: the next program that opens the tables would fail again, and the rows are safe in their files
      if (error instanceof AppError && error.code === 'conflict') return error;
      throw error;
    });
    if (merged instanceof AppError) {
      left.push(`${table.name}: ${paths.length} files stay as they are: ${merged.message}`);
      continue;
    }
    added.push(inPartition(merged, there[0]!.partition));
    removed.push(...paths);
  }
  const changes =
    removed.length === 0 ? [] : [`${table.name}: ${removed.length} files became ${added.length}`];
  return { fields, operation: 'compact', removed, added, changes, left };
}

function inPartition(file: NewFile, partition: PartitionValues): NewFile {
  return partition.length === 0 ? file : { ...file, partition };
}

/** Returns the field ids of columns, for files that serve all formats of the table; null if no format has them. */
async function fieldIdsIn(
  newest: NewestVersions,
  { table, format }: FormatPlace,
  numbering: TableFormat | null,
  state: TableVersion | null,
  fields: TableVersion['fields'],
): Promise<FieldIds | null> {
  if (numbering === null) return null;
  const numbered = numbering === format ? state : await newest.of(numbering, table);
  return numbering.fieldIds(numbered, fields);
}

/** Returns whether the columns of the file have these field ids. */
function hasFieldIds({ fieldIds = {} }: NewFile, wanted: FieldIds): boolean {
  return Object.entries(fieldIds).every(([name, ids]) => ids.join() === wanted[name]?.join());
}

function operationOf({ without, closing, columns, replace }: TableStep): TableChange['operation'] {
  if (columns.length === 0) return 'delete';
  if (replace) return 'overwrite';
  return without.length > 0 || closing !== undefined ? 'merge' : 'append';
}

interface NextVersion {
  readonly fields: readonly LakeField[];
  /** the type changes of columns, in the existing files and in the job's own; absent columns stay as they are */
  readonly there: ReadonlyMap<string, TypeChange>;
  readonly own: ReadonlyMap<string, TypeChange>;
  /** all existing files are removed */
  readonly clears: boolean;
  /** the changes in words, for the log */
  readonly changes: readonly string[];
}

/**
 * `digitsOf`: the digits of a column's decimals in the existing files and in the job's own. AppError `conflict` if others changed the type
 * of a column.
 */
async function nextVersion(
  format: Pick<TableFormat, 'promotes'>,
  state: TableVersion | null,
  step: TableStep,
  digitsOf: (column: string) => Promise<DecimalDigits>,
): Promise<NextVersion> {
  const none: ReadonlyMap<string, TypeChange> = new Map();
  const { keptJobs, keptDocuments = [] } = step;
  const clears = step.replace && keptJobs.length + keptDocuments.length === 0;
  // only rows change
  if (state !== null && step.columns.length === 0)
    return { fields: state.fields, there: none, own: none, clears, changes: [] };
  if (state === null || clears || state.isUnused)
    return {
      fields: step.columns.map(fieldOf),
      there: none,
      own: none,
      clears,
      changes: [],
    };
  const before = state.fields;
  const ours = new Map(step.columns.map((column) => [column.name.toLowerCase(), column]));
  const known = new Set(before.map(({ name }) => name.toLowerCase()));
  const there = new Map<string, TypeChange>();
  const own = new Map<string, TypeChange>();
  const changes: string[] = [];
  const fields: LakeField[] = [];
  for (const field of before) {
    const column = ours.get(field.name.toLowerCase());
    const nullable = field.nullable || (column?.nullable ?? true);
    if (nullable && !field.nullable) changes.push(`${step.name}.${field.name}: NOT NULL dropped`);
    if (column === undefined) {
      fields.push({ ...field, nullable });
      continue;
    }
    const type = existingType(step.name, field, column);
    const settled =
      addsZone(type, column.sqlType) && canTakeZone(state, field)
        ? column.sqlType
        : await settledType(type, column.sqlType, () => digitsOf(field.name));
    if (settled !== type) {
      if (!format.promotes(type, settled))
        there.set(field.name, { from: type, to: settled, offset: column.offset });
      changes.push(`${step.name}.${field.name}: ${type} widened to ${settled}`);
    }
    if (settled !== column.sqlType) own.set(field.name, { from: column.sqlType, to: settled });
    const comment = field.comment === '' ? column.comment : field.comment;
    fields.push({ ...field, sqlType: settled, nullable, comment });
  }
  for (const column of step.columns) {
    if (known.has(column.name.toLowerCase())) continue;
    // existing rows do not have it
    fields.push(fieldOf({ ...column, nullable: true }));
    changes.push(`${step.name}.${column.name}: added`);
  }
  return { fields, there, own, clears, changes };
}

function existingType(table: string, { name, sqlType, stored }: LakeField, column: LakeColumn): string {
  if (name === column.name && sqlType !== null) return sqlType;
  throw new AppError(
    'conflict',
    `${table}: another program changed the column ${column.name} (${name}, ${JSON.stringify(stored?.['type'] ?? sqlType)}); undo the change, or use another folder.`,
  );
}

/** Returns the type in which a file's values are written, if the table determines it without reading rows. */
export async function typeToWrite(there: string | null, needed: string): Promise<string> {
  // a zone is added only if the column has no value yet
  if (there === null || addsZone(there, needed)) return needed;
  let isTold = true;
  const settled = await settledType(there, needed, async () => {
    isTold = false;
    return { whole: 0, fraction: 0 };
  });
  return isTold ? settled : needed;
}

async function localFiles(place: HeldLakePlace, paths: readonly string[]): Promise<readonly string[]> {
  const local: string[] = [];
  for (const path of paths) local.push(await place.localFile(path));
  return local;
}

/** Returns the condition that a row belongs to none of these documents; null if there are none. */
function without(keys: readonly string[]): string | null {
  return keys.length === 0 ? null : `(${fileKeyName} IN (${keys.join(', ')})) IS NOT TRUE`;
}

/** Returns the files with rows that are removed or changed. */
async function touchedFiles(
  place: HeldLakePlace,
  files: DataFiles,
  present: readonly PresentFile[],
  columns: readonly TypedName[],
  { without: gone, closing }: TableStep,
): Promise<readonly PresentFile[]> {
  const found: PresentFile[] = [];
  const keys = [...gone, ...(closing?.keys ?? [])];
  const conditions = [
    ...(keys.length === 0 ? [] : [`${fileKeyName} IN (${keys.join(', ')})`]),
    ...(closing === undefined ? [] : [unmergedCondition]),
  ];
  if (conditions.length === 0) return found;
  const isHolding = filesOf(keys);
  for (const file of present) {
    // ranges do not show which documents came without a merge
    if (closing === undefined && !isHolding(file.of)) continue;
    const rowsOf = await rowFiles(place, [file]);
    const rows = await files.read(
      `SELECT 1 FROM ${closing === undefined ? parquet(rowsOf) : wholeRows(rowsOf, columns)} WHERE ${conditions.join(' OR ')} LIMIT 1`,
    );
    if (rows.length > 0) found.push(file);
  }
  return found;
}

/** Returns the condition for the rows of documents that remain. */
async function keptRows(
  place: HeldLakePlace,
  newest: NewestVersions,
  table: TableStep,
  step: LakeStep,
): Promise<string> {
  const { keptJobs, keptDocuments = [] } = table;
  const conditions = [
    ...(keptJobs.length === 0 ? [] : [`job_uuid IN (${keptJobs.map(standardLiteral).join(', ')})`]),
    ...(keptDocuments.length === 0 ? [] : [`${fileKeyName} IN (${keptDocuments.join(', ')})`]),
  ];
  if (conditions.length === 0) return 'false';
  const isKept = conditions.join(' OR ');
  if (table.name === sideTableNames.documents) return isKept;
  const documents = step.tables.find(({ name }) => name === sideTableNames.documents);
  const directory = documents?.directory ?? sideTableNames.documents;
  const state = await newest.of(mainFormat(step.format), { name: sideTableNames.documents, directory });
  const paths = [...(state?.files.keys() ?? [])].map((path) => `${directory}/${path}`);
  return paths.length === 0
    ? 'false'
    : `${fileKeyName} IN (SELECT ${fileKeyName} FROM ${parquet(await localFiles(place, paths))} WHERE ${isKept})`;
}

interface RewritingPlace {
  readonly place: HeldLakePlace;
  readonly step: LakeStep;
  /** the folder of this machine for new files */
  readonly staging: string;
  readonly files: DataFiles;
}

export class RewrittenFiles {
  readonly #inStep: RewritingPlace;
  readonly #directory: string;
  readonly #mark: string;
  readonly #made = new Map<string, NewFile | null>();

  constructor(inStep: RewritingPlace, directory: string) {
    this.#inStep = inStep;
    this.#directory = directory;
    this.#mark = jobMark(inStep.step.job, inStep.step.jobUuid);
  }

  names(): readonly string[] {
    return [...this.#made.values()].flatMap((file) => (file === null ? [] : [file.name]));
  }

  /** Writes all rows of these files of the table, given by their paths below its folder, into one file. */
  async merged(
    paths: readonly string[],
    rows: number,
    merging: Pick<Rewriting, 'columns' | 'fieldIds'>,
  ): Promise<NewFile> {
    const { place, staging, files } = this.#inStep;
    const key = JSON.stringify([paths, merging.columns, merging.fieldIds]);
    const known = this.#made.get(key);
    if (known !== undefined && known !== null) return known;
    const local = await localFiles(
      place,
      paths.map((path) => `${this.#directory}/${path}`),
    );
    const made = await files.merge(local, this.#mark, rows, merging);
    await place.add(join(staging, made.name), `${this.#directory}/${dataFolder}/${made.name}`);
    this.#made.set(key, made);
    return made;
  }

  /** Returns null if no row remains. */
  async of(file: LocalRows, rewriting: Rewriting): Promise<NewFile | null> {
    const { place, staging, files } = this.#inStep;
    const { conversions, where, columns, fieldIds, values = [] } = rewriting;
    const key = JSON.stringify([file, [...conversions], where, columns, fieldIds, [...values]]);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = await files.rewrite(file, this.#mark, rewriting);
    if (made !== null)
      await place.add(join(staging, made.name), `${this.#directory}/${dataFolder}/${made.name}`);
    this.#made.set(key, made);
    return made;
  }
}

export interface StepPlace extends RewritingPlace {
  readonly newest: NewestVersions;
  /** the rewritten files of all tries, by folder of the table */
  readonly rewritten: Map<string, RewrittenFiles>;
  /** whether a dead process may have begun the step */
  readonly isRecovery: boolean;
}
