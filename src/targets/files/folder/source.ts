/**
 * Reads rows back from the tables of a folder of files. No other process may write into the folder meanwhile; if no lock can be made there,
 * a change is detected at the end.
 */
import { lstat, readFile, mkdtemp, rm, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { AppError } from '../../../errors.ts';
import { isDeadLock, lockFolder, lockName } from '../../../storage/staging/lock.ts';
import { journalName, manifestName } from '../place/journal.ts';
import { HeldDiskPlace, DiskPlace } from '../place/disk.ts';
import { endStep, folderRecords, diskFolder } from './place.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { layoutFacts } from '../../../ports/layouts.ts';
import type { RowSource } from '../../../ports/row-source.ts';
import { openDuckDbReader } from '../../sql/duckdb/database.ts';
import { LazyReader, createFileRowSource, type SourceTables } from '../../sql/duckdb/reader.ts';
import { loadsOf, modelHashOfJob, manifestText } from './manifest.ts';
import { tableColumns } from './table-columns.ts';
import { layoutOf } from './every-layout.ts';
import { refuseLink, pinFolder } from '../../../storage/local/open-folder.ts';
import type { RowStore } from '../../../ports/row-sink.ts';
import { fetchBatch, readStore } from './row-store.ts';

interface ReadingTurn {
  /** To be called once. AppError `conflict` if jobs have published in the meantime, because no lock could prevent that. */
  end(): Promise<void>;
}

/** the same wait as for a writer */
const waitMs = 15 * 60_000;
const pollMs = 100;
/** a lock of another machine is dead if it was not refreshed for this long, by this machine's clock */
const staleMs = 60_000;

/**
 * Locks a folder for reading. First publishes what a dead job had begun to publish there. AppError `conflict` if that is impossible because
 * the folder is read-only; `service_unavailable` if another job keeps writing there.
 */
export async function readingTurn(
  directory: string,
  label: string,
  lockIn: typeof lockFolder = lockFolder,
): Promise<ReadingTurn> {
  const lock = await lockIn(directory, waitMs, label).catch((error: unknown) => {
    if (isReadOnly(error)) return null;
    throw error;
  });
  if (lock === null) return unlockedTurn(directory, label);
  const held = new HeldDiskPlace(directory, label, folderRecords, lock, () => lock.release());
  try {
    await endStep(held);
  } catch (error) {
    await held.release();
    throw error;
  }
  return { end: () => held.release() };
}

/** Returns whether the file system or the user's rights forbid writing. Other processes may still be able to write there. */
function isReadOnly(error: unknown): boolean {
  return ['EROFS', 'EACCES', 'EPERM'].includes(String((error as { code?: unknown }).code));
}

/**
 * Waits for a moment without a journal. A job first writes its journal, then moves files, writes the manifest, and removes the journal; so
 * without a journal, all files of the manifest are complete.
 */
async function unlockedTurn(directory: string, label: string): Promise<ReadingTurn> {
  const deadline = Date.now() + waitMs;
  while (await isHeld(join(directory, lockName))) {
    if (Date.now() > deadline)
      throw new AppError('service_unavailable', `Another job has been writing into ${label} for long.`);
    await sleep(pollMs);
  }
  if (await isPresent(join(directory, journalName)))
    throw new AppError(
      'conflict',
      `${label}: a job died while it published there, and this user cannot finish its work without write permission; read it once with write permission, or load it again.`,
    );
  const before = await textOfManifest(directory);
  return {
    end: async () => {
      if (!(await isPresent(join(directory, journalName))) && (await textOfManifest(directory)) === before)
        return;
      throw new AppError(
        'conflict',
        `${label}: a job published there while it was read (no lock can be created there), so the output may mix rows from before and after: run it again.`,
      );
    },
  };
}

async function isHeld(path: string): Promise<boolean> {
  if (!(await isPresent(path))) return false;
  try {
    return !(await isDeadLock(path));
  } catch (error) {
    // the lock is of another machine, whose clock cannot be read in a read-only folder
    if (!isReadOnly(error)) throw error;
    const found = await lstat(path).catch(() => null);
    return found !== null && Date.now() - found.mtimeMs <= staleMs;
  }
}

async function isPresent(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

function textOfManifest(directory: string): Promise<string | null> {
  return readFile(join(directory, manifestName), 'utf8').catch(() => null);
}

export interface FolderRowSourceOptions {
  readonly directory: string;
  /** the name of the target in messages; absent: the directory */
  readonly label?: string;
  /** whether a link in the path is rejected, because the path was checked before and its links resolved (false) */
  readonly refuseLinks?: boolean;
}

export function createFolderRowSource(options: FolderRowSourceOptions): RowSource {
  return createFileRowSource({
    label: options.label ?? options.directory,
    openTables: (model) => openTables(options, model),
    loads: async () => {
      const manifest = await diskFolder(options).look();
      return manifest === null ? [] : loadsOf(manifest);
    },
  });
}

/**
 * Opens the tables of a folder. The folder is locked meanwhile; if it cannot be locked, a change during the read is detected at the end.
 */
async function openTables(
  { directory: path, label = path, refuseLinks = false }: FolderRowSourceOptions,
  model: RelationalModel,
): Promise<SourceTables> {
  const nothing = new AppError('not_found', `${label}: no documents were loaded there.`);
  const pinned = await pinFolder(resolve(path), refuseLinks ? 'refuse' : 'follow').catch((error) => {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? nothing : error;
  });
  const directory = pinned.path;
  let spill: string | null = null;
  let turn: ReadingTurn | null = null;
  const letGo = async (): Promise<void> => {
    if (spill !== null) await rm(spill, { recursive: true, force: true });
    try {
      await turn?.end();
    } finally {
      await pinned.close();
    }
  };
  try {
    const place = new DiskPlace(directory, label, folderRecords);
    if ((await place.readManifest()) === null) throw nothing;
    turn = await readingTurn(directory, label);
    spill = await mkdtemp(join(tmpdir(), 'row-source-'));
    const manifest = (await place.readManifest())!;
    for (const { files } of manifest.tables)
      for (const { name } of files) await refuseLink(join(directory, name));
    const spillFolder = spill;
    const streams = manifest.tables.length;
    const database = new LazyReader(() =>
      openDuckDbReader(':memory:', spillFolder, { data: directory, streams }),
    );
    const tables = new Map(manifest.tables.map((table) => [table.name, table]));
    const { stored } = layoutOf(manifest.format);
    if (stored === null)
      throw new AppError(
        'invalid_option',
        `${label}: documents cannot be written back from ${layoutFacts(manifest.format).title} workbooks because cells do not keep every value exactly: also load them with -f csv or -f parquet, and read that folder.`,
      );
    const opened = await stored.openTables(directory, label, manifest.tables);
    return {
      table: (name) => {
        const table = tables.get(name);
        if (table === undefined || table.files.length === 0) return null;
        return opened.table(table, tableColumns(model, name));
      },
      // most folders are read without DuckDB
      connect: async () => (await database.opened()).connect(),
      raiseMemory: async () => (await database.opened()).raiseMemory(),
      modelHashOf: async (jobUuid) => modelHashOfJob(manifest.jobs, jobUuid),
      close: async () => {
        await database.close();
        await letGo();
      },
    };
  } catch (error) {
    // report the first error, not this one
    await letGo().catch(() => undefined);
    throw error;
  }
}

/** `scratch`: a folder of this machine that only this job uses, and that its worker removes. */
export function createStoreRowSource(store: RowStore, label: string, scratch: string): RowSource {
  const folder = createFolderRowSource({ directory: scratch, label });
  let closed: Promise<void> | null = null;
  return {
    label,
    async loads() {
      const manifest = await readStore(store);
      return manifest === null ? [] : loadsOf(manifest);
    },
    async open(model) {
      const manifest = await readStore(store);
      await mkdir(scratch, { recursive: true, mode: 0o700 });
      if (manifest !== null) {
        for (const { files } of manifest.tables)
          for (const { name } of files) await fetchBatch(store, name, scratch);
        await writeFile(join(scratch, manifestName), manifestText(manifest));
      }
      await folder.open(model);
    },
    documents: (name, versions) => folder.documents(name, versions),
    documentCount: (name, versions) => folder.documentCount(name, versions),
    rowsFrom: (documentKey) => folder.rowsFrom(documentKey),
    rowsOf: (documentKey) => folder.rowsOf(documentKey),
    close: () => folder.close().finally(() => (closed ??= store.close?.() ?? Promise.resolve())),
  };
}
