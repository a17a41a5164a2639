/** The cache of compiled XSD sets: the same set with the same options is not compiled again. */
import type { CachedSet } from '../../../../ports/stores/catalog.ts';
import type { Diagnostic } from '../../../../engine/diagnostics.ts';
import { unpackRelationalModel, unpackSourceModel } from '../../../../engine/model/packed/models.ts';
import type { Sql } from '../../client/connect.ts';
import { inflated } from '../../client/deflate.ts';

export async function findCompiledSet(
  sql: Sql,
  idOrg: number,
  fingerprint: string,
): Promise<CachedSet | null> {
  const [row] = await sql<
    { packed_model: Uint8Array; packed_plan: Uint8Array; packed_mappings: Uint8Array; diagnostics: string }[]
  >`
    select s.packed_model, l.packed_plan, l.packed_mappings, c.diagnostics
      from svc.compiled_set c join svc.logical_schema l using (id_lschma) join svc.origin s using (id_sch)
     where c.id_org = ${idOrg} and c.fingerprint = ${fingerprint} and s.id_org = ${idOrg}`;
  if (row === undefined) return null;
  return {
    source: unpackSourceModel(inflated(row.packed_model)),
    model: unpackRelationalModel(inflated(row.packed_plan), () => inflated(row.packed_mappings)),
    diagnostics: JSON.parse(row.diagnostics) as Diagnostic[],
  };
}

/** A logical schema that is gone already is not remembered. */
export async function rememberCompiledSet(
  sql: Sql,
  idOrg: number,
  fingerprint: string,
  idLschma: number,
  diagnostics: readonly Diagnostic[],
): Promise<void> {
  await sql`
    insert into svc.compiled_set (id_org, fingerprint, id_lschma, diagnostics)
    select s.id_org, ${fingerprint}, l.id_lschma, ${JSON.stringify(diagnostics)}
      from svc.logical_schema l join svc.origin s using (id_sch)
     where l.id_lschma = ${idLschma} and s.id_org = ${idOrg}
    on conflict (id_org, fingerprint) do update set id_lschma = excluded.id_lschma, diagnostics = excluded.diagnostics`;
}
