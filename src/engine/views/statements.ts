/** CREATE VIEW for each business entity of a model. */
import { mapInSlices } from '../in-slices.ts';
import type { Enumeration } from '../metadata/enumerations.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { meantIdsOf } from '../model/references.ts';
import { sideTableNames } from '../model/side-tables.ts';
import { commentLine } from '../sql/comment-text.ts';
import type { Dialect } from '../sql/dialect.ts';
import { modelName, physicalName } from '../sql/physical-names.ts';
import { byteLength, structureWord, truncateToBytes } from '../map/names/identifiers.ts';
import { businessEntities } from './business-entities.ts';
import { createView, type CreatedView } from './create-view.ts';
import { viewContents } from './entity-columns.ts';
import { idsView, idsViewName } from './ids.ts';

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
      isThere: ({ table, column }) => has(table) && hasColumn(table, column),
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
