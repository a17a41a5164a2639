/** Reads tables of a folder of CSV, TSV, JSON Lines or Parquet files for people: the rows that the manifest has, with the types of the model. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonFormat, type RecordFormat } from '../../../engine/records/split.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { codesTable, mergeColumns, sideTableDefinitions } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import { layoutFacts } from '../../../ports/layouts.ts';
import type { OpenedTarget, TypesOfTables } from '../../../ports/target-reader.ts';
import { pinFolder, refuseLink } from '../../../storage/local/open-folder.ts';
import { exactDigits, stagedValue } from '../../sql/duckdb/csv-import.ts';
import { pathLiteral, type DuckDbReader } from '../../sql/duckdb/database.ts';
import { openReadOnlyFiles, type FileTable } from '../../sql/duckdb/read-only.ts';
import { columnSqlType, typeForDigits } from '../../sql/duckdb/types.ts';
import { journalName, manifestName } from '../place/journal.ts';
import { widenedType } from './load-scripts/folder-tables.ts';
import { parseManifest, type ManifestFile, type ManifestTable, type TargetManifest } from './manifest.ts';

export interface ReadOnlyFolderOptions {
  readonly directory: string;
  readonly label: string;
  /** a folder for data that does not fit into memory */
  readonly spill: string;
  /** Returns the types of tables, from the models with these hashes: files of text do not record them. */
  readonly typesOf: (modelHashes: readonly string[], tables: readonly string[]) => Promise<TypesOfTables>;
}

/** Opens a folder. AppError `not_found` if no job wrote there; `service_unavailable` while one publishes. */
export async function openReadOnlyFolder(options: ReadOnlyFolderOptions): Promise<OpenedTarget> {
  const { directory: path, label, spill } = options;
  const nothing = new AppError('not_found', `${label}: there is no such target`);
  const pinned = await pinFolder(path, 'refuse').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' || error.code === 'ENOTDIR' ? nothing : error;
  });
  try {
    const before = await textsOf(pinned.path);
    if (before.journal !== null)
      throw new AppError(
        'service_unavailable',
        `${label}: a job is publishing there, or died while it published: try again later, or load the documents again`,
      );
    if (before.manifest === null) throw nothing;
    const manifest = parseManifest(before.manifest);
    if (manifest.format === 'xlsx')
      throw new AppError(
        'unprocessable_input',
        `${label}: ${layoutFacts('xlsx').title} workbooks cannot be read here: load the documents into another target, too, such as a folder with -f parquet`,
      );
    const files = openReadOnlyFiles({
      label,
      spill,
      names: manifest.tables.map(({ name }) => name),
      find: (isNamed) => namedTables(manifest, pinned.path, isNamed, options),
    });
    return {
      page: (slice) => files.page(slice),
      query: (sql) => files.query(sql),
      isUnchanged: async () => {
        const after = await textsOf(pinned.path);
        return after.journal === null && after.manifest === before.manifest;
      },
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

async function textsOf(
  directory: string,
): Promise<{ readonly manifest: string | null; readonly journal: string | null }> {
  const text = (name: string): Promise<string | null> =>
    readFile(join(directory, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
  return { journal: await text(journalName), manifest: await text(manifestName) };
}

async function namedTables(
  { tables, format, jobs }: TargetManifest,
  directory: string,
  isNamed: (table: string) => boolean,
  { typesOf }: ReadOnlyFolderOptions,
): Promise<readonly FileTable[]> {
  const named = tables.filter(({ name, files }) => files.length > 0 && isNamed(name));
  for (const { files } of named) for (const { name } of files) await refuseLink(join(directory, name));
  const hashes = [...new Set(jobs.flatMap(({ model_sha256: hash }) => hash ?? []))];
  const ofModel = named.map(({ name }) => name).filter((name) => !sideTypes.has(name));
  const types = format === 'parquet' || ofModel.length === 0 ? {} : await typesOf(hashes, ofModel);
  return named.map((table) => {
    const { name, files } = table;
    const known = new Map(
      (Object.hasOwn(types, name) ? types[name]! : (sideTypes.get(name) ?? [])).map((column) => [
        column.name,
        column.type,
      ]),
    );
    return {
      name,
      files: files.map((file) => join(directory, file.name)),
      select: (reader) =>
        format === 'parquet'
          ? Promise.resolve(parquetRows(directory, files))
          : textRows(reader, directory, format as RecordFormat, table, known),
    };
  });
}

/** Types of the tables beside the data. */
const sideTypes: ReadonlyMap<string, readonly { readonly name: string; readonly type: ColumnType }[]> =
  new Map(
    [...Object.values(sideTableDefinitions), codesTable].map(({ name, columns }) => [
      name,
      name === sideTableDefinitions.documents.name ? [...columns, ...mergeColumns] : columns,
    ]),
  );

function parquetRows(directory: string, files: readonly ManifestFile[]): string {
  return files
    .map(({ name, columns }) => {
      const path = pathLiteral(join(directory, name));
      return `SELECT ${columns.map(doubleQuoted).join(', ')} FROM read_parquet(${path})`;
    })
    .join(' UNION ALL BY NAME ');
}

/** Longest line: no longer row fits into an answer. */
const longestLineBytes = 8 * 1024 * 1024;

/** Returns the SELECT with a value of its type for each column of the files. */
async function textRows(
  reader: DuckDbReader,
  directory: string,
  format: RecordFormat,
  table: ManifestTable,
  known: ReadonlyMap<string, ColumnType>,
): Promise<string> {
  const parts: string[] = [];
  const typesOfTable = new Map<string, string>();
  const texts = table.files.map((file) => {
    const from = linesOf(directory, format, file);
    return { file, from };
  });
  const zoned = new Set(table.zoned_columns);
  const typeOf = (name: string): ColumnType => {
    const type = widenedType(table, name) ?? known.get(name) ?? { kind: 'text' };
    // the values of the folder decide whether a time has a zone
    return type.kind === 'timestamp' && zoned.has(name) ? { ...type, kind: 'timestamptz' } : type;
  };
  for (const { file } of texts)
    for (const name of file.columns) {
      const type = typeOf(name);
      const isOpen = type.kind === 'numeric' && type.precision === undefined;
      if (!typesOfTable.has(name))
        typesOfTable.set(name, isOpen && type.list !== true ? 'open' : columnSqlType(type));
    }
  const open = [...typesOfTable].filter(([, type]) => type === 'open').map(([name]) => name);
  if (open.length > 0)
    for (const [name, type] of await measuredTypes(reader, format, texts, open)) typesOfTable.set(name, type);
  for (const { file, from } of texts) {
    const values = file.columns.map((name) => {
      const sqlType = typesOfTable.get(name)!;
      return `${valueOf(format, name, typeOf(name), sqlType)} AS ${doubleQuoted(name)}`;
    });
    parts.push(`SELECT ${values.join(', ')} FROM ${from}`);
  }
  return parts.join(' UNION ALL BY NAME ');
}

/** Returns the types that hold the decimals of columns for which the model says only that they are decimals. */
async function measuredTypes(
  reader: DuckDbReader,
  format: RecordFormat,
  texts: readonly { readonly file: ManifestFile; readonly from: string }[],
  columns: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const digits = new Map(columns.map((name) => [name, { whole: 0, fraction: 0 }]));
  for (const { file, from } of texts) {
    const there = columns.filter((name) => file.columns.includes(name));
    if (there.length === 0) continue;
    const values = there.flatMap((name, at) => {
      const [whole, fraction] = exactDigits(textOf(format, name, true));
      return [`max(${whole})::INTEGER AS w${at}`, `max(${fraction})::INTEGER AS f${at}`];
    });
    const [row] = await reader.read<Record<string, number | null>>(
      `SELECT ${values.join(', ')} FROM ${from}`,
    );
    for (const [at, name] of there.entries()) {
      const most = digits.get(name)!;
      digits.set(name, {
        whole: Math.max(most.whole, row?.[`w${at}`] ?? 0),
        fraction: Math.max(most.fraction, row?.[`f${at}`] ?? 0),
      });
    }
  }
  return new Map([...digits].map(([name, most]) => [name, typeForDigits(most)]));
}

/** Returns the relation of a file: its columns as texts, or for JSON Lines its lines. */
function linesOf(directory: string, format: RecordFormat, file: ManifestFile): string {
  const path = pathLiteral(join(directory, file.name));
  const longest = Math.max(128 * 1024, Math.min(longestLineBytes, file.bytes + 1));
  const sizes = `max_line_size = ${longest}, buffer_size = ${longest * 2}`;
  const common = `read_csv(${path}, auto_detect = false, new_line = '\\n', ${sizes}`;
  const columns = `columns = {${file.columns.map((name) => `${standardLiteral(name)}: 'VARCHAR'`).join(', ')}}`;
  if (isJsonFormat(format))
    return `${common}, header = false, delim = '\x02', quote = '', escape = '', nullstr = '', columns = {'line': 'VARCHAR'})`;
  return format === 'csv'
    ? `${common}, header = true, delim = ',', quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, strict_mode = true, ${columns})`
    : `${common}, header = true, delim = '\t', quote = '', escape = '', nullstr = '\\N', ${columns})`;
}

/** Returns the expression of a column as text. `isNumber`: of a decimal, of which no digit may be lost. */
function textOf(format: RecordFormat, name: string, isNumber = false): string {
  const column = doubleQuoted(name);
  if (format === 'csv') return column;
  if (format === 'tsv') {
    // in the meantime a backslash is U+001F, which no document can hold
    const letters = [
      ['\\t', 'chr(9)'],
      ['\\n', 'chr(10)'],
      ['\\r', 'chr(13)'],
    ] as const;
    const decoded = letters.reduce(
      (text, [escaped, letter]) => `replace(${text}, '${escaped}', ${letter})`,
      `replace(${column}, '\\\\', chr(31))`,
    );
    return `replace(${decoded}, chr(31), '\\')`;
  }
  const member = JSON.stringify(name);
  if (isNumber) {
    // DuckDB would read the number as a double; quotes within texts are escaped, so that only a member matches
    const pattern = `${member.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}:"?([-+0-9.eE]+)`;
    return `nullif(regexp_extract(line, ${standardLiteral(pattern)}, 1), '')`;
  }
  return `json_extract_string(line, ${standardLiteral(`$.${member}`)})`;
}

function valueOf(format: RecordFormat, name: string, type: ColumnType, sqlType: string): string {
  const isNumber = type.kind === 'numeric' && sqlType !== 'VARCHAR' && type.list !== true;
  const text = textOf(format, name, isNumber);
  if (!isJsonFormat(format)) return stagedValue(text, type, sqlType);
  if (type.list === true && sqlType.endsWith('[]'))
    return `json_extract(line, ${standardLiteral(`$.${JSON.stringify(name)}`)})::VARCHAR[]::${sqlType}`;
  return stagedValue(text, { ...type, list: false }, sqlType);
}
