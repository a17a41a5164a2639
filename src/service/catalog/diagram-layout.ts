/**
 * Places the tables of a diagram: in layers from left to right, each table right of its parent table, and within a layer near its
 * parents. Layers that would be much too tall are broken into several columns, so that a diagram of 500 tables stays readable.
 */
import type { Steps } from '../../engine/in-slices.ts';
import { postgresql } from '../../engine/sql/dialects/postgresql.ts';
import { rootTables } from '../../engine/model/keys.ts';
import type { Column, RelationalModel } from '../../engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../engine/model/side-tables.ts';
import {
  diagramMetrics,
  netsOf,
  routeNets,
  stackColumns,
  type Relation,
  type RoutedNet,
} from './diagram-routes.ts';
import { rowColumnsOf } from '../../engine/model/wide-rows.ts';

export interface Box {
  readonly table: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** the model's tables, followed by `_documents` if a table has its key */
  readonly tables: readonly DrawnTable[];
  /** boxes in the order of the tables */
  readonly boxes: readonly Box[];
  readonly relations: readonly Relation[];
  /** the relations as lines, those to one table together */
  readonly wires: readonly RoutedNet[];
}

/** The part of a table that its box shows. */
export interface DrawnTable {
  readonly name: string;
  readonly columns: readonly Pick<Column, 'name' | 'role' | 'type'>[];
}

const documentsTable: DrawnTable = {
  name: sideTableDefinitions.documents.name,
  columns: sideTableDefinitions.documents.columns.map(({ name, type }, at) => ({
    name,
    type,
    role: at === 0 ? 'row_key' : 'value',
  })),
};

export function* layOutDiagram(model: RelationalModel): Steps<Layout> {
  const relations = yield* relationsOf(model);
  const isDrawn = relations.some(({ to }) => to === model.tables.length);
  const tables = isDrawn ? [...model.tables, documentsTable] : model.tables;
  const sizes: ReturnType<typeof sizeOf>[] = [];
  for (const table of tables) {
    sizes.push(sizeOf(table));
    yield;
  }
  const layers = layersOf(model.tables.length, tables.length, relations);
  const columns = breakLayers(yield* orderLayers(layers, relations, tables.length), sizes);
  const columnOf: number[] = [];
  for (const [at, column] of columns.entries()) for (const table of column) columnOf[table] = at;

  const nets = netsOf(relations, columnOf);
  const heights = sizes.map(({ height }) => height);
  const stacked = stackColumns(columns, heights, nets);
  const stackedBoxes = sizes.map((size, table) => ({ ...size, y: stacked.y[table]! }));
  const routes = yield* routeNets(columns, columnOf, stackedBoxes, nets, stacked.slots);
  const boxes = stackedBoxes.map((box, table): Box => ({ table, x: routes.x[columnOf[table]!]!, ...box }));
  return { width: routes.width, height: stacked.height, tables, boxes, relations, wires: routes.wires };
}

function* relationsOf(model: RelationalModel): Steps<Relation[]> {
  const oneToOne = new Set<string>();
  const rows = rowColumnsOf(model);
  const note = (edge: { readonly node: number; readonly parentKeyColumn: number }): void => {
    const keyColumn = rows(model.nodes[edge.node]!.table)[edge.parentKeyColumn];
    if (keyColumn !== undefined) oneToOne.add(`${keyColumn.table}/${keyColumn.at}`);
  };
  for (const node of model.nodes) {
    for (const edge of node.typeEdges) note(edge);
    for (const edge of node.edges) if (edge.head !== undefined) note(edge);
    yield;
  }
  const relations: Relation[] = [];
  const roots = rootTables(model);
  for (const [from, table] of model.tables.entries()) {
    const ofTable = table.columns.flatMap((column, fromColumn): Relation[] => {
      const many = column.nullable ? '0..1:n' : '1:n';
      if (column.role === 'document' && !roots.has(from)) return [];
      if (column.role === 'document')
        return [{ from, fromColumn, to: model.tables.length, toColumn: 0, cardinality: many }];
      if (column.references === null) return [];
      const to = column.references;
      const toColumn = model.tables[to]!.columns.findIndex(({ role }) => role === 'row_key');
      const isOneToOne = column.role === 'row_key' || oneToOne.has(`${from}/${fromColumn}`);
      const cardinality = isOneToOne ? '1:1' : many;
      const relation = { from, fromColumn, to, toColumn: Math.max(0, toColumn), cardinality } as const;
      return [column.role === 'child_key' ? { ...relation, holdsChild: true } : relation];
    });
    relations.push(...ofTable);
    yield;
  }
  return relations;
}

function sizeOf(table: DrawnTable): { readonly width: number; readonly height: number } {
  const { characterWidth, headerHeight, rowHeight, padding, keyWidth } = diagramMetrics;
  const length = (text: string): number => [...text].length * characterWidth;
  const rows = table.columns.map(
    (column) => length(column.name) + length(typeLabel(column)) + 2 * characterWidth + keyWidth,
  );
  const width = Math.max(120, length(table.name) + 2 * characterWidth, ...rows) + 2 * padding;
  return { width: Math.ceil(width), height: headerHeight + rowHeight * table.columns.length + 6 };
}

/** Returns a column's type as in PostgreSQL DDL: `numeric(10,2)`, `varchar(40)[]`. */
export function typeLabel({ type }: Pick<Column, 'type'>): string {
  return postgresql.typeName(type);
}

/**
 * Returns the layers. The layer of a table is one more than the least of its parents'; parents come before children, except in cycles.
 * Tables beyond the model's own have no parents.
 */
function layersOf(count: number, drawn: number, relations: readonly Relation[]): number[][] {
  const layer = Array.from({ length: drawn }, () => 0);
  const parents = Map.groupBy(
    // a row that is referenced by its key is below the row that holds the key
    relations.map(({ from, to, holdsChild }) =>
      holdsChild === true ? { from: to, to: from } : { from, to },
    ),
    ({ from }) => from,
  );
  for (let table = 0; table < count; table += 1) {
    const above = (parents.get(table) ?? [])
      .filter(({ to }) => to < table || to >= count)
      .map(({ to }) => layer[to]!);
    layer[table] = above.length === 0 ? 0 : Math.min(...above) + 1;
  }
  const layers: number[][] = [];
  for (const [table, at] of layer.entries()) (layers[at] ??= []).push(table);
  return layers.filter((tables) => tables !== undefined);
}

/** A few sweeps that put each table at the mean place of its neighbours in the layer before, then in the layer behind. */
function* orderLayers(
  layers: readonly number[][],
  relations: readonly Relation[],
  count: number,
): Steps<number[][]> {
  const neighbours: number[][] = Array.from({ length: count }, () => []);
  for (const { from, to } of relations) {
    if (from === to) continue;
    neighbours[from]!.push(to);
    neighbours[to]!.push(from);
  }
  const layerOf = new Int32Array(count);
  const height = new Float64Array(count);
  const settle = (tables: readonly number[]): void => {
    for (const [at, table] of tables.entries()) height[table] = (at + 0.5) / tables.length;
  };
  for (const [at, tables] of layers.entries()) for (const table of tables) layerOf[table] = at;
  const ordered = layers.map((tables) => [...tables]);
  for (const tables of ordered) settle(tables);
  for (let sweep = 0; sweep < 6; sweep += 1) {
    const forward = sweep % 2 === 0;
    for (const tables of forward ? ordered : ordered.toReversed()) {
      const wanted = new Map(
        tables.map((table) => {
          const near = neighbours[table]!.filter((other) =>
            forward ? layerOf[other]! < layerOf[table]! : layerOf[other]! > layerOf[table]!,
          );
          const mean = near.reduce((sum, other) => sum + height[other]!, 0) / near.length;
          return [table, near.length === 0 ? height[table]! : mean];
        }),
      );
      tables.sort((a, b) => wanted.get(a)! - wanted.get(b)! || a - b);
      settle(tables);
      yield;
    }
  }
  return ordered;
}

/** A column is at most as tall as the whole would be wide, were it laid out as a screen's shape; never less than 1,200 pixels. */
function breakLayers(
  layers: readonly (readonly number[])[],
  sizes: readonly { readonly width: number; readonly height: number }[],
): number[][] {
  const { columnGap, rowGap } = diagramMetrics;
  const area = sizes.reduce((sum, { width, height }) => sum + (width + columnGap) * (height + rowGap), 0);
  const tallest = Math.max(1200, Math.sqrt(area * 0.75), ...sizes.map(({ height }) => height));
  return layers.flatMap((tables) => {
    const columns: number[][] = [];
    let height = Infinity;
    for (const table of tables) {
      const own = sizes[table]!.height + rowGap;
      if (height + own > tallest + rowGap) {
        columns.push([]);
        height = 0;
      }
      columns.at(-1)!.push(table);
      height += own;
    }
    return columns;
  });
}
