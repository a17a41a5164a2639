/**
 * Routes the lines of a diagram: beside the tables, never behind them. The lines of one parent are one net that forks. It runs down in
 * the gaps between columns, in a lane of its own if other nets run beside it, and crosses a column in a slot between two tables.
 */
import type { Steps } from '../../engine/in-slices.ts';

/** Sizes of a diagram in pixels; the drawing uses a fixed-width font of `fontSize`, whose characters are `characterWidth` wide. */
export const diagramMetrics = {
  characterWidth: 7.3,
  fontSize: 12,
  headerHeight: 26,
  rowHeight: 18,
  padding: 10,
  keyWidth: 26,
  columnGap: 110,
  rowGap: 26,
  margin: 24,
} as const;

/** The middle of a column's row, from the top of its table. */
function rowMiddle(column: number): number {
  const { headerHeight, rowHeight } = diagramMetrics;
  return headerHeight + rowHeight * column + rowHeight / 2 + 3;
}

// The routes.

/** Relations to one table that leave it on one side, all of them optional or none. */
interface Net {
  readonly to: number;
  readonly toColumn: number;
  readonly optional: boolean;
  /** position of the children's columns: to the right of the parent's, to its left, or the same column */
  readonly direction: 'right' | 'left' | 'level';
  readonly relations: readonly Relation[];
  /** columns that it crosses */
  readonly crosses: readonly number[];
  /** gaps that it runs in, from the first to the last; a gap has the number of the column on its right */
  readonly gaps: readonly [first: number, last: number];
}

/** Size of a table's box, and its place from the top. */
interface StackedBox {
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

type Line = readonly [x1: number, y1: number, x2: number, y2: number];

/** An end of a net at a table; `outward`: 1 to the right, -1 to the left. */
export interface WireEnd {
  readonly x: number;
  readonly y: number;
  readonly outward: 1 | -1;
}

export interface RoutedNet {
  readonly lines: readonly Line[];
  readonly parent: WireEnd & { readonly optional: boolean };
  readonly children: readonly (WireEnd & { readonly many: boolean })[];
}

const slotHeight = 9;
/** kept free beside tables for the feet and bars of lines */
const clearance = 26;
const laneWidth = 8;
/** nets in one lane are so far apart */
const laneGap = 6;

export function netsOf(relations: readonly Relation[], columnOf: readonly number[]): readonly Net[] {
  const grouped = Map.groupBy(relations, ({ from, to, cardinality }) => {
    const direction = Math.sign(columnOf[from]! - columnOf[to]!);
    return `${to} ${direction} ${cardinality === '0..1:n' ? 'optional' : 'one'}`;
  });
  return [...grouped.values()].map((ofNet): Net => {
    const { from, to, toColumn, cardinality } = ofNet[0]!;
    const own = columnOf[to]!;
    const sign = Math.sign(columnOf[from]! - own);
    const children = ofNet.map((relation) => columnOf[relation.from]!);
    const [first, last] =
      sign > 0 ? [own + 1, Math.max(...children) - 1] : [Math.min(...children) + 1, own - 1];
    return {
      to,
      toColumn,
      optional: cardinality === '0..1:n',
      direction: sign > 0 ? 'right' : sign < 0 ? 'left' : 'level',
      relations: ofNet,
      gaps: sign === 0 ? [own, own] : sign > 0 ? [own + 1, last + 1] : [first, own],
      crosses: sign === 0 ? [] : Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at),
    };
  });
}

/** Stacks the tables of each column, with slots for the nets that cross between them, each near to its origin. */
export function stackColumns(
  columns: readonly (readonly number[])[],
  heights: readonly number[],
  nets: readonly Net[],
): {
  readonly y: readonly number[];
  readonly slots: ReadonlyMap<Net, ReadonlyMap<number, number>>;
  readonly height: number;
} {
  const { margin, rowGap } = diagramMetrics;
  const base: number[] = [];
  for (const column of columns) {
    let y: number = margin;
    for (const table of column) {
      base[table] = y;
      y += heights[table]! + rowGap;
    }
  }
  const crossing = columns.map((): Net[] => []);
  for (const net of nets) for (const column of net.crosses) crossing[column]!.push(net);
  const wanted = (net: Net): number => base[net.to]! + rowMiddle(net.toColumn);

  const final: number[] = [];
  const slots = new Map<Net, Map<number, number>>(nets.map((net) => [net, new Map()]));
  let height = 0;
  for (const [at, column] of columns.entries()) {
    const waiting = crossing[at]!.toSorted((a, b) => wanted(a) - wanted(b));
    let y: number = margin;
    let next = 0;
    const placeSlots = (until: number): void => {
      const before = next;
      while (next < waiting.length && wanted(waiting[next]!) < until) {
        slots.get(waiting[next]!)!.set(at, y + slotHeight / 2);
        y += slotHeight;
        next += 1;
      }
      if (next > before) y += rowGap / 2;
    };
    for (const table of column) {
      placeSlots(base[table]! + heights[table]! / 2);
      final[table] = y;
      y += heights[table]! + rowGap;
    }
    placeSlots(Infinity);
    height = Math.max(height, y - rowGap);
  }
  return { y: final, slots, height: height + margin };
}

interface Segment {
  readonly gap: number;
  readonly net: Net;
  /** places at which the net comes into the gap or leaves it: from its left edge, or from its right one */
  readonly left: readonly number[];
  readonly right: readonly number[];
}

interface Routes {
  readonly width: number;
  /** left edge of each column */
  readonly x: readonly number[];
  readonly wires: readonly RoutedNet[];
}

/** Lanes, and with them the width of every gap and the place of every column; a step for each net and each gap. */
export function* routeNets(
  columns: readonly (readonly number[])[],
  columnOf: readonly number[],
  boxes: readonly StackedBox[],
  nets: readonly Net[],
  slots: ReadonlyMap<Net, ReadonlyMap<number, number>>,
): Steps<Routes> {
  const both = new Set<string>();
  const kinds = Map.groupBy(nets, ({ to, direction }) => `${to} ${direction === 'right'}`);
  for (const [side, ofSide] of kinds)
    if (new Set(ofSide.map(({ optional }) => optional)).size > 1) both.add(side);
  const startOf = (net: Net): number => {
    const shift = both.has(`${net.to} ${net.direction === 'right'}`) ? (net.optional ? 5 : -5) : 0;
    return boxes[net.to]!.y + rowMiddle(net.toColumn) + shift;
  };
  const endOf = ({ from, fromColumn }: Relation): number => boxes[from]!.y + rowMiddle(fromColumn);

  const byNet = columns.map((): Map<Net, Segment> => new Map());
  for (const net of nets) {
    for (const segment of segmentsOf(net)) byNet[segment.gap]!.set(net, segment);
    yield;
  }
  const lanes: ReturnType<typeof assignLanes>[] = [];
  for (const segments of byNet) {
    lanes.push(assignLanes([...segments.values()]));
    yield;
  }
  const x: number[] = [];
  const laneX = lanes.map(() => new Map<Net, number>());
  let right: number = diagramMetrics.margin;
  for (const [at, column] of columns.entries()) {
    const { laneOf, count } = lanes[at]!;
    const needed = 2 * clearance + laneWidth * (count + 1);
    const width = at === 0 && count === 0 ? 0 : Math.max(at === 0 ? 0 : diagramMetrics.columnGap, needed);
    const start = right;
    const free = width - 2 * clearance;
    for (const [net, lane] of laneOf)
      laneX[at]!.set(net, start + clearance + (free * (lane + 1)) / (count + 1));
    x[at] = start + width;
    right = x[at]! + Math.max(...column.map((table) => boxes[table]!.width));
  }
  const wires: RoutedNet[] = [];
  for (const net of nets) {
    wires.push(wireOf(net));
    yield;
  }
  return { width: right + diagramMetrics.margin, x, wires };

  function segmentsOf(net: Net): Segment[] {
    const own = columnOf[net.to]!;
    const start = startOf(net);
    const children = Map.groupBy(net.relations, ({ from }) => columnOf[from]!);
    const childrenIn = (column: number): number[] => (children.get(column) ?? []).map(endOf);
    if (net.direction === 'level') return [{ gap: own, net, left: [], right: [start, ...childrenIn(own)] }];
    const ofNet = slots.get(net)!;
    const slot = (column: number): number[] => {
      const y = ofNet.get(column);
      return y === undefined ? [] : [y];
    };
    const [first, last] = net.gaps;
    return Array.from({ length: last - first + 1 }, (_, at): Segment => {
      const gap = first + at;
      return net.direction === 'right'
        ? {
            gap,
            net,
            left: gap === first ? [start] : slot(gap - 1),
            right: [...childrenIn(gap), ...slot(gap)],
          }
        : {
            gap,
            net,
            left: [...childrenIn(gap - 1), ...slot(gap - 1)],
            right: gap === last ? [start] : slot(gap),
          };
    });
  }

  function wireOf(net: Net): RoutedNet {
    const lines: Line[] = [];
    const own = columnOf[net.to]!;
    const rightOf = (table: number): number => x[columnOf[table]!]! + boxes[table]!.width;
    for (let [gap, last] = net.gaps; gap <= last; gap += 1) {
      const segment = byNet[gap]!.get(net)!;
      const lane = laneX[gap]!.get(net)!;
      const all = [...segment.left, ...segment.right];
      const [top, bottom] = [Math.min(...all), Math.max(...all)];
      if (bottom > top) lines.push([lane, top, lane, bottom]);
      // a slot is drawn from lane to lane by the gap on its right
      const slot = slots.get(net)!.get(gap - 1);
      if (slot !== undefined) lines.push([laneX[gap - 1]!.get(net)!, slot, lane, slot]);
    }
    const toRight = net.direction === 'right';
    const startX = toRight ? rightOf(net.to) : x[own]!;
    const startLane = laneX[toRight ? own + 1 : own]!.get(net)!;
    lines.push([startX, startOf(net), startLane, startOf(net)]);
    const children = net.relations.map((relation) => {
      const column = columnOf[relation.from]!;
      const leftSide = net.direction !== 'left';
      const endX = leftSide ? x[column]! : rightOf(relation.from);
      const y = endOf(relation);
      lines.push([laneX[leftSide ? column : column + 1]!.get(net)!, y, endX, y]);
      return {
        x: endX,
        y,
        outward: leftSide ? (-1 as const) : (1 as const),
        many: relation.cardinality !== '1:1',
      };
    });
    const parent = {
      x: startX,
      y: startOf(net),
      outward: toRight ? (1 as const) : (-1 as const),
      optional: net.optional,
    };
    return { lines, parent, children };
  }
}

/** Assigns lanes to parallel nets; a net that ends above the start of another shares its lane. */
function assignLanes(segments: readonly Segment[]): {
  readonly laneOf: ReadonlyMap<Net, number>;
  readonly count: number;
} {
  const extents = segments
    .map(({ net, left, right }) => {
      const all = [...left, ...right];
      return { net, top: Math.min(...all), bottom: Math.max(...all) };
    })
    .toSorted((a, b) => a.top - b.top || a.bottom - b.bottom);
  const ends: number[] = [];
  const laneOf = new Map<Net, number>();
  for (const { net, top, bottom } of extents) {
    const free = ends.findIndex((end) => end + laneGap < top);
    const lane = free === -1 ? ends.length : free;
    ends[lane] = bottom;
    laneOf.set(net, lane);
  }
  return { laneOf, count: ends.length };
}

export interface Relation {
  /** the table that holds the key, and its column */
  readonly from: number;
  readonly fromColumn: number;
  readonly to: number;
  readonly toColumn: number;
  /** rows of `to` : rows of `from` for one of it */
  readonly cardinality: '1:1' | '1:n' | '0..1:n';
  /** the row that holds the key is above the row that the key identifies */
  readonly holdsChild?: true;
}
