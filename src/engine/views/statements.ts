/** The CREATE VIEW statements of a model: views of business entities, the view `_ids`, and views of current rows. */
import { mapInSlices } from '../in-slices.ts';
import type { Enumeration } from '../metadata/enumerations.ts';
import { type RelationalModel, meantIdsOf, allIds } from '../model/relational-model.ts';
import { sideTableNames, fileKeyName } from '../model/side-tables.ts';
import { commentLine } from '../sql/comment-text.ts';
import { type Dialect, qualified } from '../sql/dialect.ts';
import { modelName, physicalName } from '../sql/physical-model.ts';
import { byteLength, structureWord, truncateToBytes } from '../map/names/identifiers.ts';
import { createView, type CreatedView, commentStatement } from './create-view.ts';
import { viewContents, type ViewContent, type ViewContents } from './entity-columns.ts';
import { rowTables } from '../model/wide-rows.ts';
import { selectedIds } from './joined-rows.ts';

export interface EntityViewsOptions {
  readonly dialect: Dialect;
  readonly sqlSchema?: string;
  /** indexes of the tables that there are; all without it */
  readonly tables?: ReadonlySet<number>;
  /** true if an existing table has the column, by indexes of both; absent: every column exists */
  readonly hasColumn?: (table: number, column: number) => boolean;
  /** returns the table's columns that the model does not have, as named in the database; absent: there are none */
  readonly further?: (table: number) => readonly string[];
  /** returns the possible values of a column, by indexes of table and column; amounts beside a credit or debit get a sign */
  readonly enumeration?: (table: number, column: number) => Enumeration | null;
}

/**
 * Creates the views of a model: for tables, named `TABLE_view`, and `_ids` if there are any. No table of the model has the name of a
 * view.
 */
export async function entityViews(
  model: RelationalModel,
  options: EntityViewsOptions,
): Promise<readonly CreatedView[]> {
  const { dialect } = options;
  const has = (table: number): boolean => options.tables?.has(table) ?? true;
  const hasColumn = options.hasColumn ?? (() => true);
  const meantIds = meantIdsOf(model);
  const contents = viewContents(model, {
    enumeration: options.enumeration ?? (() => null),
    has,
    hasColumn,
    meantIds,
  });
  const entities = await businessEntities(model, contents, has);
  const taken = new Set(
    [...model.tables.map(({ name }) => name), ...Object.values(sideTableNames)].map((name) =>
      physicalName(dialect, name).toLowerCase(),
    ),
  );
  const end = `_${structureWord('view', model.options?.nameMode ?? 'l')}`;
  const room = Math.min(model.nameMaxLength, dialect.identifierMaxBytes) - byteLength(end);
  const cut = (table: string): string => truncateToBytes(table, room).replace(/_+$/, '');
  const cutNames = Map.groupBy(model.tables, ({ name }) => cut(name));
  const views = await mapInSlices(entities, (content) => {
    const table = model.tables[content.table]!.name;
    // a name that two tables would share ends with a hash of the whole name
    const start = cutNames.get(cut(table))!.length === 1 ? cut(table) : table;
    let wanted = `${start}${end}`;
    let name = physicalName(dialect, modelName(model, wanted));
    while (taken.has(name.toLowerCase())) {
      wanted += '_';
      name = physicalName(dialect, modelName(model, wanted));
    }
    taken.add(name.toLowerCase());
    return createView(model, content, {
      dialect,
      sqlSchema: options.sqlSchema ?? null,
      name,
      further: options.further?.(content.table) ?? [],
      meantIds,
      isPresent: ({ table, column }) => has(table) && hasColumn(table, column),
    });
  });
  const ids = taken.has(idsViewName)
    ? null
    : idsView(model, {
        dialect,
        sqlSchema: options.sqlSchema ?? null,
        has,
        hasColumn,
      });
  return ids === null ? views : [...views, ids];
}

/** Returns the views as a script, in pieces: for each view a comment that describes it, then its statements. */
export function viewScript(views: readonly CreatedView[]): readonly string[] {
  return views.map(
    ({ comment, statements }, at) =>
      `${at === 0 ? '' : '\n'}-- ${commentLine(comment, null)}\n${statements.map((one) => `${one};\n`).join('')}`,
  );
}

// Selects the tables that represent the subjects of a business: repeating rows with many values or with much content below them.

/** the least share of the root's columns that must be below a row, or of the richest row's columns that a row must have */
const leastShare = { below: 0.1, alone: 0.25, inRow: 0.1 } as const;
const leastColumns = 2;
const fewestAlternatives = 2;
const maxEntities = 40;
/** most additional tables with a view, chosen for the references in their rows */
const maxReferring = 40;

/**
 * Returns the alternative tables for a row (the resource in an entry of FHIR's Bundle). Each has many more columns than the row itself.
 * They repeat as entities instead of that row.
 */
function alternatives(contents: ViewContents, own: readonly number[], table: number): readonly number[] {
  const tables = new Set<number>();
  const open = [table];
  for (const at of open)
    for (const { single, table: other } of contents.content(at).hanging) {
      if (!single || tables.has(other) || open.includes(other)) continue;
      // rows that say nothing are on the way
      if (own[other] === 0) open.push(other);
      else if (own[other]! > own[table]! * 2) tables.add(other);
    }
  return tables.size >= fewestAlternatives ? [...tables] : [];
}

/**
 * Returns the entities in the order of the tables. A table with at most one row for each row above is part of that row. A repeating table
 * is an entity if at least a tenth of all columns of a document are below it, if its rows have at least a quarter of the columns of the
 * richest ones, or if they wrap the subject of other rows. Rows of root elements repeat from document to document. Repeating tables that
 * refer to others by ids come after the entities, those with most references first. `has`: true for existing tables.
 */
export async function businessEntities(
  model: RelationalModel,
  contents: ViewContents,
  has: (table: number) => boolean,
): Promise<readonly ViewContent[]> {
  const roots = new Set(model.roots.map(({ node }) => model.nodes[node]!.table));
  const own = await mapInSlices(model.tables, (table, index) =>
    table.continues === undefined && table.kind === 'element' && has(index)
      ? contents.content(index).values.length
      : 0,
  );
  const repeating = new Set(roots);
  const below = [...own];
  await mapInSlices(own.toReversed(), (_, fromEnd) => {
    const table = own.length - 1 - fromEnd;
    if (model.tables[table]!.continues !== undefined || model.tables[table]!.kind !== 'element') return;
    for (const rows of contents.content(table).hanging) {
      if (!rows.single) repeating.add(rows.table);
      // a reference back to a table above is counted at the table's first place
      if (rows.table > table && has(rows.table)) below[table]! += below[rows.table]!;
    }
  });
  for (const table of repeating) {
    if (roots.has(table)) continue;
    for (const one of alternatives(contents, own, table)) if (has(one)) repeating.add(one);
  }
  const whole = Math.max(...[...roots].map((root) => below[root] ?? 0), 1);
  const candidates = [...repeating]
    .filter((table) => (own[table]! > 0 || contents.isWrapper(table)) && rowTables(model, table).every(has))
    .toSorted((a, b) => a - b);
  const views = await mapInSlices(candidates, (table) => contents.of(table));
  const richest = Math.max(...views.map(({ weight }) => weight), 1);
  const wrappers = new Set(views.filter(({ table }) => contents.isWrapper(table)));
  const entities = views
    .filter(
      (view) =>
        wrappers.has(view) ||
        (view.weight >= leastColumns &&
          view.weight >= richest * leastShare.inRow &&
          (below[view.table]! >= whole * leastShare.below || view.weight >= richest * leastShare.alone)),
    )
    .toSorted((a, b) => Number(wrappers.has(b)) - Number(wrappers.has(a)) || b.weight - a.weight)
    .slice(0, maxEntities);
  const chosen = new Set(entities);
  const referring = views
    .filter((view) => view.references > 0 && !chosen.has(view))
    .toSorted((a, b) => b.references - a.references || b.weight - a.weight)
    .slice(0, maxReferring);
  return [...entities, ...referring].toSorted((a, b) => a.table - b.table);
}

// The view `_ids`: of each `xs:ID` in the documents, which row it is of, so that references (`xs:IDREF`) are followed by joins.

export const idsViewName = '_ids';

export interface IdsViewOptions {
  readonly dialect: Dialect;
  readonly sqlSchema: string | null;
  readonly has: (table: number) => boolean;
  readonly hasColumn: (table: number, column: number) => boolean;
}

/** Returns null if no existing table has ids. */
export function idsView(
  model: RelationalModel,
  { dialect, sqlSchema, has, hasColumn }: IdsViewOptions,
): CreatedView | null {
  const there = allIds(model).filter(({ table, column }) => has(table) && hasColumn(table, column));
  const { columns, union } = selectedIds(model, there, { dialect, sqlSchema });
  if (union === '') return null;
  const view = { sqlSchema, table: physicalName(dialect, idsViewName) };
  // outside of the union, so that PostgreSQL looks up an id in the index of each table
  const query = `SELECT * FROM (\n${union}\n) i WHERE ${columns.id} IS NOT NULL`;
  const comment =
    'One row for each id that documents have: the table and the key of the row it is of. A reference is followed by the key of its document and its value.';
  const create = `CREATE VIEW ${qualified(dialect, view)} AS\n${query}`;
  return {
    name: view.table,
    comment,
    query,
    statements: [create, ...commentStatement(dialect, view, comment)],
  };
}

// Views of the rows of documents that no other document has replaced: one for each table, `TABLE_current`.

export interface CurrentRowsOptions {
  readonly dialect: Dialect;
  readonly sqlSchema: string | null;
  /** columns that the table has, as the database names them; null: it is not there */
  readonly columnsOf: (table: number) => readonly string[] | null;
}

export function currentViews(
  model: RelationalModel,
  { dialect, sqlSchema, columnsOf }: CurrentRowsOptions,
): readonly CreatedView[] {
  const quoted = (name: string): string => dialect.quote(name);
  const relation = (table: string): string =>
    qualified(dialect, { sqlSchema, table: physicalName(dialect, table) });
  const taken = new Set(model.tables.map(({ name }) => physicalName(dialect, name).toLowerCase()));
  const word = structureWord('current', model.options?.nameMode ?? 'l');
  return model.tables.flatMap((table, index): CreatedView[] => {
    const columns = columnsOf(index);
    const key = table.columns.find(({ role }) => role === 'document');
    if (columns === null || key === undefined) return [];
    let wanted = `${table.name}_${word}`;
    let name = physicalName(dialect, modelName(model, wanted));
    for (; taken.has(name.toLowerCase()); name = physicalName(dialect, modelName(model, wanted)))
      wanted += '_';
    taken.add(name.toLowerCase());
    const query = `SELECT ${columns.map((column) => `r.${quoted(column)}`).join(', ')}
FROM ${relation(table.name)} r
JOIN ${relation(sideTableNames.documents)} d ON d.${quoted(fileKeyName)} = r.${quoted(physicalName(dialect, key.name))}
WHERE d.${quoted('valid_to')} IS NULL`;
    return [
      {
        name,
        comment: `Rows of ${table.name} of documents that no other one has replaced.`,
        query,
        statements: [`CREATE VIEW ${qualified(dialect, { sqlSchema, table: name })} AS\n${query}`],
      },
    ];
  });
}
