/** Rows that are read once, in one direction: those of a query, or of a file of rows. */
import type { ColumnType } from '../../engine/model/relational-model.ts';

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
