/** The inputs that pruned models were drawn from: the same model is not drawn again. */
import { isId } from '../../client/connect.ts';
import type { Sql } from '../../client/connect.ts';

/** limit for one logical schema: statistics of documents keep growing, so earlier ones do not recur */
const mostRemembered = 32;

/** Chooses among logical schemas with the same model like `createLogicalSchema`. */
export async function findDrawnSchema(
  sql: Sql,
  idOrg: number,
  idSch: number,
  fingerprint: string,
): Promise<number | null> {
  if (!isId(idSch)) return null;
  const [row] = await sql<{ id_lschma: number }[]>`
    select l.id_lschma from svc.logical_schema l join svc.origin s using (id_sch)
     where l.id_sch = ${idSch} and s.id_org = ${idOrg}
       and l.model_hash in (select d.model_hash from svc.logical_schema d
                             where d.id_sch = ${idSch} and ${fingerprint} = any(d.drawn_from))
     order by l.variant, l.id_lschma desc limit 1`;
  return row?.id_lschma ?? null;
}

/** A logical schema that is gone already is not remembered. */
export async function rememberDrawnSchema(
  sql: Sql,
  idOrg: number,
  idLschma: number,
  fingerprints: readonly string[],
): Promise<void> {
  if (!isId(idLschma)) return;
  await sql`
    update svc.logical_schema l
       set drawn_from = (
             select array_agg(known.print order by known.place)
               from (select given.print, given.place
                       from unnest(l.drawn_from || array(select json_array_elements_text(${JSON.stringify(fingerprints)}::text::json)))
                            with ordinality given (print, place)
                      order by given.place desc limit ${mostRemembered}) known)
      from svc.origin s
     where l.id_lschma = ${idLschma} and s.id_sch = l.id_sch and s.id_org = ${idOrg}`;
}
