/** The entity-relationship diagram of a logical schema: its data, its drawing, and a drawing that someone saved. */
import { inSlices, mapInSlices } from '../../engine/in-slices.ts';
import type { CatalogStore, StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import { drawDiagram } from './svg.ts';
import { layOutDiagram, typeLabel, type DrawnTable } from './layout.ts';
import { findLogicalSchema, findOrigin } from '../schemas/logical-schema.ts';
import { svgCheck } from './svg-check.ts';

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

/** Tenths of a pixel are enough. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
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
