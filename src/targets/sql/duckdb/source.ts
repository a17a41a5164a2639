/** The tables of a DuckDB file, for reading rows back. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { fractionDigits, physicalName } from '../../../engine/sql/physical-model.ts';
import { storedForm } from '../../../engine/parquet/reading/stored-column.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { TargetLoad } from '../../../ports/row-sink.ts';
import type { RowSource } from '../../../ports/row-source.ts';
import { refusePreRelease } from '../../rows/pre-release.ts';
import { readFileLoads } from '../database-files.ts';
import { createDuckDbDriver } from './driver.ts';
import { foldedName, openDuckDbReader, type DuckDbReader } from './database.ts';
import { lexicalText, storedValues } from './types.ts';
import { tableColumns, type NamedColumn } from '../../files/folder/table-columns.ts';
import { createFileRowSource, type SourceTable, type SourceTables } from './reader.ts';

export interface DuckDbRowSourceOptions {
  readonly file: string;
  /** how long to wait for another program that has the file open (30 seconds) */
  readonly busyTimeoutMs?: number;
}

export function createDuckDbRowSource(options: DuckDbRowSourceOptions): RowSource {
  return createFileRowSource({
    label: `duckdb:${options.file}`,
    openTables: (model) => openTables(options, model),
    loads: () =>
      readFileLoads(createDuckDbDriver(), options.file, {
        label: `duckdb:${options.file}`,
        busyTimeoutMs: options.busyTimeoutMs,
      }).catch(noneIfMissing),
  });
}

/** Returns no loads for a missing file; opening its tables reports that it is missing. */
function noneIfMissing(error: unknown): readonly TargetLoad[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}

async function openTables(
  { file, busyTimeoutMs = 30_000 }: DuckDbRowSourceOptions,
  model: RelationalModel,
): Promise<SourceTables> {
  const directory = await mkdtemp(join(tmpdir(), 'row-source-'));
  const removeFolder = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const database = await openDuckDbReader(file, directory, {
      label: `duckdb:${file}`,
      busyTimeoutMs,
      streams: model.tables.length,
    });
    const described = await database.read<DescribedColumn>(
      `SELECT c.table_name AS "table", c.column_name AS name, c.data_type AS type, t.table_oid IS NULL AS "isOfView" FROM duckdb_columns() c LEFT JOIN duckdb_tables() t USING (table_oid) WHERE NOT c.internal`,
    );
    const tables = new Map<string, Map<string, DescribedColumn>>();
    for (const column of described) {
      const columns = tables.get(foldedName(column.table)) ?? new Map();
      tables.set(foldedName(column.table), columns.set(foldedName(column.name), column));
    }
    refusePreRelease(`duckdb:${file}`, (name) => tables.get(name));
    const mayHaveLongTexts = (await stat(file)).size > shortTextsFileBytes;
    const ledger = sideTableNames.loads;
    const jobs = !tables.has(ledger)
      ? []
      : await database.read<{ job_uuid: string; model_sha256: string | null }>(
          `SELECT job_uuid, model_sha256 FROM ${doubleQuoted(ledger)}`,
        );
    const modelHashes = new Map(jobs.map((job) => [job.job_uuid, job.model_sha256]));
    return {
      table: (name) => {
        const physical = physicalName(duckdb, name);
        const columns = tables.get(foldedName(physical));
        const table = sourceTable(name, columns, tableColumns(model, name));
        if (table === null || !mayHaveLongTexts || !canHaveLongTexts(columns!)) return table;
        return { ...table, longTexts: () => longTextsOf(database, physical) };
      },
      lowerMemory: () => database.lowerMemory(),
      connect: () => database.connect(),
      raiseMemory: () => database.raiseMemory(),
      modelHashOf: async (jobUuid) => modelHashes.get(jobUuid) ?? null,
      close: async () => {
        database.close();
        await removeFolder();
      },
    };
  } catch (error) {
    await removeFolder();
    throw error instanceof Error && /does not exist|No such file/i.test(error.message)
      ? new AppError('not_found', `duckdb:${file}: there is no such file.`)
      : error;
  }
}

interface DescribedColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly isOfView: boolean;
}

/** A file of at most this many bytes is streamed: it has few long texts, even if they are compressed. */
const shortTextsFileBytes = 4 * 1024 * 1024;

/** the length of a table's longest text, in bytes, up to which its rows are streamed; DuckDB holds 2,048 rows at once */
const usualTextBytes = 8 * 1024;

/** Tests for a table with texts and with row ids of its own; a view has none, and a column of that name hides them. */
function canHaveLongTexts(columns: ReadonlyMap<string, DescribedColumn>): boolean {
  const all = [...columns.values()];
  return (
    !columns.has(foldedName('rowid')) &&
    all.some(({ type }) => type === 'VARCHAR') &&
    all.every(({ isOfView }) => !isOfView)
  );
}

/** Returns null if the texts of the table are short. */
async function longTextsOf(
  database: DuckDbReader,
  table: string,
): Promise<{ readonly longest: number; readonly end: number } | null> {
  const [statistics] = await database.read<{ longest: number | null }>(
    `SELECT max(TRY_CAST(regexp_extract(stats, 'Max String Length: (\\d+)', 1) AS INTEGER)) AS longest FROM pragma_storage_info(${standardLiteral(doubleQuoted(table))})`,
  );
  const longest = statistics?.longest ?? 0;
  if (longest <= usualTextBytes) return null;
  const [last] = await database.read<{ end: number }>(
    `SELECT (coalesce(max(rowid), -1) + 1)::DOUBLE AS "end" FROM ${doubleQuoted(table)}`,
  );
  return { longest, end: last!.end };
}

function sourceTable(
  name: string,
  columns: ReadonlyMap<string, DescribedColumn> | undefined,
  known: readonly NamedColumn[],
): SourceTable | null {
  if (columns === undefined) return null;
  const column = (wanted: string) => columns.get(foldedName(physicalName(duckdb, wanted)));
  const types = new Map(known.map((each) => [foldedName(physicalName(duckdb, each.name)), each.type]));
  return {
    from: doubleQuoted(physicalName(duckdb, name)),
    whole: (wanted) => {
      const found = column(wanted);
      return found === undefined ? null : doubleQuoted(found.name);
    },
    holds: (wanted, text) => `${doubleQuoted(column(wanted)!.name)} = ${standardLiteral(text)}`,
    text: (wanted) => {
      const found = column(wanted);
      if (found === undefined) return null;
      const fraction = fractionDigits(types.get(foldedName(physicalName(duckdb, wanted))));
      const name = doubleQuoted(found.name);
      const stored = storedValues(name, found.type);
      return {
        expression: lexicalText(name, found.type, fraction),
        decode: null,
        ...(stored === null
          ? {}
          : { stored: { expression: stored.expression, form: storedForm(stored.sqlType, fraction) } }),
      };
    },
  };
}
