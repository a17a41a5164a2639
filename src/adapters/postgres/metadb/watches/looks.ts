/** Records the result of a look at a location: versions of objects are recorded once, and wait until they have settled. */
import type { CandidateFile, MetObject, WatchClaim } from '../../../../ports/stores/watches.ts';
import { storable, type Sql, type TransactionSql } from '../../client/connect.ts';

export async function beginLook(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ now: number }[]>`select svc.epoch_ms(clock_timestamp()) as now`;
  return row!.now;
}

/**
 * Records objects. A waiting file gets the version that was found, and waits again if the version differs. Known versions are not
 * touched: a look that finds nothing new writes nothing, unless it found waiting files.
 */
export async function recordObjects(
  tx: TransactionSql,
  { watch }: WatchClaim,
  objects: readonly MetObject[],
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

export async function endLook(
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
 * Loaded files that are there no more wait, to be removed from the target, until they have been gone for `settle`. A file and its `.gz`
 * have one document.
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
export async function findCandidates(sql: Sql, { watch }: WatchClaim): Promise<readonly CandidateFile[]> {
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

export async function settlesAt(sql: Sql, { watch }: WatchClaim): Promise<number | null> {
  const [row] = await sql<{ at: number | null }[]>`
    select svc.epoch_ms(min(f.changed_at + w.settle_ms * interval '1 millisecond')) as at
      from svc.watch_file f join svc.watch w on w.id_watch = f.id_watch
     where f.id_watch = ${watch.id_watch} and f.status = 'waiting'
       and f.checked_at < f.changed_at + w.settle_ms * interval '1 millisecond'`;
  return row?.at ?? null;
}
