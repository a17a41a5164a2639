/**
 * The schedule of watches on PostgreSQL: watches are claimed with a lease and an epoch, like jobs. The job of a watch and the files
 * that it loads change in one transaction, under a lock on the row of the watch. Whichever scheduler dies, a file therefore has exactly
 * one job or none.
 */
import type { NewJob } from '../../../../ports/stores/jobs.ts';
import type {
  ClaimShares,
  OpenJob,
  ReplacedFile,
  ClaimRelease,
  StartedFile,
  WatchClaim,
  WatchOutcome,
  WatchSchedule,
} from '../../../../ports/stores/watches.ts';
import { withStatusName, type StatusLetter } from '../../../../jobs/status-letters.ts';
import { storable, type Sql, type TransactionSql } from '../../client/connect.ts';
import type { JobNotifications } from '../jobs/notifications.ts';
import type { JobStoreSettings } from '../jobs/settings.ts';
import { insertWorkflowOfWatch } from '../jobs/submission.ts';
import { beginLook, endLook, findCandidates, recordObjects, settlesAt } from './looks.ts';
import { setFiles, setReplaced, tellRejected, tellStalled } from './outcomes.ts';
import { watchColumns, watchRecord, type WatchRow } from './records.ts';

/** `sql` goes across organisations. */
export function createPostgresWatchSchedule(
  sql: Sql,
  notifications: Pick<JobNotifications, 'waitForWatches'>,
  jobs: JobStoreSettings,
): WatchSchedule {
  /** Runs work under a lock on the row of a watch whose claim still holds; returns null if it does not. */
  const held = async <T>(claim: WatchClaim, work: (tx: TransactionSql) => Promise<T>): Promise<T | null> => {
    const done = await sql.begin(async (tx) => {
      const [row] = await tx`
        select 1 from svc.watch where id_watch = ${claim.watch.id_watch} and epoch = ${claim.epoch} for no key update`;
      return { result: row === undefined ? null : await work(tx) };
    });
    return done.result;
  };
  /** Also returns null if the watch now looks at another place, or for other files: the result of the look is not for it. */
  const looking = <T>(claim: WatchClaim, work: (tx: TransactionSql) => Promise<T>): Promise<T | null> =>
    held(claim, async (tx) => {
      const { id_watch: id, location, pattern, options } = claim.watch;
      const [row] = await tx`
        select 1 from svc.watch
         where id_watch = ${id} and location = ${storable(location)} and pattern is not distinct from ${pattern === null ? null : storable(pattern)}
           and options = ${storable(JSON.stringify(options))}`;
      return row === undefined ? null : work(tx);
    });
  const changed = async (
    claim: WatchClaim,
    work: (tx: TransactionSql) => Promise<void>,
    hold: typeof held = held,
  ): Promise<boolean> =>
    (await hold(claim, async (tx) => {
      await work(tx);
      return true;
    })) === true;

  return {
    claimWatch: (leaseMs, shares = { without: [], served: [] }) => claimWatch(sql, leaseMs, shares),
    async nextDueInMs(without = []) {
      const [row] = await sql<{ ms: number | null }[]>`
        select (extract(epoch from min(greatest(due, coalesce(lease_until, due))) - clock_timestamp()) * 1000)::bigint as ms
          from svc.watch where due is not null and not id_org = any (${idList(without)}::bigint[])`;
      return row?.ms ?? null;
    },
    waitForWatches: (timeoutMs, signal) => notifications.waitForWatches(timeoutMs, signal),
    async keepClaim(claim, leaseMs) {
      const done = await sql`
        update svc.watch set lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
         where id_watch = ${claim.watch.id_watch} and epoch = ${claim.epoch}`;
      return done.count === 1;
    },
    findOpenJob: (claim) => findOpenJob(sql, claim),
    settleJob: (claim, idJob, files, outcome, replaced = []) =>
      changed(claim, async (tx) => {
        await setFiles(tx, claim, files);
        await setReplaced(tx, claim, idJob, replaced);
        await tellRejected(tx, claim, files);
        await setWatch(tx, claim, outcome);
        await tx`update svc.watch set id_job = null where id_watch = ${claim.watch.id_watch} and id_job = ${idJob}`;
      }),
    beginLook: (claim) => looking(claim, (tx) => beginLook(tx)),
    recordObjects: (claim, objects) => changed(claim, (tx) => recordObjects(tx, claim, objects), looking),
    endLook: (claim, sinceMs, met, fileSystem) =>
      changed(claim, (tx) => endLook(tx, claim, sinceMs, met, fileSystem), looking),
    findCandidates: (claim) => findCandidates(sql, claim),
    recordFiles: (claim, files) =>
      changed(claim, async (tx) => {
        await setFiles(tx, claim, files);
        await tellRejected(tx, claim, files);
      }),
    startJob: (claim, job, files) => held(claim, (tx) => startJob(tx, jobs, claim, job, files)),
    settlesAt: (claim) => settlesAt(sql, claim),
    release: (claim, release) => changed(claim, (tx) => giveBack(tx, claim, release)),
  };
}

interface ClaimRow extends WatchRow {
  readonly epoch: number;
  readonly changes: number;
  readonly sealed: string;
  readonly settle_ms: number;
  readonly used: number | null;
  readonly failures: number;
  readonly failed_looks: number;
  readonly held: number | null;
  readonly file_system: string | null;
  readonly now: number;
}

/** The text of an array of ids. */
export function idList(ids: readonly number[]): string {
  return `{${ids.join(',')}}`;
}

async function claimWatch(
  sql: Sql,
  leaseMs: number,
  { without, served }: ClaimShares,
): Promise<WatchClaim | null> {
  const [row] = await sql<ClaimRow[]>`
    with claimed as (
      update svc.watch w
         set epoch = w.epoch + 1, lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
       where w.id_watch = (
         select c.id_watch from svc.watch c left join svc.job j on j.id_job = c.id_job
          where (c.lease_until is null or c.lease_until <= statement_timestamp())
            and (c.due <= statement_timestamp() or (c.id_job is not null and (j.id_job is null or j.end_date is not null)))
            and not c.id_org = any (${idList(without)}::bigint[])
          order by coalesce(array_position(${idList(served)}::bigint[], c.id_org), 0), c.due nulls first limit 1 for no key update of c skip locked)
      returning w.*
    )
    select ${watchColumns(sql)}, w.epoch, w.changes, w.sealed, w.settle_ms, coalesce(w.used_sch, w.id_sch) as used, w.failures, w.failed_looks,
           svc.epoch_ms(w.held_until) as held, w.file_system,
           svc.epoch_ms(clock_timestamp()) as now
      from claimed w`;
  if (row === undefined) return null;
  const { epoch, changes, sealed, settle_ms: settleMs, used, failures, now, ...others } = row;
  const { failed_looks: failedLooks, held: heldUntilMs, file_system: fileSystem, ...columns } = others;
  const watch = watchRecord(columns);
  return {
    watch,
    idOrg: watch.id_org,
    epoch,
    changes,
    sealed,
    settleMs,
    usedSch: used,
    failures,
    failedLooks,
    heldUntilMs,
    fileSystem,
    nowMs: now,
  };
}

async function findOpenJob(sql: Sql, { watch }: WatchClaim): Promise<OpenJob | null> {
  const [row] = await sql<OpenJobRow[]>`
    select w.id_job, j.status, j.failure, j.id_sch, j.start_date is null as never_ran,
           case when j.end_date is not null then j.summary::json -> 'details' -> 'rejects' end::text as rejects,
           case when j.status = 'C' then j.summary::json -> 'details' -> 'replaced_files' end::text as replaced
      from svc.watch w left join svc.job j on j.id_job = w.id_job
     where w.id_watch = ${watch.id_watch} and w.id_job is not null`;
  if (row === undefined) return null;
  const { id_job: idJob, failure, id_sch: idSch, never_ran: neverRan } = row;
  const end = endOf(row.status);
  const files =
    end === null
      ? []
      : await sql<OpenJob['files'][number][]>`
          select id_file as "idFile", name, removes from svc.watch_file
           where id_watch = ${watch.id_watch} and status = 'loading' and id_job = ${idJob} order by name`;
  const rejects = row.rejects === null ? [] : (JSON.parse(row.rejects) as OpenJob['rejects']);
  const replaced = row.replaced === null ? [] : (JSON.parse(row.replaced) as ReplacedFile[]);
  return { idJob, end, failure, idSch, neverRan, rejects, replaced, files };
}

interface OpenJobRow {
  readonly id_job: number;
  readonly status: StatusLetter | null;
  readonly failure: string | null;
  readonly id_sch: number | null;
  readonly never_ran: boolean;
  readonly rejects: string | null;
  readonly replaced: string | null;
}

function endOf(letter: StatusLetter | null): OpenJob['end'] {
  if (letter === null) return 'removed';
  const { status } = withStatusName({ status: letter });
  return status === 'queued' || status === 'running' || status === 'waiting' || status === 'terminating'
    ? null
    : status;
}

async function startJob(
  tx: TransactionSql,
  settings: JobStoreSettings,
  { watch, idOrg, changes }: WatchClaim,
  job: NewJob,
  files: readonly StartedFile[],
): Promise<number | null> {
  const [row] = await tx<{ free: boolean }[]>`
    select changes = ${changes} and id_job is null and not paused as free from svc.watch where id_watch = ${watch.id_watch}`;
  if (row?.free !== true) return null;
  const chosen = JSON.stringify(files.map(({ idFile: id, sha256 }) => ({ id, sha256 })));
  const [waiting] = await tx<{ n: number }[]>`
    select count(*) as n from svc.watch_file f
     where f.id_watch = ${watch.id_watch} and f.status = 'waiting'
       and f.id_file in (select id from json_to_recordset(${chosen}::text::json) as c(id bigint))`;
  if (waiting?.n !== files.length) return null;
  const idJob = await insertWorkflowOfWatch(tx, settings, idOrg, watch.name, watch.id_watch, job);
  await tx`
    update svc.watch_file f set status = 'loading', id_job = ${idJob}, sha256 = coalesce(c.sha256, f.sha256), reason = null
      from json_to_recordset(${chosen}::text::json) as c(id bigint, sha256 text) where f.id_file = c.id`;
  await tx`update svc.watch set id_job = ${idJob} where id_watch = ${watch.id_watch}`;
  return idJob;
}

async function setWatch(
  tx: TransactionSql,
  claim: WatchClaim,
  { usedSch, failures, failedLooks, heldUntilMs, stalled, paused }: WatchOutcome,
): Promise<void> {
  const id = claim.watch.id_watch;
  if (usedSch !== undefined) await tx`update svc.watch set used_sch = ${usedSch} where id_watch = ${id}`;
  if (failures !== undefined) await tx`update svc.watch set failures = ${failures} where id_watch = ${id}`;
  if (failedLooks !== undefined)
    await tx`update svc.watch set failed_looks = ${failedLooks} where id_watch = ${id}`;
  if (heldUntilMs !== undefined)
    await tx`update svc.watch set held_until = to_timestamp(${heldUntilMs}::float8 / 1000) where id_watch = ${id}`;
  if (paused === true)
    await tx`update svc.watch set paused = true, next_run = null, due = null where id_watch = ${id}`;
  if (stalled === undefined) return;
  if (stalled === null) {
    await tx`update svc.watch set stalled = null, stalled_at = null where id_watch = ${id} and stalled is not null`;
    return;
  }
  const reason = storable(stalled);
  const news = await tx`
    update svc.watch set stalled = ${reason}, stalled_at = clock_timestamp()
     where id_watch = ${id} and stalled is distinct from ${reason}`;
  if (news.count === 1) await tellStalled(tx, claim);
}

async function giveBack(tx: TransactionSql, claim: WatchClaim, release: ClaimRelease): Promise<void> {
  await setWatch(tx, claim, release);
  const { nextRunMs, dueMs, ran } = release;
  const time = (ms: number | null) => tx`to_timestamp(${ms}::float8 / 1000)`;
  // changes that people have made meanwhile take precedence
  await tx`
    update svc.watch
       set lease_until = null,
           last_run = case when ${ran === true} then clock_timestamp() else last_run end,
           next_run = case when changes = ${claim.changes} and not paused and ${nextRunMs !== undefined} then ${time(nextRunMs ?? null)} else next_run end,
           due = case when changes <> ${claim.changes} then due when paused then null else ${time(dueMs)} end
     where id_watch = ${claim.watch.id_watch}`;
  await tx`select pg_notify('svc_watch', '') from svc.watch where id_watch = ${claim.watch.id_watch} and changes <> ${claim.changes}`;
}
