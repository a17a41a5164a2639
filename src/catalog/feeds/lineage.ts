/** From feeds to tables to columns: mappings, lineage and sequences of the integration catalogue. */
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { ColumnRecord, ListSlice, MappingRecord } from '../../ports/stores/catalog.ts';
import { findFeed, idsOf, listFeeds, targetOf, versionsOf } from './list.ts';
import type { Feed, FeedVersion } from './list.ts';
import type { ModelFactsReader } from './model-facts.ts';

type Stores = Pick<Adapters, 'catalog' | 'jobs'>;
export type FeedStores = Stores & { readonly models: ModelFactsReader };

/** how far back the latest run of a kind is looked for */
const latestRuns = 100;

/** In wire form: a table that a feed loads. */
export interface FeedMapping {
  readonly cfxml: string;
  /** the table's name */
  readonly mapping: string;
  readonly group: string;
  readonly source_xpath: string;
  readonly target_table: string;
  readonly column_count: number;
  /** that completed runs loaded, and that were neither overwritten nor unloaded since */
  readonly rows: number;
}

/** In wire form. */
export interface FeedLineage {
  readonly cfxml: string;
  readonly mapping: string;
  /** null: the loader makes the value */
  readonly source_xpath: string | null;
  readonly source_type: string | null;
  readonly target_table: string;
  readonly target_column: string;
  readonly target_type: string;
  readonly transformation: string;
  /** the latest completed run that loaded the table by these lines; null: none did since they were drawn */
  readonly pid: number | null;
}

/** In wire form: the row keys of a table, which are numbered from 1. */
export interface FeedSequence {
  readonly cfxml: string;
  readonly sequence: string;
  readonly target_table: string;
  readonly target_column: string;
  /** from 1; parents come before children */
  readonly load_order: number;
  /** the highest key given out in the target that was loaded last; where that is not known, how many rows completed runs loaded */
  readonly last_value: number;
  readonly increment: number;
}

/** A part of a list, and whether there is more behind it. */
export interface Part<T> {
  readonly content: readonly T[];
  readonly more: boolean;
}

/** The mappings of one feed, or of all; `slice` absent: all of them. */
export async function listFeedMappings(
  stores: FeedStores,
  idOrg: number,
  cfxml?: string,
  slice?: ListSlice,
): Promise<Part<FeedMapping>> {
  const versions = await chosenVersions(stores, idOrg, cfxml);
  const { chosen, skipped } = versionsWithin(versions, slice);
  const [facts, rowsOf] = await Promise.all([
    stores.models.read(idOrg, chosen),
    loadedRows(stores, idOrg, chosen, chosen.length < versions.length || cfxml !== undefined),
  ]);
  const tables = chosen.flatMap((version) =>
    (facts.get(version.idLschma)?.tables ?? []).map((table) => ({ version, table })),
  );
  return partOf(
    tables,
    ({ version, table }): FeedMapping => ({
      cfxml: version.feed.name,
      mapping: table.name,
      group: version.feed.name,
      source_xpath: table.xpath,
      target_table: table.name,
      column_count: table.columns.length,
      rows: rowsOf(version.feed, table.name),
    }),
    slice === undefined ? undefined : { ...slice, offset: slice.offset - skipped },
  );
}

/** The versions whose tables a part needs, and one table behind it; `skipped`: tables of those before. */
function versionsWithin(
  versions: readonly FeedVersion[],
  slice: ListSlice | undefined,
): { readonly chosen: readonly FeedVersion[]; readonly skipped: number } {
  if (slice === undefined) return { chosen: versions, skipped: 0 };
  let before = 0;
  let skipped = 0;
  const chosen: FeedVersion[] = [];
  for (const version of versions) {
    if (before > slice.offset + slice.limit) break;
    before += version.tableCount;
    if (before <= slice.offset) skipped = before;
    else chosen.push(version);
  }
  return { chosen, skipped };
}

function partOf<T, U>(all: readonly T[], map: (one: T) => U, slice: ListSlice | undefined): Part<U> {
  if (slice === undefined) return { content: all.map((one) => map(one)), more: false };
  const end = slice.offset + slice.limit;
  return { content: all.slice(slice.offset, end).map((one) => map(one)), more: all.length > end };
}

/** How many mappings each group has. */
export async function countFeedMappings(
  { catalog }: Stores,
  idOrg: number,
): Promise<Readonly<Record<string, number>>> {
  const feeds = await listFeeds(catalog, idOrg);
  const counts = feeds.map(({ name, versions }) => {
    const version = versions.findLast(({ id_lschma }) => id_lschma !== null);
    return [name, version?.table_count ?? 0] as const;
  });
  return Object.fromEntries(counts);
}

/** Every column of one table, in its order. AppError `not_found` for a feed or a table that is not there. */
export async function feedLineage(
  { catalog, jobs }: Stores,
  idOrg: number,
  cfxml: string,
  mapping: string,
): Promise<readonly FeedLineage[]> {
  const feed = await findFeed(catalog, idOrg, cfxml);
  const target = await targetOf(catalog, idOrg, feed);
  const table = target?.tables.find(({ name }) => name === mapping);
  if (target === null || table === undefined) throw new AppError('not_found', 'there is no such mapping');
  const lines = (await catalog.listMappings(idOrg, target.idLschma)).filter(
    ({ id_tab }) => id_tab === table.id_tab,
  );
  const runs = await jobs.listRuns(idOrg, idsOf(feed), 0, latestRuns);
  const latest = runs.content.find(({ record, summary }) => {
    const tables = (summary as { tables?: Record<string, number> } | null)?.tables ?? {};
    const byTheseLines = record.job_type === 'Parse' && record.id_lschma === target.idLschma;
    return byTheseLines && record.status === 'completed' && Object.hasOwn(tables, mapping);
  });
  const byColumn = Map.groupBy(
    lines.filter(({ xpath }) => xpath !== null),
    (line) => line.column_name,
  );
  return table.columns.flatMap((column): FeedLineage[] => {
    const own: Omit<FeedLineage, 'source_xpath' | 'source_type' | 'transformation'> = {
      cfxml: feed.name,
      mapping,
      target_table: table.name,
      target_column: column.name,
      target_type: columnType(column),
      pid: latest?.record.id_job ?? null,
    };
    const sources = byColumn.get(column.name) ?? [];
    if (sources.length === 0)
      return [
        { ...own, source_xpath: column.xpath, source_type: null, transformation: loaderColumnNote(column) },
      ];
    return sources.map((line) => ({
      ...own,
      source_xpath: line.xpath,
      source_type: line.source_type,
      transformation: transformationOf(line),
    }));
  });
}

/** In load order, feed by feed; `slice` absent: all of them. */
export async function listFeedSequences(
  stores: FeedStores,
  idOrg: number,
  cfxml?: string,
  slice?: ListSlice,
): Promise<Part<FeedSequence>> {
  const versions = await chosenVersions(stores, idOrg, cfxml);
  const facts = await stores.models.read(idOrg, versions);
  const all = versions.flatMap((version) =>
    (facts.get(version.idLschma)?.tables ?? []).flatMap(({ name, rowKey }, at) =>
      rowKey === null ? [] : [{ version, name, rowKey, at }],
    ),
  );
  const { content, more } = partOf(all, (one) => one, slice);
  const chosen = [...new Set(content.map(({ version }) => version))];
  const [keys, rowsOf] = await Promise.all([
    latestKeys(stores, idOrg, chosen),
    loadedRows(stores, idOrg, chosen, chosen.length < versions.length || cfxml !== undefined),
  ]);
  return {
    content: content.map(({ version: { feed }, name, rowKey, at }) => {
      const known = keys.get(feed);
      return {
        cfxml: feed.name,
        sequence: `${name}_${rowKey}_seq`,
        target_table: name,
        target_column: rowKey,
        load_order: at + 1,
        last_value: known === undefined ? rowsOf(feed, name) : (known.get(name) ?? 0),
        increment: 1,
      };
    }),
    more,
  };
}

/** By feed, as the target that it was loaded into last tells it, or told the run; feeds of which neither is known are left out. */
async function latestKeys(
  { catalog, jobs }: Stores,
  idOrg: number,
  versions: readonly FeedVersion[],
): Promise<ReadonlyMap<Feed, ReadonlyMap<string, number>>> {
  const feeds = versions.map(({ feed }) => feed);
  const loads = new Map(
    (await jobs.listLatestLoads(idOrg, feeds.flatMap(idsOf))).map((load) => [load.idSch, load]),
  );
  const latest = feeds.flatMap((feed) => {
    const [load] = idsOf(feed)
      .flatMap((idSch) => loads.get(idSch) ?? [])
      .toSorted((a, b) => b.idJob - a.idJob);
    return load === undefined
      ? []
      : [{ feed, load, sqlSchema: /^metadb:(.+)$/.exec(load.output)?.[1] ?? null }];
  });
  const targets = await catalog.targetKeysOf(idOrg, [
    ...new Set(latest.flatMap(({ sqlSchema }) => sqlSchema ?? [])),
  ]);
  return new Map(
    latest.flatMap(({ feed, load, sqlSchema }) => {
      const stored = sqlSchema === null ? undefined : targets.get(sqlSchema);
      const keys = stored ?? (load.keys === null ? undefined : new Map(Object.entries(load.keys)));
      return keys === undefined ? [] : [[feed, keys] as const];
    }),
  );
}

async function chosenVersions(
  { catalog }: Stores,
  idOrg: number,
  cfxml?: string,
): Promise<readonly FeedVersion[]> {
  return versionsOf(
    cfxml === undefined ? await listFeeds(catalog, idOrg) : [await findFeed(catalog, idOrg, cfxml)],
  );
}

/** Rows by feed and table, over all versions of the feed. `some`: the versions are not all there are. */
async function loadedRows(
  { jobs }: FeedStores,
  idOrg: number,
  versions: readonly FeedVersion[],
  some: boolean,
): Promise<(feed: Feed, tableName: string) => number> {
  const rows = new Map<string, number>();
  const idSchs = some ? versions.flatMap(({ feed }) => idsOf(feed)) : undefined;
  for (const one of await jobs.sumLoadedRows(idOrg, idSchs))
    rows.set(`${one.idSch}/${one.tableName}`, one.rows);
  return (feed, tableName) =>
    idsOf(feed).reduce((sum, idSch) => sum + (rows.get(`${idSch}/${tableName}`) ?? 0), 0);
}

/** As the DDL of PostgreSQL has it: `numeric(14,2)`, `varchar(40)[]`. */
export function columnType({ data_type, length, precision, scale }: ColumnRecord): string {
  const [, name = '', list = ''] = /^(.*?)((?:\[\])?)$/.exec(data_type) ?? [];
  if (name === 'varchar' && length !== null) return `${name}(${length})${list}`;
  if (name === 'numeric' && precision !== null) return `${name}(${precision},${scale ?? 0})${list}`;
  return data_type;
}

/** How the loader fills a column that no mapping fills. */
function loaderColumnNote({ key, name, xpath }: ColumnRecord): string {
  if (key === 'PK') return 'row key';
  if (key === 'FK') return 'key of the row above, or of one below';
  if (xpath !== null) return 'structure of the element';
  if (/^_?document_key$/i.test(name)) return 'key of the document';
  return /position$/i.test(name) ? 'position among the children' : 'made by the loader';
}

/** How a source value becomes the value of its column. */
export function transformationOf(line: MappingRecord): string {
  if (line.node_type === 'any') return 'markup as it is';
  if (line.node_type === 'mixed') return 'run of text';
  if (line.source_type === 'offset') return 'minutes ahead of UTC';
  if (line.data_type === 'boolean' && !line.source_type.startsWith('xs:')) return 'presence of the element';
  return isText(line) ? 'text as it is' : `converted to ${line.data_type}`;
}

/** The source's text is the column's value. */
export function isText({ data_type: type }: Pick<MappingRecord, 'data_type'>): boolean {
  return type === 'text' || type === 'varchar';
}
