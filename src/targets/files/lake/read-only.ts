/** Reads Delta and Iceberg tables of a folder for people, as their own logs describe them. */
import { join } from 'node:path';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import type { OpenedTarget } from '../../../ports/target-reader.ts';
import { pinFolder } from '../../../storage/local/open-folder.ts';
import { openReadOnlyFiles, type FileTable } from '../../sql/duckdb/read-only.ts';
import { DiskPlace } from '../place/disk.ts';
import { rowFiles, wholeRows } from './data-files.ts';
import { mainFormat } from './formats.ts';
import { lakeRecords, type LakeManifest } from './manifest.ts';
import type { LakePlace } from './place.ts';

export interface ReadOnlyLakeOptions {
  readonly directory: string;
  readonly label: string;
  /** a folder for data that does not fit into memory */
  readonly spill: string;
}

/** Opens a folder. AppError `not_found` if no job wrote there; `service_unavailable` while one publishes. */
export async function openReadOnlyLake({
  directory,
  label,
  spill,
}: ReadOnlyLakeOptions): Promise<OpenedTarget> {
  const pinned = await pinFolder(directory, 'refuse');
  try {
    const place: LakePlace = new DiskPlace(pinned.path, label, lakeRecords);
    const look = async (): Promise<string> =>
      JSON.stringify([(await place.readStep()) === null, await place.readManifest()]);
    const before = await look();
    if ((await place.readStep()) !== null)
      throw new AppError(
        'service_unavailable',
        `${label}: a job is publishing there, or died while it published: try again later, or load the documents again`,
      );
    const manifest = await place.readManifest();
    if (manifest === null) throw new AppError('not_found', `${label}: there is no such target`);
    const files = openReadOnlyFiles({
      label,
      spill,
      names: manifest.tables.map(({ name }) => name),
      find: (isNamed) => namedTables(place, manifest, isNamed),
    });
    return {
      page: (slice) => files.page(slice),
      query: (sql) => files.query(sql),
      isUnchanged: async () => (await look()) === before,
      close: async () => {
        await files.close();
        await pinned.close();
      },
    };
  } catch (error) {
    await pinned.close();
    throw error;
  }
}

async function namedTables(
  place: LakePlace,
  manifest: LakeManifest,
  isNamed: (table: string) => boolean,
): Promise<readonly FileTable[]> {
  const found: FileTable[] = [];
  for (const { name, directory } of manifest.tables) {
    if (!isNamed(name)) continue;
    const state = await mainFormat(manifest.format).readTable(
      place,
      directory,
      `${place.label}: ${name}`,
      Infinity,
    );
    if (state === null) continue;
    state.checkReadable();
    const present = [...state.files].map(([path, of]) => ({ path: `${directory}/${path}`, of }));
    const rows = await rowFiles(place, present);
    const columns = state.fields.flatMap(({ name: column, sqlType }) =>
      sqlType === null ? [] : [{ name: column, sqlType }],
    );
    // a file of another program may have another type than the table: its values are cast
    const values = columns.map(
      (column) => `${doubleQuoted(column.name)}::${column.sqlType} AS ${doubleQuoted(column.name)}`,
    );
    found.push({
      name,
      files: present.map(({ path }) => join(place.local, path)),
      select: () => Promise.resolve(`SELECT ${values.join(', ')} FROM ${wholeRows(rows, columns)}`),
    });
  }
  return found;
}
