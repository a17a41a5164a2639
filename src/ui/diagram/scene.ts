/**
 * The tables of a drawing and their places: the whole diagram as the service lays it out, or a table with its neighbours, laid out
 * here.
 */
import type { DiagramRecord } from '../../catalog/diagrams/stored-drawing.ts';

export type DrawnBox = DiagramRecord['tables'][number];
export type DrawnRelation = DiagramRecord['relations'][number];

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
