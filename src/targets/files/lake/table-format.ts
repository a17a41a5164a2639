/** What the formats of tables have in common: the tables of a folder are read and given versions by these words alone. */
import type { PartitionField, PartitionValues } from './partition-fields.ts';
import type { PlaceFiles } from '../place/journal.ts';
import type { TableMetadata } from './iceberg/shape.ts';
import type { TableLayoutName } from '../../../ports/rows/layouts.ts';
import { fileKeyName } from '../../../engine/model/side-tables.ts';
import { randomBytes } from 'node:crypto';

/** A column as a load makes it. */
export interface LakeColumn {
  readonly name: string;
  /** of DuckDB, one that the format has */
  readonly sqlType: string;
  readonly nullable: boolean;
  readonly comment: string;
  /** the key of the rows (false) */
  readonly isKey?: boolean;
  /** of an instant: the column with the minutes that it is written ahead of UTC */
  readonly offset?: string;
}

/** A column as a version of a table tells it, or as the next version is to tell it. */
export interface LakeField {
  readonly name: string;
  /** of DuckDB; null for a type that no load makes: somebody else's column */
  readonly sqlType: string | null;
  readonly nullable: boolean;
  readonly comment: string;
  readonly isKey: boolean;
  /** as the format has it, with all that else is said of it; absent: a new column, or one of another type than before */
  readonly stored?: Readonly<Record<string, unknown>>;
}

/** A file that waits to be added. */
export interface NewFile {
  readonly name: string;
  readonly bytes: number;
  /** JSON: rows, NULLs, least and greatest values, as `add` of Delta has them */
  readonly stats: string;
  /** numbers of its columns, where the format numbers them */
  readonly fieldIds?: FieldIds;
  /** of a table with partitions: that which the rows are of */
  readonly partition?: PartitionValues;
}

/** By column: its number, and that of the items of a list. */
export type FieldIds = Readonly<Record<string, readonly [column: number, item?: number]>>;

export interface LakeFile {
  readonly bytes: number;
  /** NaN where the table does not tell */
  readonly rows: number;
  /** values of the partition, in the order of its fields; none: the table has no partitions */
  readonly partition: PartitionValues;
  /** of columns of the partition, where the file does not have them */
  readonly told: readonly ToldValue[];
  /** of a column of whole numbers; null where the table does not tell */
  readonly rangeOf: (column: string) => ValueRange | null;
  /** how many rows have no value in a column; null where the table does not tell */
  readonly nullsOf: (column: string) => number | null;
}

/** A column that a file does not have, as its table tells the value, which all rows of the file have. */
export interface ToldValue {
  readonly name: string;
  readonly sqlType: string;
  readonly value: string | null;
}

/** The least and the greatest value of a column in a file, or values beyond these. */
export type ValueRange = readonly [least: bigint, greatest: bigint];

/** The folder of a table's files of rows. */
export const dataFolder = 'data';

/** A name that no other file of the table has. `mark`: names the job (`jobMark`). */
export function dataFileName(mark: string): string {
  return `${mark}-${randomBytes(8).toString('hex')}.parquet`;
}

/** What names of files of a job look like. */
export function fileNamesOf(mark: string): RegExp {
  return new RegExp(`^${mark}-[0-9a-f]{16}\\.parquet$`);
}

/** Whether a job made it; the others are those of programs that write into the table, too. */
export function isOwnFile(path: string): boolean {
  return /^data\/\d+-[0-9a-f]{8}-[0-9a-f]{16}\.parquet$/.test(path);
}

/** Whether a file counts. */
export type FileChoice = (file: LakeFile) => boolean;

/** What the next version of a table is made of. */
export interface TableChange {
  readonly name: string;
  readonly comment: string;
  /** as they will be; those of the version before, the same list, where nothing of them changes */
  readonly fields: readonly LakeField[];
  /** `merge`: documents go, or are closed, as others come; `compact`: other files with the same rows */
  readonly operation: 'append' | 'overwrite' | 'merge' | 'delete' | 'compact';
  /** what a new table is partitioned by; none: nothing */
  readonly partitioning: readonly PartitionField[];
  /** paths below the table's folder */
  readonly removed: readonly string[];
  readonly added: readonly NewFile[];
  readonly jobUuid: string;
  readonly job: number;
  readonly installation: string;
  /** of every table once the job is there with all of its rows; null for all tables but the ledger */
  readonly versions: Readonly<Record<string, number>> | null;
  /** a folder of this machine for what is not finished, which statements may write into */
  readonly drafts: string;
  /** runs a statement of DuckDB */
  readonly run: (sql: string) => Promise<unknown>;
}

/** A version of a table. */
export interface TableVersion {
  readonly version: number;
  readonly fields: readonly LakeField[];
  /** what the rows are kept apart by; none: nothing */
  readonly partitioning: readonly PartitionField[];
  /** by path below the table's folder, in the order in which they were added */
  readonly files: ReadonlyMap<string, LakeFile>;
  /** All files that versions of the job added, and maybe others; null where the table does not tell. */
  readonly addedBy: (jobUuid: string) => Promise<ReadonlySet<string> | null>;
  /** Whether the last job that wrote here is that one. */
  readonly isOfJob: (jobUuid: string) => boolean;
  /** what jobs wrote of the tables' versions when they made this one */
  readonly versionsTold: Readonly<Record<string, unknown>> | null;
  /** whether it was made for a job that has not come: its columns are nobody’s */
  readonly isUnused: boolean;
  /** whether rows may only be added */
  readonly isAppendOnly: boolean;
  /** AppError `conflict` where rows could be read wrongly */
  readonly checkReadable: () => void;
  /** as `checkReadable`, and where a version of ours would break what the table demands of writers */
  readonly checkWritable: () => void;
}

export interface TableFormat {
  readonly name: FormatName;
  /** what people call it */
  readonly title: string;
  /** where a table keeps what it is made of */
  readonly folder: string;
  /** what a column is made of for one of that type of DuckDB */
  readonly storedType: (sqlType: string) => string;
  /** files with values of the first type are read as the second one */
  readonly promotes: (from: string, to: string) => boolean;
  /** AppError `invalid_option` for names that the format has not */
  readonly checkColumnNames: (table: string, names: readonly string[]) => void;
  /** Numbers of the columns in the version after `before`; null where columns have none. */
  readonly fieldIds: (before: TableVersion | null, fields: readonly LakeField[]) => FieldIds | null;
  /** The newest version, or that one; null where there is no table. `label`: the table, for people. AppError `conflict` where it does not tell. */
  readonly readTable: (
    files: LakeFiles,
    directory: string,
    label: string,
    version?: number,
  ) => Promise<TableVersion | null>;
  /** The newest version, as `readTable`; of what `known`, an earlier version, was told by nothing is read again. */
  readonly readSince: (
    files: LakeFiles,
    directory: string,
    label: string,
    known: TableVersion,
  ) => Promise<TableVersion | null>;
  /** The version after `before` is there, whole; null where somebody else made it first: its number. */
  readonly commit: (
    files: LakeFiles,
    directory: string,
    label: string,
    before: TableVersion | null,
    change: TableChange,
  ) => Promise<number | null>;
  /** What dead attempts of a job left that `version`, which has the job, does not name. */
  readonly sweep: (
    files: LakeFiles,
    directory: string,
    version: TableVersion,
    job: Pick<TableChange, 'job' | 'jobUuid'>,
  ) => Promise<void>;
}

/** Versions of tables that a catalogue tells, where no files beside their rows do. Tables are named by their folders. */
export interface TableCatalogue {
  /** The newest metadata of a table, as the catalogue has it; null: there is no such table. */
  read(directory: string): Promise<unknown>;
  /** A version that an earlier try made of the same one, and that was not committed for the sake of others alone; null: there is none. */
  kept(directory: string, before: TableMetadata): Promise<NextTableVersion | null>;
  /** False where somebody else’s version came first. Inside of `together` it only waits for the others. */
  commit(version: NextTableVersion): Promise<boolean>;
  /** What `work` commits is there at once; null: somebody else’s version of a table came first, and `work` is to be done anew. */
  together<T>(work: () => Promise<T>): Promise<T | null>;
  /** The address by which other programs open a table. */
  locationOf(directory: string): Promise<string>;
  holderOf(directory: string): Promise<TableHolder>;
  /** Makes the place where jobs keep what they decide. */
  prepare(): Promise<void>;
  /** Makes the tables that are not there, without rows. */
  makeTables(tables: readonly NewTable[]): Promise<void>;
}

/** The owner of a table that no manifest lists. `an attempt`: a job made it before it died, and others have rows in it by now; one without rows is nobody’s. */
export type TableHolder = 'nobody' | 'others' | 'an attempt';

/** A table that is to be made. */
export interface NewTable {
  readonly name: string;
  readonly directory: string;
  readonly comment: string;
  readonly columns: readonly LakeColumn[];
}

/** The files of a target of tables. */
export interface LakeFiles extends PlaceFiles {
  /** absent: files beside the rows tell the versions of tables */
  readonly catalogue?: TableCatalogue | undefined;
}

export interface NextTableVersion {
  readonly directory: string;
  readonly before: TableMetadata;
  readonly next: TableMetadata;
  /** once it is there */
  settled(): Promise<void>;
  /** once it is certain that it never will be */
  discard(): Promise<void>;
}

export type FormatName = 'delta' | 'iceberg';

/** As `-f` has it: one format, or both over the same files. */
export type LakeFormatName = TableLayoutName;

/** in front of what jobs say of themselves in a table */
export const ownNamespace = 'conversion-job-service/';

export function fieldOf({ name, sqlType, nullable, comment, isKey = false }: LakeColumn): LakeField {
  return { name, sqlType, nullable, comment, isKey };
}

/** Whether no row has a value in the column, as far as the table tells: such a column can become another one. False for what the table is partitioned by. */
export function canTakeZone(
  { files, partitioning }: TableVersion,
  column: Pick<LakeField, 'name' | 'sqlType'>,
): boolean {
  return (
    partitioning.every((field) => field.column !== column.name) &&
    [...files].every(([path, file]) => file.rows === 0 || hasNoValue(path, file, column))
  );
}

function hasNoValue(
  path: string,
  { rows, nullsOf }: LakeFile,
  { name, sqlType }: Pick<LakeField, 'name' | 'sqlType'>,
): boolean {
  const nulls = nullsOf(name);
  if (nulls !== null) return nulls === rows;
  // where jobs tell of a file, they tell of each such column that it has
  return sqlType === 'TIMESTAMP' && isOwnFile(path) && nullsOf(fileKeyName) !== null;
}
