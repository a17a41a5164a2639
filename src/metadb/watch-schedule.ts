/**
 * The schedule of watches on PostgreSQL: claims of watches, the objects of their locations, and the outcomes of their files. Also converts
 * rows of `svc.watch` and `svc.watch_file` to records.
 */
import {
  watchFileStatuses,
  type WatchFileRecord,
  type WatchFileStatus,
  type WatchRecord,
  type ClaimShares,
  type OpenJob,
  type ReplacedFile,
  type ClaimRelease,
  type StartedFile,
  type WatchClaim,
  type WatchOutcome,
  type WatchSchedule,
  type CandidateFile,
  type ListedObject,
  type FileOutcome,
} from '../ports/stores/watches.ts';
import { type Sql, type TransactionSql, storable } from '../postgres/connect.ts';
import type { NewJob } from '../ports/stores/jobs.ts';
import { withStatusName, type StatusLetter } from '../service/jobs/record.ts';
import type { JobNotifications } from './job-notifications.ts';
import type { JobStoreSettings } from './job-queue.ts';
import { insertWorkflowOfWatch } from './job-submission.ts';

// Rows as records.

/** A row of the columns in `watchColumns`. */
export type WatchRow = Omit<WatchRecord, 'options' | 'files' | 'on_error' | 'on_drift'> &
  Pick<WatchRecord, 'on_error' | 'on_drift'> & { readonly options: string; readonly files: string | null };

export function watchRecord({ options, files, ...row }: WatchRow): WatchRecord {
  return {
    ...row,
    options: JSON.parse(options) as Readonly<Record<string, unknown>>,
    files: countsOf(files),
  };
}

/** `{"waiting":3}` as text */
export function countsOf(text: string | null): Readonly<Record<WatchFileStatus, number>> {
  const counted = (text === null ? {} : JSON.parse(text)) as Partial<Record<WatchFileStatus, number>>;
  return Object.fromEntries(watchFileStatuses.map((status) => [status, counted[status] ?? 0])) as Record<
    WatchFileStatus,
    number
  >;
}

/** The select list of a `WatchRow`; the table must be called `w`. */
export function watchColumns(sql: Sql | TransactionSql) {
  return sql`
    w.id_watch, w.id_org, w.name, w.location, w.pattern, w.id_sch, w.target, w.options, w.every, w.object_order as order, w.settle,
    w.on_error, w.on_drift, w.max_files, w.max_bytes, w.credential, w.paused, svc.epoch_ms(w.created) as created,
    svc.epoch_ms(w.next_run) as next_run, svc.epoch_ms(w.last_run) as last_run, w.id_job, w.stalled,
    svc.epoch_ms(w.stalled_at) as stalled_at,
    (select json_object_agg(c.status, c.n)::text
       from (select f.status, count(*) as n from svc.watch_file f where f.id_watch = w.id_watch group by f.status) c) as files,
    coalesce((select sum(f.bytes)::bigint from svc.watch_file f where f.id_watch = w.id_watch and f.status = 'waiting'), 0) as waiting_bytes,
    (select svc.epoch_ms(min(f.seen_at)) from svc.watch_file f where f.id_watch = w.id_watch and f.status = 'waiting') as waiting_since`;
}

/** The select list of a `WatchFileRecord`; the table must be called `f`. */
export function fileColumns(sql: Sql | TransactionSql) {
  return sql`
    f.name, f.version, f.bytes, svc.epoch_ms(f.modified) as modified, f.sha256, f.status, f.id_job, f.reason, f.replaced_by,
    svc.epoch_ms(f.seen_at) as seen_at`;
}

type FileRow = WatchFileRecord;

// Claims of watches, with a lease and an epoch, like jobs. The job of a watch and the files that it loads change in one transaction, under
// a lock on the row of the watch. Whichever scheduler dies, a file therefore has exactly one job or none.

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

// Records the result of a look at a location: versions of objects are recorded once, and wait until they have settled.

async function beginLook(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ now: number }[]>`select svc.epoch_ms(clock_timestamp()) as now`;
  return row!.now;
}

/**
 * Records objects. A waiting file gets the version that was found, and waits again if the version differs. Known versions are not
 * touched: a look that finds nothing new writes nothing, unless it found waiting files.
 */
async function recordObjects(
  tx: TransactionSql,
  { watch }: WatchClaim,
  objects: readonly ListedObject[],
): Promise<void> {
  const met = JSON.stringify(objects.map((object) => ({ ...object, name: storable(object.name) })));
  const rows = tx`json_to_recordset(${met}::text::json) as m(name text, version text, bytes bigint, modified float8)`;
  await tx`
    update svc.watch_file f
       set version = m.version, bytes = m.bytes, modified = to_timestamp(m.modified / 1000), checked_at = clock_timestamp(),
           changed_at = case when f.version = m.version then f.changed_at else clock_timestamp() end
      from ${rows}
     where f.id_watch = ${watch.id_watch} and f.name = m.name and f.status = 'waiting' and not f.removes
       and not exists (select from svc.watch_file o
                        where o.id_watch = f.id_watch and o.name = m.name and o.version = m.version and o.id_file <> f.id_file)`;
  await tx`
    insert into svc.watch_file (id_watch, name, version, bytes, modified)
    select ${watch.id_watch}, m.name, m.version, m.bytes, to_timestamp(m.modified / 1000)
      from ${rows}
     where not exists (select from svc.watch_file o where o.id_watch = ${watch.id_watch} and o.name = m.name and o.version = m.version and not o.gone)
       and not exists (select from svc.watch_file o where o.id_watch = ${watch.id_watch} and o.name = m.name and o.status = 'waiting' and not o.removes)
    on conflict (id_watch, name, version) do update
       set status = 'waiting', gone = false, reason = null, seen_at = clock_timestamp(), changed_at = clock_timestamp(), checked_at = clock_timestamp()
     where watch_file.status <> 'loading'`;
}

async function endLook(
  tx: TransactionSql,
  { watch }: WatchClaim,
  sinceMs: number,
  met: readonly string[] | null,
  fileSystem: string | null,
): Promise<void> {
  if (met !== null && met.length > 0)
    await tx`
      update svc.watch set file_system = ${fileSystem}
       where id_watch = ${watch.id_watch} and file_system is distinct from ${fileSystem}`;
  await tx`
    update svc.watch_file set status = 'ignored', gone = true, batch = null,
           reason = 'it was gone, or had been replaced, before it was loaded'
     where id_watch = ${watch.id_watch} and status = 'waiting' and not removes and checked_at < to_timestamp(${sinceMs}::float8 / 1000)`;
  await findGone(tx, watch.id_watch, met);
}

/**
 * Schedules the removal of loaded files that are gone: their rows are removed from the target once the files have been gone for `settle`. A
 * file and its `.gz` have one document.
 */
async function findGone(tx: TransactionSql, idWatch: number, met: readonly string[] | null): Promise<void> {
  const unpacked = (name: string) => tx`regexp_replace(${tx(name)}, '[.]gz$', '', 'i')`;
  const names = met === null ? null : JSON.stringify(met.map(storable));
  const there = tx`select ${unpacked('m.name')} from json_array_elements_text(${names ?? '[]'}::text::json) as m(name)`;
  await tx`
    update svc.watch_file set status = 'loaded', removes = false, reason = null, batch = null
     where id_watch = ${idWatch} and status in ('waiting', 'rejected') and removes
       and (${met === null} or ${unpacked('name')} in (${there}))`;
  if (met === null) return;
  await tx`
    update svc.watch_file set checked_at = clock_timestamp()
     where id_watch = ${idWatch} and status = 'waiting' and removes`;
  // nothing of these is in the target
  await tx`
    update svc.watch_file set status = 'ignored', gone = true, replaced_by = null,
           reason = 'it is gone, and ' || replaced_by || ' had replaced it'
     where id_watch = ${idWatch} and status = 'replaced' and ${unpacked('name')} not in (${there})`;
  await tx`
    update svc.watch_file set status = 'waiting', removes = true, batch = null,
           reason = 'it is gone, and what it brought is to be removed', changed_at = clock_timestamp(), checked_at = clock_timestamp()
     where id_watch = ${idWatch} and status = 'loaded' and not gone and ${unpacked('name')} not in (${there})`;
}

/** Returns the files of the first file's batch. A first file that is too large for a batch becomes a job of its own. */
async function findCandidates(sql: Sql, { watch }: WatchClaim): Promise<readonly CandidateFile[]> {
  const order =
    watch.order === 'name'
      ? (table: 'f' | 'first') => sql`${sql(table)}.name, ${sql(table)}.id_file`
      : (table: 'f' | 'first') =>
          sql`${sql(table)}.modified nulls first, ${sql(table)}.name, ${sql(table)}.id_file`;
  const rows = await sql<CandidateFile[]>`
    with settled as (
      select f.* from svc.watch_file f join svc.watch w on w.id_watch = f.id_watch
       where f.id_watch = ${watch.id_watch} and f.status = 'waiting'
         and f.checked_at >= f.changed_at + w.settle_ms * interval '1 millisecond'
    ), first as (select * from settled first order by ${order('first')} limit 1)
    select f.id_file as "idFile", f.name, f.version, f.bytes, svc.epoch_ms(f.modified) as modified, f.removes,
           svc.epoch_ms(coalesce(f.modified, f.seen_at)) as "changedMs",
           l.sha256 as "loadedSha256", l.id_job as "loadedBy"
      from settled f join first on first.batch is not distinct from f.batch
      left join lateral (
        select o.sha256, o.id_job from svc.watch_file o
         where o.id_watch = f.id_watch and o.name = f.name and o.status = 'loaded' and not o.gone order by o.id_file desc limit 1) l on true
     order by ${order('f')} limit ${watch.max_files}`;
  const chosen: CandidateFile[] = [];
  let bytes = 0;
  for (const file of rows) {
    bytes += file.removes ? 0 : file.bytes;
    if (chosen.length > 0 && bytes > watch.max_bytes) break;
    chosen.push(file);
  }
  return chosen;
}

async function settlesAt(sql: Sql, { watch }: WatchClaim): Promise<number | null> {
  const [row] = await sql<{ at: number | null }[]>`
    select svc.epoch_ms(min(f.changed_at + w.settle_ms * interval '1 millisecond')) as at
      from svc.watch_file f join svc.watch w on w.id_watch = f.id_watch
     where f.id_watch = ${watch.id_watch} and f.status = 'waiting'
       and f.checked_at < f.changed_at + w.settle_ms * interval '1 millisecond'`;
  return row?.at ?? null;
}

// Records the outcomes of files of a watch, and the events about them.

async function setFiles(
  tx: TransactionSql,
  { watch }: WatchClaim,
  files: readonly FileOutcome[],
): Promise<void> {
  if (files.length === 0) return;
  const rows = JSON.stringify(
    files.map(({ idFile, status, reason, replacedBy, batch, sha256, met, removed }) => ({
      id: idFile,
      status,
      reason: reason === null ? null : storable(reason),
      replaced_by: replacedBy === undefined ? null : storable(replacedBy),
      batch: batch ?? null,
      sha256: sha256 ?? null,
      removed: removed === true,
      version: met?.version ?? null,
      bytes: met?.bytes ?? null,
      modified: met?.modified ?? null,
    })),
  );
  // a file that waits again is replaced by a newer one that was found under its name meanwhile
  await tx`
    update svc.watch_file f
       set status = case when r.status = 'waiting' and newer.there and not f.removes then 'ignored' else r.status end,
           reason = case when r.status = 'waiting' and newer.there and not f.removes then 'it was replaced before it could be loaded' else r.reason end,
           replaced_by = r.replaced_by,
           batch = case when r.status = 'waiting' then r.batch end,
           sha256 = coalesce(r.sha256, f.sha256),
           gone = r.removed or (f.gone and r.status in ('loaded', 'ignored')),
           removes = f.removes and r.status in ('waiting', 'rejected'),
           version = case when taken.there then f.version else coalesce(r.version, f.version) end,
           bytes = coalesce(r.bytes, f.bytes),
           modified = case when r.version is null then f.modified else to_timestamp(r.modified / 1000) end,
           changed_at = case when r.version is null then f.changed_at else clock_timestamp() end,
           checked_at = case when r.version is null then f.checked_at else clock_timestamp() end
      from json_to_recordset(${rows}::text::json)
             as r(id bigint, status text, reason text, replaced_by text, batch text, sha256 text, removed boolean, version text, bytes bigint, modified float8)
     cross join lateral (
       select exists (select from svc.watch_file n join svc.watch_file me on me.id_file = r.id
                       where n.id_watch = me.id_watch and n.name = me.name and n.id_file > me.id_file) as there) newer
     cross join lateral (
       select exists (select from svc.watch_file n join svc.watch_file me on me.id_file = r.id
                       where n.id_watch = me.id_watch and n.name = me.name and n.version = r.version and n.id_file <> me.id_file) as there) taken
     where f.id_file = r.id and f.id_watch = ${watch.id_watch} and f.status in ('waiting', 'loading')`;
  // a file that was ignored because its content was in the target counts again if it comes back
  const removed = JSON.stringify(files.filter((file) => file.removed === true).map(({ idFile }) => idFile));
  if (removed === '[]') return;
  await tx`
    update svc.watch_file o set gone = true
      from svc.watch_file f
     where f.id_file in (select json_array_elements_text(${removed}::text::json)::bigint)
       and o.id_watch = ${watch.id_watch} and f.id_watch = o.id_watch and o.name = f.name and o.status = 'ignored'`;
}

/** Files of earlier jobs whose documents a job has replaced. */
async function setReplaced(
  tx: TransactionSql,
  { watch }: WatchClaim,
  idJob: number,
  replaced: readonly Pick<ReplacedFile, 'name' | 'by'>[],
): Promise<void> {
  if (replaced.length === 0) return;
  const rows = JSON.stringify(replaced.map(({ name, by }) => ({ name: storable(name), by: storable(by) })));
  await tx`
    update svc.watch_file f
       set status = 'replaced', replaced_by = r.by, removes = false,
           reason = case when r.by = f.name then 'a later version of it was loaded by job ' else 'a later file, ' || r.by || ', has the keys of its documents: job ' end || ${idJob}::text
      from json_to_recordset(${rows}::text::json) as r(name text, by text)
     where f.id_watch = ${watch.id_watch} and f.name = r.name and f.status = 'loaded' and not f.gone and f.id_job is distinct from ${idJob}`;
}

async function tellRejected(
  tx: TransactionSql,
  { watch, idOrg }: WatchClaim,
  files: readonly FileOutcome[],
): Promise<void> {
  const rejected = files.filter(({ status }) => status === 'rejected').map(({ idFile }) => idFile);
  if (rejected.length === 0) return;
  const rows = await tx<FileRow[]>`
    select ${fileColumns(tx)} from svc.watch_file f
     where f.id_file in (select json_array_elements_text(${JSON.stringify(rejected)}::text::json)::bigint)`;
  for (const file of rows)
    await record(tx, 'rejected', idOrg, {
      id_watch: watch.id_watch,
      id_org: idOrg,
      watch: watch.name,
      ...file,
    });
}

async function tellStalled(tx: TransactionSql, { watch, idOrg }: WatchClaim): Promise<void> {
  const [row] = await tx<WatchRow[]>`
    select ${watchColumns(tx)} from svc.watch w where w.id_watch = ${watch.id_watch}`;
  if (row !== undefined) await record(tx, 'stalled', idOrg, watchRecord(row));
}

/** Records an event in the transaction that it reports. */
async function record(
  tx: TransactionSql,
  moment: 'stalled' | 'rejected',
  idOrg: number,
  subject: unknown,
): Promise<void> {
  await tx`
    insert into svc.event (kind, moment, id_org, job, occurred)
    select kind, ${moment}, ${idOrg}, ${JSON.stringify(subject)}, clock_timestamp() from svc.event_kind where kind = 'webhook'`;
}
