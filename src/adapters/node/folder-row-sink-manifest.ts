/** What a folder of tables says of itself, and the journal that makes several files change as one. */
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import type { FolderFormat } from './folder-row-sink-formats.ts';

export const manifestName = 'manifest.json';
export const loadScriptName = 'load.sql';
const journalName = '.svc-publish.json';

export interface ManifestFile {
  readonly name: string;
  readonly job: number;
  readonly installation: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** names in the order of the header line */
  readonly columns: readonly string[];
  /** of Parquet files: DuckDB's types of the columns */
  readonly types?: readonly string[];
}

export interface ManifestTable {
  readonly name: string;
  readonly rows: number;
  readonly files: readonly ManifestFile[];
  /** columns with a value that their type cannot hold: load.sql makes them text */
  readonly text_columns: readonly string[];
  /** NOT NULL columns that some row left empty */
  readonly nullable_columns: readonly string[];
}

export interface ManifestJob {
  readonly job: number;
  readonly installation: string;
  readonly id_sch: number | null;
  readonly id_lschma: number | null;
  readonly published_at: string;
  readonly documents: number;
  readonly rows: number;
}

export interface Manifest {
  readonly version: 1;
  readonly format: FolderFormat;
  /** the ledger: every job once */
  readonly jobs: readonly ManifestJob[];
  /** highest key given out, by table */
  readonly keys: Readonly<Record<string, number>>;
  readonly tables: readonly ManifestTable[];
}

/** One step from a folder's state to the next; written whole before the first file is touched. */
export interface Journal {
  /** folder that the new files wait in */
  readonly staging: string;
  /** names of new files: they move from the staging folder, over older ones of that name */
  readonly files: readonly string[];
  readonly remove: readonly string[];
  readonly loadScript: string;
  readonly manifest: Manifest;
}

/** Null where there is none; AppError `conflict` for one that this version cannot read. */
export async function readManifest(directory: string): Promise<Manifest | null> {
  const text = await readIfThere(join(directory, manifestName));
  if (text === null) return null;
  const manifest = parsed<Manifest>(text);
  if (manifest?.version === 1 && Array.isArray(manifest.tables)) return manifest;
  throw new AppError('conflict', `${join(directory, manifestName)} is not a manifest of this version.`);
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
  if (journal === null) throw new AppError('conflict', `${join(directory, journalName)} cannot be read.`);
  for (const name of journal.files)
    await renameIfThere(join(directory, journal.staging, name), join(directory, name));
  for (const name of journal.remove) await rm(join(directory, name), { force: true });
  await writeDurably(directory, loadScriptName, journal.loadScript);
  await writeDurably(directory, manifestName, `${JSON.stringify(journal.manifest, null, 2)}\n`);
  await rm(join(directory, journal.staging), { recursive: true, force: true });
  await rm(join(directory, journalName), { force: true });
  await syncPath(directory);
}

/** Temporary file, fsync, rename, fsync of the folder. */
async function writeDurably(directory: string, name: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const draft = join(directory, `${name.startsWith('.') ? '' : '.'}${name}.new`);
  const file = await open(draft, 'w', 0o666);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(directory, name));
  await syncPath(directory);
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

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    // a first try moved it
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}
