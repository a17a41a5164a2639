/** Sources of rows: a target that documents were loaded into, and rows that are read once. */
import type { RelationalModel, ColumnType } from '../engine/model/relational-model.ts';
import type { TargetLoad } from './row-sink.ts';
import type { DocumentVersions } from '../engine/sql/loaded-documents.ts';
import type { DocumentRows } from '../engine/unshred/rows/document-rows.ts';

// The rows of documents in a target, to write the documents back.

export interface StoredDocument {
  /** key in `_documents`, decimal digits */
  readonly key: string;
  /** name of the document when it was loaded */
  readonly name: string | null;
  /** the hash of the model that it was loaded with; null if the ledger does not record it */
  readonly modelHash: string | null;
}

export interface RowSource {
  /** Address without secrets, for logs and the job record. */
  readonly label: string;
  /** Before `open`: the logical schemas that loaded the target, the last one first. */
  loads(): Promise<readonly TargetLoad[]>;
  /** The first call except `loads`. All later reads see the state of this moment. AppError `not_found` if the target does not exist. */
  open(model: RelationalModel): Promise<void>;
  /**
   * Yields documents in the order of their keys; only those with the name if one is given. `versions` (see there): default: the current
   * ones.
   */
  documents(name?: string, versions?: DocumentVersions): AsyncIterable<StoredDocument>;
  documentCount(name?: string, versions?: DocumentVersions): Promise<number>;
  /**
   * Returns rows from that document on, including later documents; null: all rows from the first. Blocks returned before become invalid.
   */
  rowsFrom(documentKey: string | null): Promise<DocumentRows>;
  /** Like `rowsFrom`, but for one document. */
  rowsOf(documentKey: string): Promise<DocumentRows>;
  close(): Promise<void>;
}

// Rows that are read once, in one direction: those of a query, or of a file of rows.

/** Text as the place writes it; bytes of a column that holds bytes. */
export type QueryCell = string | Uint8Array | null;

export interface QueryColumn {
  readonly name: string;
  /** type of its texts; values that none of our column types can hold are text */
  readonly type: ColumnType['kind'];
  /** form in which the column could hold a document */
  readonly holds: 'xml' | 'text' | 'bytes' | 'other';
}

/** Rows from there on, in the order of the column. */
export interface RowStart {
  readonly column: string;
  /** a text of that column, as a cell has it: rows with it are given, too; null: from the first on */
  readonly from: string | null;
}

export interface QueryRows {
  /** the place as messages call it, without secrets */
  readonly label: string;
  /** Returns the columns in their order. AppErrors of the place: it cannot be reached, or does not accept the query. */
  columns(): Promise<readonly QueryColumn[]>;
  /** Once. `order`: rows without a value of that column come, too. */
  rows(order: RowStart | null): AsyncIterable<readonly QueryCell[]>;
  close(): Promise<void>;
}
