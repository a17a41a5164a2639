/** `$N` in a stored request: `"originId": {"ref": N}` means the origin of the workflow's N-th job, counted from 0. */
import type { Sql, TransactionSql } from '../../client/connect.ts';

/** The columns that store a job's request: the whole request, and its public form. */
export interface RequestColumns {
  readonly request: string;
  readonly params: string;
  readonly params_json: string;
}

/** The same with the origin's id in place of a reference whose job knows its origin, and the origin the request reads, if any. */
export async function resolveReferences(
  sql: Sql | TransactionSql,
  idWorkflow: number,
  { request, params, params_json }: RequestColumns,
): Promise<RequestColumns & { readonly idSch: number | null }> {
  const parsed = JSON.parse(request) as { originId?: { readonly ref?: number; readonly id?: number } };
  const ref = parsed.originId?.ref;
  if (ref === undefined) return { request, params, params_json, idSch: parsed.originId?.id ?? null };
  const [job] = await sql<{ id_sch: number | null }[]>`
    select id_sch from svc.job where id_workflow = ${idWorkflow} and position = ${ref}`;
  const idSch = job?.id_sch ?? null;
  if (idSch === null) return { request, params, params_json, idSch };
  return {
    request: JSON.stringify({ ...parsed, originId: { id: idSch } }),
    params: params.replace(new RegExp(`(?<=(?:^| )-x )(?:'\\$${ref}'|\\$${ref})(?= |$)`), String(idSch)),
    params_json: shownInJson(params_json, ref, idSch),
    idSch,
  };
}

function shownInJson(text: string, ref: number, idSch: number): string {
  const shown = JSON.parse(text) as { action?: { origin?: unknown } };
  if (shown.action?.origin !== `$${ref}`) return text;
  return JSON.stringify({ ...shown, action: { ...shown.action, origin: String(idSch) } });
}
