/** The tables of a folder of CSV, TSV, JSON Lines or Parquet files, for reading rows back. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { fractionDigits } from '../../../engine/sql/fraction-digits.ts';
import type { ColumnType, RelationalModel } from '../../../engine/model/relational-model.ts';
import type { RecordFormat, RecordSurvey } from '../../../engine/records/split.ts';
import { lineValues } from '../../../engine/records/json-lines.ts';
import { RecordSplitter } from '../../../engine/records/splitter.ts';
import { SpareBuffers } from '../../../engine/spare-buffers.ts';
import { AppError } from '../../../errors.ts';
import type { RowSource } from '../../../ports/rows/source.ts';
import { openDuckDbReader, pathLiteral } from '../../sql/duckdb/database.ts';
import { LazyReader } from '../../sql/duckdb/lazy-reader.ts';
import { lexicalText } from '../../sql/duckdb/types.ts';
import { modelHashOfJob, readFolderLoads } from './ledger.ts';
import { createFileRowSource, type SourceTable, type SourceTables } from '../../sql/duckdb/reader.ts';
import type { ClosableBlocks, DocumentRowsOnly } from '../../rows/table-row-source.ts';
import { surveyBytes, surveyRecords } from './reading/survey-records.ts';
import { HeldRoom, heldValueBytes, pieceBytesOf } from './reading/held-room.ts';
import { createStoredRowsMemory, openStoredRows, type StoredRowsMemory } from './reading/parquet-rows.ts';
import { rowsInOrder } from './reading/rows-in-order.ts';
import { readingTurn, type ReadingTurn } from './reading/turn.ts';
import { openTextRows } from './reading/text-rows.ts';
import { tableColumns, type FolderFormat, type NamedColumn } from './contents/formats.ts';
import { refuseLink } from './loaded-documents.ts';
import { jsonForm, valueDecoder } from './reading/value-decoders.ts';
import { readManifest, type ManifestFile, type ManifestTable } from './contents/manifest.ts';
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
    loads: () =>
      readFolderLoads(resolve(options.directory), options.refuseLinks === true ? 'refuse' : 'follow'),
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
    if ((await readManifest(directory)) === null) throw nothing;
    turn = await readingTurn(directory, label);
    spill = await mkdtemp(join(tmpdir(), 'row-source-'));
    const manifest = (await readManifest(directory))!;
    for (const { files } of manifest.tables)
      for (const { name } of files) await refuseLink(join(directory, name));
    const spillFolder = spill;
    const streams = manifest.tables.length;
    const database = new LazyReader(() =>
      openDuckDbReader(':memory:', spillFolder, { data: directory, streams }),
    );
    const memory = manifest.format === 'parquet' ? createStoredRowsMemory() : null;
    const room = new HeldRoom(manifest.format !== 'parquet');
    const splitter = new RecordSplitter();
    const buffers = new SpareBuffers();
    const tables = new Map(manifest.tables.map((table) => [table.name, table]));
    const records = await surveyFiles(directory, manifest, splitter);
    const allBytes = bytesOf(manifest.tables.flatMap(({ files }) => files));
    return {
      table: (name) => {
        const table = tables.get(name);
        if (table === undefined || table.files.length === 0) return null;
        const pieceBytes = pieceBytesOf(bytesOf(table.files), allBytes);
        const rowFiles = { directory, label, records, pieceBytes, memory, room, splitter, buffers };
        return sourceTable(rowFiles, manifest.format, table, tableColumns(model, name));
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

interface RowFiles {
  readonly directory: string;
  readonly label: string;
  /** by file, of what is read as text */
  readonly records: ReadonlyMap<string, RecordSurvey>;
  readonly pieceBytes: number;
  /** of Parquet */
  readonly memory: StoredRowsMemory | null;
  readonly room: HeldRoom;
  readonly splitter: RecordSplitter;
  /** of blocks of text */
  readonly buffers: SpareBuffers;
}

/** DuckDB's buffer for this much is no burden, though there is one for each table */
const smallFileBytes = 128 * 1024;
/** As far as a manifest, where anything may stand, tells. */
function bytesOf(files: readonly ManifestFile[]): number {
  return files.reduce((sum, { bytes }) => sum + (Number.isFinite(bytes) ? Math.max(0, bytes) : 0), 0);
}

async function surveyFiles(
  directory: string,
  { format, tables }: { readonly format: FolderFormat; readonly tables: readonly ManifestTable[] },
  splitter: RecordSplitter,
): Promise<ReadonlyMap<string, RecordSurvey>> {
  const surveys = new Map<string, RecordSurvey>();
  if (format === 'parquet') return surveys;
  const buffer = Buffer.allocUnsafeSlow(surveyBytes);
  for (const { files } of tables)
    for (const { name, bytes, columns } of files) {
      const kernel = bytes > smallFileBytes ? splitter.kernel() : null;
      const form = { format, keyName: columns[0] ?? '' };
      surveys.set(name, await surveyRecords(join(directory, name), form, buffer, kernel));
    }
  return surveys;
}

function sourceTable(
  rowFiles: RowFiles,
  format: FolderFormat,
  { files }: ManifestTable,
  columns: readonly NamedColumn[],
): SourceTable {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const asTheyLie = async (wanted: readonly string[]): Promise<ClosableBlocks | null> =>
    format === 'parquet'
      ? storedRows(rowFiles, files, types, { key: null, only: null }, wanted)
      : textRows(rowFiles, { format, files, types }, wanted);
  const query =
    format === 'jsonl' ? lineQuery(rowFiles, files, types) : fieldQuery(rowFiles, format, files, types);
  return {
    ...query,
    inOrder: async (key, wanted, only) => {
      if (format === 'parquet') {
        const stored = await storedRows(rowFiles, files, types, { key, only }, wanted);
        if (stored !== null || only !== null) return stored;
      } else if (only !== null) return null;
      else if (lieInOrder(files, rowFiles)) return textRows(rowFiles, { format, files, types }, wanted);
      return rowsInOrder({ files, room: rowFiles.room, asTheyLie }, key, wanted);
    },
    fewAsTheyLie: async (wanted) =>
      rowFiles.room.take(files, wanted.length, heldValueBytes.named) ? asTheyLie(wanted) : null,
  };
}

/** What DuckDB is asked for where rows are not read as they lie. */
type TableQuery = Pick<SourceTable, 'from' | 'whole' | 'holds' | 'text' | 'lines'>;

function fieldQuery(
  rowFiles: RowFiles,
  format: Exclude<FolderFormat, 'jsonl'>,
  files: readonly ManifestFile[],
  types: ReadonlyMap<string, ColumnType>,
): TableQuery {
  const { directory } = rowFiles;
  const names = new Set(files.flatMap((file) => file.columns));
  const read = {
    csv: (path: string, file: ManifestFile) => csvFile(path, file, rowFiles),
    tsv: (path: string, file: ManifestFile) => tsvFile(path, file, rowFiles),
    parquet: (path: string, file: ManifestFile) => parquetFile(path, file, types),
  }[format];
  return {
    from: `(${files.map((file) => read(join(directory, file.name), file)).join(' UNION ALL BY NAME ')})`,
    whole: (name) => (names.has(name) ? `${doubleQuoted(name)}::BIGINT` : null),
    holds: (name, text) =>
      `${doubleQuoted(name)} = ${standardLiteral(format === 'tsv' ? toCopyText(text) : text)}`,
    text: (name) =>
      names.has(name)
        ? { expression: doubleQuoted(name), decode: valueDecoder(format, types.get(name)) }
        : null,
  };
}

function storedRows(
  { directory, label, pieceBytes, memory }: RowFiles,
  files: readonly ManifestFile[],
  known: ReadonlyMap<string, ColumnType>,
  { key, only }: { readonly key: string | null; readonly only: DocumentRowsOnly | null },
  wanted: readonly string[],
): Promise<ClosableBlocks | null> {
  return openStoredRows({
    files: files.map(({ name: file, columns, types = [] }) => ({
      path: join(directory, file),
      columns: new Map(
        columns.map((name, at) => {
          const fraction = fractionDigits(known.get(name));
          return [name, { sqlType: types[at] ?? 'VARCHAR', fraction }] as const;
        }),
      ),
    })),
    key,
    only: only === null ? null : { column: only.column, number: BigInt(only.key) },
    wanted,
    blockBytes: pieceBytes,
    label,
    memory: memory!,
  });
}

/** Every record of a file begins with its row key, and those of a file are higher than those of the files before it. */
function lieInOrder(files: readonly ManifestFile[], { records }: RowFiles): boolean {
  let last = 0n;
  return files.every(({ name }) => {
    const keys = records.get(name)?.keys;
    if (keys == null || keys.first <= last) return false;
    last = keys.last;
    return true;
  });
}

interface TextTable {
  readonly format: RecordFormat;
  readonly files: readonly ManifestFile[];
  readonly types: ReadonlyMap<string, ColumnType>;
}

function textRows(
  { directory, label, pieceBytes, splitter, buffers }: RowFiles,
  { format, files, types }: TextTable,
  wanted: readonly string[],
): ClosableBlocks {
  const places = new Map(wanted.map((name, at) => [name, at]));
  return openTextRows({
    files: files.map(({ name: file, columns, bytes, rows }) => ({
      path: join(directory, file),
      size: { bytes, rows },
      names: columns,
      columns: columns.map((name) => places.get(name) ?? -1),
      types: columns.map((name) => types.get(name)),
    })),
    format,
    width: wanted.length,
    pieceBytes,
    label,
    splitter,
    buffers,
  });
}

function textColumns({ columns }: ManifestFile): string {
  return `{${columns.map((name) => `${standardLiteral(name)}: 'VARCHAR'`).join(', ')}}`;
}

/** a row may hold a value of any length */
function longestLine(file: ManifestFile, { records }: RowFiles): string {
  const longest = Math.max(smallFileBytes, (records.get(file.name)?.longest ?? file.bytes) + 1);
  return `max_line_size = ${longest}, buffer_size = ${longest * 2}`;
}

function csvFile(path: string, file: ManifestFile, rowFiles: RowFiles): string {
  return `SELECT * FROM read_csv(${pathLiteral(path)}, auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
    new_line = '\\n', nullstr = '', allow_quoted_nulls = false, strict_mode = true, ${longestLine(file, rowFiles)}, columns = ${textColumns(file)})`;
}

function tsvFile(path: string, file: ManifestFile, rowFiles: RowFiles): string {
  return `SELECT * FROM read_csv(${pathLiteral(path)}, auto_detect = false, header = true, delim = '\t', quote = '', escape = '',
    new_line = '\\n', nullstr = '\\N', ${longestLine(file, rowFiles)}, columns = ${textColumns(file)})`;
}

function parquetFile(
  path: string,
  { columns, types = [] }: ManifestFile,
  known: ReadonlyMap<string, ColumnType>,
): string {
  const values = columns.map((name, at) => {
    const column = doubleQuoted(name);
    return `${lexicalText(column, types[at] ?? 'VARCHAR', fractionDigits(known.get(name)))} AS ${column}`;
  });
  return `SELECT ${values.join(', ')} FROM read_parquet(${pathLiteral(path)})`;
}

/** Lines as they are: DuckDB would read their numbers as doubles. Its own reading is good enough for keys. */
function lineQuery(
  rowFiles: RowFiles,
  files: readonly ManifestFile[],
  types: ReadonlyMap<string, ColumnType>,
): TableQuery {
  const known = new Set(files.flatMap((file) => file.columns));
  const names = [...known];
  const forms = names.map((name) => jsonForm(types.get(name)));
  const places = new Map(names.map((name, at) => [name, at]));
  const lines = files.map(
    (file) =>
      `SELECT line FROM read_csv(${pathLiteral(join(rowFiles.directory, file.name))}, auto_detect = false, header = false, delim = '\x02',
        quote = '', escape = '', new_line = '\\n', nullstr = '', ${longestLine(file, rowFiles)}, columns = {'line': 'VARCHAR'})`,
  );
  return {
    from: `(${lines.join(' UNION ALL ')})`,
    whole: (name) => (known.has(name) ? `${member(name)}::BIGINT` : null),
    holds: (name, text) => `${member(name)} = ${standardLiteral(text)}`,
    text: () => null,
    lines: {
      expression: 'line',
      values: (line) => {
        const values = lineValues(line, names, forms);
        if (!Array.isArray(values))
          throw new AppError(
            'unprocessable_input',
            `${rowFiles.label}: a line was changed since it was written: ${values ?? 'it is blank'}. Load the documents again.`,
          );
        return (name) => values[places.get(name) ?? -1] ?? null;
      },
    },
  };
}

/** A member of a line as text. */
function member(name: string): string {
  const path = `$."${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  return `json_extract_string(line, ${standardLiteral(path)})`;
}

function toCopyText(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
}
