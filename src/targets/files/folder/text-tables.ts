/** Reads tables of CSV, TSV and JSON Lines files: in stored order if possible, otherwise with DuckDB. */
import { open, type FileHandle } from 'node:fs/promises';
import { memberHead, type RecordsKernel, literalBytes } from '../../../engine/records/kernel/instance.ts';
import {
  MOST_KEY_BYTES,
  FORM_BOOLEAN,
  FORM_FLOAT,
  FORM_LIST,
  FORM_PLAIN,
} from '../../../engine/records/kernel/layout.ts';
import {
  isJsonFormat,
  recordForms,
  type RecordFormat,
  type RecordSurvey,
  type RecordPlan,
} from '../../../engine/records/split.ts';
import { join, basename } from 'node:path';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { lineValues, RecordSplitter } from '../../../engine/records/json-lines.ts';
import { SpareBuffers } from '../../../engine/spare-buffers.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import type { ClosableBlocks } from '../../rows/table-row-source.ts';
import { pathLiteral } from '../../sql/duckdb/database.ts';
import type { SourceTable } from '../../sql/duckdb/reader.ts';
import type { ManifestFile, ManifestTable } from './manifest.ts';
import type { NamedColumn } from './table-columns.ts';
import type { OpenedTables } from './layout.ts';
import { storedText } from './text-records.ts';
import { bytesOf, BufferRoom, bufferedValueBytes, pieceBytesOf, rowsInOrder } from './buffer-room.ts';
import type { RowBlock } from '../../../engine/unshred/rows/document-rows.ts';
import { decoded, type ValueDecoder } from '../../rows/field-blocks.ts';
import { textOf, utf8Of } from '../../../engine/unshred/rows/values.ts';

// Surveys a file of rows by its line breaks alone: the length of its records, and the order of their keys.

const newline = 0x0a;
const quote = 0x22;
/** the size of the buffer that a file is read into */
const surveyBytes: number = 1024 * 1024;

/** The form of the records of a file. */
interface SurveyedForm {
  readonly format: RecordFormat;
  /** for JSON Lines: the name of the key, which is the first member */
  readonly keyName?: string;
}

const noBytes = new Uint8Array(0);

/** Returns the bytes before the key. */
function keyHeadOf({ format, keyName = '' }: SurveyedForm): Uint8Array {
  return isJsonFormat(format) ? Buffer.concat([Buffer.from('{'), memberHead(keyName)]) : noBytes;
}

/** `buffer`: reused for files that are surveyed one after the other. `kernel`: null surveys in TypeScript only. */
export async function surveyRecords(
  path: string,
  form: SurveyedForm,
  buffer: Buffer = Buffer.allocUnsafeSlow(surveyBytes),
  kernel: RecordsKernel | null = null,
): Promise<RecordSurvey> {
  return kernel === null
    ? surveyInTypeScript(path, form, buffer)
    : surveyByKernel(path, form, buffer, kernel);
}

async function surveyByKernel(
  path: string,
  form: SurveyedForm,
  buffer: Buffer,
  kernel: RecordsKernel,
): Promise<RecordSurvey> {
  kernel.beginSurvey(form.format, keyHeadOf(form));
  const file = await open(path);
  try {
    for (let kept = 0; ;) {
      const { bytesRead } = await file.read(buffer, kept, buffer.length - kept, null);
      const end = kept + bytesRead;
      const done = kernel.survey(buffer.subarray(0, end), bytesRead === 0);
      if (bytesRead === 0) return kernel.surveyed();
      buffer.copyWithin(0, done, end);
      kept = end - done;
    }
  } finally {
    await file.close();
  }
}

async function surveyInTypeScript(path: string, form: SurveyedForm, buffer: Buffer): Promise<RecordSurvey> {
  const { isQuoted: quoted, hasHeader } = recordForms[form.format];
  const keys = new AscendingKeys(keyHeadOf(form), hasHeader);
  let longest = 0;
  let length = 0;
  let isInQuotes = false;
  for await (const piece of piecesOf(path, buffer)) {
    let from = 0;
    let nextQuote = quoted ? piece.indexOf(quote) : -1;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, end + 1)) {
      for (; nextQuote >= 0 && nextQuote < end; nextQuote = piece.indexOf(quote, nextQuote + 1))
        isInQuotes = !isInQuotes;
      if (isInQuotes) continue;
      keys.record(piece, from, end, true);
      longest = Math.max(longest, length + end + 1 - from);
      length = 0;
      from = end + 1;
    }
    for (; nextQuote >= 0; nextQuote = piece.indexOf(quote, nextQuote + 1)) isInQuotes = !isInQuotes;
    length += piece.length - from;
    keys.record(piece, from, piece.length, false);
  }
  if (length > 0) keys.record(new Uint8Array(0), 0, 0, true);
  return { longest: Math.max(longest, length), keys: keys.ends() };
}

/** Each piece is valid only until the next one is requested. */
async function* piecesOf(path: string, buffer: Buffer): AsyncGenerator<Buffer, void, void> {
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Checks that the integers at the start of records ascend. */
class AscendingKeys {
  #records = 0;
  #ascends = true;
  /** the bytes before each key */
  readonly #before: Uint8Array;
  /** the first record names the columns */
  readonly #hasHeader: boolean;
  /** the first bytes of a record */
  readonly #head: Uint8Array;
  #headLength = 0;
  readonly #last = new Uint8Array(MOST_KEY_BYTES);
  #lastLength = 0;
  #first: bigint | null = null;

  constructor(before: Uint8Array, hasHeader: boolean) {
    this.#before = before;
    this.#hasHeader = hasHeader;
    this.#head = new Uint8Array(before.length + MOST_KEY_BYTES);
  }

  /** Receives the next part of a record; `ends`: it is the last one. */
  record(bytes: Uint8Array, from: number, to: number, ends: boolean): void {
    if (!this.#ascends) return;
    for (let at = from; at < to && this.#headLength < this.#head.length; at += 1)
      this.#head[this.#headLength++] = bytes[at]!;
    if (!ends) return;
    this.#records += 1;
    if (this.#records > 1 || !this.#hasHeader) this.#take(this.#key());
    this.#headLength = 0;
  }

  ends(): RecordSurvey['keys'] {
    if (!this.#ascends || this.#first === null) return null;
    return { first: this.#first, last: numberOf(this.#last, this.#lastLength) };
  }

  /** Returns the digits of the key of the record; empty if the record does not begin with a key. */
  #key(): Uint8Array {
    const before = this.#before.length;
    const isOfTable = this.#before.every((byte, at) => this.#head[at] === byte);
    const key = this.#head.subarray(before, Math.max(before, this.#headLength));
    return key.subarray(0, isOfTable ? digitsAt(key, key.length) : 0);
  }

  #take(key: Uint8Array): void {
    const { length } = key;
    const last = this.#last;
    let order = length - this.#lastLength;
    for (let at = 0; order === 0 && at < length; at += 1) order = key[at]! - last[at]!;
    if (length === 0 || order <= 0) {
      this.#ascends = false;
      return;
    }
    this.#first ??= numberOf(key, length);
    last.set(key);
    this.#lastLength = length;
  }
}

/** Returns the number of digits, if they have no leading zero and a delimiter follows; otherwise 0. */
function digitsAt(bytes: Uint8Array, length: number): number {
  let digits = 0;
  while (digits < length && bytes[digits]! >= 0x30 && bytes[digits]! <= 0x39) digits += 1;
  const end = digits < length ? bytes[digits] : -1;
  const isWhole = end === 0x09 || end === 0x2c || end === 0x7d || (end === -1 && digits < MOST_KEY_BYTES);
  return isWhole && bytes[0] !== 0x30 ? digits : 0;
}

function numberOf(digits: Uint8Array, length: number): bigint {
  return BigInt(String.fromCharCode(...digits.subarray(0, length)));
}

// The tables.

/** Opens the tables, after a survey of every file. */
export async function openTextTables(
  format: RecordFormat,
  directory: string,
  label: string,
  tables: readonly ManifestTable[],
): Promise<OpenedTables> {
  const room = new BufferRoom(true);
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
  /** the surveys by file name */
  readonly records: ReadonlyMap<string, RecordSurvey>;
  readonly pieceBytes: number;
  readonly room: BufferRoom;
  readonly splitter: RecordSplitter;
  /** the buffers of blocks of text */
  readonly buffers: SpareBuffers;
}

/** DuckDB's buffer of this size is small enough to have one for each table */
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
      room.take(files, wanted.length, bufferedValueBytes.named) ? asTheyLie(wanted) : null,
  };
}

/** Returns whether every record begins with its row key, and keys ascend over all files. */
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

/** The DuckDB expressions for reading a table whose rows are not read in stored order. */
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

/** `stored`: converts a text to the form that DuckDB finds in the files. */
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

/** Returns DuckDB's options for the longest line, because a value may have any length. */
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

/** Reads whole lines, because DuckDB would read their numbers as doubles. DuckDB's own parsing is precise enough for keys. */
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

/** Returns the expression of a member of a line as text. */
function member(name: string): string {
  const path = `$."${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  return `json_extract_string(line, ${standardLiteral(path)})`;
}

export interface TextFile {
  readonly path: string;
  /** if known: a small file is read into a buffer of its own size */
  readonly size?: { readonly bytes: number; readonly rows: number };
  /** by field: the name */
  readonly names: readonly string[];
  /** by field: the index of the column that it fills; -1 if the column is not wanted */
  readonly columns: readonly number[];
  /** by field; undefined: the column is unknown */
  readonly types: readonly (ColumnType | undefined)[];
}

interface TextRowsOptions {
  readonly files: readonly TextFile[];
  readonly format: RecordFormat;
  /** the number of columns in a row of a block */
  readonly width: number;
  /** bytes that are read at once; more if a record is longer */
  readonly pieceBytes: number;
  /** the name of the folder in messages */
  readonly label: string;
  readonly splitter: RecordSplitter;
  /** the buffers of blocks */
  readonly buffers: SpareBuffers;
}

/** the initial capacity in rows of the first piece */
const fewRows = 64;
/** room for growth of the file since it was listed; mostly there is none */
const fewBytes = 64;
/** the maximum size of a buffer that is allocated for one piece only */
const shortBytes = 8 * 1024;

export function openTextRows(options: TextRowsOptions): ClosableBlocks {
  return new TextRows(options);
}

class TextRows implements ClosableBlocks {
  readonly #options: TextRowsOptions;
  #next = 0;
  #file: OpenFile | null = null;
  /** settles when the last requested block is ready */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: TextRowsOptions) {
    this.#options = options;
  }

  giveBack({ bytes, cells }: RowBlock): void {
    this.#options.buffers.giveBack(bytes as Uint8Array<ArrayBuffer>);
    this.#options.buffers.giveBack(cells as Int32Array<ArrayBuffer>);
  }

  next(): Promise<RowBlock | null> {
    const block = this.#read();
    // the caller of `next` gets the error
    this.#last = block.then(nothing, nothing);
    return block;
  }

  async #read(): Promise<RowBlock | null> {
    for (;;) {
      const block = await this.#file?.next();
      if (block != null) return block;
      await this.#closeFile();
      const file = this.#options.files[this.#next];
      if (file === undefined) return null;
      this.#next += 1;
      this.#file = new OpenFile(await open(file.path), file, this.#options);
    }
  }

  /** Waits for the read-ahead block, because only then is the file that it opens known. */
  async close(): Promise<void> {
    await this.#last;
    await this.#closeFile();
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

class OpenFile {
  readonly #handle: FileHandle;
  readonly #file: TextFile;
  readonly #options: TextRowsOptions;
  readonly #plan: RecordPlan;
  readonly #decoders: readonly (ValueDecoder | null)[];
  #records = 0;
  #atEnd = false;
  /** the remaining bytes of the file, as far as its size is known */
  #left: number;
  /** the expected number of rows in the next piece */
  #rows: number;
  /** the beginning of a record that continues in the next piece */
  #rest: Uint8Array = new Uint8Array(0);

  constructor(handle: FileHandle, file: TextFile, options: TextRowsOptions) {
    this.#handle = handle;
    this.#file = file;
    this.#options = options;
    const { names, columns, types } = file;
    const { format, width } = options;
    const isJson = isJsonFormat(format);
    const heads = isJson ? names.map(memberHead) : [];
    this.#plan = { format, names, heads, columns, forms: types.map(isJson ? jsonForm : typeForm), width };
    this.#decoders = types.map((type) => (isJson ? null : typeDecoder(type)));
    // the values are from a manifest, which is untrusted
    const { bytes, rows } = file.size ?? { bytes: Infinity, rows: Infinity };
    this.#left = bytes >= 0 ? bytes : Infinity;
    // the header counts as a record
    this.#rows = rows >= 0 ? Math.min(fewRows, rows + 1) : fewRows;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async next(): Promise<RowBlock | null> {
    while (!this.#atEnd || this.#rest.length > 0) {
      const bytes = await this.#read();
      const { format, splitter, buffers, width } = this.#options;
      const hasHeader = this.#records === 0 && recordForms[format].hasHeader;
      const piece = { bytes, hasHeader, rows: this.#rows };
      const { block, end, count, fault, hasOthers } = splitter.split(piece, this.#plan, buffers);
      if (fault !== null) throw this.#damaged(this.#records + count + 1, fault);
      this.#records += count;
      this.#rest = bytes.subarray(end);
      if (this.#atEnd && this.#rest.length > 0)
        throw this.#damaged(this.#records + 1, 'a quote is never closed');
      // pieces of a table mostly have the same number of rows
      this.#rows = Math.max(this.#left === 0 ? 1 : fewRows, Math.ceil(block.rows * 1.1));
      const decoders = this.#decoders.map((decode, field) => (hasOthers(field) ? decode : null));
      if (block.rows > 0) return decoded(block, { columns: this.#plan.columns, decoders, width });
    }
    return null;
  }

  /** Returns the rest of the previous piece and the next piece, with a line break after the last record, and with room for literals. */
  async #read(): Promise<Uint8Array> {
    const rest = this.#rest;
    const most = Math.max(this.#options.pieceBytes, rest.length);
    const more = Math.min(most, Math.max(this.#left, fewBytes));
    const length = rest.length + more + 1 + literalBytes;
    // short buffers are not reused
    const bytes =
      length < shortBytes
        ? Buffer.allocUnsafeSlow(length)
        : Buffer.from(this.#options.buffers.take(length).buffer, 0, length);
    bytes.set(rest);
    const { bytesRead } = await this.#handle.read(bytes, rest.length, more);
    this.#left = bytesRead > this.#left ? Infinity : this.#left - bytesRead;
    let end = rest.length + bytesRead;
    this.#atEnd = bytesRead === 0;
    if (this.#atEnd && end > 0 && bytes[end - 1] !== newline) bytes[end++] = newline;
    return bytes.subarray(0, end);
  }

  #damaged(record: number, what: string): AppError {
    const file = basename(this.#file.path);
    return new AppError(
      'unprocessable_input',
      `${this.#options.label}: ${file} was changed since it was written: record ${record}: ${what}. Load the documents again.`,
    );
  }
}

/** Replaces a block, which would otherwise stay in memory. */
function nothing(): undefined {
  return undefined;
}

const [yes, no] = [utf8Of('true'), utf8Of('false')];
const [letterF, letterI, letterT, openBrace, backslash] = [0x66, 0x49, 0x74, 0x7b, 0x5c];

/** Wraps a decoder for the escapes of each format. `plain`: the decoder of the unescaped value, or null. */
const ofFormats: Readonly<Record<RecordFormat, (plain: ValueDecoder | null) => ValueDecoder | null>> = {
  csv: (plain) => plain,
  tsv: copyDecoder,
  // values of JSON lines are decoded during parsing
  jsonl: () => null,
};

/** Like `typeDecoder`, for values with the escapes of the file format. */
function valueDecoder(format: RecordFormat, type: ColumnType | undefined): ValueDecoder | null {
  return type === undefined ? null : ofFormats[format](typeDecoder(type));
}

/** Returns null if stored values of the type have their XSD form. */
export function typeDecoder(type: ColumnType | undefined): ValueDecoder | null {
  if (type?.list === true) return listDecoder(type.kind);
  switch (type?.kind) {
    case 'boolean':
      return (bytes, from, to) => {
        if (to - from !== 1) return null;
        return bytes[from] === letterT ? yes : bytes[from] === letterF ? no : null;
      };
    case 'real':
    case 'double':
      return (bytes, from, to) =>
        bytes[from] === letterI || bytes[from + 1] === letterI
          ? utf8Of(infinity(textOf(bytes, from, to)))
          : null;
    default:
      return null;
  }
}

/** Returns the form of values of the type that the records kernel looks for: FORM_… of src/engine/records/kernel/layout.ts. */
export function typeForm(type: ColumnType | undefined): number {
  if (type?.list === true) return FORM_LIST;
  switch (type?.kind) {
    case 'boolean':
      return FORM_BOOLEAN;
    case 'real':
    case 'double':
      return FORM_FLOAT;
    default:
      return FORM_PLAIN;
  }
}

/** Like `typeForm`, for JSON Lines, whose values have their XSD form after parsing. */
export function jsonForm(type: ColumnType | undefined): number {
  if (type?.kind !== 'real' && type?.kind !== 'double') return FORM_PLAIN;
  return type.list === true ? FORM_LIST : FORM_FLOAT;
}

function infinity(text: string): string {
  return text === 'Infinity' ? 'INF' : text === '-Infinity' ? '-INF' : text;
}

function listDecoder(kind: ColumnType['kind']): ValueDecoder {
  const item = typeDecoder({ kind });
  return (bytes, from, to) => {
    const items = bytes[from] === openBrace ? arrayItems(textOf(bytes, from, to)) : null;
    if (items === null) return null;
    const texts = items.map((text) => {
      const known = utf8Of(text);
      const decoded = item?.(known, 0, known.length) ?? known;
      return textOf(decoded, 0, decoded.length);
    });
    return utf8Of(texts.join(' '));
  };
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };

/** Decodes PostgreSQL's COPY text. `plain`: the decoder of the unescaped value, or null. */
function copyDecoder(plain: ValueDecoder | null): ValueDecoder {
  return (bytes, from, to) => {
    let at = from;
    while (at < to && bytes[at] !== backslash) at += 1;
    if (at === to) return plain === null ? null : plain(bytes, from, to);
    const text = textOf(bytes, from, to).replaceAll(
      /\\(.)/g,
      (_, letter: string) => escapes[letter] ?? letter,
    );
    const value = utf8Of(text);
    return plain?.(value, 0, value.length) ?? value;
  };
}

/** Returns the items of an array literal (PostgreSQL manual §8.15.2); null for other text. */
function arrayItems(text: string): string[] | null {
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  const items: string[] = [];
  const pattern = /"((?:[^"\\]|\\.)*)"|([^,"]+)/g;
  for (const [, quoted, plain] of text.slice(1, -1).matchAll(pattern))
    items.push(quoted === undefined ? plain! : quoted.replaceAll(/\\(.)/g, '$1'));
  return items;
}
