/** Tables for spreadsheet programs: CSV (RFC 4180) and XLSX (ECMA-376, inline strings). */
import { mapInSlices } from '../../engine/in-slices.ts';
import { zip } from './zip.ts';

export type Cell = string | number | boolean | null;

/**
 * What a spreadsheet would run as a formula gets an apostrophe in front, which programs take for "this is text": signs of full width,
 * as East Asian editions read them, and what stands behind white space among it.
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

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const contentType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
/** a cell holds at most so many characters */
const longestCell = 32_767;

/** a sheet holds at most so many rows */
const mostRows = 1_048_576;
/** characters; of columns whose texts are longer the rest is seen in the cell that is chosen */
const widest = 60;
const narrowest = 8;

export interface Sheet {
  /** letters and digits, at most 20 */
  readonly name: string;
  /** the first one is the heading: bold, and it stays in view */
  readonly rows: readonly (readonly Cell[])[];
}

/** In chunks. A sheet of more rows than one can have goes on in further ones, each with the heading: `NAME (2)`. */
export async function renderXlsx(
  wanted: readonly Sheet[],
  rowsOfSheet = mostRows,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const sheets = wanted.flatMap((one) => splitSheet(one, rowsOfSheet));
  const files = sheets.map((_, at) => `worksheets/sheet${at + 1}.xml`);
  const bodies: (readonly string[])[] = [];
  for (const [at, { rows }] of sheets.entries()) bodies.push(await sheetParts(rows, at === 0));
  const list = (make: (sheet: Sheet, at: number) => string): string => sheets.map(make).join('');
  return zip([
    {
      name: '[Content_Types].xml',
      content: [
        `${declaration}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
          '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
          '<Default Extension="xml" ContentType="application/xml"/>' +
          `<Override PartName="/xl/workbook.xml" ContentType="${contentType}.sheet.main+xml"/>` +
          list(
            (_, at) => `<Override PartName="/xl/${files[at]}" ContentType="${contentType}.worksheet+xml"/>`,
          ) +
          `<Override PartName="/xl/styles.xml" ContentType="${contentType}.styles+xml"/></Types>`,
      ],
    },
    {
      name: '_rels/.rels',
      content: [
        `${declaration}<Relationships xmlns="${packageRelations}">` +
          `<Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
      ],
    },
    {
      name: 'xl/workbook.xml',
      content: [
        `${declaration}<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>` +
          list((one, at) => `<sheet name="${one.name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`) +
          '</sheets><definedNames>' +
          list(
            (one, at) =>
              `<definedName name="_xlnm._FilterDatabase" localSheetId="${at}" hidden="1">'${one.name}'!${filtered(one.rows, '$')}</definedName>`,
          ) +
          '</definedNames></workbook>',
      ],
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: [
        `${declaration}<Relationships xmlns="${packageRelations}">` +
          list(
            (_, at) =>
              `<Relationship Id="rId${at + 1}" Type="${relations}/worksheet" Target="${files[at]}"/>`,
          ) +
          `<Relationship Id="rId${sheets.length + 1}" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
      ],
    },
    {
      name: 'xl/styles.xml',
      content: [
        `${declaration}<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>` +
          '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
          '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
          '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
          '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
          '<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>' +
          '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs>' +
          '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
      ],
    },
    ...bodies.map((content, at) => ({ name: `xl/${files[at]}`, content })),
  ]);
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

/** The cells that a filter is over, as `A1:C9`; `fixed` stands before each part. */
function filtered(rows: Sheet['rows'], fixed: '' | '$'): string {
  const last = columnName(Math.max(0, (rows[0]?.length ?? 0) - 1));
  return `${fixed}A${fixed}1:${fixed}${last}${fixed}${rows.length}`;
}

async function sheetParts(rows: Sheet['rows'], isFirst: boolean): Promise<readonly string[]> {
  const view =
    `<sheetViews><sheetView${isFirst ? ' tabSelected="1"' : ''} workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';
  const widths = (rows[0] ?? []).map(() => narrowest);
  const lines = await mapInSlices(rows, (row, at) => {
    const cells = row.map((cell, column) => {
      // the heading has a button beside its text
      const width = String(cell ?? '').length + (at === 0 ? 4 : 2);
      widths[column] = Math.min(widest, Math.max(widths[column] ?? narrowest, width));
      return xlsxCell(cell, `${columnName(column)}${at + 1}`, at === 0 ? 1 : 0);
    });
    return `<row r="${at + 1}">${cells.join('')}</row>`;
  });
  const columns = widths.map(
    (width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`,
  );
  const cols = columns.length === 0 ? '' : `<cols>${columns.join('')}</cols>`;
  const begin = `${declaration}<worksheet xmlns="${main}">${view}${cols}<sheetData>`;
  return [begin, ...lines, `</sheetData><autoFilter ref="${filtered(rows, '')}"/></worksheet>`];
}

/** `_x0041_` in a text would be read as the character of that number (ECMA-376 part 1, ST_Xstring): its first sign is written so. */
function xlsxCell(cell: Cell, reference: string, style: number): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return `<c r="${reference}" s="${style}"><v>${cell}</v></c>`;
  if (typeof cell === 'boolean') return `<c r="${reference}" s="${style}" t="b"><v>${cell ? 1 : 0}</v></c>`;
  const text = escapeXml(escapeFormula(cell).slice(0, longestCell)).replaceAll(
    /_(?=x[0-9a-f]{4}_)/gi,
    '_x005F_',
  );
  return `<c r="${reference}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
}

/** 0 -> A, 26 -> AA */
function columnName(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26));
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter;
}

/** Characters that XML 1.0 cannot hold are replaced. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}
