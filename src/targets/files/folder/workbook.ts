/**
 * Writes workbooks. A cell is typed if Excel returns the value unchanged: Excel keeps 15 digits of a number, and for times, days from
 * 1900-03-01 to 9999-12-31 with three fraction digits of a second. Every other value is text.
 */
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import {
  booleanCell,
  numberCell,
  styleOfFormat,
  textCell,
  columnName,
  ColumnWidths,
  sheetBegin,
  sheetEnd,
  sheetPath,
  styles,
  workbookLimits,
  workbookParts,
  sheetNames,
} from '../../../engine/workbook.ts';
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { writeWhole, syncPath } from '../../../storage/staging/durable-file.ts';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { membersOf } from '../../../engine/model/packed/reader.ts';
import { AppError } from '../../../errors.ts';
import type { FinishedFile } from '../../../storage/staging/staged-files.ts';
import { sideNames } from './manifest.ts';
import type { NamedColumn } from './table-columns.ts';
import type { FileMakingOptions } from './layout.ts';
import { stagedRows, type StagedRows } from '../parquet/staged-rows.ts';

// Values as cells.

/** The number formats in the workbook. An instant is shown in UTC. */
const formats = {
  text: '@',
  whole: '0',
  date: 'yyyy\\-mm\\-dd',
  moment: 'yyyy\\-mm\\-dd\\ hh:mm:ss',
  momentMillis: 'yyyy\\-mm\\-dd\\ hh:mm:ss.000',
  instant: 'yyyy\\-mm\\-dd\\ hh:mm:ss"Z"',
  instantMillis: 'yyyy\\-mm\\-dd\\ hh:mm:ss.000"Z"',
  time: 'hh:mm:ss',
  timeMillis: 'hh:mm:ss.000',
} as const;

const numberFormats: readonly string[] = Object.values(formats);

function styleOf(name: keyof typeof formats): number {
  return styleOfFormat(Object.keys(formats).indexOf(name));
}

const style = {
  text: styleOf('text'),
  whole: styleOf('whole'),
  date: styleOf('date'),
  moment: [styleOf('moment'), styleOf('momentMillis')],
  instant: [styleOf('instant'), styleOf('instantMillis')],
  time: [styleOf('time'), styleOf('timeMillis')],
} as const;
/** the number format of numbers that are not whole: Excel shows as many digits as fit */
const general = 0;

/** Makes the cell of a value in the encoding `words`, at a reference such as `B2`. */
type MakeCell = (text: string, reference: string) => string;

export function cellMaker({ kind, list }: ColumnType): MakeCell {
  const typed = list === true ? asText : typedCells[kind];
  return (text, reference) => typed(text, reference) ?? textCell(reference, text, style.text);
}

/** Returns null for a value that stays text. */
type TypedCell = (text: string, reference: string) => string | null;

const asText: TypedCell = () => null;
const typedCells: Readonly<Record<ColumnType['kind'], TypedCell>> = {
  text: asText,
  boolean: (text, reference) =>
    text === 'true' || text === 'false' ? booleanCell(reference, text === 'true', general) : null,
  smallint: wholeCell,
  integer: wholeCell,
  bigint: wholeCell,
  numeric: (text, reference) => wholeCell(text, reference) ?? decimalCell(text, reference),
  real: floatCell,
  double: floatCell,
  date: (text, reference) => {
    const day = dateForm.exec(text);
    const serial = day === null ? null : serialOf(day, 0);
    return serial === null ? null : numberCell(reference, serial, style.date);
  },
  time: (text, reference) => {
    const [, hour, minute, second, fraction = ''] = timeForm.exec(text) ?? [];
    const millis = hour === undefined ? null : millisOf(hour, minute!, second!, fraction);
    return millis === null
      ? null
      : numberCell(reference, millis / dayMillis, style.time[fraction === '' ? 0 : 1]);
  },
  timestamp: (text, reference) => momentCell(text, reference, false),
  timestamptz: (text, reference) => momentCell(text, reference, true),
};

const maxDigits = 15;

function wholeCell(text: string, reference: string): string | null {
  if (!/^[+-]?\d+$/.test(text)) return null;
  return text.replace(/^[+-]?0*/, '').length > maxDigits
    ? null
    : numberCell(reference, numberIn(text), style.whole);
}

function decimalCell(text: string, reference: string): string | null {
  if (!/^[+-]?(?:\d+\.\d*|\.\d+)$/.test(text)) return null;
  const digits = text
    .replace(/0*$/, '')
    .replace('.', '')
    .replace(/^[+-]?0*/, '');
  return digits.length > maxDigits ? null : numberCell(reference, numberIn(text), general);
}

/** Returns the number for the workbook: the text itself if XML Schema and Excel write the number in the same way. */
function numberIn(text: string): number | string {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? text : Number(text);
}

/** the smallest number that Excel does not round to zero */
const leastFloat = 2.225_073_858_507_201_4e-308;

function floatCell(text: string, reference: string): string | null {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return null;
  const value = Number(text);
  const isKept = Number.isFinite(value) && (value === 0 || Math.abs(value) >= leastFloat);
  return isKept ? numberCell(reference, value, general) : null;
}

const dayMillis = 86_400_000;
/** days from Excel's day 0 to 1 January 1970 */
const epochDay = 25_569;
/** Excel has a 29 February 1900: earlier serial numbers mean other days to other programs */
const [firstDay, lastDay] = [61, 2_958_465];

const dateForm = /^(\d{4})-(\d\d)-(\d\d)$/;
const timeForm = /^(\d\d):(\d\d):(\d\d)(?:\.(\d+))?$/;
const momentForm = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/;

function momentCell(text: string, reference: string, isInstant: boolean): string | null {
  const parts = momentForm.exec(text);
  if (parts === null) return null;
  const [, , , , hour, minute, second, fraction = '', zone] = parts;
  if ((zone !== undefined) !== isInstant) return null;
  const millis = millisOf(hour!, minute!, second!, fraction);
  const serial = millis === null ? null : serialOf(parts, millis - offsetMillis(zone));
  if (serial === null) return null;
  const styles = isInstant ? style.instant : style.moment;
  return numberCell(reference, serial, styles[fraction === '' ? 0 : 1]);
}

/** Returns the milliseconds since midnight; null if the time is invalid, or has more fraction digits than Excel keeps. */
function millisOf(hour: string, minute: string, second: string, fraction: string): number | null {
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  if (hours > 23 || minutes > 59 || seconds > 59 || /[1-9]/.test(fraction.slice(3))) return null;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

function offsetMillis(zone = 'Z'): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** Returns the days since Excel's day 0; null if the date is invalid, or outside Excel's range. */
function serialOf([, year, month, day]: readonly string[], millis: number): number | null {
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // an invalid date, such as 30 February
  if (new Date(date).getUTCDate() !== Number(day)) return null;
  const serial = (date + millis) / dayMillis + epochDay;
  return serial < firstDay || serial >= lastDay + 1 ? null : serial;
}

// A ZIP archive that is written part by part. Each part is compressed while it is written, and none is buffered.

/** Sizes and offsets are 32-bit numbers here, because programs that read workbooks do not all support larger ones (ZIP64). */
const maxBytes = 0xff_ff_ff_fe;
const maxParts = 0xff_fe;
const chunkCharacters = 64 * 1024;
/** A lower level of compression, which saves a quarter of the processor time for files that are an eighth larger. */
const deflating = { level: 3, chunkSize: 256 * 1024 } as const;
/** sizes follow the data; names are UTF-8 (APPNOTE 4.4.4) */
const flags = 0x08_08;
const version = 20;
const deflated = 8;
/** 1 January 1980, the first day that an archive can represent */
const date = 0x00_21;

/** A part, or the whole archive, is larger than the format allows. */
class ArchiveLimitError extends Error {}

interface WrittenPart {
  readonly name: Buffer;
  readonly at: number;
  readonly crc: number;
  readonly packed: number;
  readonly bytes: number;
}

class ZipFile {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  readonly #parts: WrittenPart[] = [];
  #bytes = 0;

  /** `file`: an empty file, which the caller syncs and closes. */
  constructor(file: FileHandle) {
    this.#file = file;
  }

  async add(partName: string, content: Iterable<string> | AsyncIterable<string>): Promise<void> {
    const name = Buffer.from(partName);
    const at = this.#bytes;
    if (at > maxBytes || this.#parts.length >= maxParts) throw new ArchiveLimitError();
    await this.#write(
      record(0x04_03_4b_50, [version, flags, deflated, 0, date], [0, 0, 0], [name.length, 0]),
    );
    await this.#write(name);
    const begin = this.#bytes;
    let [crc, bytes] = [0, 0];
    const measured = async function* (): AsyncGenerator<Buffer, void, void> {
      for await (const chunk of inChunks(content)) {
        crc = crc32(chunk, crc);
        bytes += chunk.length;
        if (bytes > maxBytes) throw new ArchiveLimitError();
        yield chunk;
      }
    };
    await pipeline(measured, createDeflateRaw(deflating), async (packed: AsyncIterable<Buffer>) => {
      for await (const piece of packed) await this.#write(piece);
    });
    const packed = this.#bytes - begin;
    await this.#write(record(0x08_07_4b_50, [], [crc, packed, bytes], []));
    this.#parts.push({ name, at, crc, packed, bytes });
  }

  /** Writes the directory of the parts. Returns the size of the file in bytes, and its SHA-256 in hex. */
  async finish(): Promise<{ readonly bytes: number; readonly sha256: string }> {
    const at = this.#bytes;
    for (const { name, at: place, crc, packed, bytes } of this.#parts) {
      await this.#write(
        record(
          0x02_01_4b_50,
          [version, version, flags, deflated, 0, date],
          [crc, packed, bytes],
          [name.length, 0, 0, 0, 0],
          [0, place],
        ),
      );
      await this.#write(name);
    }
    if (this.#bytes > maxBytes) throw new ArchiveLimitError();
    const { length } = this.#parts;
    await this.#write(record(0x06_05_4b_50, [0, 0, length, length], [this.#bytes - at, at], [0]));
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    await writeWhole(this.#file, [bytes]);
  }
}

/** Returns a signature, followed by 16-bit and 32-bit numbers alternately, in little-endian order. */
function record(signature: number, ...fields: readonly (readonly number[])[]): Buffer {
  const out = Buffer.alloc(
    4 + fields.reduce((sum, list, at) => sum + list.length * (at % 2 === 0 ? 2 : 4), 0),
  );
  let end = out.writeUInt32LE(signature);
  for (const [at, list] of fields.entries())
    for (const value of list)
      end = at % 2 === 0 ? out.writeUInt16LE(value, end) : out.writeUInt32LE(value, end);
  return out;
}

async function* inChunks(
  pieces: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<Buffer, void, void> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < chunkCharacters) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

// A workbook with a sheet for each table that has rows of the job, made from the staged rows after all have arrived.

/** the number of rows whose cells determine the widths of columns */
const measuredRows = 100;

interface StagedSheet {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly NamedColumn[];
  readonly file: FinishedFile;
}

/** Returns for each staged file, in their order, the workbook and the sheet that has its rows. */
export async function writeWorkbook(
  staged: readonly FinishedFile[],
  options: FileMakingOptions,
): Promise<FinishedFile[]> {
  if (staged.length === 0) return [];
  const { directory, fileName } = options;
  const sheets = sheetsOf(staged, options);
  const rows: StagedRows[] = [];
  // rename the staged rows first, because the workbook may have the name of a staged file
  for (const { file } of sheets) rows.push(await stagedRows(join(directory, file.name), file));
  const name = await fileName();
  const made = await writeSheets(join(directory, name), sheets, rows);
  for (const one of rows) await one.remove();
  await syncPath(directory);
  const sheetOfFile = new Map(sheets.map((sheet) => [sheet.file.name, sheet.name]));
  return staged.map(({ name: stagedName, rows: count, longestWriteBytes }) => ({
    name,
    rows: count,
    longestWriteBytes,
    ...made,
    sheet: sheetOfFile.get(stagedName)!,
  }));
}

/** Returns the sheets in the order of the model, then tables beside the data. */
function sheetsOf(
  staged: readonly FinishedFile[],
  { model, stagedNames, typings }: FileMakingOptions,
): StagedSheet[] {
  const names = sheetNames([...membersOf(model.tables, 'name'), ...sideNames]);
  const files = new Map(staged.map((file) => [file.name, file]));
  const nameOf = stagedNames();
  const typing = typings();
  return [...names].flatMap(([table, name]) => {
    const file = files.get(nameOf.get(table) ?? '');
    return file === undefined ? [] : [{ table, name, file, columns: typing.get(file.name)!.columns }];
  });
}

async function writeSheets(
  path: string,
  sheets: readonly StagedSheet[],
  rows: readonly StagedRows[],
): Promise<Pick<FinishedFile, 'bytes' | 'sha256'>> {
  const target = await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o666,
  );
  let table = '';
  try {
    const archive = new ZipFile(target);
    const facts = sheets.map(({ name, file, columns }) => ({
      name,
      rows: file.rows + 1,
      columns: columns.length,
    }));
    for (const { name, content } of workbookParts(facts, numberFormats)) await archive.add(name, [content]);
    for (const [at, sheet] of sheets.entries()) {
      table = sheet.table;
      await archive.add(sheetPath(at), rowsOfSheet(sheet, rows[at]!, at === 0));
    }
    const made = await archive.finish();
    await target.sync();
    return made;
  } catch (error) {
    if (error instanceof ArchiveLimitError)
      throw new AppError(
        'unprocessable_input',
        `table ${table}: the workbook would have more than 4 GiB, or more sheets than Excel allows. Load fewer documents at once (each load writes its own workbook), or use -f csv or -f parquet.`,
      );
    throw error;
  } finally {
    await target.close();
  }
}

async function* rowsOfSheet(
  { table, columns, file }: StagedSheet,
  rows: StagedRows,
  isFirst: boolean,
): AsyncGenerator<string, void, void> {
  const letters = columns.map((_, at) => columnName(at));
  const makers = columns.map(({ type }) => cellMaker(type));
  const widths = new ColumnWidths();
  const heading = columns.map(({ name }, at) => {
    widths.take(at, name.length, true);
    return textCell(`${letters[at]!}1`, name, styles.heading);
  });
  // the widths come before the rows from which they are measured
  let first = `<row r="1">${heading.join('')}</row>`;
  const begin = (): string => sheetBegin(isFirst, widths.upTo(columns.length)) + first;
  let number = 1;
  const rowOf = (line: string): string => {
    number += 1;
    let row = `<row r="${number}">`;
    for (const [at, value] of line.split('\t').entries()) {
      if (value === nothing) continue;
      const text = value.includes('\\') ? unescaped(value) : value;
      if (text.length > workbookLimits.cell) throw longCell(table, columns[at]!.name, text.length);
      row += makers[at]!(text, letters[at]! + String(number));
      if (number <= measuredRows) widths.take(at, text.length, false);
    }
    return `${row}</row>`;
  };
  let isBegun = false;
  for await (const lines of linesOf(rows)) {
    let made = '';
    for (const line of lines) {
      if (number < measuredRows) {
        first += rowOf(line);
        continue;
      }
      if (!isBegun) made = begin();
      isBegun = true;
      made += rowOf(line);
    }
    if (made !== '') yield made;
  }
  if (!isBegun) yield begin();
  yield sheetEnd({ rows: file.rows + 1, columns: columns.length });
}

function longCell(table: string, column: string, characters: number): AppError {
  return new AppError(
    'unprocessable_input',
    `table ${table}, column ${column}: a value has ${characters} characters, but a cell of Excel holds only ${workbookLimits.cell}. Use -f csv or -f parquet.`,
  );
}

/** NULL in COPY text */
const nothing = '\\N';
const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

function unescaped(value: string): string {
  return value.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
}

/** Reads COPY text in groups of lines without line breaks, one group per piece. */
async function* linesOf(rows: StagedRows): AsyncGenerator<readonly string[], void, void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const piece of rows.pieces()) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield lines;
  }
}
