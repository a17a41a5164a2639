/** Runs of a feed: its jobs, with the content of their summaries. */
import { AppError } from '../../errors.ts';
import type { JobStatus, JobType } from '../../jobs/record.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { JobRun, Page } from '../../ports/stores/jobs.ts';
import type { BrokenKey } from '../../ports/rows/sink.ts';
import { findFeed, idsOf, listFeeds } from './list.ts';
import type { Feed } from './list.ts';

/** A run as in the API, except for the name of its state; times are epoch milliseconds. */
export interface FeedRun {
  readonly cfxml: string;
  readonly pid: number;
  readonly status: JobStatus;
  readonly job_type: JobType;
  readonly start_date: number | null;
  readonly end_date: number | null;
  readonly documents: number;
  readonly rows: number;
  readonly rejected: number;
  /** pieces of content that had no place */
  readonly unmapped: number;
}

export interface FeedRunDetails extends FeedRun {
  readonly tables: readonly { readonly table_name: string; readonly rows: number }[];
  readonly unmapped_xpaths: readonly { readonly xpath: string; readonly count: number }[];
  readonly ignored: number;
  readonly rejects: readonly {
    readonly document: string | null;
    readonly line: number | null;
    readonly column: number | null;
    readonly code: string | null;
    readonly message: string;
  }[];
  /** natural keys that the target does not have, as values of the run broke them */
  readonly broken_keys: readonly { readonly table_name: string; readonly columns: readonly string[] }[];
  readonly versions: readonly { readonly id_sch: number; readonly version: number }[];
}

/** The summary that a tool writes to the record of its job. An absent member counts as zero. */
interface RunSummary {
  readonly documents?: number;
  readonly rejected?: number;
  readonly unknown_root?: number;
  readonly rows?: number;
  readonly tables?: Readonly<Record<string, number>>;
  readonly details?: {
    readonly unmapped?: FeedRunDetails['unmapped_xpaths'];
    readonly ignored?: number;
    readonly rejects?: FeedRunDetails['rejects'];
    readonly broken_keys?: readonly BrokenKey[];
  };
}

/** Runs of every feed, newest first. */
export async function listFeedRuns(
  { catalog, jobs }: Pick<Adapters, 'catalog' | 'jobs'>,
  idOrg: number,
  page: number,
  size: number,
): Promise<Page<FeedRun>> {
  const feeds = await listFeeds(catalog, idOrg);
  const names = new Map(feeds.flatMap((feed) => idsOf(feed).map((idSch) => [idSch, feed.name])));
  const runs = await jobs.listRuns(idOrg, null, page, size);
  return { ...runs, content: runs.content.map((run) => feedRun(run, names.get(run.record.id_sch!) ?? '')) };
}

/** One run of a feed, or its latest. AppError `not_found`. */
export async function findFeedRun(
  { catalog, jobs }: Pick<Adapters, 'catalog' | 'jobs'>,
  idOrg: number,
  cfxml: string,
  pid?: number,
): Promise<FeedRunDetails> {
  const feed = await findFeed(catalog, idOrg, cfxml);
  const run =
    pid === undefined
      ? (await jobs.listRuns(idOrg, idsOf(feed), 0, 1)).content[0]
      : await jobs.findRun(idOrg, pid);
  if (run === undefined || run === null || !idsOf(feed).includes(run.record.id_sch ?? -1))
    throw new AppError('not_found', 'there is no such run of the feed');
  return runDetails(run, feed);
}

function summaryOf(run: JobRun): RunSummary {
  return (run.summary ?? {}) as RunSummary;
}

function feedRun(run: JobRun, cfxml: string): FeedRun {
  const { id_job, status, job_type, start_date, end_date } = run.record;
  const summary = summaryOf(run);
  const unmapped = summary.details?.unmapped ?? [];
  return {
    cfxml,
    pid: id_job,
    status,
    job_type,
    start_date,
    end_date,
    documents: summary.documents ?? 0,
    rows: summary.rows ?? 0,
    rejected: (summary.rejected ?? 0) + (summary.unknown_root ?? 0),
    unmapped: unmapped.reduce((sum, { count }) => sum + count, 0),
  };
}

function runDetails(run: JobRun, feed: Feed): FeedRunDetails {
  const { tables = {}, details = {} } = summaryOf(run);
  return {
    ...feedRun(run, feed.name),
    tables: Object.entries(tables).map(([table_name, rows]) => ({ table_name, rows })),
    unmapped_xpaths: details.unmapped ?? [],
    ignored: details.ignored ?? 0,
    rejects: details.rejects ?? [],
    broken_keys: (details.broken_keys ?? []).map(({ table, columns }) => ({ table_name: table, columns })),
    versions: feed.versions.map(({ id_sch, version }) => ({ id_sch, version })),
  };
}
