/** Draws a scene: boxes with columns and lines with crow's feet. Content that is too small to read, or out of sight, is left out. */
import { fill, svg } from '../parts/controls.ts';
import type { DiagramRecord } from '../../service/catalog/diagram.ts';

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

// The tables of a drawing and their places: the whole diagram as the service lays it out, or a table with its neighbours, laid out
// here.

type DrawnBox = DiagramRecord['tables'][number];
type DrawnRelation = DiagramRecord['relations'][number];

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly DrawnBox[];
  readonly relations: readonly DrawnRelation[];
}

/** Every table refers to the documents: in a drawing of many tables their lines hide all others. */
export const documentsTable = '_documents';

const columnGap = 120;
const rowGap = 28;
const margin = 24;
/** greatest height of a column of tables; a taller one continues beside itself */
const tallest = 1800;

export function wholeScene(diagram: DiagramRecord, withDocuments: boolean): Scene {
  const isShown = (name: string): boolean => withDocuments || name !== documentsTable;
  const boxes = diagram.tables.filter(({ name }) => isShown(name));
  const left = Math.min(...boxes.map(({ x }) => x)) - margin;
  const top = Math.min(...boxes.map(({ y }) => y)) - margin;
  return {
    width: Math.max(...boxes.map(({ x, width }) => x + width)) + margin - left,
    height: Math.max(...boxes.map(({ y, height }) => y + height)) + margin - top,
    boxes: boxes.map((box) => ({ ...box, x: box.x - left, y: box.y - top })),
    relations: diagram.relations.filter(({ to_table: to }) => isShown(to)),
  };
}

/** Returns the distance of each table within `depth` from the given one: positive for descendants, negative for ancestors. */
function stepsFrom(relations: readonly DrawnRelation[], table: string, depth: number): Map<string, number> {
  const below = Map.groupBy(relations, ({ to_table: to }) => to);
  const above = Map.groupBy(relations, ({ from_table: from }) => from);
  const steps = new Map([[table, 0]]);
  let edge = [table];
  for (let distance = 0; distance < depth; distance += 1) {
    const next: string[] = [];
    const reach = (name: string, step: number): void => {
      if (steps.has(name)) return;
      steps.set(name, step);
      next.push(name);
    };
    for (const name of edge) {
      for (const { to_table: to } of above.get(name) ?? []) reach(to, steps.get(name)! - 1);
      for (const { from_table: from } of below.get(name) ?? []) reach(from, steps.get(name)! + 1);
    }
    edge = next;
  }
  return steps;
}

/** A table in the middle, parents to its left, children to its right. */
export function focusScene(whole: Scene, table: string, depth: number): Scene {
  const steps = stepsFrom(whole.relations, table, depth);
  const boxes = whole.boxes.filter(({ name }) => steps.has(name));
  const relations = whole.relations.filter(
    ({ from_table: from, to_table: to }) => steps.has(from) && steps.has(to),
  );
  const levels = [...Map.groupBy(boxes, ({ name }) => steps.get(name)!)].toSorted(([a], [b]) => a - b);
  const columns = levels.flatMap(([, ofLevel]) => brokenColumns(ofLevel));
  const heights = columns.map((column) => column.reduce((sum, { height }) => sum + height + rowGap, -rowGap));
  const height = Math.max(...heights);
  let x = margin;
  const placed = columns.flatMap((column, at) => {
    let y = margin + (height - heights[at]!) / 2;
    const own = column.map((box): DrawnBox => {
      const there = { ...box, x, y };
      y += box.height + rowGap;
      return there;
    });
    x += Math.max(...column.map(({ width }) => width)) + columnGap;
    return own;
  });
  return { width: x - columnGap + margin, height: height + 2 * margin, boxes: placed, relations };
}

/** Breaks columns, in the order of the whole diagram, in which neighbours are close to each other. */
function brokenColumns(boxes: readonly DrawnBox[]): DrawnBox[][] {
  const columns: DrawnBox[][] = [[]];
  let height = 0;
  for (const box of boxes.toSorted((a, b) => a.y - b.y || a.x - b.x)) {
    if (height > 0 && height + box.height > tallest) {
      columns.push([]);
      height = 0;
    }
    columns.at(-1)!.push(box);
    height += box.height + rowGap;
  }
  return columns;
}

/** Returns the table with most descendants: the place to begin. */
export function mainTable({ boxes, relations }: Scene): string | null {
  const children = Map.groupBy(relations, ({ to_table: to }) => to);
  const parents = new Set(relations.map(({ from_table: from, to_table: to }) => (from === to ? '' : from)));
  const roots = boxes.filter(({ name }) => !parents.has(name));
  const size = (name: string): number => {
    const seen = new Set([name]);
    for (const one of seen) for (const { from_table: from } of children.get(one) ?? []) seen.add(from);
    return seen.size;
  };
  const ranked = (roots.length === 0 ? boxes : roots).map(({ name }) => ({ name, size: size(name) }));
  return ranked.toSorted((a, b) => b.size - a.size)[0]?.name ?? null;
}
