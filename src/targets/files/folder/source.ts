/** The tables of a folder of files, for reading rows back. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { AppError } from '../../../errors.ts';
import { layoutFacts } from '../../../ports/rows/layouts.ts';
import type { RowSource } from '../../../ports/rows/source.ts';
import { openDuckDbReader } from '../../sql/duckdb/database.ts';
import { LazyReader, createFileRowSource, type SourceTables } from '../../sql/duckdb/reader.ts';
import { loadsOf, modelHashOfJob } from './contents/manifest.ts';
import { diskFolder, folderRecords } from './place.ts';
import { DiskPlace } from '../place/disk.ts';
import { readingTurn, type ReadingTurn } from './reading/turn.ts';
import { tableColumns } from './contents/table-columns.ts';
import { layoutOf } from './layouts/every-layout.ts';
import { refuseLink } from './loaded-documents.ts';
import { pinFolder } from '../../../adapters/local-files/open-folder.ts';

export interface FolderRowSourceOptions {
  readonly directory: string;
  /** the target in messages; absent: the directory */
  readonly label?: string;
  /** the path was checked and its links resolved: one that stands in it by now is refused (false) */
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

/** What is read stays as it was: the folder is locked meanwhile, or it is known at the end. */
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
        `${label}: documents are not written back from ${layoutFacts(manifest.format).title} workbooks, as a cell does not hold every value as it was: load them into -f csv or -f parquet, too, and read that folder.`,
      );
    const opened = await stored.openTables(directory, label, manifest.tables);
    return {
      table: (name) => {
        const table = tables.get(name);
        if (table === undefined || table.files.length === 0) return null;
        return opened.table(table, tableColumns(model, name));
      },
      // most folders are read without it
      connect: async () => (await database.opened()).connect(),
      raiseMemory: async () => (await database.opened()).raiseMemory(),
      modelHashOf: async (jobUuid) => modelHashOfJob(manifest.jobs, jobUuid),
      close: async () => {
        await database.close();
        await letGo();
      },
    };
  } catch (error) {
    // the fault that there is already is the one to tell
    await letGo().catch(() => undefined);
    throw error;
  }
}
