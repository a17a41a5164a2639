/** Reads rows back from a folder of Delta or Iceberg tables, according to the tables' own logs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { holdPlace } from './finish-step.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { fractionDigits } from '../../../engine/sql/physical-model.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { ColumnType, RelationalModel } from '../../../engine/model/relational-model.ts';
import { AppError } from '../../../errors.ts';
import type { RowSource } from '../../../ports/row-source.ts';
import { openDuckDbReader } from '../../sql/duckdb/database.ts';
import {
  LazyReader,
  createFileRowSource,
  type SourceTable,
  type SourceTables,
} from '../../sql/duckdb/reader.ts';
import { lexicalText } from '../../sql/duckdb/types.ts';
import { modelHashOfJob } from '../folder/manifest.ts';
import { tableColumns } from '../folder/table-columns.ts';
import { BufferRoom, bufferedValueBytes, pieceBytesOf, rowsInOrder } from '../folder/buffer-room.ts';
import {
  createStoredRowsMemory,
  openStoredRows,
  storedColumns,
  type StoredRowsMemory,
} from '../folder/parquet-tables.ts';
import type { ClosableBlocks, DocumentRowsOnly } from '../../rows/table-row-source.ts';
import { parquet, type LocalRows, rowFiles } from './data-files.ts';
import { versionsPutRight } from './iceberg/version.ts';
import { mainFormat } from './formats.ts';
import { readLakeLoads } from './look.ts';
import type { LakeManifest, LakeTable } from './manifest.ts';
import type { LakePlace, LakeTarget } from './place.ts';

export interface LakeRowSourceOptions {
  readonly target: LakeTarget;
  /** reads the tables as the job that made this version of `_loads` left them; absent: their newest versions */
  readonly version?: number;
}

export function createLakeRowSource(options: LakeRowSourceOptions): RowSource {
  return createFileRowSource({
    label: options.target.label,
    openTables: (model) => openTables(options, model),
    loads: () => readLakeLoads(options.target),
  });
}

/** a step that takes longer belongs to a dead process, and must be finished */
const stepMs = 60_000;
const pollMs = 500;
const maxLooks = 20;

interface ReadPlace<T> {
  readonly found: T;
  release(): Promise<void>;
}

/**
 * Returns what `look` finds between two jobs; `drop` releases a result that is discarded. AppError `service_unavailable` if jobs leave no
 * time between them.
 */
async function readBetweenJobs<T>(
  target: LakeTarget,
  look: (place: LakePlace) => Promise<T>,
  drop: (found: T) => void,
): Promise<ReadPlace<T>> {
  if (target.openSteady === undefined) {
    const place = await holdPlace(target, false);
    try {
      return { found: await look(place), release: () => place.release() };
    } catch (error) {
      await place.release();
      throw error;
    }
  }
  const deadline = Date.now() + stepMs;
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const place = await target.openSteady();
    if ((await place.readStep()) === null) {
      const found = await look(place);
      if (await place.isSteady()) return { found, release: () => Promise.resolve() };
      drop(found);
    } else if (Date.now() > deadline) await (await holdPlace(target, false)).release();
    else {
      looks -= 1;
      await sleep(pollMs);
    }
  }
  throw new AppError(
    'service_unavailable',
    `${target.label}: the tables changed during each attempt to read them; run it again later.`,
  );
}

interface TablesFound {
  readonly database: LazyReader;
  readonly tables: ReadonlyMap<string, SourceTable>;
  readonly manifest: LakeManifest;
}

/** Opens the tables. No job writes while they are read; commits of other programs in the meantime are not visible. */
async function openTables(
  { target, version }: LakeRowSourceOptions,
  model: RelationalModel,
): Promise<SourceTables> {
  const spill = await mkdtemp(join(tmpdir(), 'row-source-'));
  const removeSpill = (): Promise<void> => rm(spill, { recursive: true, force: true });
  try {
    const { found, release } = await readBetweenJobs(
      target,
      (place) => findTables(place, model, version, spill),
      ({ database }) => void database.close(),
    );
    const { database, tables, manifest } = found;
    return {
      table: (name) => tables.get(name) ?? null,
      // started only on demand: most tables are read without DuckDB
      connect: async () => (await database.opened()).connect(),
      raiseMemory: async () => (await database.opened()).raiseMemory(),
      modelHashOf: async (jobUuid) => modelHashOfJob(manifest.jobs, jobUuid),
      close: async () => {
        await database.close();
        await removeSpill();
        await release();
      },
    };
  } catch (error) {
    await removeSpill();
    throw error;
  }
}

async function findTables(
  place: LakePlace,
  model: RelationalModel,
  version: number | undefined,
  spill: string,
): Promise<TablesFound> {
  const manifest = await place.readManifest();
  if (manifest === null) throw new AppError('not_found', `${place.label}: no documents were loaded there.`);
  const streams = manifest.tables.length;
  const database = new LazyReader(() => openDuckDbReader(':memory:', spill, { data: place.local, streams }));
  const reading = { database, room: new BufferRoom(false), memory: createStoredRowsMemory(), bytes: 0 };
  try {
    const tables = new Map<string, SourceTable>();
    const known = new Set([...model.tables.map(({ name }) => name), ...Object.values(sideTableNames)]);
    const versions = version === undefined ? null : await versionsAt(place, manifest, version);
    for (const table of manifest.tables) {
      const at = versions === null ? Infinity : (versions.get(table.name) ?? -1);
      if (!known.has(table.name) || at < 0) continue;
      const opened = await openTable(reading, place, { ...table, version: at }, model, manifest.format);
      if (opened !== null) tables.set(table.name, opened);
    }
    return { database, tables, manifest };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Returns, by table, the version that the job of that version of `_loads` left; without tables that were made later. */
async function versionsAt(
  place: LakePlace,
  manifest: LakeManifest,
  version: number,
): Promise<ReadonlyMap<string, number>> {
  const { label } = place;
  const loads = manifest.tables.find(({ name }) => name === sideTableNames.loads);
  const state =
    loads === undefined
      ? null
      : await mainFormat(manifest.format)
          .readTable(place, loads.directory, label, version)
          .catch((error: unknown) => {
            // there is no such version: reported below for the whole folder
            if (error instanceof AppError && error.code === 'not_found') return null;
            throw error;
          });
  const told = state?.recordedVersions ?? null;
  if (told !== null) {
    const versions = Object.entries(told).filter((entry): entry is [string, number] =>
      Number.isSafeInteger(entry[1]),
    );
    return versionsPutRight(place, manifest.tables, state, new Map(versions));
  }
  throw new AppError(
    'not_found',
    `${label}: no job made version ${version} of ${sideTableNames.loads}; the newest is ${loads?.version ?? 'none'}.`,
  );
}

/** The state and the memory for reading the tables. */
interface Reading {
  readonly database: LazyReader;
  readonly room: BufferRoom;
  readonly memory: StoredRowsMemory;
  /** the bytes of all tables that were opened */
  bytes: number;
}

/** Returns the names of all columns in the files. `paths`: see `plainPaths`. */
async function columnsOf(
  { database, memory }: Reading,
  files: readonly LocalRows[],
  paths: readonly string[] | null,
  label: string,
): Promise<ReadonlySet<string>> {
  const stored = paths === null ? null : await storedColumns(paths, { label, memory });
  if (stored !== null) return stored;
  const reader = await database.opened();
  const described = await reader.read<{ column_name: string }>(`DESCRIBE SELECT * FROM ${parquet(files)}`);
  return new Set(described.map((column) => column.column_name));
}

/** Returns the paths of the files; null if the table gives values of columns that the files do not have. */
function plainPaths(files: readonly LocalRows[]): readonly string[] | null {
  const isPlain = files.every((file) => typeof file === 'string' || file.told.length === 0);
  return isPlain ? files.map((file) => (typeof file === 'string' ? file : file.path)) : null;
}

/** Returns null if the table has no rows. */
async function openTable(
  reading: Reading,
  place: LakePlace,
  { name, directory, version }: LakeTable,
  model: RelationalModel,
  format: LakeManifest['format'],
): Promise<SourceTable | null> {
  const label = `${place.label}: ${name}`;
  const state = await mainFormat(format).readTable(place, directory, label, version);
  if (state === null) return null;
  state.checkReadable();
  const present = [...state.files].map(([path, of]) => ({ path: `${directory}/${path}`, of }));
  const files = await rowFiles(place, present);
  if (files.length === 0) return null;
  const paths = plainPaths(files);
  const inFiles = await columnsOf(reading, files, paths, label);
  const types = new Map<string, ColumnType>(
    tableColumns(model, name).map((column) => [column.name, column.type]),
  );
  const names = new Set<string>();
  const values: string[] = [];
  const columns = new Map<string, { sqlType: string; fraction: number | null }>();
  for (const field of state.fields) {
    const { sqlType } = field;
    if (sqlType === null || !inFiles.has(field.name)) continue;
    const column = doubleQuoted(field.name);
    const fraction = fractionDigits(types.get(field.name));
    names.add(field.name);
    columns.set(field.name, { sqlType, fraction });
    // a file of another program may have another type than the table: its values are cast
    values.push(`${lexicalText(`${column}::${sqlType}`, sqlType, fraction)} AS ${column}`);
  }
  const tableBytes = present.reduce((sum, { of }) => sum + of.bytes, 0);
  reading.bytes += tableBytes;
  const stored = async (
    wanted: readonly string[],
    key: string | null,
    only: DocumentRowsOnly | null,
  ): Promise<ClosableBlocks | null> =>
    paths === null
      ? null
      : openStoredRows({
          files: paths.map((path) => ({ path, mayLack: true, columns })),
          key,
          only: only === null ? null : { column: only.column, number: BigInt(only.key) },
          wanted,
          blockBytes: pieceBytesOf(tableBytes, reading.bytes),
          label,
          memory: reading.memory,
        });
  // a table is not buffered if it does not have the numbers of rows of its files
  const sizes = present.map(({ of }) => ({
    bytes: of.bytes,
    rows: Number.isNaN(of.rows) ? Infinity : of.rows,
  }));
  const unordered = {
    files: sizes,
    room: reading.room,
    asTheyLie: async (wanted: readonly string[]) => stored(wanted, null, null),
  };
  return {
    inOrder: async (key, wanted, only) =>
      (await stored(wanted, key, only)) ?? (only === null ? rowsInOrder(unordered, key, wanted) : null),
    fewAsTheyLie: async (wanted) =>
      reading.room.take(sizes, wanted.length, bufferedValueBytes.named) ? stored(wanted, null, null) : null,
    from: `(SELECT ${values.join(', ')} FROM ${parquet(files)})`,
    whole: (column) => (names.has(column) ? `${doubleQuoted(column)}::BIGINT` : null),
    holds: (column, text) => `${doubleQuoted(column)} = ${standardLiteral(text)}`,
    text: (column) => (names.has(column) ? { expression: doubleQuoted(column), decode: null } : null),
  };
}
