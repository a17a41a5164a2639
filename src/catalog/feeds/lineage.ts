/** From feeds to tables to columns: mappings, lineage and sequences of the integration catalogue. */
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { ColumnRecord, MappingRecord } from '../../ports/stores/catalog.ts';
import { findFeed, idsOf, listFeeds, targetOf, targetsOf } from './list.ts';
import type { Feed, FeedTarget } from './list.ts';

type Stores = Pick<Adapters, 'catalog' | 'jobs'>;

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

/** The mappings of one feed, or of all. */
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

/** In load order, feed by feed. */
export async function listFeedSequences(
  stores: Stores,
  idOrg: number,
  cfxml?: string,
): Promise<readonly FeedSequence[]> {
  const sequences: FeedSequence[] = [];
  const rowsOf = await loadedRows(stores, idOrg);
  for (const target of await chosenTargets(stores, idOrg, cfxml)) {
    const keys = await latestKeys(stores, idOrg, target.feed);
    for (const [at, table] of target.tables.entries()) {
      const key = table.columns.find((column) => column.key === 'PK');
      if (key === undefined) continue;
      sequences.push({
        cfxml: target.feed.name,
        sequence: `${table.name}_${key.name}_seq`,
        target_table: table.name,
        target_column: key.name,
        load_order: at + 1,
        last_value: keys === null ? rowsOf(target, table.name) : (keys.get(table.name) ?? 0),
        increment: 1,
      });
    }
  }
  return sequences;
}

/** As the target that the feed was loaded into last tells it, or told the run; null where neither is known. */
async function latestKeys(
  { catalog, jobs }: Stores,
  idOrg: number,
  feed: Feed,
): Promise<ReadonlyMap<string, number> | null> {
  const { content } = await jobs.listRuns(idOrg, idsOf(feed), 0, latestRuns);
  const latest = content.find(
    ({ record }) =>
      record.status === 'completed' && record.job_type === 'Parse' && record.parm_path_output !== null,
  );
  const sqlSchema = /^metadb:(.+)$/.exec(latest?.record.parm_path_output ?? '')?.[1];
  const summary = latest?.summary as { readonly details?: { readonly keys?: Record<string, number> } } | null;
  const recordedKeys = summary?.details?.keys;
  const known = recordedKeys === undefined ? null : new Map(Object.entries(recordedKeys));
  return sqlSchema === undefined ? known : ((await catalog.targetKeys(idOrg, sqlSchema)) ?? known);
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
