/** A publishing transaction: the state that its steps share, and the driver of the database. */
import type { ColumnType } from '../../engine/model/relational-model.ts';
import { codesTable, sideTableDefinitions } from '../../engine/model/side-tables.ts';
import type { MergeOrder, BrokenKey, Published, SinkPlan } from '../../ports/row-sink.ts';
import type { LoadView } from '../rows/made-views.ts';
import type { Merging } from '../rows/ledger.ts';
import type { WidenedTypes } from '../rows/unfit-columns.ts';
import type { SqlDatabase } from './database.ts';
import type { DrawnModel, FoundColumn, FoundTables } from './found-tables.ts';
import type { RemovalDriver } from './removal.ts';

/** The rows of one table that wait to be published. */
export interface WaitingRows {
  readonly rows: number;
  readonly bytes?: number;
}

/** The file with such rows, without a header. */
export interface StagedRowsFile extends WaitingRows {
  readonly path: string;
  readonly bytes: number;
  readonly columnCount: number;
  /** no row is longer */
  readonly longestRowBytes: number;
}

/** Keyed by index of the table, or name of the side table. */
export type StagedTables = ReadonlyMap<number | string, StagedRowsFile>;

/** The facts about a database that the shared steps of publishing need. */
export interface PublishingWays<Database extends SqlDatabase> extends RemovalDriver<Database> {
  /** The end of an INSERT into `_keys` that keeps the higher of two keys. The new key is `highest.last`. */
  readonly keepHigherKey: string;
  /** The end of an INSERT into `_codes` that keeps the label and the documentation of a code if the new row has none. */
  readonly keepCodeTexts: string;
  /** The columns of a table of the documents of a merge. Absent: four columns of TEXT. */
  readonly mergeTable?: string;
  /** Returns the comment of a column without the part that the database adds for itself. Absent: it adds nothing. */
  modelComment?(comment: string | null): string | null;
  /** An expression for a time. `iso`: ISO 8601 in UTC. */
  instant(iso: string): string;
  /** Returns the latest time at which a document of `_documents` became valid or ceased to be, in ISO 8601, or null if there is none. */
  latestChange(database: Database): Promise<string | null>;
}

/** The part of a publication that these steps use. */
export interface PublishingScope<Database extends SqlDatabase> {
  readonly driver: PublishingWays<Database>;
  readonly database: Database;
  readonly plan: SinkPlan;
  readonly drawn: DrawnModel;
  /** The tables in the target. A step that changes them reads them again. */
  known: FoundTables;
  readonly merge: MergeOrder;
  /** for the log */
  readonly changes: string[];
}

export interface Publication<
  Database extends SqlDatabase,
  Waiting extends WaitingRows = StagedRowsFile,
> extends PublishingScope<Database> {
  readonly driver: SqlDriver<Database, Waiting>;
  drawn: DrawnModel;
  /** no other process knows the file: its content need not appear in one step */
  readonly isNew: boolean;
  /** keyed by index in the drawn model, or name of the side table */
  readonly staged: ReadonlyMap<number | string, Waiting>;
  /** by `columnId`: NOT NULL columns that some row left empty, and columns with a value that their type cannot hold */
  readonly nullAllowed: ReadonlySet<string>;
  readonly widened: WidenedTypes;
  /** keyed by `columnId`: staged keys of rows whose text only looks like a staged value or list */
  readonly textRows: ReadonlyMap<string, ReadonlySet<string>>;
  readonly signal: AbortSignal | undefined;
  /** by index in the drawn model: tables that this job makes */
  readonly made: Set<number>;
  /** keyed by index in the drawn model: types of the columns of a table that is ready for rows */
  readonly types: Map<number, readonly string[]>;
  /** save mode `merge`, after existing documents have been removed or closed; otherwise null */
  merging: Merging<string> | null;
  readonly brokenKeys: BrokenKey[];
  readonly indexes: { count: number; seconds: number };
}

/** Keyed by folded table name, `_documents` among them: the number added to the keys of this job, which count from 1. */
export type KeyOffsets = ReadonlyMap<string, bigint>;

/**
 * The operations that differ between kinds of databases when a job publishes its rows. The steps themselves are the same for all databases.
 */
export interface SqlDriver<
  Database extends SqlDatabase,
  Waiting extends WaitingRows = StagedRowsFile,
> extends PublishingWays<Database> {
  /** The database's name in messages. */
  readonly title: string;
  /**
   * True if each change of a table commits at once. The transaction then begins at `beginRows` and contains only rows, a table that changes
   * loses nothing meanwhile, and views are made after the job is committed.
   */
  readonly commitsDefinitions?: true;
  /** Items of lists are staged as rows of their own tables. */
  readonly stagesItems?: true;
  /**
   * Makes the side tables, and removes the rows that save mode `overwrite` replaces. Returns whether the target has changed. Absent: this
   * is done in the target itself.
   */
  readyTarget?(publication: Publication<Database, Waiting>): Promise<boolean>;
  /** Returns the model drawn for the rows of this job, if it depends on their values or on existing tables. */
  drawForRows?(publication: Publication<Database, Waiting>): DrawnModel;
  /** Returns the number added to the keys of the staged rows. Absent: for each table the highest key in use. */
  keyOffsets?(publication: Publication<Database, Waiting>): Promise<KeyOffsets>;
  /** Called before tables are made ready one by one. `lacking`: those that do not exist, by index in the drawn model. */
  readyTables?(publication: Publication<Database, Waiting>, lacking: readonly number[]): Promise<void>;
  /** Makes a table, or makes one that is there able to take the rows that come. Returns the types of its columns, in the model's order. */
  readyTable(publication: Publication<Database, Waiting>, index: number): Promise<readonly string[]>;
  /** Keeps codes in its own way. Absent: in the table `_codes`, which the transaction fills. */
  publishCodes?(publication: Publication<Database, Waiting>): Promise<void>;
  /** Called when all tables fit the rows, before any row is changed. */
  beginRows?(publication: Publication<Database, Waiting>): Promise<void>;
  /** Adds the staged rows of a table, with the items of its lists. Returns how many rows of the table were added. */
  addRows(publication: Publication<Database, Waiting>, index: number, offsets: KeyOffsets): Promise<number>;
  /**
   * Adds the staged rows of a side table, and returns their number. Documents come last: when a document is there, its rows in other side
   * tables are there already.
   */
  addSideRows(
    publication: Publication<Database, Waiting>,
    side: 'documents' | 'unmapped' | 'lexical',
    offsets: KeyOffsets,
  ): Promise<number>;
  /** Writes the texts of documents into items of lists that are text. `isText`: says whether a column of the drawn model is text. */
  writeItemTexts?(
    publication: Publication<Database, Waiting>,
    isText: (table: number, column: number) => boolean,
  ): Promise<void>;
  /** Adds indexes and unique keys once the tables have their rows. */
  finishTables?(publication: Publication<Database, Waiting>): Promise<void>;
  /** Makes views in its own way. Absent: with those that are there dropped first. */
  publishViews?(publication: Publication<Database, Waiting>): Promise<void>;
  /** Throws AppError `conflict` if the target did not keep its rows, for instance because of triggers. */
  checkTaken?(publication: Publication<Database, Waiting>): Promise<void>;
  /** Bytes of staged rows after which a file that no other process knows is committed, because DuckDB holds them in memory until then. */
  readonly uncommittedBytes?: number;
  /** Returns whether a column of this type holds text. */
  isText(type: string): boolean;
  /** Returns whether an existing column holds the values of the model's type in the form of the model. */
  isAsModelled(
    there: Pick<FoundColumn, 'type' | 'comment'>,
    column: { readonly sqlType: string; readonly type: ColumnType },
  ): boolean;
  /** A view can be replaced by another one in one step. */
  readonly replacesViews?: true;
  /** Statements that make a view, which `comment` marks as made by a load. */
  viewStatements(view: LoadView, comment: string): readonly string[];
  /** Returns why the database does not accept a view, or null if `error` is a fault of another kind. */
  viewRefusal(error: unknown): string | null;
}

/**
 * The end of an INSERT into `_keys` as PostgreSQL, DuckDB and SQLite write it. `greatest`: the function that returns the greater of two
 * numbers.
 */
export function keepHigherKey(greatest: 'max' | 'greatest'): string {
  const { name } = sideTableDefinitions.keys;
  return `ON CONFLICT (table_name) DO UPDATE SET last_value = ${greatest}(${name}.last_value, excluded.last_value)`;
}

/** The end of an INSERT into `_codes` as these databases write it. */
export const keepCodeTexts = keptTexts();

function keptTexts(): string {
  const { name } = codesTable;
  const [label, documentation] = ['label', 'documentation'].map(
    (one) => `coalesce(excluded.${one}, ${name}.${one})`,
  );
  return `ON CONFLICT (type, code) DO UPDATE SET label = ${label}, documentation = ${documentation}
        WHERE ${name}.label IS DISTINCT FROM ${label} OR ${name}.documentation IS DISTINCT FROM ${documentation}`;
}

/** Returns a publication in its initial state. */
export function newPublication<Database extends SqlDatabase, Waiting extends WaitingRows>(
  given: Omit<
    Publication<Database, Waiting>,
    'made' | 'types' | 'merging' | 'changes' | 'brokenKeys' | 'indexes' | 'isNew' | 'textRows' | 'signal'
  > &
    Partial<Pick<Publication<Database, Waiting>, 'isNew' | 'textRows' | 'signal'>>,
): Publication<Database, Waiting> {
  // with `-S s` all tables are made
  const allTables = given.plan.allTables || given.plan.saveMode === 'write-schema';
  return {
    isNew: false,
    textRows: new Map(),
    signal: undefined,
    ...given,
    plan: { ...given.plan, allTables },
    made: new Set(),
    types: new Map(),
    merging: null,
    changes: [],
    brokenKeys: [],
    indexes: { count: 0, seconds: 0 },
  };
}

/** The table in the target, if it is there. */
export function foundTable<Database extends SqlDatabase>(
  { driver, known, drawn }: Pick<PublishingScope<Database>, 'driver' | 'known' | 'drawn'>,
  index: number,
) {
  return known.get(driver.foldedName(drawn.tables[index]!.name));
}

/** Returns the report on a publication, without its rows. */
export function reportOf<Database extends SqlDatabase>(
  {
    changes,
    brokenKeys,
    indexes,
    merging,
  }: Pick<Publication<Database, never>, 'changes' | 'brokenKeys' | 'indexes' | 'merging'>,
  keys: Readonly<Record<string, number>> | null,
): Omit<Published, 'rows' | 'already'> {
  return {
    changes,
    brokenKeys,
    ...(indexes.count === 0 ? {} : { indexes }),
    ...(merging === null ? {} : { merged: merging.counts }),
    ...(keys === null ? {} : { keys }),
  };
}
