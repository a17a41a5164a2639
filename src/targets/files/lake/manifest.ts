/**
 * The manifest of a folder of tables, and the step of a job in it. The whole step is written before the first table is changed, so that the
 * next process to open the folder can finish what a dead process began.
 */
import { createHash } from 'node:crypto';
import { AppError } from '../../../errors.ts';
import { fileNamePart } from '../folder/place.ts';
import { isList, isObject, isOwnName, parsed } from '../json.ts';
import { journalName, stagingPrefix, type StagedStep, type StepRecords } from '../place/journal.ts';
import {
  foreignManifest,
  isCodeRow,
  isManifestJob,
  type CodeRow,
  type ManifestJob,
} from '../folder/manifest.ts';
import type { LakeFormatName, LakeColumn, NewFile } from './table-format.ts';
import { isTableLayout } from '../../../ports/layouts.ts';
import type { PartitionField } from './partition-fields.ts';

export interface LakeJob extends ManifestJob {
  /** tables that still have rows of the job; empty if its documents were replaced */
  readonly tables: readonly string[];
}

export interface LakeTable {
  readonly name: string;
  /** the folder of the table */
  readonly directory: string;
  /** the last version that a job made */
  readonly version: number;
}

export interface LakeManifest {
  readonly version: 1;
  readonly format: LakeFormatName;
  readonly formats: readonly LakeFormatName[];
  /** the ledger: each job once */
  readonly jobs: readonly LakeJob[];
  /** the highest key ever used, by table */
  readonly keys: Readonly<Record<string, number>>;
  readonly tables: readonly LakeTable[];
  /** rows of `_codes`, if jobs keep codes */
  readonly codes?: readonly CodeRow[];
}

/** The changes that one job makes to one table. */
export interface TableStep {
  readonly name: string;
  readonly directory: string;
  readonly comment: string;
  /** the columns with their types in the file */
  readonly columns: readonly LakeColumn[];
  readonly files: readonly NewFile[];
  /** existing rows are removed */
  readonly replace: boolean;
  /** the jobs (UUIDs) whose documents keep their rows */
  readonly keptJobs: readonly string[];
  /** the documents (keys, decimal digits) that also keep their rows; absent: none */
  readonly keptDocuments?: readonly string[];
  /** keys of documents whose rows are removed, decimal digits; columns are given only if the job also adds rows */
  readonly without: readonly string[];
  /** the partition fields of the table, if it is partitioned */
  readonly partitioning?: readonly PartitionField[];
  /** for `_documents`, if documents are merged */
  readonly closing?: DocumentClosing;
  /** lists of files below the table's folder; each list becomes one file with the same rows, and no other member is set then */
  readonly merges?: readonly (readonly string[])[];
}

/** Closes documents that are replaced, or whose source is gone, without removing them. */
export interface DocumentClosing {
  /** their keys, decimal digits; empty: documents only get the values of the merge columns */
  readonly keys: readonly string[];
  /** the end of their validity: ISO 8601 in UTC */
  readonly until: string;
}

export interface LakeStep extends StagedStep {
  readonly format: LakeFormatName;
  readonly jobUuid: string;
  readonly job: number;
  readonly installation: string;
  /** in the order in which they are committed */
  readonly tables: readonly TableStep[];
  /** the manifest after the step, except for the versions */
  readonly manifest: LakeManifest;
}

/** Returns the folder of a table: its name, unless that contains characters that readers would interpret as part of an address. */
export function tableFolder(name: string): string {
  const plain = fileNamePart(name);
  if (!plain.includes('%')) return plain;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return `${plain.replaceAll(/(?:%[0-9A-F]{2})+/g, '_')}-${hash}`;
}

export function emptyManifest(format: LakeFormatName): LakeManifest {
  return { version: 1, format, formats: [format], jobs: [], keys: {}, tables: [] };
}

/** Parses a manifest. AppError `conflict` if the text is of another kind. */
function manifestOf(text: string): LakeManifest {
  const manifest = parsed<Partial<LakeManifest>>(text);
  if (isObject(manifest) && isManifest(manifest)) return manifest as LakeManifest;
  const other: unknown = isObject(manifest) ? manifest['format'] : undefined;
  if (typeof other === 'string' && !isTableLayout(other))
    throw new AppError('conflict', `the folder holds ${other} files; use -f ${other}, or another folder.`);
  throw foreignManifest(manifest, tableMembers);
}

/** Parses a step. AppError `conflict` if the text is no step. */
function stepOf(text: string): LakeStep {
  const step = parsed<Partial<LakeStep>>(text);
  if (isObject(step) && isStep(step)) return step as LakeStep;
  throw new AppError('conflict', `${journalName} is not a journal of tables of this version.`);
}

export const lakeRecords: StepRecords<LakeStep, LakeManifest> = {
  manifestOf,
  manifestText: (manifest) => `${JSON.stringify(manifest, null, 2)}\n`,
  stepOf,
  stepText: (step) => JSON.stringify(step),
};

/** The members of a table, besides its name, that every version from 1.0 on writes. */
const tableMembers: readonly (keyof LakeTable)[] = ['directory', 'version'];

function isManifest({ version, format, formats, jobs, keys, tables, codes }: Partial<LakeManifest>): boolean {
  return (
    version === 1 &&
    isTableLayout(format) &&
    isList(formats, isTableLayout) &&
    isList(jobs, (job) => isManifestJob(job) && isList((job as LakeJob).tables, isText)) &&
    isObject(keys) &&
    (codes === undefined || isList(codes, isCodeRow)) &&
    isList(
      tables,
      (table) =>
        isObject(table) &&
        isText(table['name']) &&
        isOwnName(table['directory']) &&
        Number.isSafeInteger(table['version']),
    )
  );
}

/** Any user with write access to the folder may have written the step: none of its names may lead out of the folder. */
function isStep({
  format,
  staging,
  jobUuid,
  job,
  installation,
  tables,
  manifest,
}: Partial<LakeStep>): boolean {
  return (
    isTableLayout(format) &&
    isText(staging) &&
    staging.startsWith(stagingPrefix) &&
    isOwnName(staging.slice(stagingPrefix.length)) &&
    isUuid(jobUuid) &&
    Number.isSafeInteger(job) &&
    isText(installation) &&
    isList(tables, isTableStep) &&
    isObject(manifest) &&
    isManifest(manifest)
  );
}

function isTableStep(step: unknown): boolean {
  return (
    isObject(step) &&
    isText(step['name']) &&
    isOwnName(step['directory']) &&
    isList(
      step['columns'],
      (column) => isObject(column) && isText(column['name']) && isSqlType(column['sqlType']),
    ) &&
    isList(step['keptJobs'], isUuid) &&
    (step['keptDocuments'] === undefined || isList(step['keptDocuments'], isDigits)) &&
    isList(step['without'], isDigits) &&
    (step['partitioning'] === undefined || isList(step['partitioning'], isPartitionField)) &&
    (step['closing'] === undefined || isClosing(step['closing'])) &&
    (step['merges'] === undefined || isList(step['merges'], (files) => isList(files, isText))) &&
    isList(step['files'], (file) => isObject(file) && isOwnName(file['name']))
  );
}

function isPartitionField(field: unknown): boolean {
  return isObject(field) && isText(field['column']) && isText(field['part']);
}

function isClosing(closing: unknown): boolean {
  return (
    isObject(closing) &&
    isList(closing['keys'], isDigits) &&
    isText(closing['until']) &&
    /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(closing['until'])
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Returns whether the value is a UUID, which becomes part of statements and file names. */
function isUuid(value: unknown): boolean {
  return isText(value) && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}

function isDigits(value: unknown): boolean {
  return isText(value) && /^-?\d+$/.test(value);
}

/** Returns whether the value is a DuckDB type, which becomes part of statements. */
function isSqlType(value: unknown): boolean {
  return isText(value) && /^[A-Z ]+(?:\(\d+,\d+\))?(?:\[\])?$/.test(value);
}
