/** Feeds: families of schemas, as the integration catalogue sees them (docs/decisions/service/catalogue.md). */
import { AppError } from '../../errors.ts';
import type { CatalogStore, ListSlice, OriginVersion, TableRecord } from '../../ports/stores/catalog.ts';
import { familiesOf } from '../schemas/origin.ts';

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

export function idsOf({ versions }: Feed): number[] {
  return versions.map((version) => version.id_sch);
}

/** The current target of a feed: the newest version that has a logical schema. */
export interface FeedTarget {
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
