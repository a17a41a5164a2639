/**
 * Keys of the tables that feeds load: primary and foreign ones from the model, natural ones that people declare or, where they
 * declare none for a table, that the XSD does; its keyrefs are foreign keys beside those.
 */
import { inSlices, mapInSlices, type Steps } from '../../engine/in-slices.ts';
import type { ColumnRole, RelationalModel } from '../../engine/model/relational-model.ts';
import { AppError } from '../../errors.ts';
import type { ErrorDetail } from '../../errors.ts';
import type { CatalogStore, NaturalKeyColumn, TableRecord } from '../../ports/stores/catalog.ts';
import type { Page } from '../../ports/stores/jobs.ts';
import { findFeed, targetOf, targetsOf } from './list.ts';

/** In wire form. */
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
  catalog: CatalogStore,
  idOrg: number,
  cfxml: string | undefined,
  page: number,
  size: number,
): Promise<Page<FeedKey>> {
  const feeds = cfxml === undefined ? undefined : [await findFeed(catalog, idOrg, cfxml)];
  const keys: FeedKey[] = [];
  for (const { feed, idSch, idLschma, tables } of await targetsOf(catalog, idOrg, feeds)) {
    const natural = Map.groupBy(await catalog.listNaturalKeys(idOrg, idSch), ({ tableName }) => tableName);
    const logical = await catalog.loadLogicalSchema(idOrg, { idLschma });
    const declared = logical === null ? noDeclaredKeys : await inSlices(declaredKeys(logical.model));
    await mapInSlices(tables, (table) => {
      const chosen = natural.get(table.name) ?? declared.natural.get(table.name) ?? [];
      keys.push(...keysOf(feed.name, table, chosen), ...declaredReferences(feed.name, table, declared));
    });
  }
  return { content: keys.slice(page * size, (page + 1) * size), page, size, totalElements: keys.length };
}

function keysOf(cfxml: string, table: TableRecord, natural: readonly NaturalKeyColumn[]): FeedKey[] {
  const own = table.columns.flatMap(({ id_col, name, key, references }): FeedKey[] =>
    key === null
      ? []
      : [
          {
            id_col,
            cfxml,
            table_name: table.name,
            column_name: name,
            key_type: key,
            references,
            position: 1,
          },
        ],
  );
  const declared = natural.flatMap(({ columnName, position }): FeedKey[] => {
    const column = table.columns.find(({ name }) => name === columnName);
    if (column === undefined) return [];
    const { id_col, name, references } = column;
    return [
      { id_col, cfxml, table_name: table.name, column_name: name, key_type: 'NK', references, position },
    ];
  });
  return [...own, ...declared];
}

interface DeclaredKeys {
  /** by table: of its keys and uniques the first, keys before uniques */
  readonly natural: ReadonlyMap<string, readonly NaturalKeyColumn[]>;
  /** by table and column, `table.column`: the column that keyrefs lead to */
  readonly references: ReadonlyMap<string, { readonly to: string; readonly position: number }>;
}

const noDeclaredKeys: DeclaredKeys = { natural: new Map(), references: new Map() };

function* declaredKeys({ tables, identityRules: rules = [] }: RelationalModel): Steps<DeclaredKeys> {
  const natural = new Map<string, NaturalKeyColumn[]>();
  const references = new Map<string, { to: string; position: number }>();
  for (const kind of ['key', 'unique', 'keyref'] as const) {
    for (const rule of rules) {
      if (rule.kind !== kind) continue;
      const targets = rule.refers === null ? [] : rules[rule.refers]!.tables;
      for (const { table, columns } of rule.tables) {
        yield;
        const { name: tableName, columns: own } = tables[table]!;
        if (kind !== 'keyref' && natural.has(tableName)) continue;
        const names = columns.map((at) => own[at]!.name);
        if (kind !== 'keyref') {
          natural.set(
            tableName,
            names.map((columnName, at) => ({ tableName, columnName, position: at + 1 })),
          );
          continue;
        }
        // a key of several tables is no column's target
        const [target] = targets;
        if (target === undefined || targets.length > 1) continue;
        for (const [at, name] of names.entries()) {
          const parent = tables[target.table]!;
          const to = `${parent.name}.${parent.columns[target.columns[at]!]!.name}`;
          references.set(`${tableName}.${name}`, { to, position: at + 1 });
        }
      }
    }
  }
  return { natural, references };
}

function declaredReferences(cfxml: string, table: TableRecord, { references }: DeclaredKeys): FeedKey[] {
  return table.columns.flatMap(({ id_col, name, key }): FeedKey[] => {
    const found = key === null ? references.get(`${table.name}.${name}`) : undefined;
    if (found === undefined) return [];
    const { to, position } = found;
    return [
      {
        id_col,
        cfxml,
        table_name: table.name,
        column_name: name,
        key_type: 'FK',
        references: to,
        position,
      },
    ];
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
 * Declares and drops natural keys, all or nothing. AppError `not_found` names what is not there, `invalid_body` what cannot be
 * part of a natural key.
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
      return [{ pointer: `/keys/${at}/table_name`, detail: 'is no table of the feed' }];
    return table.columns.some(({ name }) => name === columnName)
      ? []
      : [{ pointer: `/keys/${at}/column_name`, detail: 'is no column of the table' }];
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
    const detail = `is ${what}, which the loader makes: a natural key has columns with content of the documents`;
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

/** Places are numbered anew, from 1 in every table. */
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
