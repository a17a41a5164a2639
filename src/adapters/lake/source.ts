/** The tables of a folder of Delta or Iceberg tables, by their own logs, for reading rows back. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../engine/sql/dialect.ts';
import { fractionDigits } from '../../engine/sql/fraction-digits.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { ColumnType, RelationalModel } from '../../engine/model/relational-model.ts';
import { AppError } from '../../errors.ts';
import type { RowSource } from '../../ports/rows/source.ts';
import { openDuckDbReader, type DuckDbReader } from '../duckdb/database.ts';
import { createFileRowSource, type SourceTable, type SourceTables } from '../duckdb/reader.ts';
import { lexicalText } from '../duckdb/types.ts';
import { logicalSchemaOfJob } from '../folder/ledger.ts';
import { tableColumns } from '../folder/contents/formats.ts';
import { parquet } from './data-files.ts';
import { holdLakeFolder } from './held-folder.ts';
import { mainFormat } from './formats.ts';
import { readLakeLoads, readLakeManifest, type LakeManifest, type LakeTable } from './manifest.ts';
import { plainFile } from './plain-paths.ts';

export interface LakeRowSourceOptions {
  readonly directory: string;
  /** the path was checked and its links resolved: one that stands in it by now is refused (false) */
  readonly refuseLinks?: boolean;
  /** numbers the logical schemas that are asked for; absent: whichever */
  readonly installation?: string;
  /** as the job left the tables that made this version of `_loads`; absent: their newest versions */
  readonly version?: number;
}

export function createLakeRowSource(options: LakeRowSourceOptions): RowSource {
  const links = options.refuseLinks === true ? 'refuse' : 'follow';
  return createFileRowSource({
    label: options.directory,
    openTables: (model) => openTables(options, model),
    loads: () => readLakeLoads(resolve(options.directory), links),
  });
}

/** The folder is locked against other jobs while it is read; what other programs commit meanwhile is not seen. */
async function openTables(
  { directory: label, refuseLinks = false, installation, version }: LakeRowSourceOptions,
  model: RelationalModel,
): Promise<SourceTables> {
  const folder = await holdLakeFolder(resolve(label), { label, refuseLinks });
  const directory = folder.path;
  let spill: string | null = null;
  const letGo = async (): Promise<void> => {
    if (spill !== null) await rm(spill, { recursive: true, force: true });
    await folder.release();
  };
  try {
    spill = await mkdtemp(join(tmpdir(), 'row-source-'));
    const manifest = await readLakeManifest(directory);
    if (manifest === null) throw new AppError('not_found', `${label}: no documents were loaded there.`);
    const database = await openDuckDbReader(':memory:', spill, {
      data: directory,
      streams: manifest.tables.length,
    });
    const tables = new Map<string, SourceTable>();
    const known = new Set([...model.tables.map(({ name }) => name), ...Object.values(sideTableNames)]);
    const versions = version === undefined ? null : await versionsAt(directory, label, manifest, version);
    for (const table of manifest.tables) {
      const at = versions === null ? Infinity : (versions.get(table.name) ?? -1);
      if (!known.has(table.name) || at < 0) continue;
      const opened = await openTable(
        database,
        directory,
        label,
        { ...table, version: at },
        model,
        manifest.format,
      );
      if (opened !== null) tables.set(table.name, opened);
    }
    return {
      table: (name) => tables.get(name) ?? null,
      connect: () => database.connect(),
      logicalSchemaOf: async (job) => logicalSchemaOfJob(manifest.jobs, installation, job),
      close: async () => {
        database.close();
        await letGo();
      },
    };
  } catch (error) {
    await letGo();
    throw error;
  }
}

/** By table: what the job of that version of `_loads` left; a table that came later is not among them. */
async function versionsAt(
  folder: string,
  label: string,
  manifest: LakeManifest,
  version: number,
): Promise<ReadonlyMap<string, number>> {
  const loads = manifest.tables.find(({ name }) => name === sideTableNames.loads);
  const state =
    loads === undefined
      ? null
      : await mainFormat(manifest.format)
          .readTable(join(folder, loads.directory), label, version)
          .catch((error: unknown) => {
            // there is no such version: in words of the whole folder below
            if (error instanceof AppError && error.code === 'not_found') return null;
            throw error;
          });
  const told = state?.versionsTold ?? null;
  if (told !== null)
    return new Map(
      Object.entries(told).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])),
    );
  throw new AppError(
    'not_found',
    `${label}: no job made version ${version} of ${sideTableNames.loads}; the newest is ${loads?.version ?? 'none'}.`,
  );
}

/** Null where the table has no rows. */
async function openTable(
  database: DuckDbReader,
  folder: string,
  target: string,
  { name, directory, version }: LakeTable,
  model: RelationalModel,
  format: LakeManifest['format'],
): Promise<SourceTable | null> {
  const label = `${target}: ${name}`;
  const state = await mainFormat(format).readTable(join(folder, directory), label, version);
  if (state === null) return null;
  state.checkReadable();
  const paths: string[] = [];
  for (const path of state.files.keys()) paths.push(await plainFile(join(folder, directory), path));
  if (paths.length === 0) return null;
  const described = await database.read<{ column_name: string }>(`DESCRIBE SELECT * FROM ${parquet(paths)}`);
  const inFiles = new Set(described.map((column) => column.column_name));
  const types = new Map<string, ColumnType>(
    tableColumns(model, name).map((column) => [column.name, column.type]),
  );
  const names: string[] = [];
  const values: string[] = [];
  for (const field of state.fields) {
    const { sqlType } = field;
    if (sqlType === null || !inFiles.has(field.name)) continue;
    const column = doubleQuoted(field.name);
    names.push(field.name);
    // what other programs wrote has the type of the table once it is read, if not in the file
    values.push(
      `${lexicalText(`${column}::${sqlType}`, sqlType, fractionDigits(types.get(field.name)))} AS ${column}`,
    );
  }
  const indexes = new Map(names.map((column, at) => [column, at]));
  return {
    from: `(SELECT ${values.join(', ')} FROM ${parquet(paths)})`,
    whole: (column) => (indexes.has(column) ? `${doubleQuoted(column)}::BIGINT` : null),
    holds: (column, text) => `${doubleQuoted(column)} = ${standardLiteral(text)}`,
    selection: names.map(doubleQuoted),
    values: (row) => (column) => row[indexes.get(column) ?? -1] ?? null,
  };
}
