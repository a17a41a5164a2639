/** The source-to-target map as a file. */
import { mapInSlices, inSlices, type Steps } from '../../engine/in-slices.ts';
import { describeModel } from '../../engine/metadata/described.ts';
import type { CatalogStore, MappingRecord } from '../../ports/stores/catalog.ts';
import { listMappings } from './mapping-figures.ts';
import { findOrigin } from './logical-schema.ts';
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
} from '../../engine/workbook.ts';
import { deflateSync, Zip, ZipDeflate, ZipPassThrough } from 'fflate';

export const downloadFormats = ['xlsx', 'csv', 'json'] as const;
type DownloadFormat = (typeof downloadFormats)[number];

interface DownloadedFile {
  /** `donuts-mapping.xlsx`; may hold any character but a slash */
  readonly name: string;
  /** content in chunks */
  readonly content: readonly Uint8Array<ArrayBuffer>[];
}

const columns = [
  'xpath',
  'node_type',
  'source_type',
  'min_occurs',
  'max_occurs',
  'table_name',
  'column_name',
  'data_type',
  'length',
  'nullable',
  'key',
  'active',
  'documentation',
  'id_map',
  'id_tab',
] as const satisfies readonly (keyof MappingRecord)[];

export async function downloadMappings(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  options: { readonly format: DownloadFormat; readonly idLschma?: number },
): Promise<DownloadedFile> {
  const { name } = await findOrigin(catalog, idOrg, idSch, options.idLschma);
  const mappings = await listMappings(catalog, idOrg, idSch, options.idLschma);
  const sheets = options.format === 'xlsx' ? await otherSheets(catalog, idOrg, idSch, options.idLschma) : [];
  return {
    name: `${name}-mapping.${options.format}`,
    content: await render(mappings, options.format, sheets),
  };
}

async function render(
  mappings: readonly MappingRecord[],
  format: DownloadFormat,
  others: readonly Sheet[],
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  if (format === 'json') return await encoded(await renderJson(mappings));
  const lines = await mapInSlices(mappings, (line) => columns.map((column) => line[column]));
  const rows: (readonly Cell[])[] = [columns, ...lines];
  return format === 'csv'
    ? await encoded(await renderCsv(rows))
    : await renderXlsx([{ name: 'mapping', rows }, ...others]);
}

/** Builds the sheets of tables and, if the schema enumerates them, of the values that columns can have. */
async function otherSheets(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<readonly Sheet[]> {
  const shown = idLschma ?? (await catalog.findOrigin(idOrg, idSch))?.id_lschma ?? null;
  const stored = shown === null ? null : await catalog.loadLogicalSchema(idOrg, { idLschma: shown });
  const source = (await catalog.loadOrigin(idOrg, idSch))?.model ?? null;
  const { tables } =
    stored === null ? { tables: [] } : await describeModel({ name: '', version: 1 }, stored.model, source);
  const tableRows = await mapInSlices(tables, (table): Cell[] => [
    table.name,
    table.xpath,
    table.columns.length,
    table.primaryKey.join(', '),
    [...new Set(table.references.map(({ parentTable }) => parentTable))].join(', '),
    table.documentation,
  ]);
  const codeRows = await mapInSlices(tables, ({ name, columns: own }) =>
    own.flatMap(({ name: columnName, saidOfValues, xpath, documentation, codeLists }) =>
      codeLists.flatMap(({ type, codes }) =>
        codes.map(({ code, label }): Cell[] => [
          name,
          columnName,
          code,
          saidOfValues.get(code) ?? null,
          xpath,
          documentation,
          type,
          label,
        ]),
      ),
    ),
  );
  return [
    {
      name: 'tables',
      rows: [['table_name', 'xpath', 'columns', 'key', 'refers_to', 'documentation'], ...tableRows],
    },
    {
      name: 'codes',
      rows: [
        ['table_name', 'column_name', 'code', 'meaning', 'xpath', 'documentation', 'type', 'label'],
        ...codeRows.flat(),
      ],
    },
  ];
}

function encoded(pieces: readonly string[]): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  return mapInSlices(encodedPieces(pieces), (bytes) => bytes);
}

/** Formats values like `JSON.stringify` with an indent of two, in pieces. */
async function renderJson(values: readonly unknown[]): Promise<readonly string[]> {
  if (values.length === 0) return ['[]'];
  const texts = await mapInSlices(
    values,
    (value, at) => `${at === 0 ? '[\n' : ',\n'}${JSON.stringify([value], null, 2).slice(2, -2)}`,
  );
  return [...texts, '\n]'];
}

// Tables for spreadsheet programs: CSV (RFC 4180) and XLSX.

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

interface Sheet {
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

// Builds ZIP archives from parts in memory. Uses web standards and fflate, which has no dependencies.

interface ZipPart {
  readonly name: string;
  /** content in pieces */
  readonly content: readonly string[];
}

/** The time of every part: the first that a ZIP archive can name, in the local time that fflate writes. */
const mtime = new Date(1980, 0, 1);

/**
 * A part of one chunk, deflated in tables of its size: those of `ZipDeflate` are for a stream of any length, and are kept until the
 * archive ends. Thousands of small parts with megabytes each take seconds to clear and all memory.
 */
class ShortPart extends ZipPassThrough {
  override compression = 8;

  protected override process(chunk: Uint8Array<ArrayBuffer>, final: boolean): void {
    this.ondata(null, deflateSync(chunk, { level: 6 }), final);
  }
}

/** Returns an archive in chunks. Archives of the same parts are identical. */
export async function zip(parts: readonly ZipPart[]): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let failure: Error | null = null;
  const archive = new Zip((error, chunk) => {
    if (error === null) chunks.push(chunk as Uint8Array<ArrayBuffer>);
    else failure = error;
  });
  await inSlices(addAll(archive, parts));
  if (failure !== null) throw failure as Error;
  return chunks;
}

function* addAll(archive: Zip, parts: readonly ZipPart[]): Steps<void> {
  for (const { name, content } of parts) {
    const encoded = encodedPieces(content);
    const first = encoded.next().value ?? new Uint8Array(0);
    let next = encoded.next();
    const part = next.done === true ? new ShortPart(name) : new ZipDeflate(name, { level: 6 });
    part.mtime = mtime;
    archive.add(part);
    part.push(first, next.done === true);
    yield;
    while (next.done !== true) {
      const bytes = next.value;
      next = encoded.next();
      part.push(bytes, next.done === true);
      yield;
    }
  }
  archive.end();
}

// Encodes long texts as UTF-8: many short pieces are encoded chunk by chunk.

const chunkCharacters = 64 * 1024;

/** Chunks of UTF-8; no piece may end within a surrogate pair. */
export function* encodedPieces(pieces: Iterable<string>): Generator<Uint8Array<ArrayBuffer>, void, void> {
  const encoder = new TextEncoder();
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < chunkCharacters) continue;
    yield encoder.encode(text);
    text = '';
  }
  if (text !== '') yield encoder.encode(text);
}
