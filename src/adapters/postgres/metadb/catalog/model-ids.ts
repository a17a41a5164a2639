/** Ids of the parts of a stored model. */
import type { TransactionSql } from '../../client/connect.ts';

/** `[first id, number of ids]`, in the order of the parts. */
export type IdRuns = readonly (readonly [first: number, count: number])[];

/** The ids of all parts, in their order. */
export function idsOf(runs: IdRuns): number[] {
  const ids: number[] = [];
  for (const [first, count] of runs) for (let id = first; id < first + count; id += 1) ids.push(id);
  return ids;
}

/** Place of the part with that id, from 0; -1 when there is none. */
export function indexOfId(runs: IdRuns, id: number): number {
  let before = 0;
  for (const [first, count] of runs) {
    if (id >= first && id < first + count) return before + id - first;
    before += count;
  }
  return -1;
}

export interface ModelIds {
  readonly tables: IdRuns;
  readonly columns: IdRuns;
  readonly mappings: IdRuns;
}

/** Takes ids nobody had. Who asks next waits until this transaction ends. */
export async function takeModelIds(
  tx: TransactionSql,
  counts: { readonly tables: number; readonly columns: number; readonly mappings: number },
): Promise<ModelIds> {
  const { tables, columns, mappings } = counts;
  const [taken] = await tx<{ id_tab: number; id_col: number; id_map: number }[]>`
    update svc.next_model_id
       set id_tab = id_tab + ${tables}, id_col = id_col + ${columns}, id_map = id_map + ${mappings}
    returning id_tab, id_col, id_map`;
  if (taken === undefined) throw new Error('svc.next_model_id holds no row');
  return {
    tables: [[taken.id_tab - tables, tables]],
    columns: [[taken.id_col - columns, columns]],
    mappings: [[taken.id_map - mappings, mappings]],
  };
}
