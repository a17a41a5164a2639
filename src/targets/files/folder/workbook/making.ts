/** Makes one workbook with a sheet for each table that has rows of the job, from the staged rows after all have arrived. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import {
  columnName,
  ColumnWidths,
  sheetBegin,
  sheetEnd,
  sheetPath,
  styles,
  textCell,
  workbookLimits,
  workbookParts,
  sheetNames,
} from '../../../../engine/workbook.ts';
import { membersOf } from '../../../../engine/model/packed/lazy-array.ts';
import { AppError } from '../../../../errors.ts';
import type { FinishedFile } from '../../../../storage/staging/staged-files.ts';
import { syncPath } from '../../../../storage/staging/durable-file.ts';
import { sideNames } from '../manifest.ts';
import type { NamedColumn } from '../table-columns.ts';
import type { FileMakingOptions } from '../layouts/folder-layout.ts';
import { stagedRows, type StagedRows } from '../../parquet/staged-rows.ts';
import { cellMaker, numberFormats } from './cells.ts';
import { ArchiveLimitError, ZipFile } from './zip-file.ts';

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
        `table ${table}: the workbook would have more than 4 GiB, or more sheets than it can. Load fewer documents at once, as each load has a workbook of its own, or take -f csv or -f parquet.`,
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
    `table ${table}, column ${column}: a value has ${characters} characters, and a cell of Excel holds ${workbookLimits.cell}. Take -f csv or -f parquet.`,
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
