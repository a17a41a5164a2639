/**
 * The destination of rows. A sink receives encoded rows by table, keeps them invisible, and publishes all of them or none. Units, merges,
 * removals and targets of a host application build on it.
 */
import type { RelationalModel, ColumnType } from '../engine/model/relational-model.ts';
import type { IndexChoice } from '../engine/sql/ddl.ts';
import type { PartitionWish } from '../engine/sql/partition-wish.ts';
import type { EncodingName } from '../engine/shred/row-output.ts';
import type { EnumeratedValues } from '../engine/metadata/enumerations.ts';
import type { DialectName } from '../engine/sql/dialects/every-dialect.ts';

// Save mode `merge`: the facts about its documents that a job passes when it publishes, and the target's answer.

/** A document of the job that is new, or takes the place of the one of its key. */
export interface MergedDocument {
  readonly key: string;
  /** name and SHA-256 that its row among those of `_documents` has been written with */
  readonly name: string;
  readonly written: string;
  /** SHA-256 (hex) that it must have in the target; for a part of a file, the hash of the part's content, wherever it is in the file */
  readonly sha256: string;
}

export interface MergeOrder {
  readonly documents: readonly MergedDocument[];
  /** keys in `_documents`, decimal digits: documents that are no longer among the inputs */
  readonly missing: readonly string[];
  /** documents that are replaced or missing stay, with the time until which they were valid */
  readonly keepsHistory: boolean;
}

/** A document of the target that no other one has replaced. */
export interface CurrentDocument {
  /** key in `_documents`, decimal digits */
  readonly documentKey: string;
  readonly key: string;
  /** name of the file that the document was loaded with */
  readonly name: string;
  /** hex */
  readonly sha256: string;
}

/** Content of a document of the target that is in `_unmapped`. */
export interface UnmappedOfDocument {
  /** key in `_documents`, decimal digits */
  readonly documentKey: string;
  readonly xpath: string;
}

export interface MergeCounts {
  /** keys whose documents were replaced */
  readonly replaced: number;
  /** documents removed because they are no longer among the inputs */
  readonly deleted: number;
}

/** A logical schema that a target was loaded by. */
export interface TargetLoad {
  /** identity of the metadata database that has given out the two numbers */
  readonly installation: string;
  readonly idSch: number | null;
  readonly idLschma: number | null;
  /** SHA-256 of its model, which identifies it */
  readonly modelHash: string | null;
  /** whether documents that it loaded are still there */
  readonly holds: boolean;
}

// Units: rows of a job that other processes write. They write to a place that only publishing reads, and commit a unit once, however many
// attempts there are. Publishing handles their answers, never their rows.

/** The data with which an executor writes a unit: plain data, written as JSON. A secret in it is worthless once the job has ended. */
export interface UnitToken {
  /** technology of the target: whose code reads the rest */
  readonly kind: 'postgresql' | 'folder' | 'lake';
}

/** A file with a unit's rows of one table, in the target's final form; it is in the folder of the attempt that wrote it. */
export interface UnitFile {
  /** index of a table of the model, or the name of one beside those */
  readonly table: number | string;
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  /** empty if the target records none */
  readonly sha256: string;
  /** for Parquet: DuckDB's types of the columns */
  readonly types?: readonly string[];
  /** for Parquet: digits before and after the decimal point in columns of unbounded decimals, if they were counted */
  readonly digits?: readonly (readonly [column: number, whole: number, fraction: number])[];
  /** numbers of its columns, if the table numbers them */
  readonly fieldIds?: Readonly<Record<string, readonly [column: number, item?: number]>>;
  /** JSON: rows, NULLs, least and greatest values, if the table records them */
  readonly stats?: string;
  /** partition values as text, if all rows of the file are in one partition of the table */
  readonly partition?: readonly (string | null)[];
}

/** The digits of numbers that do not fit into a column's type. */
export interface UnfitDigits {
  /** most digits before the point, and behind it, zeros at the end aside */
  readonly whole: number;
  readonly fraction: number;
  /** fewest digits behind the point, as they are written */
  readonly fewest: number;
  /** most digits behind the point of those that end with a zero there; 0: none does */
  readonly padded: number;
}

/**
 * A column with values that its type cannot hold, by indexes of table and column. `digits`: null unless all of them are plain numbers.
 */
export type UnfitColumn = readonly [table: number, column: number, digits: UnfitDigits | null];

/** The rows of one unit that are in the target. */
export interface UnitReceipt {
  /** rows by table of the model, or its name beside those */
  readonly rows: readonly (readonly [table: number | string, rows: number])[];
  /** columns, by indexes of table and column, with rows that leave them empty though the model wants a value */
  readonly nullAllowed: readonly (readonly [table: number, column: number])[];
  /** the values were written */
  readonly unconverted: readonly UnfitColumn[];
  /** the files of the rows, if rows are stored in files */
  readonly files?: readonly UnitFile[];
}

/** Units whose files have other types than those that the values of all units need: they are to be written again. */
export interface UnsettledUnits {
  readonly units: readonly number[];
  readonly token: UnitToken;
}

/** The work of the machine that publishes. */
export interface UnitTarget {
  /**
   * Called once after `open`: prepares for units that are numbered from 0, whose rows do not come by `write`. Returns a text with the
   * reason if the target accepts no units from others; then the rows must come by `write`.
   */
  begin(units: number): Promise<UnitToken | string>;
  /** Called when all units are committed, until it returns null: then no unit depends on the others any more. */
  unsettled(receipts: readonly UnitReceipt[]): Promise<UnsettledUnits | null>;
  /**
   * Called when all units are committed: none can be written any more, and `publish` publishes the rows of these receipts. `folderOf`:
   * folder of a unit's files, which the target takes from there. AppError `internal_error` if one is missing.
   */
  adopt(receipts: readonly UnitReceipt[], folderOf: (unit: number) => string): Promise<void>;
}

// The side of the executor.

/** The work of an executor for one unit, in one attempt. */
export interface UnitSink extends Pick<RowSink, 'write' | 'writeSide' | 'unconverted' | 'allowNull'> {
  /**
   * Commits the unit's rows and `note` about them, all or none. If another attempt was first, this one's rows are discarded, and the
   * other's note is returned; otherwise returns `note`.
   */
  commit(note: (receipt: UnitReceipt) => string): Promise<string>;
  /** Discards uncommitted rows; safe to call at any time. */
  close(): Promise<void>;
}

// Removes documents from a target that they were loaded into.

export interface RemovalPlan {
  readonly model: RelationalModel;
  /** name of the documents when they were loaded: all with that name are removed */
  readonly documentName: string;
  /** these six as in `SinkPlan` */
  readonly idJob: number;
  readonly jobUuid: string;
  readonly installation: string;
  readonly idSch: number;
  readonly idLschma: number;
  readonly modelHash: string;
  /** count only */
  readonly dryRun: boolean;
}

export interface Removed {
  readonly documents: number;
  /** removed rows by table; tables without any are left out */
  readonly rows: Readonly<Record<string, number>>;
  /** true: an earlier attempt of this job had done it */
  readonly already: boolean;
}

export interface RowRemover {
  /** Address without secrets. */
  readonly label: string;
  /** The logical schemas that loaded the target, the last one first. */
  loads(): Promise<readonly TargetLoad[]>;
  /**
   * Removes all in one transaction, or nothing. `fence` is called in the last moment before commit, with the counts of removed rows:
   * false rolls back and ends in AppError `conflict`, as does a foreign table that refers to the rows.
   */
  removeDocuments(plan: RemovalPlan, fence: (removed: Removed) => Promise<boolean>): Promise<Removed>;
  close(): Promise<void>;
}

// The sink.

export type RowEncoding = EncodingName;
/**
 * The effect of a load on existing rows; the last two modes only create the tables, or print them. `merge`: a document replaces the one
 * with the same key. Options and stored requests use letters.
 */
export type SaveMode =
  | 'error'
  | 'append'
  | 'overwrite'
  | 'ignore'
  | 'merge'
  | 'write-schema'
  | 'print-schema';

/** Tables beside the data (docs/decisions/model/side-tables.md); their rows are encoded like all others, columns in this order. */
export const sideTables = {
  documents: ['document_key', 'name', 'sha256', 'bytes', 'loaded_at', 'job', 'job_uuid'],
  unmapped: ['document_key', 'parent_table', 'parent_key', 'position', 'xpath', 'kind', 'content'],
  lexical: ['document_key', 'table_name', 'row_key', 'column_name', 'content'],
} as const;
export type SideTable = keyof typeof sideTables;

export interface SinkPlan {
  readonly model: RelationalModel;
  readonly saveMode: SaveMode;
  /** number for people: numbers are given out again after the metadata database was restored from a backup */
  readonly idJob: number;
  /** identifies the job */
  readonly jobUuid: string;
  /** the metadata database that has given out the numbers ('') */
  readonly installation?: string;
  readonly idSch: number | null;
  readonly idLschma: number | null;
  /** identifies the logical schema: SHA-256 of its model; null: the model is not stored */
  readonly modelHash: string | null;
  /** create every table of the model, not only those that receive rows (`--tables all`, -S w) */
  readonly allTables: boolean;
  /**
   * `--keys sequence`: keys are numbers from 1 within the job; the sink adds each table's offset when it publishes into tables that
   * hold rows already. `hash`: keys are final, because they follow from the documents, and an existing document is not written again.
   */
  readonly keys: 'sequence' | 'hash';
  /**
   * Indexes beside primary and unique keys, if the target supports any. Absent: `keys`, on the tables and columns that this job makes;
   * given: on existing ones, too.
   */
  readonly indexes?: IndexChoice;
  /** `--views`: views of the business entities, all of them; absent: those that loads made before are kept up to date. */
  readonly views?: boolean;
  /** `--codes`: form of enumerated values in the target; absent: forms that earlier loads made are kept up to date. */
  readonly codes?: CodeChoice;
  /** `--partition`: partitions of new tables, if the target supports partitions. */
  readonly partition?: readonly PartitionWish[];
  /** Returns the name of the schema, for a file that is named for it; null: it has none. */
  readonly schemaName?: () => Promise<string | null>;
  /** values that columns can have, by indexes of table and column; worked out when it is called. Absent: none are known. */
  readonly enumerations?: () => Promise<Enumerations>;
}

/** Nothing; the table `_codes`; or, if the target supports it, a check on each column whose values are all among its codes. */
type CodeChoice = 'none' | 'table' | 'check';

export type Enumerations = (table: number, column: number) => EnumeratedValues | null;

/** A value that its column's type cannot hold: the column is widened to text when the job publishes. */
export interface UnconvertedValue {
  readonly table: number;
  readonly column: number;
  /** row key as in the rows: decimal digits if it is beyond 2^53 */
  readonly rowKey: number | string;
  readonly text: string;
}

export interface Published {
  /** rows this job added, by table name (the model's, side tables not counted); tables without rows are left out */
  readonly rows: Readonly<Record<string, number>>;
  /** true: this job had been published by an earlier attempt; nothing was added now */
  readonly already: boolean;
  /** `merge`: absent in other modes */
  readonly merged?: MergeCounts;
  /** changes made to the target beyond rows: widened types, dropped NOT NULLs; for the log */
  readonly changes: readonly string[];
  /** made beside primary and unique keys, and the time that took on all connections together; absent: none */
  readonly indexes?: { readonly count: number; readonly seconds: number };
  /** natural keys that the target does not have, as values of these rows break them */
  readonly brokenKeys?: readonly BrokenKey[];
  /** the highest keys given out, by table name; absent if keys follow from the documents */
  readonly keys?: Readonly<Record<string, number>>;
}

/** A table of the model with columns that may show instants or values as written (`src/engine/model/zones.ts`). */
export interface ZoneTable {
  readonly name: string;
  /** called if the table exists; `zoned`: documents have values with a time zone in it */
  columns(): readonly { readonly name: string; readonly zoned: boolean }[];
}

/** Whether a column keeps a time zone, by names of table and column. */
export type ExistingZones = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

/** A natural key that was declared, by the names in the target. */
export interface BrokenKey {
  readonly table: string;
  readonly columns: readonly string[];
}

/** Whether the job may commit; `merged`: see `Published`. */
export type Fence = (merged?: MergeCounts) => Promise<boolean>;

/** Called with rows whose buffer a sink no longer needs. */
export type ReleaseRows = (rows: Uint8Array) => void;

export interface RowSink {
  /** The encoding of rows of tables and side tables; `json-lines`: lines with all members of their table. */
  readonly encoding: RowEncoding;
  /** Address without secrets, for logs and the job record. */
  readonly label: string;
  /**
   * true: the cell of a value that was not converted is NULL, and gets its text when the job publishes. false: the cell contains the
   * text itself.
   */
  readonly widensInPlace: boolean;
  /** Decimals whose type has no scale get one there, so that zeros at their end are not kept. */
  readonly scalesDecimals: boolean;
  /** After `open`: how other processes write the rows; null: not at all, they all come by `write`. */
  readonly units: UnitTarget | null;
  /** Before `open`: the logical schemas that loaded the target, the last one first. Makes and changes nothing. */
  loads(): Promise<readonly TargetLoad[]>;
  /**
   * Called before `open`, for rows that are added: returns what the target's columns store. A missing column is left out, and so is one
   * without a time zone that has no value yet, if documents have values with one. Changes nothing.
   */
  existingZones(tables: readonly ZoneTable[]): Promise<ExistingZones>;
  /**
   * The first call except `loads` and `existingZones`. `skip`: nothing must be read (save mode i and the target exists; modes w and p; or
   * this job is published already); `publish` is called all the same (mode w creates the tables there). Save mode e with existing rows:
   * AppError `conflict`.
   */
  open(plan: SinkPlan): Promise<'load' | 'skip'>;
  /**
   * Called after `open`: returns the last key in use by table name, including `_documents`; rows and documents must be numbered from
   * there. Tables that are not named start at 0. Empty if the sink itself shifts keys when it publishes.
   */
  keyOffsets(): Promise<ReadonlyMap<string, number>>;
  /**
   * Called after `open`: returns those of the given SHA-256 (hex) whose documents the target holds, and will still hold when this job
   * publishes.
   */
  loadedDocuments(sha256s: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Called after `open`: yields the documents of these tables that no other document has replaced. `keys`: the wanted ones, though
   * others may be yielded too; null: all. Absent: the target does not support save mode `merge`.
   */
  currentDocuments?(keys: ReadonlySet<string> | null): AsyncIterable<CurrentDocument>;
  /**
   * After `open`: elements, attributes and texts in `_unmapped`, once for each document and path: of documents that another logical
   * schema loaded, or of all. Absent: as `currentDocuments`.
   */
  unmappedContent?(of: 'others' | 'all'): AsyncIterable<UnmappedOfDocument>;
  /**
   * Takes rows of one table, encoded, ending at a row's end; the sink owns the buffer from now on. Awaiting is back-pressure. `release`
   * may be called when the buffer is no longer needed.
   */
  write(table: number, rows: Uint8Array, rowCount: number, release?: ReleaseRows): Promise<void>;
  writeSide(table: SideTable, rows: Uint8Array, rowCount: number, release?: ReleaseRows): Promise<void>;
  /** Called before the row is written, as is `allowNull`. */
  unconverted(value: UnconvertedValue): Promise<void>;
  /** A NOT NULL column (value role) that got no value in some row: made nullable when the job publishes. */
  allowNull(table: number, column: number): void;
  /**
   * Publishes all written rows, in one step. `fence` is called in the last moment before commit, with the result of merging: false
   * rolls back and ends in AppError `conflict`. `lastKeys`: the highest keys given out, by table name as in `keyOffsets`. `merge`: in
   * that save mode.
   */
  publish(fence: Fence, lastKeys: ReadonlyMap<string, number>, merge?: MergeOrder): Promise<Published>;
  /** Removes everything staged; safe to call at any time after open, also after a failed publish. */
  abort(): Promise<void>;
  close(): Promise<void>;
}

// Targets that a host application implements. A store keeps batches of rows and one text, the state. The state lists the batches and the
// jobs that wrote them, and both change in one step. Save modes, keys, exactly-once loads and documents written back are built on that.

/** Rows of one table that one job adds. */
export interface RowBatch {
  /** Unique in the store, for ever; letters, digits and `%`, `.`, `_`, `-`. */
  readonly name: string;
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
  readonly rowCount: number;
  /** The rows as JSON Lines in UTF-8, in pieces of any size: an object with all columns in each line. May be called again. */
  lines(): AsyncIterable<Uint8Array>;
  /** The rows as objects. A number that a JavaScript number cannot hold exactly is a string of its digits. May be called again. */
  rows(): AsyncIterable<Readonly<Record<string, unknown>>>;
}

/** One step from a state of the store to the next. */
export interface RowChange {
  readonly state: string;
  readonly add: readonly RowBatch[];
  /** names of batches whose rows go */
  readonly drop: readonly string[];
}

/** An open place for rows. Only one job at a time changes it; others may read it meanwhile. */
export interface RowStore {
  /** The state of the last change; null if there was none. */
  readState(): Promise<string | null>;
  /**
   * Makes the change in one step: all or nothing, whenever the process dies. Calls `mayCommit` in the last moment before that, and
   * changes nothing if it rejects. Rejections become the failure of the job.
   */
  change(change: RowChange, mayCommit: () => Promise<void>): Promise<void>;
  /** The lines of a batch, byte for byte as `lines` of the batch gave them. */
  readLines(batch: string): AsyncIterable<Uint8Array>;
  /** Called once, last. */
  close?(): Promise<void>;
}

/** The target of a job, for `RegisteredTarget.open`. */
export interface RowStorePlace {
  /** the text after the scheme and its colon */
  readonly text: string;
  readonly idOrg: number;
  /** the values of `-u` and `-p`; null: not given */
  readonly user: string | null;
  readonly password: string | null;
  /** aborted when the job is killed */
  readonly signal: AbortSignal;
}

/** A kind of targets that a host application brings. */
export interface RegisteredTarget {
  /** The word before the colon of `-o` and `-i`: lower-case letters, digits, `-`; none of the product's own. */
  readonly scheme: string;
  /** The form of a target's text, for messages: `memory:NAME`. */
  readonly form: string;
  /** The SQL that `-S p` prints; absent: PostgreSQL's. */
  readonly dialect?: DialectName;
  /**
   * Returns why the organisation may not use this target, or null if it may. The service asks before it accepts a job. Anybody who may
   * submit jobs chooses the text. Absent: every organisation may use every text.
   */
  check?(text: string, idOrg: number): string | null;
  open(place: RowStorePlace): Promise<RowStore>;
}
