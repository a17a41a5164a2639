/** Tables for spreadsheet programs: CSV (RFC 4180) and XLSX. */
import { mapInSlices } from '../../engine/in-slices.ts';
import {
  booleanCell,
  columnName,
  ColumnWidths,
  numberCell,
  sheetBegin,
  sheetEnd,
  sheetPath,
  styles,
  textCell,
  workbookLimits,
  workbookParts,
  type SheetFacts,
} from '../../engine/workbook/parts.ts';
import { zip, type ZipPart } from './zip.ts';

export type Cell = string | number | boolean | null;

/**
 * Escapes text that a spreadsheet would run as a formula: an apostrophe in front marks it as text. Full-width signs, which East Asian
 * editions interpret, and signs after white space are escaped too.
 */
function escapeFormula(text: string): string {
  return /^(?:[\t\r\n]|\s*[=+\-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}])/u.test(text) ? `'${text}` : text;
}

/** Line by line. With a byte order mark: without one, spreadsheet programs do not take it for UTF-8. */
export async function renderCsv(rows: readonly (readonly Cell[])[]): Promise<readonly string[]> {
  return await mapInSlices(
    rows,
    (row, at) => `${at === 0 ? '\u{FEFF}' : ''}${row.map(csvCell).join(',')}\r\n`,
  );
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' ? escapeFormula(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export interface Sheet {
  /** letters and digits, at most 20 */
  readonly name: string;
  /** the first one is the heading: bold, and it stays in view */
  readonly rows: readonly (readonly Cell[])[];
}

/** Returns a spreadsheet in chunks. Rows beyond the limit of a sheet continue in further sheets, each with the heading: `NAME (2)`. */
export async function renderXlsx(
  wanted: readonly Sheet[],
  rowsOfSheet: number = workbookLimits.rows,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const sheets = wanted.flatMap((one) => splitSheet(one, rowsOfSheet));
  const facts = sheets.map(({ name, rows }) => ({ name, rows: rows.length, columns: rows[0]?.length ?? 0 }));
  const parts: ZipPart[] = workbookParts(facts).map(({ name, content }) => ({ name, content: [content] }));
  for (const [at, { rows }] of sheets.entries())
    parts.push({ name: sheetPath(at), content: await sheetParts(rows, facts[at]!, at === 0) });
  return zip(parts);
}

function splitSheet({ name, rows }: Sheet, rowsOfSheet: number): readonly Sheet[] {
  if (rows.length <= rowsOfSheet) return [{ name, rows }];
  const [heading = []] = rows;
  const lines = rows.slice(1);
  const sheets: Sheet[] = [];
  for (let from = 0; from < lines.length; from += rowsOfSheet - 1)
    sheets.push({
      name: from === 0 ? name : `${name} (${sheets.length + 1})`,
      rows: [heading].concat(lines.slice(from, from + rowsOfSheet - 1)),
    });
  return sheets;
}

async function sheetParts(
  rows: Sheet['rows'],
  facts: SheetFacts,
  isFirst: boolean,
): Promise<readonly string[]> {
  const widths = new ColumnWidths();
  const lines = await mapInSlices(rows, (row, at) => {
    const cells = row.map((cell, column) => {
      widths.take(column, String(cell ?? '').length, at === 0);
      return xlsxCell(cell, `${columnName(column)}${at + 1}`, at === 0 ? styles.heading : styles.plain);
    });
    return `<row r="${at + 1}">${cells.join('')}</row>`;
  });
  return [sheetBegin(isFirst, widths.upTo(facts.columns)), ...lines, sheetEnd(facts)];
}

function xlsxCell(cell: Cell, reference: string, style: number): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return numberCell(reference, cell, style);
  if (typeof cell === 'boolean') return booleanCell(reference, cell, style);
  // characters that XML 1.0 cannot hold are replaced, as readers of these workbooks are people
  const text = escapeFormula(cell)
    .slice(0, workbookLimits.cell)
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}');
  return textCell(reference, text, style);
}
