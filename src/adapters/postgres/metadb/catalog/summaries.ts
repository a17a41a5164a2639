/** Summaries of stored models. */
import type { ModelSummary } from '../../../../engine/model/summary.ts';
import { isId } from '../../client/connect.ts';
import type { Sql } from '../../client/connect.ts';
import { unpackTables } from './packed-summary.ts';

export async function listModelSummaries(
  sql: Sql,
  idOrg: number,
  idLschmas: readonly number[],
): Promise<Map<number, ModelSummary>> {
  const rows = await sql<{ id: number; tables: string; keys: number }[]>`
    select l.id_lschma as id, l.table_summaries as tables, l.key_count as keys
      from json_array_elements_text(${JSON.stringify(idLschmas.filter(isId))}::text::json) wanted
      join svc.logical_schema l on l.id_lschma = wanted::bigint join svc.origin s using (id_sch)
     where s.id_org = ${idOrg}`;
  return new Map(rows.map(({ id, tables, keys }) => [id, { tables: unpackTables(tables), keyCount: keys }]));
}
