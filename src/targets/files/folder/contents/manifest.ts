/** What a folder of tables says of itself, and the journal that makes several files change as one. */
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codesTable, sideTableNames } from '../../../../engine/model/side-tables.ts';
import { AppError } from '../../../../errors.ts';
import { PreReleaseFault } from '../../../rows/pre-release.ts';
import { isFileLayout, isTableLayout, type FileLayoutName } from '../../../../ports/rows/layouts.ts';
import type { TargetLoad } from '../../../../ports/rows/target-load.ts';

export const manifestName = 'manifest.json';
export const loadScriptName = 'load.sql';
/** beside it where the files are CSV or TSV */
export const dataPackageName = 'datapackage.json';

export const journalName = '.svc-publish.json';
/** in front of the names of folders that new files wait in */
export const stagingPrefix = '.svc-staging-';

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

/** One step from a folder's state to the next; written whole before the first file is touched. */
export interface Journal {
  /** folder that the new files wait in */
  readonly staging: string;
  /** names of new files, scripts among them: they move from the staging folder, over older ones of that name */
  readonly files: readonly string[];
  readonly remove: readonly string[];
  readonly manifest: TargetManifest;
}

/** Returns null if there is none. Throws AppError `conflict` for one that this version cannot read. */
export async function readManifest(directory: string): Promise<TargetManifest | null> {
  const text = await readIfThere(join(directory, manifestName));
  return text === null ? null : parseManifest(text);
}

/** The same as the folder will be once its journal, where a process died over it, has been carried out. */
export async function readCommittedManifest(directory: string): Promise<TargetManifest | null> {
  const text = await readIfThere(join(directory, journalName));
  const journal = text === null ? null : parsed<Journal>(text);
  return journal !== null && isJournal(journal) ? journal.manifest : readManifest(directory);
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

function isManifest({ version, format, jobs, keys, tables, codes }: Partial<TargetManifest>): boolean {
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

/** A plain name, which no hidden file has: those are the locks, journals and staging folders. */
export function isOwnName(name: unknown): name is string {
  return (
    typeof name === 'string' && /^[^./\\\p{Cc}][^/\\\p{Cc}]*$/u.test(name) && Buffer.byteLength(name) <= 255
  );
}

export function isList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** From here on the step is done, also if this process dies: whoever opens the folder next finishes it. */
export async function commitJournal(directory: string, journal: Journal): Promise<void> {
  await writeDurably(directory, journalName, JSON.stringify(journal));
}

/** Carries out what the journal says; does nothing without one. May be repeated at any point. */
export async function finishJournal(directory: string): Promise<void> {
  const text = await readIfThere(join(directory, journalName));
  if (text === null) return;
  const journal = parsed<Journal>(text);
  if (journal === null || !isJournal(journal))
    throw new AppError('conflict', `${journalName} is not a journal of this version.`);
  for (const name of journal.files)
    await renameIfThere(join(directory, journal.staging, name), join(directory, name));
  for (const name of journal.remove) await rm(join(directory, name), { force: true });
  await writeDurably(directory, manifestName, manifestText(journal.manifest));
  await rm(join(directory, journal.staging), { recursive: true, force: true });
  await rm(join(directory, journalName), { force: true });
  await syncPath(directory);
}

/** As hostile as a manifest: it names what is moved and removed. */
function isJournal({ staging, files, remove, manifest }: Partial<Journal>): boolean {
  return (
    typeof staging === 'string' &&
    staging.startsWith(stagingPrefix) &&
    isOwnName(staging.slice(stagingPrefix.length)) &&
    isList(files, isOwnName) &&
    isList(remove, isOwnName) &&
    isObject(manifest) &&
    isManifest(manifest)
  );
}

/** Temporary file, fsync, rename, fsync of the folder: the text, whole or in pieces, is there whole, or not at all. */
export async function writeDurably(
  directory: string,
  name: string,
  text: string | Iterable<string>,
): Promise<void> {
  const draft = join(directory, `${name.startsWith('.') ? '' : '.'}${name}.new`);
  // what a dead attempt left, or a link that somebody put there, is not written to
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o666);
  try {
    await file.writeFile(typeof text === 'string' ? text : inLongPieces(text));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(directory, name));
  await syncPath(directory);
}

/** characters of what is written at once, more or less */
const pieceLength = 256 * 1024;

function* inLongPieces(texts: Iterable<string>): Generator<string, void, void> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** Makes what was written outlive a crash of the machine: a file's bytes, a folder's names. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function readIfThere(path: string): Promise<string | null> {
  // a named pipe must not hold the job up
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  try {
    return (await file?.readFile('utf8')) ?? null;
  } finally {
    await file?.close();
  }
}

export async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    // a first try moved it
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

export function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
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
