/**
 * Names that earlier versions of a model gave, and their meanings. A table or column with the same path and role keeps its name, so that
 * targets can be upgraded. A name that had another meaning is not given again, because a target may still hold the old table or column.
 */
import { listCountUse, listTablePath, readUse, useOf, useText } from '../../model/column-uses.ts';
import { roleStep } from '../../model/keys.ts';
import { hasLists, withOtherParts } from '../../model/packed/models.ts';
import type {
  Column,
  ColumnRole,
  ColumnType,
  FormerTable,
  RelationalModel,
  Table,
} from '../../model/relational-model.ts';
import type { SourceModel } from '../../model/source-model.ts';
import { rowTables } from '../../model/wide-rows.ts';
import { columnBytes, type PreviousParts, maxRowBytes } from '../tables/wide-rows.ts';
import type { ElementNames } from './table-paths.ts';
import { typeTranslation } from './type-names.ts';
import { createUsePrinter, namespacesOf, useTranslation, type UseNamespaces } from './paths.ts';
import { columnPath, type ColumnDraft, type TableDraft } from '../tables/model-builder.ts';

/** Keyed by name in lower case: the path or use that the name belongs to. */
export type Meanings = ReadonlyMap<string, string>;

export interface PreviousNames {
  readonly tableMeanings: Meanings;
  hasPath(path: string): boolean;
  /** name of the (first) table of that path */
  table(path: string): string | undefined;
  columnMeanings(path: string): Meanings;
  /** name of the column with that use in the rows of a path */
  column(path: string, use: string): string | undefined;
  /** the roles of a key with that use (`Column.roles`); null: rows of that path never had such a key */
  roles(path: string, use: string): readonly string[] | null;
  /** the column that names the elements of the rows of a path; null: there was none */
  elementNames(path: string): ElementNames | null;
  /** type of that column */
  columnType(path: string, use: string): ColumnType | undefined;
  /** how rows were split over tables; null: they were not, or in no way that counts */
  parts(path: string): PreviousParts | null;
  /** name of the table that had part (1, 2 …) of these rows */
  continuation(path: string, part: number): string | undefined;
}

const noMeanings: Meanings = new Map();

export const noPreviousNames: PreviousNames = {
  tableMeanings: noMeanings,
  hasPath: () => false,
  table: () => undefined,
  columnMeanings: () => noMeanings,
  column: () => undefined,
  roles: () => null,
  elementNames: () => null,
  columnType: () => undefined,
  parts: () => null,
  continuation: () => undefined,
};

export interface EarlierChoices {
  /** false: names are chosen again, and avoid those that had another meaning */
  readonly keepNames: boolean;
  /** false: rows are split over tables anew, without regard to earlier versions */
  readonly keepSplits: boolean;
}

export function previousNames(
  history: NameHistory,
  { keepNames, keepSplits }: EarlierChoices,
): PreviousNames {
  const rowsAt = (path: string): RowHistory | undefined => history.rows.get(path);
  return {
    tableMeanings: history.tableMeanings,
    hasPath: (path) => history.rows.has(path),
    table: (path) => (keepNames ? rowsAt(path)?.names[0] : undefined),
    columnMeanings: (path) => rowsAt(path)?.meanings ?? noMeanings,
    column: (path, use) => (keepNames ? rowsAt(path)?.columns.get(use)?.name : undefined),
    roles: (path, use) => {
      const column = rowsAt(path)?.columns.get(use);
      return column === undefined ? null : (column.roles ?? []);
    },
    elementNames: (path) => (keepNames && keepSplits ? history.elementNames(path) : null),
    columnType: (path, use) => (keepNames ? rowsAt(path)?.columns.get(use)?.type : undefined),
    parts: (path) => (keepNames && keepSplits ? (rowsAt(path)?.previousParts() ?? null) : null),
    continuation: (path, part) => (keepNames ? rowsAt(path)?.names[part] : undefined),
  };
}

/** The meanings of an earlier model's tables and columns, in terms of the later model. */
export interface EarlierMeanings {
  tablePath(table: number): string;
  columnUse(table: number, column: Column): string;
  /** Translates paths and uses that are no longer in the model. */
  translate(text: string): string;
}

/**
 * Returns a function that rewrites paths and uses of a model in the form in which the later model prints them. `source`: the source of the
 * later model; absent: the source that the model itself was made from.
 */
export function translationOf(
  model: RelationalModel,
  later: UseNamespaces,
  source?: Pick<SourceModel, 'types'>,
): (text: string) => string {
  const inNamespaces = useTranslation(namespacesOf(model), later);
  if (source === undefined) return inNamespaces;
  const ofTables = [...model.tables, ...(model.formerTables ?? [])].map(({ path }) => path);
  const { foldedPlaces = [], foldedTables = [] } = model;
  const paths = [...ofTables, ...foldedPlaces, ...foldedTables].map(inNamespaces);
  const ofTypes = typeTranslation(paths, source, createUsePrinter(later));
  return (text) => ofTypes(inNamespaces(text));
}

/** Reads the meanings from a model that records them. `source`: see `translationOf`. */
export function recordedMeanings(
  model: RelationalModel,
  later: UseNamespaces,
  source?: Pick<SourceModel, 'types'>,
): EarlierMeanings {
  const translate = translationOf(model, later, source);
  return {
    tablePath: (table) => translate(model.tables[table]!.path),
    columnUse: (_, column) => translate(useOf(column, model.tables)),
    translate,
  };
}

export class NameHistory {
  readonly rows = new Map<string, RowHistory>();
  readonly tableMeanings = new Map<string, string>();
  /** tables whose columns have all moved to other tables: their names stay reserved */
  readonly #renamed: FormerTable[] = [];
  /** former tables as the earlier model records them */
  readonly #recorded: readonly FormerTable[];

  constructor(model: RelationalModel, meanings: EarlierMeanings) {
    this.#recorded = model.formerTables ?? [];
    for (const [index, table] of model.tables.entries())
      if (table.continues === undefined) this.#addRows(model, index, table, meanings);
    for (const { name, path, columns, hadNoRows } of model.formerTables ?? []) {
      const uses = columns.map((column) => meanings.translate(column.use));
      if (this.#isFormerName(meanings.translate(path), name, uses)) {
        this.#rename(meanings.translate(path), name, columns, uses);
        continue;
      }
      const rows = this.#rowsAt(meanings.translate(path), name);
      rows.hadRows ||= hadNoRows !== true;
      for (const [at, column] of columns.entries()) {
        const use = uses[at]!;
        const part = rows.part(name);
        rows.add(part, column.name, use, true, hadNoRows === true ? { hadNoRows } : {});
        if (hadNoRows !== true) rows.widen(part, use.startsWith('count ') ? 0 : columnBytes(roleOf(use)));
      }
    }
  }

  /** Returns the column that the versions had for that use in the rows of a path. The last version has it unless it is `former`. */
  column(path: string, use: string): Pick<HistoricColumn, 'former' | 'hadNoRows' | 'roles'> | undefined {
    return this.rows.get(path)?.columns.get(use);
  }

  /**
   * Returns the column with the names of the elements that are rows of a path, that of the last version if it has one; null if rows had
   * none.
   */
  elementNames(path: string): ElementNames | null {
    if (!this.hadRows(path)) return null;
    const known = [false, true].flatMap((isOfRoles): ElementNames[] => {
      const place = isOfRoles ? `${path}${roleStep}` : path;
      const column = this.column(path, useText('element_name', place, null));
      return column === undefined || column.hadNoRows === true ? [] : [{ isOfRoles, former: column.former }];
    });
    return known.find(({ former }) => !former) ?? known[0] ?? null;
  }

  /** Returns whether a version had a table of that path. */
  hadRows(path: string): boolean {
    return this.rows.get(path)?.hadRows === true;
  }

  /** Returns whether rows of the table had columns in the last version for content of a place below them. */
  hadColumns(table: string, place: string): boolean {
    const columns = this.rows.get(table)?.columns ?? [];
    return [...columns].some(([text, { former }]) => {
      const use = former ? null : readUse(text);
      if (use === null || use.role === 'parent_key') return false;
      return use.path.startsWith(`${place}/`) || (use.path === place && use.role !== 'child_key');
    });
  }

  tablesWithRows(): readonly (readonly [path: string, rows: RowHistory])[] {
    return [...this.rows].filter(([, { hadRows }]) => hadRows);
  }

  /** Returns whether all columns of the table are in other tables now: it is a former name of the rows, not a part of them. */
  #isFormerName(path: string, name: string, uses: readonly string[]): boolean {
    const rows = this.rows.get(path);
    if (rows === undefined || rows.names.includes(name)) return false;
    return uses.every((use) => rows.columns.has(use));
  }

  /** Records a table as renamed: its names stay reserved. */
  #rename(path: string, name: string, columns: FormerTable['columns'], uses: readonly string[]): void {
    this.#mean(name, path);
    const { meanings } = this.rows.get(path)!;
    for (const [at, column] of columns.entries()) {
      const lower = column.name.toLowerCase();
      if (!meanings.has(lower)) meanings.set(lower, uses[at]!);
    }
    this.#renamed.push({
      name,
      path,
      columns: columns.map((column, at) => ({ name: column.name, use: uses[at]! })),
    });
  }

  #addRows(model: RelationalModel, index: number, first: Table, meanings: EarlierMeanings): void {
    const path = meanings.tablePath(index);
    const parts = rowTables(model, index).map((part) => model.tables[part]!);
    const rows = this.#rowsAt(path, first.name);
    rows.hadRows = true;
    for (const { name } of parts) {
      this.#mean(name, path);
      rows.part(name);
    }
    rows.later(() => {
      for (const { name, columns } of parts)
        this.#addColumns(rows, rows.part(name), index, columns, meanings);
    });
    // the names of these tables are recorded with columns
    if (parts.some(hasLists)) this.#addListTables(parts, meanings);
  }

  #addColumns(
    rows: RowHistory,
    part: number,
    table: number,
    columns: readonly Column[],
    meanings: EarlierMeanings,
  ): void {
    for (const column of columns) {
      rows.widen(part, columnBytes(column.role));
      if (column.role === 'row_key' && column.references !== null) continue;
      const use = meanings.columnUse(table, column);
      const roles = column.roles?.map((role) => meanings.translate(`/${role}`).slice(1));
      rows.add(part, column.name, use, false, { type: column.type, roles });
      if (column.listNames !== undefined) rows.add(part, column.listNames.count, listCountUse(use), false);
    }
  }

  #addListTables(parts: readonly Table[], meanings: EarlierMeanings): void {
    for (const { path, listNames } of parts.flatMap(({ columns }) => columns))
      if (listNames !== undefined) this.#rowsAt(meanings.translate(listTablePath(path)), listNames.table);
  }

  #rowsAt(path: string, name: string): RowHistory {
    let rows = this.rows.get(path);
    if (rows === undefined) this.rows.set(path, (rows = new RowHistory()));
    rows.part(name);
    this.#mean(name, path);
    return rows;
  }

  #mean(name: string, path: string): void {
    const lower = name.toLowerCase();
    if (!this.tableMeanings.has(lower)) this.tableMeanings.set(lower, path);
  }

  /** Returns the tables that the later model does not have. */
  formerTables(model: Pick<RelationalModel, 'tables'>): readonly FormerTable[] {
    const present = new Map<string, ReadonlySet<string>>();
    for (const { name, columns } of model.tables) {
      present.set(name, new Set(columns.flatMap(namesOf)));
      for (const { listNames } of columns)
        if (listNames !== undefined) present.set(listNames.table, new Set());
    }
    const all = [
      ...this.rows.entries().flatMap(([path, { parts, hadRows }]) =>
        parts.map(({ name, columns }): FormerTable => {
          const uses = [...columns].map(([column, use]) => ({ name: column, use }));
          return { name, path, ...(hadRows ? {} : { hadNoRows: true }), columns: uses };
        }),
      ),
      ...this.#renamed,
    ];
    const former = all.flatMap((table) => {
      const known = present.get(table.name);
      const columns =
        known === undefined ? table.columns : table.columns.filter(({ name }) => !known.has(name));
      return known !== undefined && columns.length === 0 ? [] : [{ ...table, columns }];
    });
    // the same names in another order would make a new version of an unchanged model
    return sameTables(former, this.#recorded) ? this.#recorded : former;
  }
}

/**
 * Returns whether these are the same tables with the same columns, whatever their order. A large model has tens of thousands of columns.
 */
function sameTables(some: readonly FormerTable[], others: readonly FormerTable[]): boolean {
  if (some.length !== others.length) return false;
  const left = Map.groupBy(others, ({ name }) => name);
  return some.every((table) => {
    const candidates = left.get(table.name) ?? [];
    const at = candidates.findIndex((other) => other.path === table.path && sameColumns(table, other));
    if (at >= 0) candidates.splice(at, 1);
    return at >= 0;
  });
}

function sameColumns({ columns: some }: FormerTable, { columns: others }: FormerTable): boolean {
  if (some.length !== others.length) return false;
  const inOrder = (column: FormerTable['columns'][number], at: number): boolean =>
    column.name === others[at]!.name && column.use === others[at]!.use;
  if (some.every(inOrder)) return true;
  return inAnyOrder(some) === inAnyOrder(others);
}

function inAnyOrder(columns: FormerTable['columns']): string {
  return JSON.stringify(columns.map(({ name, use }) => JSON.stringify([name, use])).toSorted());
}

/** Returns the model with the names that its previous version had and it does not. */
export function withFormerNames<M extends Pick<RelationalModel, 'tables' | 'formerTables'>>(
  model: M,
  history: NameHistory,
): M {
  const { formerTables: _, ...rest } = model;
  const formerTables = history.formerTables(model);
  return (formerTables.length === 0 ? rest : { ...rest, formerTables }) as M;
}

/** Returns the name of the column and, for a list, the name of its item count. */
export function namesOf({ name, listNames }: Column): string[] {
  return listNames === undefined ? [name] : [name, listNames.count];
}

function roleOf(use: string): ColumnRole {
  return use.split(' ', 1)[0] as ColumnRole;
}

// The history of one path's rows over the versions of a model: the tables that held them, and their columns.

export interface HistoricColumn {
  readonly name: string;
  /** absent: not known */
  readonly type?: ColumnType;
  /** see Column.roles; absent: not known, or it has none */
  readonly roles?: readonly string[] | undefined;
  readonly part: number;
  /** an earlier version had it, but the last one did not */
  readonly former: boolean;
  /** the column was in no table that had rows: only its name is reserved (`FormerTable.hadNoRows`) */
  readonly hadNoRows?: true;
}

interface RowPart {
  readonly name: string;
  bytes: number;
  readonly columns: Map<string, string>;
}

/** The history of the rows of one path. Columns are read when they are first needed, because few rows of a large model are drawn again. */
export class RowHistory {
  readonly #parts: RowPart[] = [];
  readonly #columns = new Map<string, HistoricColumn>();
  readonly #meanings = new Map<string, string>();
  #unread: (() => void)[] = [];
  /** false: the rows are in no table, but their names are reserved (`FormerTable.hadNoRows`) */
  hadRows = false;

  get parts(): readonly RowPart[] {
    this.#read();
    return this.#parts;
  }

  get columns(): ReadonlyMap<string, HistoricColumn> {
    this.#read();
    return this.#columns;
  }

  get meanings(): Map<string, string> {
    this.#read();
    return this.#meanings;
  }

  /** by part: the table that held it */
  get names(): readonly string[] {
    return this.#parts.map(({ name }) => name);
  }

  part(name: string): number {
    const known = this.#parts.findIndex((part) => part.name === name);
    return known >= 0 ? known : this.#parts.push({ name, bytes: 0, columns: new Map() }) - 1;
  }

  /** `read` adds columns. */
  later(read: () => void): void {
    this.#unread.push(read);
  }

  #read(): void {
    if (this.#unread.length === 0) return;
    const unread = this.#unread;
    this.#unread = [];
    for (const read of unread) read();
  }

  add(
    part: number,
    name: string,
    use: string,
    former: boolean,
    details: Pick<HistoricColumn, 'type' | 'roles' | 'hadNoRows'> = {},
  ): void {
    this.#read();
    this.#parts[part]!.columns.set(name, use);
    const lower = name.toLowerCase();
    if (!this.#meanings.has(lower)) this.#meanings.set(lower, use);
    if (!this.#columns.has(use)) this.#columns.set(use, { name, part, former, ...details });
  }

  widen(part: number, bytes: number): void {
    this.#parts[part]!.bytes += bytes;
  }

  /** Returns the parts of the row. A former column returns to its earlier part while that has room for all of its earlier columns. */
  previousParts(): PreviousParts {
    // columns of tables that never had rows need no room
    const last = this.parts.findLastIndex(({ bytes }) => bytes > 0);
    return {
      bytes: this.parts.slice(0, Math.max(last, 0) + 1).map(({ bytes }) => bytes),
      partOf: (use) => {
        const known = this.columns.get(use);
        if (known === undefined || known.hadNoRows === true) return undefined;
        if (known.former && this.parts[known.part]!.bytes > maxRowBytes) return undefined;
        return known.part;
      },
    };
  }
}

// The use of a column that is being drawn.

/** Returns the use as `useOf` gives it for the column of a finished model. */
export function useOfDraft(column: ColumnDraft, table: TableDraft): string {
  const leadsTo = column.role === 'parent_key' ? column.parent : column.child;
  return useText(column.role, columnPath(column, table), leadsTo?.usePath ?? null);
}

// Names that pruned models have from the default of their origin (`RelationalModel.keepsDefaultNames`). The default may have a hundred
// times as many names as they do, so its names are looked up when a next version is drawn, and not recorded with each model.

/** Returns the model as if it had recorded the names of `standard`, the default of its origin, that it does not have. */
export function withNamesOf(model: RelationalModel, standard: RelationalModel): RelationalModel {
  const history = new NameHistory(standard, recordedMeanings(standard, namespacesOf(model)));
  const pathOf = new Map(model.tables.map(({ name, path }) => [name.toLowerCase(), path]));
  // a default that was drawn later may give this name to another table
  const others = history
    .formerTables(model)
    .filter(({ name, path }) => (pathOf.get(name.toLowerCase()) ?? path) === path)
    .map((table): FormerTable => ({ ...table, hadNoRows: true }));
  return withOtherParts(model, { formerTables: [...(model.formerTables ?? []), ...others] });
}

/** Returns the model without the former names that `standard` has. */
export function withoutNamesOf(model: RelationalModel, standard: RelationalModel): RelationalModel {
  const { formerTables = [], ...rest } = model;
  const known = new Map<string, Set<string>>();
  const add = (table: string, columns: readonly string[]): void => {
    const names = known.get(table);
    if (names === undefined) known.set(table, new Set(columns));
    else for (const name of columns) names.add(name);
  };
  for (const { name, columns } of standard.tables) {
    add(name, columns.flatMap(namesOf));
    for (const { listNames } of columns) if (listNames !== undefined) add(listNames.table, []);
  }
  for (const { name, columns } of standard.formerTables ?? [])
    add(
      name,
      columns.map((column) => column.name),
    );
  const own = formerTables.flatMap((table): FormerTable[] => {
    const names = known.get(table.name);
    const columns = table.columns.filter(({ name }) => names?.has(name) !== true);
    return names !== undefined && columns.length === 0 ? [] : [{ ...table, columns }];
  });
  return { ...rest, ...(own.length === 0 ? {} : { formerTables: own }), keepsDefaultNames: true };
}
