/** Feeds: families of schemas, as the integration catalogue sees them (docs/decisions/service/catalogue.md). */
import { AppError } from '../../errors.ts';
import type { CatalogStore, OriginRecord, TableRecord } from '../../ports/stores/catalog.ts';
import { familiesOf } from '../schemas/origin.ts';

export interface Feed {
  /** name of the first version that is there */
  readonly name: string;
  /** oldest first */
  readonly versions: readonly OriginRecord[];
}

export async function listFeeds(catalog: CatalogStore, idOrg: number): Promise<readonly Feed[]> {
  return familiesOf(await catalog.listOrigins(idOrg)).map((versions) => ({
    name: versions[0]!.name,
    versions,
  }));
}

/** By the name of any of its versions. AppError `not_found`. */
export async function findFeed(catalog: CatalogStore, idOrg: number, name: string): Promise<Feed> {
  const feeds = await listFeeds(catalog, idOrg);
  const found = feeds.find((feed) => feed.versions.some((version) => version.name === name));
  if (found === undefined) throw new AppError('not_found', 'there is no such feed');
  return found;
}

export function idsOf({ versions }: Feed): number[] {
  return versions.map((version) => version.id_sch);
}

/** What a feed loads into now: the newest version that has a logical schema. */
export interface FeedTarget {
  readonly feed: Feed;
  readonly idSch: number;
  readonly idLschma: number;
  readonly tables: readonly TableRecord[];
}

/** Null while no version has a logical schema. */
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
}

/** Of each feed the newest version that has a logical schema; feeds without are left out. */
export function versionsOf(feeds: readonly Feed[]): readonly FeedVersion[] {
  return feeds.flatMap((feed): FeedVersion[] => {
    const version = feed.versions.findLast(({ id_lschma }) => id_lschma !== null);
    return version?.id_lschma == null
      ? []
      : [{ feed, idSch: version.id_sch, idLschma: version.id_lschma, tableCount: version.table_count }];
  });
}
