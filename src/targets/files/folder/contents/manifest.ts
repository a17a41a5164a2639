/** What a folder of tables says of itself, and the journal that makes several files change as one. */
import { isList, isObject, isOwnName, parsed } from '../../json.ts';
import { manifestName } from '../../place/journal.ts';
import { codesTable, sideTableNames } from '../../../../engine/model/side-tables.ts';
import { AppError } from '../../../../errors.ts';
import { PreReleaseFault } from '../../../rows/pre-release.ts';
import { isFileLayout, isTableLayout, type FileLayoutName } from '../../../../ports/rows/layouts.ts';
import type { TargetLoad } from '../../../../ports/rows/target-load.ts';

export const loadScriptName = 'load.sql';
/** beside it where the files are CSV or TSV */
export const dataPackageName = 'datapackage.json';

export interface ManifestFile {
  readonly name: string;
  /** of the job that wrote it */
  readonly job_uuid: string;
  readonly job: number;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** names in the order of the header line */
  readonly columns: readonly string[];
  /** DuckDB's types of the columns, for Parquet files */
  readonly types?: readonly string[];
  /** the sheet with the rows, of a workbook, whose bytes and hash are those of all its sheets */
  readonly sheet?: string;
}

export interface ManifestTable {
  readonly name: string;
  readonly rows: number;
  readonly files: readonly ManifestFile[];
  /** columns with a value that their type cannot hold: load.sql makes them text */
  readonly text_columns: readonly string[];
  /** columns of whole numbers with values beyond their type: load.sql makes them decimals; absent: none */
  readonly decimal_columns?: readonly string[];
  /** digits before and behind the point of columns of decimals with values beyond their type; absent: none */
  readonly decimal_digits?: Readonly<Record<string, readonly [whole: number, fraction: number]>>;
  /** NOT NULL columns that some row left empty */
  readonly nullable_columns: readonly string[];
  /** of the columns of dates with times those whose values are instants; absent in tables beside the data */
  readonly zoned_columns?: readonly string[];
}

export type CodeRow = readonly [
  type: string,
  code: string,
  label: string | null,
  documentation: string | null,
];

export interface ManifestJob {
  /** identifies the job; its number is for people */
  readonly job_uuid: string;
  readonly job: number;
  readonly installation: string;
  readonly id_sch: number | null;
  readonly id_lschma: number | null;
  /** SHA-256 of the logical schema's model, which identifies the logical schema */
  readonly model_sha256: string | null;
  readonly published_at: string;
  readonly documents: number;
  readonly rows: number;
}

export interface TargetManifest {
  readonly version: 1;
  readonly format: FileLayoutName;
  /** `datapackage.json` was written by a job; one that somebody else put there stays theirs */
  readonly data_package?: true;
  /** a load was asked for views: those after it keep their scripts up to date */
  readonly views?: true;
  /** address of a folder in a bucket, `s3://BUCKET/PREFIX` or `abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX`: warehouses are told to load its files from there */
  readonly location?: string;
  /** rows of `_codes`, whose file each load that keeps codes writes anew */
  readonly codes?: readonly CodeRow[];
  /** the ledger: every job once */
  readonly jobs: readonly ManifestJob[];
  /** highest key ever given out, by table */
  readonly keys: Readonly<Record<string, number>>;
  readonly tables: readonly ManifestTable[];
}

/**
 * The manifest that a text holds. Any user who may write into the folder may have written that text, and it decides which files are
 * read, replaced and removed: none of its names may lead out of the folder.
 */
export function parseManifest(text: string): TargetManifest {
  const manifest = parsed<TargetManifest>(text);
  if (manifest !== null && isManifest(manifest)) return manifest;
  const other: unknown = manifest?.format;
  if (isTableLayout(other))
    throw new AppError(
      'conflict',
      `the folder holds tables of ${other}; take -f ${other}, or another folder.`,
    );
  throw foreignManifest(manifest);
}

export function manifestText(manifest: TargetManifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Members of a job that every version from 1.0 on writes. */
const jobMembers: readonly (keyof ManifestJob)[] = [
  'job_uuid',
  'job',
  'installation',
  'id_sch',
  'id_lschma',
  'model_sha256',
  'published_at',
  'documents',
  'rows',
];

/** Members of a table in a folder of files that every version from 1.0 on writes. */
const tableMembers: readonly (keyof ManifestTable)[] = ['rows', 'files', 'text_columns', 'nullable_columns'];

/** The fault of what `isManifest` refuses. `manifest`: the value that was read; `ofTable`: members that each table has, beside its name. */
export function foreignManifest(
  manifest: unknown,
  ofTable: readonly string[] = [...tableMembers, 'zoned_columns'],
): AppError {
  const { jobs, tables } = isObject(manifest) ? manifest : {};
  const ofJob = missingIn(objectsIn(jobs), jobMembers);
  if (ofJob !== undefined) return new PreReleaseFault(manifestName, `a job in it has no ${ofJob}`);
  const ofModel = objectsIn(tables).filter(({ name }) => !sideNames.has(String(name)));
  const lack = missingIn(ofModel, ofTable);
  if (lack !== undefined) return new PreReleaseFault(manifestName, `a table in it has no ${lack}`);
  return new AppError('conflict', `${manifestName} is not a manifest of this version.`);
}

function objectsIn(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The first of the members that one of the objects lacks. */
function missingIn(
  objects: readonly Readonly<Record<string, unknown>>[],
  members: readonly string[],
): string | undefined {
  return members.find((member) => objects.some((one) => !Object.hasOwn(one, member)));
}

/** Names of the tables beside the data. */
export const sideNames: ReadonlySet<string> = new Set([...Object.values(sideTableNames), codesTable.name]);

export function isManifest({ version, format, jobs, keys, tables, codes }: Partial<TargetManifest>): boolean {
  return (
    version === 1 &&
    isFileLayout(format) &&
    isList(jobs, isManifestJob) &&
    isObject(keys) &&
    (codes === undefined || isList(codes, isCodeRow)) &&
    isList(tables, isManifestTable)
  );
}

export function isManifestJob(job: unknown): boolean {
  return (
    isObject(job) &&
    typeof job['job_uuid'] === 'string' &&
    jobMembers.every((member) => Object.hasOwn(job, member))
  );
}

function isManifestTable(table: unknown): boolean {
  return (
    isObject(table) &&
    typeof table['name'] === 'string' &&
    tableMembers.every((member) => Object.hasOwn(table, member)) &&
    (sideNames.has(table['name']) || Object.hasOwn(table, 'zoned_columns')) &&
    isList(table['files'], isManifestFile)
  );
}

export function isCodeRow(row: unknown): boolean {
  return (
    Array.isArray(row) &&
    row.length === 4 &&
    row.every((text, at) => typeof text === 'string' || (at > 1 && text === null))
  );
}

function isManifestFile(file: unknown): boolean {
  return (
    isObject(file) && isOwnName(file['name']) && isList(file['columns'], (name) => typeof name === 'string')
  );
}

/** Returns the hash of the model that a job loaded by, or null if the manifest does not have the job. */
export function modelHashOfJob(jobs: readonly ManifestJob[], jobUuid: string): string | null {
  return jobs.find((job) => job.job_uuid === jobUuid)?.model_sha256 ?? null;
}

/** Newest first. */
export function loadsOf({ jobs, tables }: TargetManifest): readonly TargetLoad[] {
  const present = new Set(tables.flatMap(({ files }) => files.map((file) => file.job_uuid)));
  const found = new Map<string, TargetLoad>();
  for (const job of newestFirst(jobs)) {
    const { key, load } = loadOf(job);
    const holds = present.has(job.job_uuid) || found.get(key)?.holds === true;
    found.set(key, { ...load, holds });
  }
  return [...found.values()];
}

/** The logical schema of a job; `key`: the same for all jobs of one. */
export function loadOf(job: ManifestJob): {
  readonly key: string;
  readonly load: Omit<TargetLoad, 'holds'>;
} {
  const { installation, id_sch: idSch, id_lschma: idLschma, model_sha256: modelHash } = job;
  return {
    key: JSON.stringify([installation, idSch, idLschma, modelHash]),
    load: { installation, idSch, idLschma, modelHash },
  };
}

function newestFirst(jobs: readonly ManifestJob[]): readonly ManifestJob[] {
  return jobs.toSorted((a, b) => Date.parse(b.published_at) - Date.parse(a.published_at) || b.job - a.job);
}
