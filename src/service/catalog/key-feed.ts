/**
 * Keys of the tables that feeds load: primary and foreign ones from the model, natural ones that people declare or, for a table without
 * any, that the XSD declares; its keyrefs are additional foreign keys.
 */
import { mapInSlices } from '../../engine/in-slices.ts';
import type { ColumnRole } from '../../engine/model/relational-model.ts';
import { AppError, type ErrorDetail } from '../../errors.ts';
import type { CatalogStore, NaturalKeyColumn } from '../../ports/stores/catalog.ts';
import type { Page } from '../../ports/stores/jobs.ts';
import { findFeed, listFeeds, targetOf, versionsOf, versionsWithin, type FeedVersion } from './run-feed.ts';
import type { FeedModel, ModelFactsReader } from './lineage.ts';

/** A key as in the API. */
export interface FeedKey {
  readonly id_col: number;
  readonly cfxml: string;
  readonly table_name: string;
  readonly column_name: string;
  readonly key_type: 'PK' | 'FK' | 'NK';
  /** `table.column` */
  readonly references: string | null;
  /** place within the key, from 1 */
  readonly position: number;
}

export interface KeyChange {
  readonly tableName: string;
  readonly columnName: string;
  /** false: no part of a natural key any more */
  readonly natural: boolean;
  /** absent: behind the others */
  readonly position?: number;
}

/** The keys of one feed, or of all; table by table, in the order of columns, natural keys last. */
export async function listFeedKeys(
  { catalog, models }: { readonly catalog: CatalogStore; readonly models: ModelFactsReader },
  idOrg: number,
  cfxml: string | undefined,
  page: number,
  size: number,
): Promise<Page<FeedKey>> {
  const feeds =
    cfxml === undefined ? await listFeeds(catalog, idOrg) : [await findFeed(catalog, idOrg, cfxml)];
  const versions = versionsOf(feeds);
  const natural = await catalog.listNaturalKeysOf(
    idOrg,
    versions.map(({ idSch }) => idSch),
  );
  const counts = await keyCounts(models, idOrg, versions, natural);
  const total = versions.reduce((sum, version) => sum + counts(version), 0);
  const slice = { offset: page * size, limit: size };
  const { chosen, skipped } = versionsWithin(versions, counts, slice);
  const facts = await models.read(idOrg, chosen);
  const keys = await mapInSlices(chosen, (version) => {
    const model = facts.get(version.idLschma);
    return model === undefined ? [] : keyPlaces(model, natural.get(version.idSch) ?? []);
  });
  const content: FeedKey[] = [];
  let before = skipped;
  for (const [at, version] of chosen.entries()) {
    const all = keys[at]!;
    const some = all.slice(
      Math.max(0, slice.offset - before),
      Math.max(0, slice.offset + slice.limit - before),
    );
    before += all.length;
    if (some.length === 0) continue;
    const ids = (await catalog.listTables(idOrg, version.idLschma)).flatMap(({ columns }) =>
      columns.map(({ id_col }) => id_col),
    );
    for (const { column, ...key } of some)
      content.push({ id_col: ids[column]!, cfxml: version.feed.name, ...key });
  }
  return { content, page, size, totalElements: total };
}

/** Numbers of keys by version. Models are read only if people have declared keys of their tables. */
async function keyCounts(
  models: ModelFactsReader,
  idOrg: number,
  versions: readonly FeedVersion[],
  natural: ReadonlyMap<number, readonly NaturalKeyColumn[]>,
): Promise<(version: FeedVersion) => number> {
  const changed = versions.filter(({ idSch }) => natural.has(idSch));
  const facts = await models.read(idOrg, changed);
  const counts = new Map<FeedVersion, number>();
  for (const version of changed) {
    const model = facts.get(version.idLschma);
    counts.set(version, model === undefined ? 0 : keyPlaces(model, natural.get(version.idSch)!).length);
  }
  return (version) => counts.get(version) ?? version.keyCount;
}

/** A key whose column is given by its index among all columns of the model. */
type KeyPlace = Omit<FeedKey, 'id_col' | 'cfxml'> & { readonly column: number };

function keyPlaces({ tables, declared }: FeedModel, naturalKeys: readonly NaturalKeyColumn[]): KeyPlace[] {
  const natural = Map.groupBy(naturalKeys, ({ tableName }) => tableName);
  return tables.flatMap((table) => {
    const place = (at: number, key: Pick<FeedKey, 'key_type' | 'references' | 'position'>): KeyPlace => ({
      table_name: table.name,
      column_name: table.columns[at]!,
      ...key,
      column: table.firstColumn + at,
    });
    const byPlace = new Map(table.keys.map((key) => [key.at, key]));
    const own = table.keys.map(({ at, key, references }) =>
      place(at, { key_type: key, references, position: 1 }),
    );
    const chosen = natural.get(table.name) ?? declared.natural.get(table.name) ?? [];
    const ofPeople = chosen.flatMap(({ columnName, position }) => {
      const at = table.columns.indexOf(columnName);
      if (at < 0) return [];
      return [place(at, { key_type: 'NK', references: byPlace.get(at)?.references ?? null, position })];
    });
    const references =
      declared.references.size === 0
        ? []
        : table.columns.flatMap((name, at) => {
            const found = byPlace.has(at) ? undefined : declared.references.get(`${table.name}.${name}`);
            return found === undefined
              ? []
              : [place(at, { key_type: 'FK', references: found.to, position: found.position })];
          });
    return [...own, ...ofPeople, ...references];
  });
}

/** Columns that number rows: every value is new with every load. */
const structuralRoles: Readonly<Partial<Record<ColumnRole, string>>> = {
  row_key: 'the row key',
  parent_key: 'the key of the parent row',
  child_key: 'the key of the row of a child',
  position: 'the position among the children',
  folded_position: 'the position of a child',
  document: 'the key of the document',
};

/**
 * Declares and drops natural keys, all or none. AppError `not_found` names missing columns, `invalid_body` columns that cannot be part
 * of a natural key.
 */
export async function updateFeedKeys(
  catalog: CatalogStore,
  idOrg: number,
  cfxml: string,
  changes: readonly KeyChange[],
): Promise<void> {
  const feed = await findFeed(catalog, idOrg, cfxml);
  const target = await targetOf(catalog, idOrg, feed);
  if (target === null) throw new AppError('not_found', 'the feed has no tables yet');
  const tables = new Map(target.tables.map((table) => [table.name, table]));
  const unknown = changes.flatMap(({ tableName, columnName }, at): ErrorDetail[] => {
    const table = tables.get(tableName);
    if (table === undefined)
      return [{ pointer: `/keys/${at}/table_name`, detail: 'is not a table of the feed' }];
    return table.columns.some(({ name }) => name === columnName)
      ? []
      : [{ pointer: `/keys/${at}/column_name`, detail: 'is not a column of the table' }];
  });
  if (unknown.length > 0)
    throw new AppError('not_found', 'there is no such table or column', { errors: unknown });
  const logical = await catalog.loadLogicalSchema(idOrg, { idLschma: target.idLschma });
  const drawn = new Map(logical?.model.tables.map((table) => [table.name, table]));
  const structural = changes.flatMap(({ tableName, columnName, natural }, at): ErrorDetail[] => {
    const table = drawn.get(tableName);
    const role = table?.columns.find(({ name }) => name === columnName)?.role;
    const what = natural && role !== undefined ? structuralRoles[role] : undefined;
    if (what === undefined) return [];
    const detail = `is ${what}, which the loader generates: a natural key must consist of columns with content of documents`;
    return [{ pointer: `/keys/${at}/column_name`, detail }];
  });
  if (structural.length > 0) {
    const { pointer, detail } = structural[0]!;
    throw new AppError('invalid_body', `${pointer.slice(1)} ${detail}`, { errors: structural });
  }
  await catalog.saveNaturalKeys(
    idOrg,
    target.idSch,
    applied(await catalog.listNaturalKeys(idOrg, target.idSch), changes),
  );
}

/** Positions are renumbered, from 1 in every table. */
function applied(keys: readonly NaturalKeyColumn[], changes: readonly KeyChange[]): NaturalKeyColumn[] {
  const byColumn = new Map(keys.map((key) => [`${key.tableName}\0${key.columnName}`, key]));
  for (const { tableName, columnName, natural, position } of changes) {
    const column = `${tableName}\0${columnName}`;
    const before = byColumn.get(column);
    byColumn.delete(column);
    if (!natural) continue;
    byColumn.set(column, {
      tableName,
      columnName,
      position: position ?? before?.position ?? Number.MAX_SAFE_INTEGER,
    });
  }
  return [...Map.groupBy(byColumn.values(), ({ tableName }) => tableName).values()].flatMap((columns) =>
    columns
      .toSorted((a, b) => a.position - b.position)
      .map((column, at) => ({ ...column, position: at + 1 })),
  );
}
