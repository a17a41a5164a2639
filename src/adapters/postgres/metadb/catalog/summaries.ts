/** Summaries of stored models. */
import { summarizeModel, type ModelSummary } from '../../../../engine/model/summary.ts';
import { isId } from '../../client/connect.ts';
import type { Sql } from '../../client/connect.ts';
import { listModels } from './logical-schemas.ts';
import { packSummary, unpackTables, type SummaryColumns } from './packed-summary.ts';

/** models that one statement reads to make their summaries */
const modelsAtOnce = 100;

/** The summaries that are stored. */
export async function readModelSummaries(
  sql: Sql,
  idOrg: number,
  idLschmas: readonly number[],
): Promise<Map<number, ModelSummary>> {
  const rows = await sql<{ id: number; tables: string; keys: number }[]>`
    select l.id_lschma as id, l.table_summaries as tables, l.key_count as keys
      from json_array_elements_text(${JSON.stringify(idLschmas.filter(isId))}::text::json) wanted
      join svc.logical_schema l on l.id_lschma = wanted::bigint join svc.origin s using (id_sch)
     where s.id_org = ${idOrg} and l.table_summaries is not null`;
  return new Map(rows.map(({ id, tables, keys }) => [id, { tables: unpackTables(tables), keyCount: keys }]));
}

/** Makes and stores summaries of the models. */
export async function makeModelSummaries(
  tx: Sql,
  idOrg: number,
  idLschmas: readonly number[],
): Promise<Map<number, ModelSummary>> {
  const made = new Map<number, ModelSummary>();
  for (let at = 0; at < idLschmas.length; at += modelsAtOnce) {
    const models = await listModels(tx, idOrg, idLschmas.slice(at, at + modelsAtOnce));
    const rows: (SummaryColumns & { readonly id: number })[] = [];
    for (const [id, { tables, model }] of models) {
      const summary = await summarizeModel(model, tables);
      made.set(id, summary);
      rows.push({ id, ...packSummary(summary) });
    }
    await tx`
      update svc.logical_schema l
         set table_summaries = r.table_summaries, sequence_count = r.sequence_count, key_count = r.key_count
        from json_to_recordset(${JSON.stringify(rows)}::text::json)
             as r(id bigint, table_summaries text, sequence_count int, key_count int)
       where l.id_lschma = r.id`;
  }
  return made;
}
