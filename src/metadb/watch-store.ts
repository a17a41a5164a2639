/** Watches on PostgreSQL, as people ask for them; schedulers have `src/metadb/watch-schedule.ts`. */
import { AppError } from '../errors.ts';
import type {
  Retry,
  WatchDefinition,
  WatchFigures,
  WatchFileRecord,
  WatchFileStatus,
  WatchRecord,
  WatchStore,
} from '../ports/stores/watches.ts';
import type { Page } from '../ports/stores/jobs.ts';
import { isId, sqlState, storable, type Sql } from '../postgres/connect.ts';
import {
  readInTransaction,
  withinOrganisation,
  type OrganisationReader,
} from '../postgres/organisation-pools.ts';
import { countsOf, fileColumns, watchColumns, watchRecord, type WatchRow } from './watch-schedule.ts';

const uniqueViolation = '23505';

/** `read` runs read-only queries; absent: in transactions on the same pool. */
export function createPostgresWatchStore(
  sql: Sql,
  read: OrganisationReader = readInTransaction(sql),
): WatchStore {
  const within = <T>(idOrg: number, work: (tx: Sql) => Promise<T>): Promise<T> =>
    withinOrganisation(sql, idOrg, work);
  return {
    createWatch: (idOrg, watch, nextRunMs, most) =>
      within(idOrg, (tx) => createWatch(tx, idOrg, watch, nextRunMs, most)).catch(nameInUse(watch.name)),
    findWatch: (idOrg, idWatch) => read(idOrg, (tx) => findWatch(tx, idOrg, idWatch)),
    findWatchNamed: (idOrg, name) =>
      read(idOrg, async (tx) => {
        const [row] = await tx<WatchRow[]>`
          select ${watchColumns(tx)} from svc.watch w where w.id_org = ${idOrg} and w.name = ${storable(name)}`;
        return row === undefined ? null : watchRecord(row);
      }),
    listWatches: (idOrg, page, size) => read(idOrg, (tx) => listWatches(tx, idOrg, page, size)),
    readSealed: (idOrg, idWatch) =>
      within(idOrg, async (tx) => {
        if (!isId(idWatch)) return null;
        const [row] = await tx<
          { sealed: string }[]
        >`select sealed from svc.watch where id_watch = ${idWatch} and id_org = ${idOrg}`;
        return row?.sealed ?? null;
      }),
    replaceWatch: (idOrg, idWatch, watch, nextRunMs, leaves) =>
      within(idOrg, (tx) => replaceWatch(tx, idOrg, idWatch, watch, nextRunMs, leaves)).catch(
        nameInUse(watch.name),
      ),
    removeWatch: (idOrg, idWatch) =>
      within(idOrg, async (tx) => {
        if (!isId(idWatch)) return false;
        const done = await tx`delete from svc.watch where id_watch = ${idWatch} and id_org = ${idOrg}`;
        return done.count === 1;
      }),
    listWatchFiles: (idOrg, idWatch, status, page, size) =>
      read(idOrg, (tx) => listFiles(tx, idOrg, idWatch, status, page, size)),
    listBroughtFiles: (idOrg, idWatch, names) =>
      read(idOrg, (tx) => listBroughtFiles(tx, idOrg, idWatch, names)),
    listFilesInTarget: (idOrg, target, names, except) =>
      read(idOrg, (tx) => listFilesInTarget(tx, idOrg, target, names, except)),
    runNow: (idOrg, idWatch, retry) => within(idOrg, (tx) => runNow(tx, idOrg, idWatch, retry)),
    watchFigures: () => watchFigures(sql),
  };
}

function nameInUse(name: string) {
  return (error: unknown): never => {
    if (sqlState(error) !== uniqueViolation) throw error;
    throw new AppError('conflict', `a watch called ${name} already exists: give another name`, {
      errors: [{ pointer: '/name', detail: 'is in use' }],
    });
  };
}

function tooManyWatches(most: number): AppError {
  return new AppError(
    'too_many_requests',
    `an organisation may have at most ${most} watches (svc.limits.watches): remove a watch that you no longer need`,
    { headers: { 'Retry-After': '60' } },
  );
}

/** Columns of a definition, `id_org` first. */
function columnsOf(idOrg: number, watch: WatchDefinition) {
  return {
    id_org: idOrg,
    name: storable(watch.name),
    location: storable(watch.location),
    pattern: watch.pattern === null ? null : storable(watch.pattern),
    id_sch: watch.id_sch,
    target: storable(watch.target),
    options: storable(JSON.stringify(watch.options)),
    sealed: watch.sealed,
    every: watch.every,
    object_order: watch.order,
    settle: watch.settle,
    settle_ms: watch.settleMs,
    on_error: watch.on_error,
    on_drift: watch.on_drift,
    max_files: watch.max_files,
    max_bytes: watch.max_bytes,
    credential: watch.credential,
    paused: watch.paused,
  };
}

/** SQL of a time; null: now. */
function at(tx: Sql, ms: number | null) {
  return ms === null ? tx`clock_timestamp()` : tx`to_timestamp(${ms}::float8 / 1000)`;
}

async function createWatch(
  tx: Sql,
  idOrg: number,
  watch: WatchDefinition,
  nextRunMs: number | null,
  most: number,
): Promise<WatchRecord> {
  // Requests that come at the same time are counted one after another
  await tx`select pg_advisory_xact_lock(hashtextextended(${`svc.watch of ${idOrg}`}, 0))`;
  const [present] = await tx<{ n: number }[]>`select count(*) as n from svc.watch where id_org = ${idOrg}`;
  if (present!.n >= most) throw tooManyWatches(most);
  const [row] = await tx<{ id_watch: number }[]>`
    insert into svc.watch ${tx(columnsOf(idOrg, watch))} returning id_watch`;
  const idWatch = row!.id_watch;
  await setDue(tx, idWatch, watch.paused ? tx`null` : at(tx, nextRunMs));
  return (await findWatch(tx, idOrg, idWatch))!;
}

async function setDue(tx: Sql, idWatch: number, time: ReturnType<typeof at>): Promise<void> {
  await tx`
    update svc.watch set next_run = ${time}, due = ${time}, changes = changes + 1 where id_watch = ${idWatch}`;
  await tx`select pg_notify('svc_watch', '')`;
}

async function findWatch(tx: Sql, idOrg: number, idWatch: number): Promise<WatchRecord | null> {
  if (!isId(idWatch)) return null;
  const [row] = await tx<WatchRow[]>`
    select ${watchColumns(tx)} from svc.watch w where w.id_watch = ${idWatch} and w.id_org = ${idOrg}`;
  return row === undefined ? null : watchRecord(row);
}

async function listWatches(tx: Sql, idOrg: number, page: number, size: number): Promise<Page<WatchRecord>> {
  const [rows, [total]] = await Promise.all([
    tx<WatchRow[]>`
      select ${watchColumns(tx)} from svc.watch w where w.id_org = ${idOrg}
       order by w.id_watch offset ${page * size} limit ${size}`,
    tx<{ n: number }[]>`select count(*) as n from svc.watch where id_org = ${idOrg}`,
  ]);
  return { content: rows.map(watchRecord), page, size, totalElements: total?.n ?? 0 };
}

async function replaceWatch(
  tx: Sql,
  idOrg: number,
  idWatch: number,
  watch: WatchDefinition,
  nextRunMs: number | null,
  leaves: ((name: string) => boolean) | null,
): Promise<WatchRecord | null> {
  if (!isId(idWatch)) return null;
  const { id_org: _, ...columns } = columnsOf(idOrg, watch);
  const done = await tx`
    update svc.watch w
       set ${tx(columns)}, stalled = null, stalled_at = null, failures = 0, failed_looks = 0, held_until = null, file_system = null,
           used_sch = case when w.id_sch is not distinct from ${watch.id_sch} then w.used_sch end
     where w.id_watch = ${idWatch} and w.id_org = ${idOrg}`;
  if (done.count === 0) return null;
  if (leaves !== null) await leaveFiles(tx, idWatch, leaves);
  await setDue(tx, idWatch, watch.paused ? tx`null` : at(tx, nextRunMs));
  return findWatch(tx, idOrg, idWatch);
}

/** Files that were left stay loaded, and count again if they are found. */
async function leaveFiles(tx: Sql, idWatch: number, leaves: (name: string) => boolean): Promise<void> {
  const files = await tx<{ id_file: number; name: string }[]>`
    select id_file, name from svc.watch_file
     where id_watch = ${idWatch} and not gone and (status in ('loading', 'loaded') or (status in ('waiting', 'rejected') and removes))`;
  const left = files.filter(({ name }) => leaves(name)).map(({ id_file: id }) => id);
  if (left.length === 0) return;
  await tx`
    update svc.watch_file
       set gone = true, removes = removes and status = 'loading', batch = null,
           status = case when status = 'loading' then status else 'loaded' end,
           reason = case when status = 'loading' then reason else 'the watch looks elsewhere since: what it brought stays' end
     where id_watch = ${idWatch} and id_file in (select json_array_elements_text(${JSON.stringify(left)}::text::json)::bigint)`;
}

async function listFiles(
  tx: Sql,
  idOrg: number,
  idWatch: number,
  status: WatchFileStatus | null,
  page: number,
  size: number,
): Promise<Page<WatchFileRecord> | null> {
  if (!isId(idWatch)) return null;
  const [watch] = await tx`select 1 from svc.watch where id_watch = ${idWatch} and id_org = ${idOrg}`;
  if (watch === undefined) return null;
  const chosen = tx`f.id_watch = ${idWatch} and ${status === null ? tx`true` : tx`f.status = ${status}`}`;
  const [rows, [total]] = await Promise.all([
    tx<WatchFileRecord[]>`
      select ${fileColumns(tx)} from svc.watch_file f where ${chosen}
       order by f.id_file desc offset ${page * size} limit ${size}`,
    tx<{ n: number }[]>`select count(*) as n from svc.watch_file f where ${chosen}`,
  ]);
  return { content: rows, page, size, totalElements: total?.n ?? 0 };
}

/** A version that was ignored, as its content was that of the loaded one, says when that content was changed last. */
async function listBroughtFiles(
  tx: Sql,
  idOrg: number,
  idWatch: number,
  names: readonly string[],
): Promise<readonly { readonly name: string; readonly modified: number }[]> {
  if (names.length === 0) return [];
  const asked = JSON.stringify(names.map(storable));
  return tx<{ name: string; modified: number }[]>`
    with loaded as (
      select distinct on (f.name) f.name, f.sha256 from svc.watch_file f join svc.watch w on w.id_watch = f.id_watch
       where f.id_watch = ${idWatch} and w.id_org = ${idOrg} and f.status in ('loaded', 'replaced')
         and f.name in (select json_array_elements_text(${asked}::text::json))
       order by f.name, f.id_file desc)
    select o.name, svc.epoch_ms(max(coalesce(o.modified, o.seen_at))) as modified
      from svc.watch_file o join loaded l on l.name = o.name and l.sha256 = o.sha256
     where o.id_watch = ${idWatch} and o.status in ('loaded', 'replaced', 'ignored')
     group by o.name`;
}

async function listFilesInTarget(
  tx: Sql,
  idOrg: number,
  target: string,
  names: readonly string[] | null,
  except: number | null,
): Promise<readonly string[]> {
  if (names?.length === 0) return [];
  const asked = names === null ? null : JSON.stringify(names.map(storable));
  const rows = await tx<{ name: string }[]>`
    select distinct f.name
      from svc.watch w
      join svc.watch_file f on f.id_watch = w.id_watch
      join svc.job j on j.id_job = f.id_job
     where w.id_org = ${idOrg} and w.id_watch is distinct from ${except} and f.status = 'loaded' and j.output_path = ${target}
       and (${asked}::text is null or f.name in (select json_array_elements_text(${asked}::text::json)))
     limit ${names === null ? 1 : null}`;
  return rows.map(({ name }) => name);
}

async function runNow(tx: Sql, idOrg: number, idWatch: number, retry: Retry): Promise<WatchRecord | null> {
  if (!isId(idWatch)) return null;
  const [watch] = await tx<{ paused: boolean }[]>`
    select paused from svc.watch where id_watch = ${idWatch} and id_org = ${idOrg} for no key update`;
  if (watch === undefined) return null;
  if (watch.paused)
    throw new AppError('conflict', 'the watch is paused: resume it, by PATCH with {"paused": false}');
  if (retry !== 'none') {
    const names = JSON.stringify(retry === 'all' ? [] : retry.map(storable));
    // for each name, the newest rejected file: the older ones no longer exist
    await tx`
      update svc.watch_file f
         set status = 'waiting', reason = null, batch = null, seen_at = clock_timestamp()
       where f.id_watch = ${idWatch} and f.status = 'rejected'
         and (${retry === 'all'} or f.name in (select json_array_elements_text(${names}::text::json)))
         and not exists (select from svc.watch_file n where n.id_watch = f.id_watch and n.name = f.name and n.id_file > f.id_file)`;
  }
  await tx`update svc.watch set held_until = null where id_watch = ${idWatch}`;
  await setDue(tx, idWatch, tx`clock_timestamp()`);
  return findWatch(tx, idOrg, idWatch);
}

async function watchFigures(sql: Sql): Promise<WatchFigures> {
  const [[states], [files]] = await Promise.all([
    sql<{ active: number; paused: number; stalled: number }[]>`
      select count(*) filter (where not paused and stalled is null) as active,
             count(*) filter (where paused) as paused,
             count(*) filter (where stalled is not null) as stalled
        from svc.watch`,
    sql<{ counts: string | null; age: number | null }[]>`
      select (select json_object_agg(c.status, c.n)::text
                from (select status, count(*) as n from svc.watch_file group by status) c) as counts,
             (select (extract(epoch from clock_timestamp() - min(seen_at)) * 1000)::bigint
                from svc.watch_file where status = 'waiting') as age`,
  ]);
  return {
    ...states!,
    files: countsOf(files!.counts),
    oldestWaitingMs: Math.max(0, files!.age ?? 0),
  };
}
