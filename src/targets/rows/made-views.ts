/** Chooses the views that a load makes in a database, for the tables and columns that exist there, and recognizes its views later. */
import type { ColumnType, RelationalModel } from '../../engine/model/relational-model.ts';
import type { Dialect } from '../../engine/sql/dialect.ts';
import { commentLine } from '../../engine/sql/comment-text.ts';
import type { CreatedView } from '../../engine/views/create-view.ts';
import type { PhysicalTable } from '../../engine/sql/physical-model.ts';
import type { SinkPlan } from '../../ports/row-sink.ts';

/** The end of the comment of a view that a load made. */
export const viewMark = 'Made by the load, which keeps it up to date.';

/**
 * Returns the comment of a view with a digest of its definition. The digest identifies the definition, because databases rewrite the text
 * of a view in their own way.
 */
export async function markedComment({ comment, query }: CreatedView): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(query)));
  const told = Array.from(digest.slice(0, 6), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${commentLine(comment, null)} (${told}) ${viewMark}`;
}

export interface ExistingColumns {
  readonly dialect: Dialect;
  readonly sqlSchema?: string;
  /** `_documents` has the times until which its documents are valid */
  readonly knowsVersions: boolean;
  readonly hasTable: (table: number) => boolean;
  /** the type of a column of an existing table: the one of the model, text, or another one; null if the table does not have the column */
  readonly typeOf: (table: number, column: number) => 'as modelled' | 'text' | 'other' | null;
  /** all columns of a table, with their comments */
  readonly columnsOf: (table: number) => readonly ExistingColumn[];
}

export interface ExistingColumn {
  readonly name: string;
  readonly comment: string | null;
}

/**
 * Matches the comments of value columns, which begin with a path. Comments of keys and positions do not; they mention a path in brackets.
 */
const valueComment = /^\/\S*(?! \()(?:$|\s)/;

/** A view that a load makes. */
export interface LoadView extends CreatedView {
  /** this job is asked for the view; other views are only kept up to date if they exist */
  readonly isWanted: boolean;
}

export interface WantedViews {
  /** `--views` */
  readonly entities: boolean;
  /** `--history` */
  readonly current: boolean;
}

/** Returns the views of the business entities, and the views of current rows if documents are merged. `tables`: the model's. */
export async function viewsOver(
  plan: SinkPlan,
  tables: readonly PhysicalTable[],
  there: ExistingColumns,
  wanted: WantedViews,
): Promise<readonly LoadView[]> {
  const entities = await entityViewsOver(plan, tables, there);
  const names = new Set(entities.map(({ name }) => name.toLowerCase()));
  const current = there.knowsVersions ? await currentViewsOver(plan.model, there) : [];
  return [
    ...entities.map((view) => ({ ...view, isWanted: wanted.entities })),
    ...current
      .filter(({ name }) => !names.has(name.toLowerCase()))
      .map((view) => ({ ...view, isWanted: wanted.current })),
  ];
}

// the module that creates views is loaded only when views are wanted: most loads want none

async function currentViewsOver(
  model: RelationalModel,
  { dialect, sqlSchema, hasTable, columnsOf }: ExistingColumns,
): Promise<readonly CreatedView[]> {
  const { currentViews } = await import('../../engine/views/statements.ts');
  return currentViews(model, {
    dialect,
    sqlSchema: sqlSchema ?? null,
    columnsOf: (table) => (hasTable(table) ? columnsOf(table).map(({ name }) => name) : null),
  });
}

async function entityViewsOver(
  { model, enumerations }: SinkPlan,
  tables: readonly PhysicalTable[],
  { dialect, sqlSchema, hasTable, typeOf, columnsOf }: ExistingColumns,
): Promise<readonly CreatedView[]> {
  const { entityViews } = await import('../../engine/views/statements.ts');
  const valuesAt = await enumerations?.();
  const types = model.tables.map(({ columns }, table) =>
    hasTable(table) ? columns.map((_, column) => typeOf(table, column)) : null,
  );
  return entityViews(withTypes(model, types), {
    dialect,
    ...(sqlSchema === undefined ? {} : { sqlSchema }),
    tables: new Set(types.flatMap((of, table) => (of === null ? [] : [table]))),
    hasColumn: (table, column) => (types[table]?.[column] ?? null) !== null,
    enumeration: (table, column) => valuesAt?.(table, column)?.values ?? null,
    further: (table) => {
      // versions of a schema with other columns may have loaded rows: the view shows their values too, whichever version loads last
      const own = new Set(tables[table]!.columns.map(({ name }) => name.toLowerCase()));
      return columnsOf(table)
        .filter(({ name, comment }) => !own.has(name.toLowerCase()) && valueComment.test(comment ?? ''))
        .map(({ name }) => name);
    },
  });
}

/**
 * Gives columns the types that they have in the database. Text cannot be summed, a number cannot be concatenated, and a timestamp without a
 * time zone is no instant.
 */
function withTypes(
  model: RelationalModel,
  types: readonly (readonly ReturnType<ExistingColumns['typeOf']>[] | null)[],
): RelationalModel {
  return {
    ...model,
    tables: model.tables.map((table, index) => ({
      ...table,
      columns: table.columns.map((column, at) => {
        const found = types[index]?.[at] ?? 'as modelled';
        return found === 'as modelled' ? column : { ...column, type: existingType(column.type, found) };
      }),
    })),
  };
}

function existingType(type: ColumnType, found: 'text' | 'other'): ColumnType {
  if (found === 'text') return { kind: 'text' };
  // the model has text, but the database has an unknown other type: any type that is not text will do
  if (type.kind === 'text') return { ...type, kind: 'boolean' };
  return type.kind === 'timestamptz' ? { ...type, kind: 'timestamp' } : type;
}
