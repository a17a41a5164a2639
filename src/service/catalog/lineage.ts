/** Mappings, lineage and sequences of the integration catalogue: relates feeds to tables and columns. */
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type {
  ColumnRecord,
  ListSlice,
  MappingRecord,
  CatalogStore,
  TableRecord,
} from '../../ports/stores/catalog.ts';
import type { ModelSummary } from '../../engine/model/summary.ts';
import { listMappingsOfLogicalSchema } from './mapping-figures.ts';
import {
  findFeed,
  idsOf,
  listFeeds,
  targetOf,
  versionsOf,
  versionsWithin,
  type Feed,
  type FeedVersion,
} from './run-feed.ts';
import { inSlices } from '../../engine/in-slices.ts';
import { declaredKeys, type DeclaredKeys } from '../../engine/model/keys.ts';

type Stores = Pick<Adapters, 'catalog' | 'jobs'>;

/** number of runs in which the latest run of a kind is searched */
const latestRuns = 100;

/** A table that a feed loads, as in the API. */
interface FeedMapping {
  readonly cfxml: string;
  /** the table's name */
  readonly mapping: string;
  readonly group: string;
  readonly source_xpath: string;
  readonly target_table: string;
  readonly column_count: number;
  /** rows that completed runs loaded, and that were neither overwritten nor unloaded since */
  readonly rows: number;
}

/** A line of lineage as in the API. */
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

/** The row keys of a table, which are numbered from 1, as in the API. */
interface FeedSequence {
  readonly cfxml: string;
  readonly sequence: string;
  readonly target_table: string;
  readonly target_column: string;
  /** number from 1; parents come before children */
  readonly load_order: number;
  /** the highest key given out in the target that was loaded last; if unknown, the number of rows that completed runs loaded */
  readonly last_value: number;
  readonly increment: number;
}

/** A part of a list, which can be read once, and whether there is more behind it. */
interface Part<T> {
  readonly content: Iterable<T>;
  readonly more: boolean;
}

/** The mappings of one feed, or of all; `slice` absent: all of them. */
export async function listFeedMappings(
  stores: Stores,
  idOrg: number,
  cfxml?: string,
  slice?: ListSlice,
): Promise<Part<FeedMapping>> {
  const versions = await chosenVersions(stores, idOrg, cfxml);
  const { chosen, skipped } = versionsWithin(versions, ({ tableCount }) => tableCount, slice);
  const [summaries, rowsOf] = await Promise.all([
    summariesOf(stores, idOrg, chosen),
    loadedRows(stores, idOrg, chosen, chosen.length < versions.length || cfxml !== undefined),
  ]);
  const tables = chosen.flatMap((version) =>
    (summaries.get(version.idLschma)?.tables ?? []).map((table) => ({ version, table })),
  );
  return partOf(
    tables,
    ({ version, table }): FeedMapping => ({
      cfxml: version.feed.name,
      mapping: table.name,
      group: version.feed.name,
      source_xpath: table.xpath,
      target_table: table.name,
      column_count: table.columnCount,
      rows: rowsOf(version.feed, table.name),
    }),
    slice,
    skipped,
  );
}

function summariesOf(
  { catalog }: Stores,
  idOrg: number,
  versions: readonly FeedVersion[],
): Promise<ReadonlyMap<number, ModelSummary>> {
  return catalog.listModelSummaries(
    idOrg,
    versions.map(({ idLschma }) => idLschma),
  );
}

/** `skipped`: the entries in front of the slice, not read. The rest is made entry by entry as the client takes it. */
function partOf<T, U>(
  entries: readonly T[],
  map: (entry: T) => U,
  slice: ListSlice | undefined,
  skipped: number,
): Part<U> {
  const from = slice === undefined ? 0 : slice.offset - skipped;
  const to = slice === undefined ? entries.length : from + slice.limit;
  return { content: mapLazily(entries.slice(from, to), map), more: entries.length > to };
}

function* mapLazily<T, U>(entries: Iterable<T>, map: (entry: T) => U): Generator<U, void, void> {
  for (const entry of entries) yield map(entry);
}

/** Counts the mappings of each group. */
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
  const lines = (await listMappingsOfLogicalSchema(catalog, idOrg, target.idSch, target.idLschma)).filter(
    ({ id_tab }) => id_tab === table.id_tab,
  );
  const runs = await jobs.listRuns(idOrg, idsOf(feed), 0, latestRuns);
  const latest = runs.content.find(({ record, summary }) => {
    const tables = (summary as { tables?: Record<string, number> } | null)?.tables ?? {};
    const byTheseLines = record.job_type === 'Parse' && record.id_lschma === target.idLschma;
    return byTheseLines && record.status === 'completed' && Object.hasOwn(tables, mapping);
  });
  const byColumn = Map.groupBy(
    lines.filter(({ node_type: kind }) => kind !== null),
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
    if (sources.length === 0) {
      const described = lines.find((line) => line.column_name === column.name && line.xpath !== null);
      const sourceType = described?.source_type ?? null;
      const transformation = noteOfStructure.get(sourceType ?? '') ?? loaderColumnNote(column);
      return [{ ...own, source_xpath: column.xpath, source_type: sourceType, transformation }];
    }
    return sources.map((line) => ({
      ...own,
      source_xpath: line.xpath,
      source_type: line.source_type,
      transformation: transformationOf(line),
    }));
  });
}

/** Lists sequences in load order, feed by feed; `slice` absent: all of them. */
export async function listFeedSequences(
  stores: Stores,
  idOrg: number,
  cfxml?: string,
  slice?: ListSlice,
): Promise<Part<FeedSequence>> {
  const versions = await chosenVersions(stores, idOrg, cfxml);
  const { chosen, skipped } = versionsWithin(versions, ({ sequenceCount }) => sequenceCount, slice);
  const [summaries, keys, rowsOf] = await Promise.all([
    summariesOf(stores, idOrg, chosen),
    latestKeys(stores, idOrg, chosen),
    loadedRows(stores, idOrg, chosen, chosen.length < versions.length || cfxml !== undefined),
  ]);
  const tables = chosen.flatMap((version) =>
    (summaries.get(version.idLschma)?.tables ?? []).flatMap(({ name, rowKey }, at) =>
      rowKey === null ? [] : [{ version, name, rowKey, at }],
    ),
  );
  return partOf(
    tables,
    ({ version: { feed }, name, rowKey, at }) => {
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
    },
    slice,
    skipped,
  );
}

/** Returns the latest keys by feed, from the target of the last load, or from its run; feeds for which neither is known are left out. */
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
  { jobs }: Stores,
  idOrg: number,
  versions: readonly FeedVersion[],
  some: boolean,
): Promise<(feed: Feed, tableName: string) => number> {
  const idSchs = some ? versions.flatMap(({ feed }) => idsOf(feed)) : undefined;
  const rows = await jobs.sumLoadedRows(idOrg, idSchs);
  return ({ versions: all }, tableName) =>
    all.reduce((sum, { id_sch: idSch }) => sum + (rows.get(idSch)?.[tableName] ?? 0), 0);
}

/** Returns a column's type as in PostgreSQL DDL: `numeric(14,2)`, `varchar(40)[]`. */
export function columnType({ data_type, length, precision, scale }: ColumnRecord): string {
  const [, name = '', list = ''] = /^(.*?)((?:\[\])?)$/.exec(data_type) ?? [];
  if (name === 'varchar' && length !== null) return `${name}(${length})${list}`;
  if (name === 'numeric' && precision !== null) return `${name}(${precision},${scale ?? 0})${list}`;
  return data_type;
}

/** Keyed by source type of a line of structure: how the loader fills its column. */
const noteOfStructure: ReadonlyMap<string, string> = new Map([
  ['role', 'way from the row above to the element'],
  ['element name', 'name of the element'],
  ['xsi:type', 'type that xsi:type names'],
  ['xsi:nil', 'true if xsi:nil is true'],
]);

/** Describes how the loader fills a column without a mapping. */
function loaderColumnNote({ key, name, xpath }: ColumnRecord): string {
  if (key === 'PK') return 'row key';
  if (key === 'FK') return 'key of the row above, or of one below';
  if (xpath !== null) return 'structure of the element';
  if (/^_?document_key$/i.test(name)) return 'key of the document';
  return /position$/i.test(name) ? 'position among the children' : 'made by the loader';
}

/** Describes how a source value becomes the value of its column. */
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

// The facts about models for the integration catalogue: read once per model, because a model never changes.

interface TableFacts {
  readonly name: string;
  readonly xpath: string;
  /** name of the column that numbers its rows; null: it has none */
  readonly rowKey: string | null;
  /** columns in their order; ids are unique within one logical schema: `firstColumn` and up is the index of each among all columns */
  readonly columns: readonly string[];
  readonly firstColumn: number;
  /** columns with a key, by their place in the table */
  readonly keys: readonly {
    readonly at: number;
    readonly key: 'PK' | 'FK';
    readonly references: string | null;
  }[];
}

export interface FeedModel {
  readonly tables: readonly TableFacts[];
  readonly declared: DeclaredKeys;
}

export interface ModelFactsReader {
  /** Reads models by id of the logical schema. */
  read(idOrg: number, versions: readonly FeedVersion[]): Promise<ReadonlyMap<number, FeedModel>>;
}

/** columns of the models that are remembered */
const maxColumns = 500_000;
/** number of models that one query loads */
const modelsAtOnce = 100;

/** Remembers models by their SHA-256, the latest ones, for as long as it lives. */
export function createModelFacts(
  catalog: Pick<CatalogStore, 'listModelHashes' | 'listModels'>,
): ModelFactsReader {
  const known = new Map<string, FeedModel>();
  let columns = 0;

  function remember(hash: string, facts: FeedModel): void {
    known.set(hash, facts);
    columns += columnCount(facts);
    for (const [oldest, { tables }] of known) {
      if (columns <= maxColumns || oldest === hash) break;
      columns -= columnCount({ tables });
      known.delete(oldest);
    }
  }

  return {
    async read(idOrg, versions) {
      const ids = versions.map(({ idLschma }) => idLschma);
      const hashes = await catalog.listModelHashes(idOrg, ids);
      const found = new Map<string, FeedModel>();
      const missing = new Map<string, number>();
      for (const [idLschma, hash] of hashes) {
        const facts = known.get(hash);
        if (facts === undefined) missing.set(hash, idLschma);
        else found.set(hash, facts);
      }
      const wanted = [...missing];
      for (let at = 0; at < wanted.length; at += modelsAtOnce) {
        const some = wanted.slice(at, at + modelsAtOnce);
        const models = await catalog.listModels(
          idOrg,
          some.map(([, idLschma]) => idLschma),
        );
        for (const [hash, idLschma] of some) {
          const read = models.get(idLschma);
          if (read === undefined) continue;
          const facts = {
            tables: tableFacts(read.tables),
            declared: await inSlices(declaredKeys(read.model)),
          };
          remember(hash, facts);
          found.set(hash, facts);
        }
      }
      return new Map(
        [...hashes].flatMap(([idLschma, hash]) => {
          const facts = found.get(hash);
          return facts === undefined ? [] : [[idLschma, facts] as const];
        }),
      );
    },
  };
}

function columnCount({ tables }: Pick<FeedModel, 'tables'>): number {
  return tables.reduce((sum, table) => sum + table.columns.length, 0);
}

function tableFacts(tables: readonly TableRecord[]): TableFacts[] {
  let firstColumn = 0;
  return tables.map(({ name, xpath, columns }) => {
    const keys = columns.flatMap(({ key, references }, at) =>
      key === null ? [] : [{ at, key, references }],
    );
    const facts = {
      name,
      xpath,
      rowKey: columns.find(({ key }) => key === 'PK')?.name ?? null,
      columns: columns.map((column) => column.name),
      firstColumn,
      keys,
    };
    firstColumn += columns.length;
    return facts;
  });
}
