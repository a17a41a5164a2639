/** Runs of a feed: its jobs, with the content of their summaries. */
import { AppError } from '../../errors.ts';
import type { JobStatus, JobType } from '../jobs/record.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { JobRun, ListSelection, Page } from '../../ports/stores/jobs.ts';
import type { BrokenKey } from '../../ports/row-sink.ts';
import type { CatalogStore, ListSlice, OriginVersion, TableRecord } from '../../ports/stores/catalog.ts';
import { familiesOf } from './logical-schema.ts';

/** A run as in the API, except for the name of its state; times are epoch milliseconds. */
interface FeedRun {
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
  selection?: ListSelection,
): Promise<Page<FeedRun>> {
  const feeds = await listFeeds(catalog, idOrg);
  const names = new Map(feeds.flatMap((feed) => idsOf(feed).map((idSch) => [idSch, feed.name])));
  const runs = await jobs.listRuns(idOrg, null, page, size, selection);
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

// Feeds: families of schemas, as the integration catalogue sees them (docs/decisions/service/catalogue.md).

export interface Feed {
  /** name of the first version that is there */
  readonly name: string;
  /** oldest first */
  readonly versions: readonly OriginVersion[];
}

export async function listFeeds(catalog: CatalogStore, idOrg: number): Promise<readonly Feed[]> {
  return familiesOf(await catalog.listOriginVersions(idOrg)).map((versions) => ({
    name: versions[0]!.name,
    versions,
  }));
}

/** Finds a feed by the name of any of its versions. AppError `not_found`. */
export async function findFeed(catalog: CatalogStore, idOrg: number, name: string): Promise<Feed> {
  const feeds = await listFeeds(catalog, idOrg);
  const found = feeds.find((feed) => feed.versions.some((version) => version.name === name));
  if (found === undefined) throw new AppError('not_found', 'there is no such feed');
  return found;
}

/** Returns the ids of the versions of a feed, by the name of any of them; none if there is no such feed. */
export async function originsOfFeed(catalog: CatalogStore, idOrg: number, name: string): Promise<number[]> {
  const feeds = await listFeeds(catalog, idOrg);
  return feeds.filter(({ versions }) => versions.some((one) => one.name === name)).flatMap(idsOf);
}

export function idsOf({ versions }: Feed): number[] {
  return versions.map((version) => version.id_sch);
}

/** The current target of a feed: the newest version that has a logical schema. */
interface FeedTarget {
  readonly feed: Feed;
  readonly idSch: number;
  readonly idLschma: number;
  readonly tables: readonly TableRecord[];
}

/** Returns null while no version has a logical schema. */
export async function targetOf(catalog: CatalogStore, idOrg: number, feed: Feed): Promise<FeedTarget | null> {
  const version = feed.versions.findLast(({ id_lschma }) => id_lschma !== null);
  if (version?.id_lschma == null) return null;
  const tables = await catalog.listTables(idOrg, version.id_lschma);
  return { feed, idSch: version.id_sch, idLschma: version.id_lschma, tables };
}

/** The version that a feed loads into now. */
export interface FeedVersion {
  readonly feed: Feed;
  readonly idSch: number;
  readonly idLschma: number;
  readonly tableCount: number;
  readonly sequenceCount: number;
  readonly keyCount: number;
}

/** Returns the newest version of each feed that has a logical schema; feeds without one are left out. */
export function versionsOf(feeds: readonly Feed[]): readonly FeedVersion[] {
  return feeds.flatMap((feed): FeedVersion[] => {
    const version = feed.versions.findLast(({ id_lschma }) => id_lschma !== null);
    return version?.id_lschma == null
      ? []
      : [
          {
            feed,
            idSch: version.id_sch,
            idLschma: version.id_lschma,
            tableCount: version.table_count,
            sequenceCount: version.sequence_count ?? 0,
            keyCount: version.key_count ?? 0,
          },
        ];
  });
}

/** The versions whose entries a part of a list needs, and one entry behind it; `skipped`: the number of entries in front of them. */
export function versionsWithin(
  versions: readonly FeedVersion[],
  countOf: (version: FeedVersion) => number,
  slice: ListSlice | undefined,
): { readonly chosen: readonly FeedVersion[]; readonly skipped: number } {
  if (slice === undefined) return { chosen: versions, skipped: 0 };
  let before = 0;
  let skipped = 0;
  const chosen: FeedVersion[] = [];
  for (const version of versions) {
    if (before > slice.offset + slice.limit) break;
    before += countOf(version);
    if (before <= slice.offset) skipped = before;
    else chosen.push(version);
  }
  return { chosen, skipped };
}
