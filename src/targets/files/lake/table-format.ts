/** The interface of table formats: all code that reads the tables of a folder or gives them versions uses only these types. */
import { AppError } from '../../../errors.ts';
import type { PartitionField, PartitionValues } from './partition-fields.ts';
import type { PlaceFiles } from '../place/journal.ts';
import type { TableMetadata } from './iceberg/shape.ts';
import type { TableLayoutName } from '../../../ports/layouts.ts';
import { fileKeyName } from '../../../engine/model/side-tables.ts';
import { randomBytes } from 'node:crypto';

// Names of types in the schemas of tables: those that Delta and Iceberg share, and those of each format.

/** DuckDB types, and their names in both formats. */
const shared = {
  VARCHAR: 'string',
  BOOLEAN: 'boolean',
  BIGINT: 'long',
  FLOAT: 'float',
  DOUBLE: 'double',
  DATE: 'date',
};

interface TypeNames {
  /** The format's names, by DuckDB type. */
  readonly names: Readonly<Record<string, string>>;
  /** Returns the DuckDB type; null for a type that no load makes: another program's column. */
  sqlTypeOf(type: unknown): string | null;
}

/** `own`: the format's names by DuckDB type. `itemOf`: returns the type of the items of a list, or undefined if the type is no list. */
export function typeNames(
  own: Readonly<Record<string, string>>,
  itemOf: (type: unknown) => unknown,
): TypeNames {
  const names = { ...shared, ...own };
  const sqlTypes = new Map(Object.entries(names).map(([sql, name]) => [name, sql]));
  const sqlTypeOf = (type: unknown): string | null => {
    if (typeof type === 'string') {
      const decimal = /^decimal\((\d+), ?(\d+)\)$/.exec(type);
      return decimal === null ? (sqlTypes.get(type) ?? null) : `DECIMAL(${decimal[1]},${decimal[2]})`;
    }
    const item = itemOf(type);
    const sqlType = item === undefined ? null : sqlTypeOf(item);
    return sqlType === null || sqlType.endsWith('[]') ? null : `${sqlType}[]`;
  };
  return { names, sqlTypeOf };
}

/** AppError `invalid_option` for a table with two columns whose names differ only in case, because readers treat them as equal. */
export function checkCase(format: 'delta' | 'iceberg', table: string, names: readonly string[]): void {
  const known = new Set<string>();
  for (const name of names) {
    if (known.has(name.toLowerCase()))
      throw new AppError(
        'invalid_option',
        `-f ${format}: ${table} has two columns "${name}" that differ only in case, which most readers of ${format === 'delta' ? 'Delta' : 'Iceberg'} cannot distinguish; rename one of them.`,
      );
    known.add(name.toLowerCase());
  }
}

// Columns, files, versions and formats.

/** A column of a load. */
export interface LakeColumn {
  readonly name: string;
  /** the DuckDB type, one that the format supports */
  readonly sqlType: string;
  readonly nullable: boolean;
  readonly comment: string;
  /** whether it is the key of the rows (false) */
  readonly isKey?: boolean;
  /** for an instant: the column with the minutes that it is written ahead of UTC */
  readonly offset?: string;
}

/** A column in a version of a table, or in the next version. */
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

/** A file that is to be added to a table. */
export interface NewFile {
  readonly name: string;
  readonly bytes: number;
  /** JSON: the number of rows, NULLs, minimum and maximum values, as in Delta's `add` */
  readonly stats: string;
  /** field ids of its columns, if the format has them */
  readonly fieldIds?: FieldIds;
  /** for a table with partitions: the partition of the rows */
  readonly partition?: PartitionValues;
}

/** The field ids by column: its own, and that of the items of a list. */
export type FieldIds = Readonly<Record<string, readonly [column: number, item?: number]>>;

export interface LakeFile {
  readonly bytes: number;
  /** NaN if the table does not record it */
  readonly rows: number;
  /** values of the partition, in the order of its fields; empty if the table has no partitions */
  readonly partition: PartitionValues;
  /** the values of partition columns that the file does not have */
  readonly told: readonly SharedValue[];
  /** the range of a column of integers; null if the table does not give it */
  readonly rangeOf: (column: string) => ValueRange | null;
  /** the number of NULLs in a column; null if the table does not record it */
  readonly nullsOf: (column: string) => number | null;
}

/** A column that a file does not have, and its value from the table, which all rows of the file share. */
export interface SharedValue {
  readonly name: string;
  readonly sqlType: string;
  readonly value: string | null;
}

/** Bounds of the values of a column in a file; they may be wider than the minimum and the maximum. */
export type ValueRange = readonly [least: bigint, greatest: bigint];

/** The folder of a table's files of rows. */
export const dataFolder = 'data';

/** Returns a name that no other file of the table has. `mark`: identifies the job (`jobMark`). */
export function dataFileName(mark: string): string {
  return `${mark}-${randomBytes(8).toString('hex')}.parquet`;
}

/** Returns the pattern of the names of files that a job writes. */
export function fileNamesOf(mark: string): RegExp {
  return new RegExp(`^${mark}-[0-9a-f]{16}\\.parquet$`);
}

/** Returns whether a job made the file; other files are from other programs that write into the table. */
export function isOwnFile(path: string): boolean {
  return /^data\/\d+-[0-9a-f]{8}-[0-9a-f]{16}\.parquet$/.test(path);
}

/** Returns whether a file is selected. */
export type FileChoice = (file: LakeFile) => boolean;

/** The changes that make the next version of a table. */
export interface TableChange {
  readonly name: string;
  readonly comment: string;
  /** all fields of the next version; the list of the previous version itself if nothing in it changes */
  readonly fields: readonly LakeField[];
  /** `merge`: documents are removed or closed while others are added; `compact`: other files with the same rows */
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
  /** a folder of this machine for unfinished files, which statements may write into */
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
  /** keyed by path below the table's folder, in the order in which they were added */
  readonly files: ReadonlyMap<string, LakeFile>;
  /** Returns all files that versions of the job added, and possibly others; null if the table does not record them. */
  readonly addedBy: (jobUuid: string) => Promise<ReadonlySet<string> | null>;
  /** Returns whether that job was the last one to write into the table. */
  readonly isOfJob: (jobUuid: string) => boolean;
  /** the versions of the tables that the job recorded when it made this version */
  readonly recordedVersions: Readonly<Record<string, unknown>> | null;
  /** whether it was created for a job that has not written yet: its columns may be replaced */
  readonly isUnused: boolean;
  /** whether rows may only be added */
  readonly isAppendOnly: boolean;
  /** throws AppError `conflict` if the table has features that this program does not read, so that it would misread rows */
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
  /** whether readers convert files of the first type to the second one */
  readonly promotes: (from: string, to: string) => boolean;
  /** throws AppError `invalid_option` for names that the format does not allow */
  readonly checkColumnNames: (table: string, names: readonly string[]) => void;
  /** Returns the field ids of the columns in the version after `before`; null if the format has none. */
  readonly fieldIds: (before: TableVersion | null, fields: readonly LakeField[]) => FieldIds | null;
  /**
   * Returns the newest version, or the one with that number; null if there is no table. `label`: the table, for people. AppError `conflict`
   * if the version cannot be determined.
   */
  readonly readTable: (
    files: LakeFiles,
    directory: string,
    label: string,
    version?: number,
  ) => Promise<TableVersion | null>;
  /** Returns the newest version as `readTable` does, but reads nothing again that `known`, an earlier version, was read from. */
  readonly readSince: (
    files: LakeFiles,
    directory: string,
    label: string,
    known: TableVersion,
  ) => Promise<TableVersion | null>;
  /** Commits the version after `before`, as a whole. Returns its number; null if another writer made it first. */
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

/** A catalogue that holds the versions of tables, instead of files beside their rows. Tables are identified by their folders. */
export interface TableCatalogue {
  /** Returns the newest metadata of a table from the catalogue; null if there is no such table. */
  read(directory: string): Promise<unknown>;
  /**
   * Returns a version that an earlier try made from the same version, and that was rejected only because of other tables; null if there is
   * none.
   */
  kept(directory: string, before: TableMetadata): Promise<NextTableVersion | null>;
  /** Returns false if another writer's version was first. Inside `together` it only waits for the others. */
  commit(version: NextTableVersion): Promise<boolean>;
  /** Commits together what `work` commits. Returns null if another writer made a version of a table first; then `work` must run again. */
  together<T>(work: () => Promise<T>): Promise<T | null>;
  /** Returns the address by which other programs open a table. */
  locationOf(directory: string): Promise<string>;
  holderOf(directory: string): Promise<TableHolder>;
  /** Creates the place where jobs keep their decided steps. */
  prepare(): Promise<void>;
  /** Creates the tables that do not exist, without rows. */
  makeTables(tables: readonly NewTable[]): Promise<void>;
}

/**
 * The owner of a table that no manifest lists. `an attempt`: a job that died made it, and others have added rows since; without rows it
 * belongs to nobody.
 */
export type TableHolder = 'nobody' | 'others' | 'an attempt';

/** A table to be created. */
export interface NewTable {
  readonly name: string;
  readonly directory: string;
  readonly comment: string;
  readonly columns: readonly LakeColumn[];
}

/** The files of a target of tables. */
export interface LakeFiles extends PlaceFiles {
  /** absent: the versions of tables are in files beside the rows */
  readonly catalogue?: TableCatalogue | undefined;
}

export interface NextTableVersion {
  readonly directory: string;
  readonly before: TableMetadata;
  readonly next: TableMetadata;
  /** Called once the version is committed. */
  settled(): Promise<void>;
  /** Called once it is certain that the version will never be committed. */
  discard(): Promise<void>;
}

type FormatName = 'delta' | 'iceberg';

/** The table format of `-f`: one format, or both over the same files. */
export type LakeFormatName = TableLayoutName;

/** the prefix of the properties that jobs set in a table */
export const ownNamespace = 'conversion-job-service/';

export function fieldOf({ name, sqlType, nullable, comment, isKey = false }: LakeColumn): LakeField {
  return { name, sqlType, nullable, comment, isKey };
}

/**
 * Returns whether no row has a value in the column, as far as the table records it: the type of such a column can change. Returns false for
 * partition columns.
 */
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
