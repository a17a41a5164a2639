/**
 * Finds the tables that hold the rows of each place after all versions of a model so far. A place with the same path keeps its table, even
 * if its type is renamed or other places start to share that type (docs/decisions/model/names-and-their-history.md).
 */
import { readUse, useText } from '../../model/column-uses.ts';
import { peekElements } from '../../model/packed/reader.ts';
import type { RelationalModel } from '../../model/relational-model.ts';
import type { Drawing, TableDraft } from '../tables/model-builder.ts';
import { noEarlierTables, type EarlierTables, type ElementNames, type Together } from './table-paths.ts';
import { createUsePrinter, namespacesOf } from './paths.ts';
import type { EarlierMeanings, NameHistory } from './history.ts';

/** Last step of a key that refers to the head of a family of types or elements: the place is that of the head. */
const headStep = '/(head)';

/**
 * Returns, by place, the paths of the tables that have its rows. Tables that hold the rows of only one place have it as their path, and are
 * left out.
 */
export function sharedPlaces(
  previous: RelationalModel,
  history: NameHistory,
  { tablePath, translate }: EarlierMeanings,
): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  const add = (place: string, table: string): void => {
    const tables = places.get(place) ?? [];
    if (table !== place && !tables.includes(table)) places.set(place, [...tables, table]);
  };
  const uses = createUsePrinter(namespacesOf(previous));
  for (const { name, node } of previous.roots) {
    const path = tablePath(previous.nodes[node]!.table);
    if (path !== null) add(translate(`/${uses.element(name)}`), path);
  }
  // if a place had several tables, it keeps the one of the last version
  for (const isFormer of [false, true])
    for (const [table, { columns }] of history.tablesWithRows())
      for (const [text, { former, hadNoRows, roles = [] }] of columns) {
        if (former !== isFormer || hadNoRows === true) continue;
        const use = text.includes('_key ') ? readUse(text) : null;
        if (use === null || use.leadsTo === null) continue;
        if (use.role === 'child_key') add(use.path, use.leadsTo);
        else if (roles.length > 0) for (const role of roles) add(`${use.leadsTo}/${role}`, table);
        else if (use.path !== use.leadsTo && !use.path.endsWith(headStep) && !isContent(table))
          add(use.path, table);
      }
  return places;
}

/**
 * Finds the tables that the next version continues. `plain`: that version as it would be drawn without them. `places`: null if no rows are
 * in them, so that only their names are kept. A table that several places share then has the name of an earlier one if only one of these
 * places had a table. `groupBefore`: see `groupTables`.
 */
export function earlierTables(
  plain: Drawing,
  places: ReadonlyMap<string, readonly string[]> | null,
  history: NameHistory,
  groupBefore: (table: string) => Together | null,
): EarlierTables {
  const hasPath = (path: string): boolean => history.rows.has(path);
  if (places === null) {
    const ofPlace = (place: string): readonly string[] => (hasPath(place) ? [place] : []);
    return { ...noEarlierTables, hasPath, continued: continuedTables(plain, ofPlace, true) };
  }
  const hadTable = (place: string, table: string): boolean =>
    (history.hadRows(place) || places.has(place)) && !history.hadColumns(table, place);
  const hadTextTable = (place: string, table: string): boolean =>
    history.hadRows(`${place}/(text)`) &&
    history.column(table, useText('value', place, null))?.former !== false;
  // places that were read in the row above, and that had tables below them, occur in the paths of those tables
  const above = new Set(
    [...history.tablesWithRows().map(([path]) => path), ...places.keys()].flatMap(stepsAbove),
  );
  const ofPlace = (place: string): readonly string[] => {
    const tables = [...(history.hadRows(place) ? [place] : []), ...(places.get(place) ?? [])];
    return tables.length > 0 || !above.has(place) ? tables : [place];
  };
  const ofType = (paths: readonly string[]): string | undefined =>
    paths.find((path) => history.hadRows(path));
  const continued = continuedTables(plain, ofPlace, false);
  const elementNames = (path: string): ElementNames | null => history.elementNames(path);
  const hasColumn = (table: string, use: string): boolean =>
    history.column(table, use)?.former === false && history.hadRows(table);
  const heads = headsOf({ hasColumn }, history, groupBefore);
  return { hasPath, hadTable, hadTextTable, hasColumn, ...heads, elementNames, ofPlace, ofType, continued };
}

/**
 * Returns a function that gives the location of the members of substitution groups in the last version, by the table of the rows that named
 * them; null if the table had none.
 */
export function groupTables(
  { nodes }: Pick<RelationalModel, 'nodes'>,
  { tablePath }: Pick<EarlierMeanings, 'tablePath'>,
): (table: string) => Together | null {
  let known: ReadonlyMap<string, Together> | null = null;
  const find = (): ReadonlyMap<string, Together> => {
    const tables = new Map<number, Together>();
    for (const { edges } of peekElements(nodes))
      for (const { substitution, head, node } of edges) {
        const { table, opensRow } = nodes[head?.node ?? node]!;
        if (substitution !== true || !opensRow) continue;
        if (head === undefined) tables.set(table, 'together');
        else if (!tables.has(table)) tables.set(table, 'apart');
      }
    return new Map([...tables].map(([table, together]) => [tablePath(table), together]));
  };
  return (table) => (known ??= find()).get(table) ?? null;
}

/** Returns, by the last version, whether rows whose element or type is one of several were in tables of their own. */
function headsOf(
  { hasColumn }: Pick<EarlierTables, 'hasColumn'>,
  history: NameHistory,
  groupBefore: (table: string) => Together | null,
): Pick<EarlierTables, 'members' | 'types'> {
  // paths of tables that rows of members or derived types refer to, and that rows of children refer to
  const heads = new Set<string>();
  const parents = new Set<string>();
  const withValues = new Set<string>();
  for (const [table, { columns }] of history.tablesWithRows())
    for (const [text, { former, hadNoRows }] of columns) {
      const use = former || hadNoRows === true ? null : readUse(text);
      if (use === null) continue;
      if (use.role === 'parent_key') (use.path.endsWith(headStep) ? heads : parents).add(use.leadsTo!);
      else if (use.path.startsWith(`${table}/`)) withValues.add(table);
    }
  return {
    members(table) {
      const names = history.elementNames(table);
      if (names === null || names.former) return null;
      const group = groupBefore(table);
      if (group !== null || names.isOfRoles) return group;
      if (withValues.has(table) || parents.has(table)) return 'together';
      return heads.has(table) ? 'apart' : null;
    },
    types(table) {
      if (!hasColumn(table, useText('type_name', table, null))) return null;
      return heads.has(table) ? 'apart' : 'together';
    },
  };
}

function stepsAbove(path: string): string[] {
  const above: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    above.push(path.slice(0, end));
  return above;
}

/**
 * Returns, by identity of a table that several places share now, the path of the earlier table that it continues: the table of its type, or
 * of the first place that had one. Places that had other tables keep those. `unlessSeveral`: a table continues none if its places had
 * several.
 */
function continuedTables(
  { tables }: Drawing,
  ofPlace: EarlierTables['ofPlace'],
  unlessSeveral: boolean,
): ReadonlyMap<string, string> {
  const continued = new Map<string, string>();
  const taken = new Set<string>();
  const ofHeads = new Set<string>();
  const paths = new Map<TableDraft, string>();
  const open = new Set<TableDraft>();
  const find = (table: TableDraft): string | null => {
    const { origin, places, identity } = table;
    if ('under' in origin) return at(origin);
    const known = origin.declared.flatMap(ofPlace).find(isFreeForType) ?? firstOf(places);
    if (known === undefined) return table.usePath;
    if (identity.startsWith('head/') && !taken.has(known)) ofHeads.add(known);
    else ofHeads.delete(known);
    taken.add(known);
    continued.set(identity, known);
    return known;
  };
  const isFree = (path: string): boolean => !taken.has(path);
  // rows of a head that had the table of its type are in that table together with rows of the type
  const isFreeForType = (path: string): boolean => isFree(path) || ofHeads.has(path);
  const firstOf = (places: TableDraft['places']): string | undefined => {
    const found = new Set<string>();
    for (const origin of places) {
      const place = 'under' in origin ? placeUnder(origin) : origin.declared[0];
      const path = place == null ? undefined : ofPlace(place).find(isFree);
      if (path === undefined) continue;
      if (!unlessSeveral) return path;
      found.add(path);
    }
    return found.size === 1 ? [...found][0] : undefined;
  };
  const placeUnder = ({ under, steps }: { under: TableDraft; steps: string }): string | null => {
    const above = pathOf(under);
    return above === null ? null : above + steps;
  };
  const at = (origin: { under: TableDraft; steps: string }): string | null => {
    const place = placeUnder(origin);
    return place === null ? null : (ofPlace(place)[0] ?? place);
  };
  /** Returns null if the table's path depends on itself and is being computed. */
  const pathOf = (table: TableDraft): string | null => {
    const known = paths.get(table);
    if (known !== undefined) return known;
    if (open.has(table)) return null;
    open.add(table);
    const path = find(table);
    open.delete(table);
    if (path !== null) paths.set(table, path);
    return path;
  };
  for (const table of tables) pathOf(table);
  return continued;
}

function isContent(table: string): boolean {
  return /\/\((?:text|any)\)$/.test(table);
}
