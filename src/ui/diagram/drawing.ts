/** Draws a scene: boxes with columns and lines with crow's feet. Content that is too small to read, or out of sight, is left out. */
import { fill, svg } from '../parts/dom.ts';
import type { DrawnBox, DrawnRelation, Scene } from './scene.ts';

const headerHeight = 26;
const rowHeight = 18;
const padding = 10;
const keyWidth = 26;
/** scale from which columns are legible */
const readable = 0.34;

/**
 * number of lines above which a drawing becomes illegible: zoomed out, only those of the chosen table are shown, otherwise they are
 * faint
 */
const mostLines = 200;

/** The part of a scene that is seen, in its own pixels. */
export interface Seen {
  readonly scale: number;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface DrawnScene {
  readonly group: SVGGElement;
  /** Draws the visible part. */
  see(seen: Seen): void;
  mark(table: string | null): void;
}

interface DrawnTable {
  readonly box: DrawnBox;
  readonly group: SVGGElement;
  readonly columns: SVGGElement;
  readonly name: SVGTextElement;
  isDetailed: boolean;
}

export function drawScene(scene: Scene): DrawnScene {
  const boxes = new Map(scene.boxes.map((box) => [box.name, box]));
  const lines = scene.relations.map((relation) => ({ relation, path: drawRelation(relation, boxes) }));
  const tables = scene.boxes.map(drawTable);
  const isDense = lines.length > mostLines;
  const group = svg(
    'g',
    {},
    svg(
      'g',
      { class: 'relations' },
      lines.map(({ path }) => path),
    ),
    svg(
      'g',
      {},
      tables.map((table) => table.group),
    ),
  );
  let nameSize = 0;
  return {
    group,
    see(seen) {
      const small = seen.scale < readable;
      group.classList.toggle('far', small);
      group.classList.toggle('dense', isDense);
      const size = small ? Math.min(72, Math.round(12 / seen.scale)) : 12;
      for (const table of tables) {
        const { x, y, width, height } = table.box;
        const isSeen = x < seen.right && x + width > seen.left && y < seen.bottom && y + height > seen.top;
        const isDetailed = isSeen && !small;
        if (isDetailed !== table.isDetailed) {
          table.isDetailed = isDetailed;
          fill(table.columns, isDetailed ? columnTexts(table.box) : null);
        }
        if (size !== nameSize) sizeName(table, size);
      }
      nameSize = size;
    },
    mark(marked) {
      for (const { box, group: own } of tables) own.classList.toggle('marked', box.name === marked);
      for (const { relation, path } of lines) {
        const touches = relation.from_table === marked || relation.to_table === marked;
        path.classList.toggle('marked', touches);
        if (touches) path.parentNode?.append(path);
      }
    },
  };
}

function drawTable(box: DrawnBox): DrawnTable {
  const { name, x, y, width, height } = box;
  const columns = svg('g');
  const title = svg('text', { class: 'name', x: x + padding, y: y + 17.5 }, name);
  const group = svg(
    'g',
    { class: 'table', 'data-table': name },
    svg('title', {}, name),
    svg('rect', { class: 'body', x, y, width, height, rx: 5 }),
    svg('path', {
      class: 'head',
      d: `M${x} ${y + headerHeight}v${5 - headerHeight}a5 5 0 0 1 5 -5h${width - 10}a5 5 0 0 1 5 5v${headerHeight - 5}z`,
    }),
    columns,
    title,
  );
  return { box, group, columns, name: title, isDetailed: false };
}

/** Sets the size of a name: zoomed out, it fills its box, as far as it fits. */
function sizeName({ box: { name, x, y, width, height }, name: text }: DrawnTable, wanted: number): void {
  const fits = Math.min((width - 2 * padding) / (0.62 * [...name].length), height * 0.6);
  const size = wanted === 12 ? 12 : Math.max(12, Math.min(wanted, fits));
  text.setAttribute('font-size', String(size));
  text.setAttribute(
    'y',
    String(size === 12 ? y + 17.5 : y + Math.min(height / 2 + size * 0.35, size * 1.1 + 6)),
  );
  text.setAttribute('x', String(x + padding));
}

function columnTexts({ columns, x, y, width }: DrawnBox): SVGTextElement[] {
  return columns.flatMap(({ name, data_type: type, key }, at) => {
    const middle = y + headerHeight + rowHeight * at + rowHeight / 2 + 7;
    return [
      ...(key === null ? [] : [svg('text', { class: `key ${key}`, x: x + padding, y: middle }, key)]),
      svg(
        'text',
        { class: key === 'PK' ? 'column pk' : 'column', x: x + padding + keyWidth, y: middle },
        name,
      ),
      svg('text', { class: 'type', x: x + width - padding, y: middle, 'text-anchor': 'end' }, type),
    ];
  });
}

function rowMiddle({ columns, y }: DrawnBox, names: readonly string[]): number {
  const at = Math.max(
    0,
    columns.findIndex(({ name }) => name === names[0]),
  );
  return y + headerHeight + rowHeight * at + rowHeight / 2 + 3;
}

/** Draws a line from the key on the parent's side to the crow's foot on the child's. */
function drawRelation(relation: DrawnRelation, boxes: ReadonlyMap<string, DrawnBox>): SVGPathElement {
  const parent = boxes.get(relation.to_table)!;
  const child = boxes.get(relation.from_table)!;
  const y1 = rowMiddle(parent, relation.to_columns);
  const y2 = rowMiddle(child, relation.from_columns);
  const isRight = child.x >= parent.x + parent.width;
  const isLeft = child.x + child.width <= parent.x;
  const out1 = isLeft ? -1 : 1;
  const out2 = isRight ? -1 : 1;
  const x1 = out1 === 1 ? parent.x + parent.width : parent.x;
  const x2 = out2 === 1 ? child.x + child.width : child.x;
  const bend = isRight || isLeft ? Math.max(40, Math.min(160, Math.abs(x2 - x1) / 2)) : 60;
  const foot =
    relation.cardinality === '1:1'
      ? `M${x2 + out2 * 8} ${y2 - 4}v8`
      : `M${x2} ${y2 - 5}L${x2 + out2 * 11} ${y2}L${x2} ${y2 + 5}`;
  const one = `M${x1 + out1 * 6} ${y1 - 4}v8`;
  const curve = `M${x1} ${y1}C${x1 + out1 * bend} ${y1} ${x2 + out2 * bend} ${y2} ${x2} ${y2}`;
  return svg('path', { d: curve + foot + one });
}
