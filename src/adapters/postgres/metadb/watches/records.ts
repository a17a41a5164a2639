/** Converts rows of `svc.watch` and `svc.watch_file` to records. */
import {
  watchFileStatuses,
  type WatchFileRecord,
  type WatchFileStatus,
  type WatchRecord,
} from '../../../../ports/stores/watches.ts';
import type { Sql, TransactionSql } from '../../client/connect.ts';

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

export type FileRow = WatchFileRecord;
