/** Tables of CSV, TSV and JSON Lines files while they are read: as they lie where that will do, else by DuckDB. */
import { join } from 'node:path';
import type { ColumnType } from '../../../../engine/model/relational-model.ts';
import { lineValues } from '../../../../engine/records/json-lines.ts';
import type { RecordFormat, RecordSurvey } from '../../../../engine/records/split.ts';
import { RecordSplitter } from '../../../../engine/records/splitter.ts';
import { SpareBuffers } from '../../../../engine/spare-buffers.ts';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { AppError } from '../../../../errors.ts';
import type { ClosableBlocks } from '../../../rows/table-row-source.ts';
import { pathLiteral } from '../../../sql/duckdb/database.ts';
import type { SourceTable } from '../../../sql/duckdb/reader.ts';
import type { ManifestFile, ManifestTable } from '../contents/manifest.ts';
import type { NamedColumn } from '../contents/table-columns.ts';
import type { OpenedTables } from '../layouts/folder-layout.ts';
import { storedText } from '../written/text-records.ts';
import { bytesOf, HeldRoom, heldValueBytes, pieceBytesOf, rowsInOrder } from './held-room.ts';
import { surveyBytes, surveyRecords } from './survey-records.ts';
import { openTextRows } from './text-rows.ts';
import { jsonForm, valueDecoder } from './value-decoders.ts';

/** Surveys every file of the tables first. */
export async function openTextTables(
  format: RecordFormat,
  directory: string,
  label: string,
  tables: readonly ManifestTable[],
): Promise<OpenedTables> {
  const room = new HeldRoom(true);
  const splitter = new RecordSplitter();
  const buffers = new SpareBuffers();
  const records = await surveyFiles(directory, format, tables, splitter);
  const allBytes = bytesOf(tables.flatMap(({ files }) => files));
  return {
    table: (table, columns) => {
      const pieceBytes = pieceBytesOf(bytesOf(table.files), allBytes);
      return textTable(
        { format, directory, label, records, pieceBytes, room, splitter, buffers },
        table,
        columns,
      );
    },
  };
}

interface TextFiles {
  readonly format: RecordFormat;
  readonly directory: string;
  readonly label: string;
  /** by file */
  readonly records: ReadonlyMap<string, RecordSurvey>;
  readonly pieceBytes: number;
  readonly room: HeldRoom;
  readonly splitter: RecordSplitter;
  /** of blocks of text */
  readonly buffers: SpareBuffers;
}

/** DuckDB's buffer for this much is no burden, though there is one for each table */
const smallFileBytes = 128 * 1024;

async function surveyFiles(
  directory: string,
  format: RecordFormat,
  tables: readonly ManifestTable[],
  splitter: RecordSplitter,
): Promise<ReadonlyMap<string, RecordSurvey>> {
  const surveys = new Map<string, RecordSurvey>();
  const buffer = Buffer.allocUnsafeSlow(surveyBytes);
  for (const { files } of tables)
    for (const { name, bytes, columns } of files) {
      const kernel = bytes > smallFileBytes ? splitter.kernel() : null;
      const form = { format, keyName: columns[0] ?? '' };
      surveys.set(name, await surveyRecords(join(directory, name), form, buffer, kernel));
    }
  return surveys;
}

function textTable(text: TextFiles, { files }: ManifestTable, columns: readonly NamedColumn[]): SourceTable {
  const { room } = text;
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const asTheyLie = async (wanted: readonly string[]): Promise<ClosableBlocks> =>
    textRows(text, files, types, wanted);
  return {
    ...queries[text.format](text, files, types),
    inOrder: async (key, wanted, only) => {
      if (only !== null) return null;
      if (lieInOrder(files, text)) return asTheyLie(wanted);
      return rowsInOrder({ files, room, asTheyLie }, key, wanted);
    },
    fewAsTheyLie: async (wanted) =>
      room.take(files, wanted.length, heldValueBytes.named) ? asTheyLie(wanted) : null,
  };
}

/** Every record of a file begins with its row key, and those of a file are higher than those of the files before it. */
function lieInOrder(files: readonly ManifestFile[], { records }: TextFiles): boolean {
  let last = 0n;
  return files.every(({ name }) => {
    const keys = records.get(name)?.keys;
    if (keys == null || keys.first <= last) return false;
    last = keys.last;
    return true;
  });
}

function textRows(
  { format, directory, label, pieceBytes, splitter, buffers }: TextFiles,
  files: readonly ManifestFile[],
  types: ReadonlyMap<string, ColumnType>,
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

/** What DuckDB is asked for where rows are not read as they lie. */
type TableQuery = Pick<SourceTable, 'from' | 'whole' | 'holds' | 'text' | 'lines'>;

type MakeQuery = (
  text: TextFiles,
  files: readonly ManifestFile[],
  types: ReadonlyMap<string, ColumnType>,
) => TableQuery;

const queries: Readonly<Record<RecordFormat, MakeQuery>> = {
  csv: fieldQuery(csvFile, (text) => text),
  tsv: fieldQuery(tsvFile, (text) => storedText(text, 'tsv').toString()),
  jsonl: lineQuery,
};

/** `stored`: how DuckDB finds a text in the files. */
function fieldQuery(
  read: (path: string, file: ManifestFile, text: TextFiles) => string,
  stored: (text: string) => string,
): MakeQuery {
  return (rowFiles, files, types) => {
    const { directory, format } = rowFiles;
    const names = new Set(files.flatMap((file) => file.columns));
    return {
      from: `(${files.map((file) => read(join(directory, file.name), file, rowFiles)).join(' UNION ALL BY NAME ')})`,
      whole: (name) => (names.has(name) ? `${doubleQuoted(name)}::BIGINT` : null),
      holds: (name, text) => `${doubleQuoted(name)} = ${standardLiteral(stored(text))}`,
      text: (name) =>
        names.has(name)
          ? { expression: doubleQuoted(name), decode: valueDecoder(format, types.get(name)) }
          : null,
    };
  };
}

function textColumns({ columns }: ManifestFile): string {
  return `{${columns.map((name) => `${standardLiteral(name)}: 'VARCHAR'`).join(', ')}}`;
}

/** a row may hold a value of any length */
function longestLine(file: ManifestFile, { records }: TextFiles): string {
  const longest = Math.max(smallFileBytes, (records.get(file.name)?.longest ?? file.bytes) + 1);
  return `max_line_size = ${longest}, buffer_size = ${longest * 2}`;
}

function csvFile(path: string, file: ManifestFile, text: TextFiles): string {
  return `SELECT * FROM read_csv(${pathLiteral(path)}, auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
    new_line = '\\n', nullstr = '', allow_quoted_nulls = false, strict_mode = true, ${longestLine(file, text)}, columns = ${textColumns(file)})`;
}

function tsvFile(path: string, file: ManifestFile, text: TextFiles): string {
  return `SELECT * FROM read_csv(${pathLiteral(path)}, auto_detect = false, header = true, delim = '\t', quote = '', escape = '',
    new_line = '\\n', nullstr = '\\N', ${longestLine(file, text)}, columns = ${textColumns(file)})`;
}

/** Lines as they are: DuckDB would read their numbers as doubles. Its own reading is good enough for keys. */
function lineQuery(
  text: TextFiles,
  files: readonly ManifestFile[],
  types: ReadonlyMap<string, ColumnType>,
): TableQuery {
  const known = new Set(files.flatMap((file) => file.columns));
  const names = [...known];
  const forms = names.map((name) => jsonForm(types.get(name)));
  const places = new Map(names.map((name, at) => [name, at]));
  const lines = files.map(
    (file) =>
      `SELECT line FROM read_csv(${pathLiteral(join(text.directory, file.name))}, auto_detect = false, header = false, delim = '\x02',
        quote = '', escape = '', new_line = '\\n', nullstr = '', ${longestLine(file, text)}, columns = {'line': 'VARCHAR'})`,
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
            `${text.label}: a line was changed since it was written: ${values ?? 'it is blank'}. Load the documents again.`,
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
