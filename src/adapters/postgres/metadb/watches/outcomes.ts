/** Records the outcomes of files of a watch, and the events about them. */
import type { FileOutcome, ReplacedFile, WatchClaim } from '../../../../ports/stores/watches.ts';
import { storable, type TransactionSql } from '../../client/connect.ts';
import { fileColumns, watchColumns, watchRecord, type FileRow, type WatchRow } from './records.ts';

export async function setFiles(
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
export async function setReplaced(
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

export async function tellRejected(
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

export async function tellStalled(tx: TransactionSql, { watch, idOrg }: WatchClaim): Promise<void> {
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
