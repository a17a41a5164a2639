/** The destination of rows. A sink receives encoded rows by table, keeps them invisible, and publishes all of them or none. */
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { IndexChoice } from '../../engine/sql/ddl.ts';
import type { PartitionWish } from '../../engine/sql/partition-wish.ts';
import type { EncodingName } from '../../engine/shred/rows/output.ts';
import type { EnumeratedValues } from '../../engine/metadata/enumerations.ts';
import type { CurrentDocument, MergeCounts, MergeOrder, UnmappedOfDocument } from './merge.ts';
import type { TargetLoad } from './target-load.ts';
import type { UnitTarget } from './units.ts';

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
export type CodeChoice = 'none' | 'table' | 'check';

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
export type ZonesThere = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

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
  zonesThere(tables: readonly ZoneTable[]): Promise<ZonesThere>;
  /**
   * The first call except `loads` and `zonesThere`. `skip`: nothing must be read (save mode i and the target exists; modes w and p; or
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
