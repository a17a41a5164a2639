/** The tables of a DuckDB file, for reading rows back. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { fractionDigits } from '../../../engine/sql/fraction-digits.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import { storedForm } from '../../../engine/parquet/reading/stored-column.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { RowSource } from '../../../ports/rows/source.ts';
import { readDuckDbLoads } from '../ledger.ts';
import { foldedName, openDuckDbReader, type DuckDbReader } from '../database.ts';
import { lexicalText, storedValues } from '../types.ts';
import { tableColumns, type NamedColumn } from '../../folder/contents/formats.ts';
import { createFileRowSource, type SourceTable, type SourceTables } from '../reader.ts';

export interface DuckDbRowSourceOptions {
  readonly file: string;
  /** how long to wait for another program that has the file open (30 seconds) */
  readonly busyTimeoutMs?: number;
  /** numbers the logical schemas that are asked for; absent: whichever */
  readonly installation?: string;
}

export function createDuckDbRowSource(options: DuckDbRowSourceOptions): RowSource {
  return createFileRowSource({
    label: `duckdb:${options.file}`,
    openTables: (model) => openTables(options, model),
    loads: () => readDuckDbLoads(options.file, `duckdb:${options.file}`, options.busyTimeoutMs),
  });
}

async function openTables(
  { file, busyTimeoutMs = 30_000, installation }: DuckDbRowSourceOptions,
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
    const described = await database.read<{ table: string; column: string; type: string }>(
      `SELECT table_name AS "table", column_name AS "column", data_type AS type FROM duckdb_columns() WHERE NOT internal`,
    );
    const tables = new Map<string, Map<string, { readonly name: string; readonly type: string }>>();
    for (const { table, column, type } of described) {
      const columns = tables.get(foldedName(table)) ?? new Map();
      tables.set(foldedName(table), columns.set(foldedName(column), { name: column, type }));
    }
    const ledger = sideTableNames.loads;
    const ours =
      installation === undefined ? '' : ` AND max(installation) = ${standardLiteral(installation)}`;
    const jobs = !tables.has(ledger)
      ? []
      : await database.read<{ job: string; logical: string | null }>(
          `SELECT job::VARCHAR AS job, CASE WHEN count(*) = 1${ours} THEN max(id_lschma)::VARCHAR END AS logical FROM ${doubleQuoted(ledger)} GROUP BY job`,
        );
    const logicals = new Map(jobs.map(({ job, logical }) => [Number(job), logical]));
    return {
      table: (name) => {
        const physical = physicalName(duckdb, name);
        const table = sourceTable(name, tables.get(foldedName(physical)), tableColumns(model, name));
        return table === null ? null : { ...table, longTexts: () => longTextsOf(database, physical) };
      },
      connect: () => database.connect(),
      raiseMemory: () => database.raiseMemory(),
      logicalSchemaOf: async (job) => {
        const logical = logicals.get(job) ?? null;
        return logical === null ? null : Number(logical);
      },
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

/** of 2,048 rows, which DuckDB has at once, the most bytes that are read as they come */
const usualTextBytes = 8 * 1024;

/** Null where its texts are short, or it has no row ids of its own. */
async function longTextsOf(
  database: DuckDbReader,
  table: string,
): Promise<{ readonly longest: number; readonly end: number } | null> {
  const named = standardLiteral(table);
  const [own] = await database.read<{ hasRowIds: boolean }>(
    `SELECT NOT EXISTS (FROM duckdb_columns() c WHERE c.table_oid = t.table_oid AND lower(c.column_name) = 'rowid') AS "hasRowIds" FROM duckdb_tables() t WHERE lower(table_name) = lower(${named})`,
  );
  if (own?.hasRowIds !== true) return null;
  const [statistics] = await database.read<{ longest: number | null }>(
    `SELECT max(TRY_CAST(regexp_extract(stats, 'Max String Length: (\\d+)', 1) AS INTEGER)) AS longest FROM pragma_storage_info(${standardLiteral(doubleQuoted(table))})`,
  );
  const longest = statistics?.longest ?? 0;
  if (longest <= usualTextBytes) return null;
  const [last] = await database.read<{ end: number }>(
    `SELECT (coalesce(max(rowid), -1) + 1)::DOUBLE AS "end" FROM ${doubleQuoted(table)}`,
  );
  await database.lowerMemory();
  return { longest, end: last!.end };
}

function sourceTable(
  name: string,
  columns: ReadonlyMap<string, { readonly name: string; readonly type: string }> | undefined,
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
