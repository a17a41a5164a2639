/** The tables and views that a job finds in a target, and whether it can add its rows to them. */
import { hasOtherKeys, otherKeysMessage } from '../../engine/model/keys.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { sideTableDefinitions, sideTableNames } from '../../engine/model/side-tables.ts';
import { qualified, type Dialect } from '../../engine/sql/dialect.ts';
import { withListTables, type ListTable } from '../../engine/sql/list-tables.ts';
import { physicalTables, type PhysicalTable, physicalName } from '../../engine/sql/physical-model.ts';
import { AppError } from '../../errors.ts';
import type { ExistingZones, ZoneTable } from '../../ports/row-sink.ts';
import { refusePreRelease } from '../rows/pre-release.ts';

/** The rules by which the database writes and compares names. */
export interface SqlNames {
  readonly dialect: Dialect;
  /** Returns a name as the database compares it with others. */
  foldedName(name: string): string;
  /** The SQL schema of all tables. Absent: the only one that the connection sees. */
  readonly sqlSchema?: string;
  /** Returns a table's name as statements write it. Absent: quoted, with the SQL schema. */
  relation?(name: string): string;
}

export function relationOf({
  relation,
  dialect,
  sqlSchema,
}: Pick<SqlNames, 'dialect' | 'sqlSchema' | 'relation'>): (name: string) => string {
  return relation ?? ((table) => qualified(dialect, { sqlSchema: sqlSchema ?? null, table }));
}

export interface FoundColumn {
  readonly name: string;
  /** the type as the database writes it */
  readonly type: string;
  readonly notNull: boolean;
  readonly hasDefault: boolean;
  readonly comment: string | null;
}

export interface FoundTable {
  readonly name: string;
  /** a view, or another relation that is not a table */
  readonly isView: boolean;
  readonly comment: string | null;
  /** the statement that made it, if the database keeps its text */
  readonly statement: string | null;
  /** For a view that a load made: its comment, and the statements that make it again; otherwise null. */
  readonly madeView: { readonly comment: string; readonly statements: readonly string[] } | null;
  /** keyed by folded name, in the table's order */
  readonly columns: ReadonlyMap<string, FoundColumn>;
}

/** Tables and views by folded name. */
export type FoundTables = Map<string, FoundTable>;

/** The columns of moments that tables have. Tables and columns by folded name. */
interface Moments {
  hasTable(table: string): boolean;
  /** Returns whether a column keeps a time zone, or null if it is not there or is of another type. */
  isZoned(table: string, column: string): boolean | null;
  /** Returns whether a row has a value in the column: if none has, it shows nothing of time zones. Absent: each column shows it. */
  hasValues?(table: string, column: string): Promise<boolean>;
}

/** Implements `RowSink.existingZones`. */
export async function zonesOf(
  { dialect, foldedName }: SqlNames,
  tables: readonly ZoneTable[],
  { hasTable, isZoned, hasValues = () => Promise.resolve(true) }: Moments,
): Promise<ExistingZones> {
  const folded = (name: string): string => foldedName(physicalName(dialect, name));
  const zones = new Map<string, ReadonlyMap<string, boolean>>();
  for (const { name, columns } of tables) {
    const table = folded(name);
    if (!hasTable(table)) continue;
    const kept = new Map<string, boolean>();
    for (const column of columns()) {
      const isKept = isZoned(table, folded(column.name));
      if (isKept === null) continue;
      if (isKept || !column.zoned || (await hasValues(table, folded(column.name))))
        kept.set(column.name, isKept);
    }
    zones.set(name, kept);
  }
  return zones;
}

/** Returns whether documents were merged into the target, so that `_documents` has the columns of merges. */
export function knowsMerges(known: FoundTables): boolean {
  return known.get(sideTableNames.documents)?.columns.has('valid_to') === true;
}

/** A model, and its tables as the database has them. */
interface NamedTables {
  readonly model: RelationalModel;
  readonly tables: readonly { readonly name: string }[];
}

/**
 * Throws AppError `conflict` if a name that the job needs is not a table, or is a view of another owner; if a version before 1.0 made the
 * target; if a side table lacks a column; or if another logical schema made a table, whose rows have other keys. `keepsRows`: whether a
 * table keeps the rows that it has. A table that is overwritten may have any keys.
 */
export function checkFoundTables<Table extends FoundTable>(
  names: SqlNames,
  label: string,
  known: ReadonlyMap<string, Table>,
  drawn: NamedTables,
  keepsRows: (table: Table) => boolean,
): void {
  for (const name of [...drawn.tables.map((table) => table.name), ...Object.values(sideTableNames)]) {
    const there = known.get(names.foldedName(name));
    if (there?.isView === true && there.madeView === null)
      throw new AppError('conflict', `${label}: ${name} exists and is not a table.`);
  }
  refusePreRelease(label, (name) => known.get(name)?.columns);
  for (const { name, columns } of Object.values(sideTableDefinitions)) {
    const there = known.get(name);
    const missing = there === undefined ? undefined : columns.find((one) => !there.columns.has(one.name));
    if (missing !== undefined)
      throw new AppError(
        'conflict',
        `${label}: ${name} has no column ${missing.name}: another program made it, or it was changed by hand. Name another target, or put the column back.`,
      );
  }
  checkKeys(names, label, known, drawn, (table) => !table.isView && keepsRows(table));
}

/** Throws AppError `conflict` if another logical schema made a table, whose rows have other keys. `isAsked`: which tables count. */
export function checkKeys<Table extends FoundTable>(
  { dialect, foldedName }: SqlNames,
  label: string,
  known: ReadonlyMap<string, Table>,
  { model, tables }: NamedTables,
  isAsked: (table: Table) => boolean = () => true,
): void {
  for (const [index, { columns }] of model.tables.entries()) {
    const { name } = tables[index]!;
    const table = known.get(foldedName(name));
    if (table === undefined || !isAsked(table)) continue;
    const has = (key: string): boolean => table.columns.has(foldedName(physicalName(dialect, key)));
    if (hasOtherKeys(columns, has)) throw new AppError('conflict', otherKeysMessage(label, name));
  }
}

/** Lists are arrays, or tables of their items. */
export interface DrawnModel {
  /** the tables of the job's model under their indexes, then those of lists */
  readonly model: RelationalModel;
  readonly tables: readonly PhysicalTable[];
  readonly lists: readonly ListTable[];
}

export function drawModel(model: RelationalModel, dialect: Dialect): DrawnModel {
  const { model: drawn, lists } = withListTables(model, dialect);
  return { model: drawn, tables: physicalTables(drawn, dialect, model), lists };
}
