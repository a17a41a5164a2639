/** Migration 0007, its second half: models that were stored as JSON, with rows for their parts, are packed. Ids stay as they are. */
import { packJson } from '../../../../engine/model/packed/json.ts';
import { packRelationalModel, packSourceModel } from '../../../../engine/model/packed/models.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { SourceModel } from '../../../../engine/model/source-model.ts';
import { structureLines } from '../catalog/lines.ts';
import { hashOf } from '../catalog/logical-schemas.ts';
import type { TransactionSql } from '../../client/connect.ts';
import { deflated } from '../../client/deflate.ts';
import { runsOf } from '../catalog/model-ids.ts';

/** One model at a time: each may be large. */
export async function packStoredModels(tx: TransactionSql): Promise<void> {
  const origins = await tx<{ id_sch: number }[]>`select id_sch from svc.origin order by id_sch`;
  for (const { id_sch } of origins) {
    const [row] = await tx<{ model: string }[]>`select model from svc.origin where id_sch = ${id_sch}`;
    const packed = await deflated(packSourceModel(JSON.parse(row!.model) as SourceModel));
    await tx`update svc.origin set packed_model = ${packed} where id_sch = ${id_sch}`;
  }
  const schemas = await tx<
    { id_lschma: number }[]
  >`select id_lschma from svc.logical_schema order by id_lschma`;
  for (const { id_lschma } of schemas) await packLogicalSchema(tx, id_lschma);
}

async function packLogicalSchema(tx: TransactionSql, idLschma: number): Promise<void> {
  const [row] = await tx<{ model: string }[]>`
    select model from svc.logical_schema where id_lschma = ${idLschma}`;
  const model = JSON.parse(row!.model) as RelationalModel;
  const packed = packRelationalModel(model);
  const structure = await structureLines(model);
  const tables = await tx<{ id: number }[]>`
    select id_tab as id from svc.logical_table where id_lschma = ${idLschma} order by position`;
  const columns = await tx<{ id: number }[]>`
    select c.id_col as id from svc.logical_column c join svc.logical_table t using (id_tab)
     where t.id_lschma = ${idLschma} order by t.position, c.position`;
  const lines = await tx<{ id: number; active: boolean }[]>`
    select id_map as id, active from svc.mapping where id_lschma = ${idLschma} order by id_map`;
  if (lines.length !== model.mappings.length + structure.length)
    throw new Error(`the rows of logical schema ${idLschma} are not those of its model`);
  await tx`
    update svc.logical_schema
       set packed_plan = ${await deflated(packed.plan)}, packed_mappings = ${await deflated(packed.mappings)},
           packed_structure = ${await deflated(packJson(structure))}, model_hash = ${await hashOf(packed)},
           table_ids = ${runs(tables)}, column_ids = ${runs(columns)}, mapping_ids = ${runs(lines)}
     where id_lschma = ${idLschma}`;
  const inactive = lines.flatMap(({ active }, index) => (active ? [] : [index]));
  await tx`
    insert into svc.inactive_mapping (id_lschma, place)
    select ${idLschma}, json_array_elements_text(${JSON.stringify(inactive)}::text::json)::int`;
}

function runs(rows: readonly { readonly id: number }[]): string {
  return JSON.stringify(runsOf(rows.map(({ id }) => id)));
}
