/** The interface of table formats: all code that reads the tables of a folder or gives them versions uses only these types. */
import type { PartitionField, PartitionValues } from './partition-fields.ts';
import type { PlaceFiles } from '../place/journal.ts';
import type { TableMetadata } from './iceberg/shape.ts';
import type { TableLayoutName } from '../../../ports/rows/layouts.ts';
import { fileKeyName } from '../../../engine/model/side-tables.ts';
import { randomBytes } from 'node:crypto';

/** A column as a load makes it. */
export interface LakeColumn {
  readonly name: string;
  /** the DuckDB type, one that the format supports */
  readonly sqlType: string;
  readonly nullable: boolean;
  readonly comment: string;
  /** the key of the rows (false) */
  readonly isKey?: boolean;
  /** for an instant: the column with the minutes that it is written ahead of UTC */
  readonly offset?: string;
}

/** A column as a version of a table tells it, or as the next version is to tell it. */
export interface LakeField {
  readonly name: string;
  /** the DuckDB type; null for a type that no load makes: another program's column */
  readonly sqlType: string | null;
  readonly nullable: boolean;
  readonly comment: string;
  readonly isKey: boolean;
  /** the column as the format stores it, with all of its other properties; absent for a new column, or one whose type changed */
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
  /** for a table with partitions: the partition of the rows */
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
  /** the values of partition columns that the file does not have */
  readonly told: readonly ToldValue[];
  /** the range of a column of integers; null if the table does not give it */
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

/** Returns the pattern of the names of files that a job writes. */
export function fileNamesOf(mark: string): RegExp {
  return new RegExp(`^${mark}-[0-9a-f]{16}\\.parquet$`);
}

/** Whether a job made it; the others are those of programs that write into the table, too. */
export function isOwnFile(path: string): boolean {
  return /^data\/\d+-[0-9a-f]{8}-[0-9a-f]{16}\.parquet$/.test(path);
}

/** Whether a file counts. */
export type FileChoice = (file: LakeFile) => boolean;

/** The changes that make the next version of a table. */
export interface TableChange {
  readonly name: string;
  readonly comment: string;
  /** all fields of the next version; the list of the previous version itself if nothing in it changes */
  readonly fields: readonly LakeField[];
  /** `merge`: documents go, or are closed, as others come; `compact`: other files with the same rows */
  readonly operation: 'append' | 'overwrite' | 'merge' | 'delete' | 'compact';
  /** the partition fields of a new table; empty if there are none */
  readonly partitioning: readonly PartitionField[];
  /** paths below the table's folder */
  readonly removed: readonly string[];
  readonly added: readonly NewFile[];
  readonly jobUuid: string;
  readonly job: number;
  readonly installation: string;
  /** the versions of all tables once all rows of the job are there; null for all tables except the ledger */
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
  /** the partition fields; empty if there are none */
  readonly partitioning: readonly PartitionField[];
  /** by path below the table's folder, in the order in which they were added */
  readonly files: ReadonlyMap<string, LakeFile>;
  /** All files that versions of the job added, and maybe others; null where the table does not tell. */
  readonly addedBy: (jobUuid: string) => Promise<ReadonlySet<string> | null>;
  /** Whether the last job that wrote here is that one. */
  readonly isOfJob: (jobUuid: string) => boolean;
  /** the versions of the tables that the job recorded when it made this version */
  readonly versionsTold: Readonly<Record<string, unknown>> | null;
  /** whether it was made for a job that has not come: its columns are nobody’s */
  readonly isUnused: boolean;
  /** whether rows may only be added */
  readonly isAppendOnly: boolean;
  /** AppError `conflict` where rows could be read wrongly */
  readonly checkReadable: () => void;
  /** checks as `checkReadable` does; also throws if a version of ours would violate a requirement that the table has for writers */
  readonly checkWritable: () => void;
}

export interface TableFormat {
  readonly name: FormatName;
  /** the name for people */
  readonly title: string;
  /** the folder in which a table keeps its metadata */
  readonly folder: string;
  /** returns the DuckDB type that the format stores for a column of that DuckDB type */
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
  /** Removes the files of dead attempts of a job that are not in `version`, which contains the job. */
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
  /** Commits together what `work` commits. Returns null if another writer made a version of a table first; then `work` must run again. */
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

/** The table format of `-f`: one format, or both over the same files. */
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
  // a file of a job has statistics of each such column that it contains
  return sqlType === 'TIMESTAMP' && isOwnFile(path) && nullsOf(fileKeyName) !== null;
}
