/** From feeds to tables to columns: mappings, lineage and sequences of the integration catalogue. */
import { AppError } from '../errors.ts';
import type { Adapters } from '../ports/adapters.ts';
import type { ColumnRecord, MappingRecord } from '../ports/catalog-store.ts';
import { findFeed, idsOf, listFeeds, targetOf, targetsOf } from './feeds.ts';
import type { FeedTarget } from './feeds.ts';

type Stores = Pick<Adapters, 'catalog' | 'jobs'>;

/** In wire form: a table that a feed loads. */
export interface FeedMapping {
  readonly cfxml: string;
  /** the table's name */
  readonly mapping: string;
  readonly group: string;
  readonly source_xpath: string;
  readonly target_table: string;
  readonly column_count: number;
  /** that completed runs loaded */
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
  /** the latest completed run that loaded the table */
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
  /** keys that completed runs gave out */
  readonly last_value: number;
  readonly increment: number;
}

/** Of one feed, or of all. */
export async function listFeedMappings(
  stores: Stores,
  idOrg: number,
  cfxml?: string,
): Promise<readonly FeedMapping[]> {
  const targets = await chosenTargets(stores, idOrg, cfxml);
  const rowsOf = await loadedRows(stores, idOrg);
  return targets.flatMap((target) =>
    target.tables.map((table) => ({
      cfxml: target.feed.name,
      mapping: table.name,
      group: target.feed.name,
      source_xpath: table.xpath,
      target_table: table.name,
      column_count: table.columns.length,
      rows: rowsOf(target, table.name),
    })),
  );
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
  const runs = await jobs.listRuns(idOrg, idsOf(feed), 0, 100);
  const latest = runs.content.find(({ record, summary }) => {
    const tables = (summary as { tables?: Record<string, number> } | null)?.tables ?? {};
    return record.status === 'C' && Object.hasOwn(tables, mapping);
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
      return [{ ...own, source_xpath: column.xpath, source_type: null, transformation: made(column) }];
    return sources.map((line) => ({
      ...own,
      source_xpath: line.xpath,
      source_type: line.source_type,
      transformation: transformationOf(line),
    }));
  });
}

/** In load order, feed by feed. */
export async function listFeedSequences(
  stores: Stores,
  idOrg: number,
  cfxml?: string,
): Promise<readonly FeedSequence[]> {
  const targets = await chosenTargets(stores, idOrg, cfxml);
  const rowsOf = await loadedRows(stores, idOrg);
  return targets.flatMap((target) =>
    target.tables.flatMap((table, at) => {
      const key = table.columns.find((column) => column.key === 'PK');
      if (key === undefined) return [];
      return [
        {
          cfxml: target.feed.name,
          sequence: `${table.name}_${key.name}_seq`,
          target_table: table.name,
          target_column: key.name,
          load_order: at + 1,
          last_value: rowsOf(target, table.name),
          increment: 1,
        },
      ];
    }),
  );
}

async function chosenTargets(
  { catalog }: Stores,
  idOrg: number,
  cfxml?: string,
): Promise<readonly FeedTarget[]> {
  return targetsOf(catalog, idOrg, cfxml === undefined ? undefined : [await findFeed(catalog, idOrg, cfxml)]);
}

/** Rows by feed and table, over all versions of the feed. */
async function loadedRows(
  { jobs }: Stores,
  idOrg: number,
): Promise<(target: FeedTarget, tableName: string) => number> {
  const rows = new Map<string, number>();
  for (const loaded of await jobs.sumLoadedRows(idOrg))
    rows.set(`${loaded.idSch}/${loaded.tableName}`, loaded.rows);
  return ({ feed }, tableName) =>
    idsOf(feed).reduce((sum, idSch) => sum + (rows.get(`${idSch}/${tableName}`) ?? 0), 0);
}

/** `numeric(14,2)` */
export function columnType({ data_type, length, precision, scale }: ColumnRecord): string {
  const size = precision === null ? length : scale === null ? precision : `${precision},${scale}`;
  return size === null ? data_type : `${data_type}(${size})`;
}

/** What the loader does for a column without a line of the map. */
function made({ key, name, xpath }: ColumnRecord): string {
  if (key === 'PK') return 'row key';
  if (key === 'FK') return 'key of the parent row';
  if (xpath !== null) return 'structure of the element';
  return /position$/i.test(name) ? 'position among the children' : 'made by the loader';
}

/** What becomes of the source's value on its way to the column. */
export function transformationOf(line: MappingRecord): string {
  if (line.node_type === 'any') return 'markup as it is';
  if (line.node_type === 'mixed') return 'run of text';
  if (line.data_type === 'boolean' && !line.source_type.startsWith('xs:')) return 'presence of the element';
  return line.data_type === 'text' ? 'text as it is' : `converted to ${line.data_type}`;
}
