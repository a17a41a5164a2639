/** The entity-relationship diagram of a logical schema: its data, its drawing as SVG, and a drawing that someone saved. */
import { typeLabel, type Box, type DrawnTable, type Layout, layOutDiagram } from './diagram-layout.ts';
import { diagramMetrics, type RoutedNet, type WireEnd } from './diagram-routes.ts';
import { inSlices, mapInSlices } from '../../engine/in-slices.ts';
import type { CatalogStore, StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import { findLogicalSchema, findOrigin } from './logical-schema.ts';
import { svgCheck } from './svg-check.ts';

// The drawing as SVG: boxes with keys, lines with crow's feet. It has attributes only, and no style sheet, so that any policy shows it.

const ink = '#1f2937';
const faint = '#6b7280';
const line = '#64748b';
const { headerHeight, rowHeight, padding, keyWidth, fontSize } = diagramMetrics;

/** Its lines, one after the other. */
export function* drawDiagram(layout: Layout, title: string): Generator<string, void, void> {
  const { width, height } = layout;
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`;
  yield `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="${fontSize}">\n`;
  yield `<title>${escapeXml(title)}</title>\n`;
  yield `<rect width="100%" height="100%" fill="#ffffff"/>\n`;
  yield `<g fill="none" stroke="${line}" stroke-width="1.3">\n`;
  for (const wire of layout.wires) yield `${drawWire(wire)}\n`;
  yield '</g>\n';
  for (const box of layout.boxes) yield `${drawTable(layout.tables[box.table]!, box)}\n`;
  yield '</svg>\n';
}

function drawTable(table: DrawnTable, { x, y, width, height }: Box): string {
  const rows = table.columns.map((column, at) => {
    const middle = y + headerHeight + rowHeight * at + rowHeight / 2 + 7;
    const key = keyLabel(column);
    const label =
      key === ''
        ? ''
        : text(
            x + padding,
            middle,
            key,
            key === 'PK' ? '#b45309' : '#0369a1',
            'font-weight="bold" font-size="10"',
          );
    const weight = column.role === 'row_key' ? 'font-weight="bold"' : '';
    return (
      label +
      text(x + padding + keyWidth, middle, column.name, ink, weight) +
      text(x + width - padding, middle, typeLabel(column), faint, 'text-anchor="end"')
    );
  });
  return [
    `<g><rect x="${round(x)}" y="${round(y)}" width="${width}" height="${height}" rx="5" fill="#ffffff" stroke="${ink}"/>`,
    `<path d="M${round(x)} ${round(y + headerHeight)}v${-(headerHeight - 5)}a5 5 0 0 1 5 -5h${width - 10}a5 5 0 0 1 5 5v${headerHeight - 5}z" fill="#e2e8f0" stroke="${ink}"/>`,
    text(x + padding, y + 17.5, table.name, ink, 'font-weight="bold"'),
    ...rows,
    '</g>',
  ].join('');
}

function keyLabel({ role }: DrawnTable['columns'][number]): string {
  if (role === 'row_key') return 'PK';
  return role === 'parent_key' || role === 'child_key' || role === 'document' ? 'FK' : '';
}

function text(x: number, y: number, content: string, fill: string, more: string): string {
  return `<text x="${round(x)}" y="${round(y)}" fill="${fill}"${more === '' ? '' : ` ${more}`}>${escapeXml(content)}</text>`;
}

function drawWire({ lines, parent, children }: RoutedNet): string {
  const path = lines
    .map(([x1, y1, x2, y2]) => `M${round(x1)} ${round(y1)}${x1 === x2 ? `V${round(y2)}` : `H${round(x2)}`}`)
    .join('');
  const feet = children.map((end) => (end.many ? crowsFoot(end) : bar(end, 8))).join('');
  // one, or none
  const { optional } = parent;
  const one = bar(parent, 6) + (optional ? '' : bar(parent, 10));
  const none = optional
    ? `<circle cx="${round(parent.x + parent.outward * 13)}" cy="${round(parent.y)}" r="3" fill="#ffffff"/>`
    : '';
  return `<path d="${path}${feet}${one}"/>${none}`;
}

function crowsFoot({ x, y, outward }: WireEnd): string {
  return `M${round(x)} ${round(y - 5)}L${round(x + outward * 11)} ${round(y)}L${round(x)} ${round(y + 5)}`;
}

function bar({ x, y, outward }: WireEnd, distance: number): string {
  return `M${round(x + outward * distance)} ${round(y - 4)}v8`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(content: string): string {
  return content
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

// The data, and saved drawings.

/** A diagram as in the API; places and sizes are pixels. */
export interface DiagramRecord {
  readonly id_sch: number;
  readonly id_lschma: number;
  readonly width: number;
  readonly height: number;
  readonly tables: readonly {
    /** null: `_documents`, which every target has beside the model's tables */
    readonly id_tab: number | null;
    readonly name: string;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
    readonly columns: readonly {
      readonly name: string;
      readonly data_type: string;
      readonly key: 'PK' | 'FK' | null;
    }[];
  }[];
  readonly relations: readonly {
    readonly from_table: string;
    readonly from_columns: readonly string[];
    readonly to_table: string;
    readonly to_columns: readonly string[];
    readonly cardinality: '1:1' | '1:n' | '0..1:n';
  }[];
  readonly svg: string | null;
}

export async function readDiagram(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<DiagramRecord> {
  const { model, ...stored } = await findLogicalSchema(catalog, idOrg, idSch, idLschma);
  const [tables, svg] = await Promise.all([
    catalog.listTables(idOrg, stored.idLschma),
    catalog.loadDiagram(idOrg, stored.idLschma),
  ]);
  const layout = await inSlices(layOutDiagram(model));
  return {
    id_sch: idSch,
    id_lschma: stored.idLschma,
    width: round(layout.width),
    height: round(layout.height),
    tables: await mapInSlices(layout.boxes, ({ table, x, y, width, height }) => ({
      id_tab: tables[table]?.id_tab ?? null,
      name: layout.tables[table]!.name,
      x: round(x),
      y: round(y),
      width: round(width),
      height: round(height),
      columns: layout.tables[table]!.columns.map((column, at) => ({
        name: column.name,
        data_type: typeLabel(column),
        key: tables[table] === undefined ? ownKey(column) : tables[table].columns[at]!.key,
      })),
    })),
    relations: layout.relations.map(({ from, fromColumn, to, toColumn, cardinality }) => ({
      from_table: layout.tables[from]!.name,
      from_columns: [layout.tables[from]!.columns[fromColumn]!.name],
      to_table: layout.tables[to]!.name,
      to_columns: [layout.tables[to]!.columns[toColumn]!.name],
      cardinality,
    })),
    svg,
  };
}

function ownKey({ role }: DrawnTable['columns'][number]): 'PK' | null {
  return role === 'row_key' ? 'PK' : null;
}

/** Returns the saved drawing if there is one, otherwise a new one; in pieces. */
export async function diagramDrawing(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<readonly string[]> {
  const stored = await findLogicalSchema(catalog, idOrg, idSch, idLschma);
  const saved = await catalog.loadDiagram(idOrg, stored.idLschma);
  if (saved !== null) return [saved];
  const { name } = await findOrigin(catalog, idOrg, idSch);
  const layout = await inSlices(layOutDiagram(stored.model));
  return await mapInSlices(drawDiagram(layout, name), (piece) => piece);
}

/** Stores a drawing of the newest logical schema, rewritten. AppError `invalid_body` if `checkSvg` refuses it. */
export async function saveDrawing(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  svg: string,
): Promise<Pick<StoredLogicalSchema, 'idSch' | 'idLschma'>> {
  const written = await inSlices(svgCheck(svg));
  const { idLschma } = await findLogicalSchema(catalog, idOrg, idSch);
  await catalog.saveDiagram(idOrg, idLschma, written);
  return { idSch, idLschma };
}
