/** Marks of queries on PostgreSQL. */
import type { QueryMark, QueryMarkStore } from '../ports/stores/watches.ts';
import type { Sql } from '../postgres/connect.ts';
import { withinOrganisation } from '../postgres/organisation-pools.ts';

export function createPostgresQueryMarks(sql: Sql): QueryMarkStore {
  return {
    list: (idOrg, source) =>
      withinOrganisation(sql, idOrg, async (tx) =>
        (
          await tx<(Omit<QueryMark, 'seen'> & { seen: string })[]>`
              select id_job as "idJob", job_uuid::text as "jobUuid", mark, to_json(seen)::text as seen, settled from svc.query_mark
               where id_org = ${idOrg} and source = ${source} order by id_job desc`
        ).map((row) => ({ ...row, seen: JSON.parse(row.seen) as string[] })),
      ),

    write: (idOrg, source, { idJob, jobUuid, idWatch, mark, seen }, known) =>
      withinOrganisation(sql, idOrg, async (tx) => {
        // if two jobs write at the same time, the second sees the mark of the first
        await tx`select pg_advisory_xact_lock(hashtextextended(${`query mark ${idOrg} ${source}`}, 0))`;
        const written = await tx`
          insert into svc.query_mark (id_org, source, id_job, job_uuid, id_watch, mark, seen)
          select ${idOrg}, ${source}, ${idJob}, ${jobUuid}, ${idWatch}, ${mark}, array(select jsonb_array_elements_text(${JSON.stringify(seen)}::text::jsonb))
           where not exists (
             select from svc.query_mark where id_org = ${idOrg} and source = ${source} and id_job <> ${idJob}
                and id_job not in (select value::bigint from jsonb_array_elements_text(${JSON.stringify(known)}::text::jsonb)))
          on conflict (id_org, source, id_job) do update set job_uuid = excluded.job_uuid, mark = excluded.mark, seen = excluded.seen, settled = false`;
        return written.count === 1;
      }),

    settle: (idOrg, source, idJob) =>
      withinOrganisation(sql, idOrg, async (tx) => {
        const settled = await tx`
          update svc.query_mark set settled = true where id_org = ${idOrg} and source = ${source} and id_job = ${idJob}`;
        if (settled.count === 1)
          await tx`
            delete from svc.query_mark where id_org = ${idOrg} and source = ${source} and id_job < ${idJob}`;
      }),

    async remove(idOrg, source, idJob) {
      await withinOrganisation(
        sql,
        idOrg,
        (tx) => tx`
          delete from svc.query_mark
           where id_org = ${idOrg} and source = ${source} and id_job = ${idJob} and not settled`,
      );
    },
  };
}
