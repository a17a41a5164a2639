/** `$N` in a stored request: `"originId": {"ref": N}` means the origin of the workflow's N-th job, counted from 0. */
import type { Sql, TransactionSql } from './connect.ts';

/** The request with `{"id": …}` in place of a reference whose job knows its origin, and the origin the request reads, if any. */
export async function resolveReferences(
  sql: Sql | TransactionSql,
  idWorkflow: number,
  request: string,
): Promise<{ readonly request: string; readonly idSch: number | null }> {
  const parsed = JSON.parse(request) as { originId?: { readonly ref?: number; readonly id?: number } };
  const origin = parsed.originId;
  if (origin?.ref === undefined) return { request, idSch: origin?.id ?? null };
  const [job] = await sql<{ id_sch: number | null }[]>`
    select id_sch from svc.job where id_workflow = ${idWorkflow} and position = ${origin.ref}`;
  const idSch = job?.id_sch ?? null;
  if (idSch === null) return { request, idSch };
  return { request: JSON.stringify({ ...parsed, originId: { id: idSch } }), idSch };
}
