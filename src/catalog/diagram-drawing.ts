/** A diagram as SVG: boxes with keys, lines with crow's feet. Attributes alone, no style sheet: it shows under any policy. */
import type { RelationalModel, Table } from '../engine/model/relational-model.ts';
import { diagramMetrics, typeLabel } from './diagram-layout.ts';
import type { Box, Layout, Relation } from './diagram-layout.ts';

const ink = '#1f2937';
const faint = '#6b7280';
const line = '#64748b';
const { headerHeight, rowHeight, padding, keyWidth, columnGap, fontSize } = diagramMetrics;

export function drawDiagram(model: RelationalModel, layout: Layout, title: string): string {
  const { width, height } = layout;
  const lanes = laneOf(layout);
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="${fontSize}">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<g fill="none" stroke="${line}" stroke-width="1.3">`,
    ...layout.relations.map((relation, at) => drawRelation(layout.boxes, relation, lanes[at]!)),
    '</g>',
    ...layout.boxes.map((box) => drawTable(model.tables[box.table]!, box)),
    '</svg>',
    '',
  ].join('\n');
}

function drawTable(table: Table, { x, y, width, height }: Box): string {
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

function keyLabel({ role }: Table['columns'][number]): string {
  if (role === 'row_key') return 'PK';
  return role === 'parent_key' || role === 'document' ? 'FK' : '';
}

function text(x: number, y: number, content: string, fill: string, more: string): string {
  return `<text x="${round(x)}" y="${round(y)}" fill="${fill}"${more === '' ? '' : ` ${more}`}>${escapeXml(content)}</text>`;
}

/**
 * Lines of one parent share a lane left of their children, so that they look like one that forks; lanes of different parents lie
 * side by side in the gap before a column.
 */
function laneOf({ boxes, relations }: Layout): readonly number[] {
  const byGap = new Map<number, number[]>();
  for (const { from, to } of relations) {
    const gap = boxes[from]!.x;
    const parents = byGap.get(gap) ?? [];
    if (!parents.includes(to)) parents.push(to);
    byGap.set(gap, parents);
  }
  for (const parents of byGap.values()) parents.sort((a, b) => boxes[a]!.y - boxes[b]!.y || a - b);
  return relations.map(({ from, to }) => {
    const parents = byGap.get(boxes[from]!.x)!;
    const share = (parents.indexOf(to) + 1) / (parents.length + 1);
    return boxes[from]!.x - 24 - share * (columnGap - 48);
  });
}

/** From the parent's right side to the child's left one, in right angles; a circle goes around the left side. */
function drawRelation(boxes: readonly Box[], relation: Relation, lane: number): string {
  const child = boxes[relation.from]!;
  const parent = boxes[relation.to]!;
  const childY = rowY(child, relation.fromColumn);
  const parentY = rowY(parent, relation.toColumn);
  const forward = parent.x + parent.width < child.x;
  const turn = forward ? lane : Math.min(child.x, parent.x) - 24 - (relation.fromColumn % 5) * 6;
  const start = forward ? parent.x + parent.width : parent.x;
  const path = `M${round(start)} ${round(parentY)}H${round(turn)}V${round(childY)}H${round(child.x)}`;
  const outward = forward ? 1 : -1;
  const many = relation.cardinality === '1:1' ? bar(child.x - 8, childY) : crowsFoot(child.x, childY);
  const optional = relation.cardinality === '0..1:n';
  const one = optional ? ring(start + outward * 8, parentY) : bar(start + outward * 8, parentY);
  return `<path d="${path}"/>${many}${one}`;
}

function rowY(box: Box, column: number): number {
  return box.y + headerHeight + rowHeight * column + rowHeight / 2 + 3;
}

function crowsFoot(x: number, y: number): string {
  return `<path d="M${round(x)} ${round(y - 5)}L${round(x - 11)} ${round(y)}L${round(x)} ${round(y + 5)}"/>`;
}

function bar(x: number, y: number): string {
  return `<path d="M${round(x)} ${round(y - 5)}v10"/>`;
}

function ring(x: number, y: number): string {
  return `<circle cx="${round(x)}" cy="${round(y)}" r="4" fill="#ffffff"/>`;
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
