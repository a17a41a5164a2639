/** Workbooks (XLSX): the parts of the package, and names of sheets. */

// Renders the XML parts of an Excel workbook (ECMA-376, inline strings). The caller packs them as a ZIP archive.

/** Limits of Excel: rows and columns of a sheet, characters of a cell (UTF-16) and of the name of a sheet. */
export const workbookLimits = { rows: 1_048_576, columns: 16_384, cell: 32_767, sheetName: 31 } as const;

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const contentType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

export interface SheetFacts {
  readonly name: string;
  /** the heading among them, which is the first one */
  readonly rows: number;
  readonly columns: number;
}

/** Styles of cells that every workbook has; those of `formats` follow. */
export const styles = { plain: 0, heading: 1 } as const;
const ownStyles = Object.keys(styles).length;

/** The style of cells with the format at that index of `formats`. */
export function styleOfFormat(index: number): number {
  return ownStyles + index;
}

/** numbers up to this one name formats of Excel itself (ECMA-376 part 1, numFmt) */
const lastOwnFormat = 163;

/** Renders all parts except the sheets, which are `xl/worksheets/sheet1.xml` and so on. `formats`: number formats in the notation of Excel. */
export function workbookParts(
  sheets: readonly SheetFacts[],
  formats: readonly string[] = [],
): readonly { readonly name: string; readonly content: string }[] {
  const list = (make: (sheet: SheetFacts, at: number) => string): string => sheets.map(make).join('');
  return [
    {
      name: '[Content_Types].xml',
      content:
        `${declaration}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        '<Default Extension="xml" ContentType="application/xml"/>' +
        `<Override PartName="/xl/workbook.xml" ContentType="${contentType}.sheet.main+xml"/>` +
        list(
          (_, at) => `<Override PartName="/${sheetPath(at)}" ContentType="${contentType}.worksheet+xml"/>`,
        ) +
        `<Override PartName="/xl/styles.xml" ContentType="${contentType}.styles+xml"/></Types>`,
    },
    {
      name: '_rels/.rels',
      content:
        `${declaration}<Relationships xmlns="${packageRelations}">` +
        `<Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      content:
        `${declaration}<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>` +
        list((one, at) => `<sheet name="${escapeXml(one.name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`) +
        '</sheets><definedNames>' +
        list(
          (one, at) =>
            `<definedName name="_xlnm._FilterDatabase" localSheetId="${at}" hidden="1">'${escapeXml(one.name.replaceAll("'", "''"))}'!${filtered(one, '$')}</definedName>`,
        ) +
        '</definedNames></workbook>',
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content:
        `${declaration}<Relationships xmlns="${packageRelations}">` +
        list(
          (_, at) =>
            `<Relationship Id="rId${at + 1}" Type="${relations}/worksheet" Target="${sheetPath(at).slice('xl/'.length)}"/>`,
        ) +
        `<Relationship Id="rId${sheets.length + 1}" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    },
    { name: 'xl/styles.xml', content: stylesPart(formats) },
  ];
}

/** The name of the part of a sheet, by its index. */
export function sheetPath(at: number): string {
  return `xl/worksheets/sheet${at + 1}.xml`;
}

function stylesPart(formats: readonly string[]): string {
  const numbers = formats.map(
    (code, at) => `<numFmt numFmtId="${lastOwnFormat + 1 + at}" formatCode="${escapeXml(code)}"/>`,
  );
  const cells = formats.map(
    (_, at) =>
      `<xf numFmtId="${lastOwnFormat + 1 + at}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
  );
  return (
    `${declaration}<styleSheet xmlns="${main}">` +
    (formats.length === 0 ? '' : `<numFmts count="${formats.length}">${numbers.join('')}</numFmts>`) +
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>' +
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="${ownStyles + formats.length}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
    `<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>${cells.join('')}</cellXfs>` +
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
  );
}

/** most characters of a column's width; the rest of a longer text is visible when its cell is selected */
const widest = 60;
const narrowest = 8;

/** The widths of columns, based on the cells added so far. */
export class ColumnWidths {
  readonly #widths: number[] = [];

  /** `characters`: of the text that is shown. */
  take(column: number, characters: number, isHeading: boolean): void {
    // the heading has a button beside its text
    const width = characters + (isHeading ? 4 : 2);
    this.#widths[column] = Math.min(widest, Math.max(this.#widths[column] ?? narrowest, width));
  }

  /** Returns the widths of the first columns. A column without a cell has the narrowest width. */
  upTo(columns: number): readonly number[] {
    return Array.from({ length: columns }, (_, at) => this.#widths[at] ?? narrowest);
  }
}

/** Renders the XML before the rows of a sheet. The heading stays in view. */
export function sheetBegin(isFirst: boolean, widths: readonly number[]): string {
  const view =
    `<sheetViews><sheetView${isFirst ? ' tabSelected="1"' : ''} workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';
  const columns = widths.map(
    (width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`,
  );
  const cols = columns.length === 0 ? '' : `<cols>${columns.join('')}</cols>`;
  return `${declaration}<worksheet xmlns="${main}">${view}${cols}<sheetData>`;
}

/** Renders the XML after the rows of a sheet. */
export function sheetEnd(sheet: Pick<SheetFacts, 'rows' | 'columns'>): string {
  return `</sheetData><autoFilter ref="${filtered(sheet, '')}"/></worksheet>`;
}

/** Returns the range of a filter, such as `A1:C9`; `fixed` precedes each part. */
function filtered({ rows, columns }: Pick<SheetFacts, 'rows' | 'columns'>, fixed: '' | '$'): string {
  const last = columnName(Math.max(0, columns - 1));
  return `${fixed}A${fixed}1:${fixed}${last}${fixed}${rows}`;
}

/** `reference`: such as `A1`. */
export function numberCell(reference: string, value: number | string, style: number): string {
  return `<c r="${reference}" s="${style}"><v>${value}</v></c>`;
}

export function booleanCell(reference: string, value: boolean, style: number): string {
  return `<c r="${reference}" s="${style}" t="b"><v>${value ? 1 : 0}</v></c>`;
}

/** A cell of text, which Excel never runs as a formula. */
export function textCell(reference: string, text: string, style: number): string {
  return `<c r="${reference}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${cellText(text)}</t></is></c>`;
}

/** 0 -> A, 26 -> AA */
export function columnName(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26));
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter;
}

const special = /[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]|[&<>"_]/u;

/**
 * `_x0041_` in a text would be read as the character of that number (ECMA-376 part 1, ST_Xstring): its first sign is written so, and so are
 * characters that XML 1.0 cannot hold.
 */
function cellText(text: string): string {
  if (!special.test(text)) return text;
  return escapeXml(
    text
      .toWellFormed()
      .replaceAll(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
      .replaceAll(
        /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu,
        (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
      ),
  );
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}

// Names the sheets of tables: valid in Excel, and distinct for it.

/** Returns a name for each table, in their order. The same tables always get the same names. */
export function sheetNames(tables: Iterable<string>): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  for (const table of tables) {
    const name = fittingName(table);
    let free = name;
    for (let n = 2; taken.has(free.toLowerCase()); n += 1) {
      const suffix = ` (${n})`;
      free = shortened(name, workbookLimits.sheetName - suffix.length) + suffix;
    }
    taken.add(free.toLowerCase());
    names.set(table, free);
  }
  return names;
}

/** Replaces the characters that Excel refuses, and the name `History`, which is reserved. */
function fittingName(table: string): string {
  const name = shortened(
    table.toWellFormed().replaceAll(/[:\\/?*[\]\p{Cc}]|^'|'$/gu, '_'),
    workbookLimits.sheetName,
  ).replace(/'$/, '_');
  return name === '' || name.toLowerCase() === 'history' ? `${name}_` : name;
}

/** Shortens a text to `length` UTF-16 units without splitting a character. */
function shortened(name: string, length: number): string {
  return name.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
