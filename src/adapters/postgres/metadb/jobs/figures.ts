/** Figures for metrics, over all organisations: ended jobs, and how long jobs have waited. */
import { withStatusName, type StatusLetter } from '../../../../jobs/status-letters.ts';
import type { EndedJob } from '../../../../ports/stores/jobs.ts';
import type { Sql } from '../../client/connect.ts';

const most = 10_000;

type EndedRow = Omit<EndedJob, 'status' | 'documents' | 'rows' | 'bytes'> & {
  readonly status: StatusLetter;
  readonly summary: string | null;
};

export async function listEnded(sql: Sql, sinceMs: number): Promise<readonly EndedJob[]> {
  const rows = await sql<EndedRow[]>`
    select id_job as "idJob", job_type as type, status, failure,
           (extract(epoch from start_date) * 1000)::bigint as "startMs",
           (extract(epoch from end_date) * 1000)::bigint as "endMs",
           case when status = 'C' then summary end as summary
      from svc.job
     where end_date >= to_timestamp(${sinceMs}::float8 / 1000)
     order by end_date, id_job limit ${most}`;
  return rows.map(({ summary, ...row }) => ({ ...withStatusName(row), ...sums(summary) }));
}

/** Sums a summary defensively: another version of the tool may have written another form. */
function sums(summary: string | null): Pick<EndedJob, 'documents' | 'rows' | 'bytes'> {
  const members = (summary === null ? {} : JSON.parse(summary)) as Readonly<Record<string, unknown>>;
  const count = (name: string): number => {
    const value = members[name];
    return typeof value === 'number' && value >= 0 ? value : 0;
  };
  return { documents: count('documents'), rows: count('rows'), bytes: count('bytes') };
}

export async function queueAgeMs(sql: Sql): Promise<number> {
  const [row] = await sql<{ age: number | null }[]>`
    select (extract(epoch from clock_timestamp() - min(coalesce(next_attempt, greatest(created, claimed_at)))) * 1000)::bigint as age
      from svc.job
     where status in ('Q', 'W') and ready and (next_attempt is null or next_attempt <= clock_timestamp())`;
  return Math.max(0, row?.age ?? 0);
}

/** Waiting time that exceeds the time for a claim if a place is free. */
const waitsMs = 5000;

export async function countWaitingOrganisations(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    with running as (
      select distinct id_org from svc.job where status in ('R', 'T') and lease_until is not null and slot is not null)
    select count(*) as n from svc.org o
     where exists (
       select from svc.job j
        where j.id_org = o.id_org and j.ready and j.status in ('Q', 'W') and j.deadline > statement_timestamp()
          and coalesce(j.next_attempt, j.created) <= statement_timestamp() - ${waitsMs} * interval '1 millisecond')
       and not exists (select from running r where r.id_org = o.id_org)
       and exists (select from running)`;
  return row!.n;
}
