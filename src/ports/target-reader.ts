/** Reads rows of targets for people: pages of a table, and single statements that only read. */
import type { ColumnType } from '../engine/model/relational-model.ts';

/** A value in JSON; see `RowAnswer` for its form. */
export type AnswerValue =
  | string
  | number
  | boolean
  | null
  | readonly AnswerValue[]
  | { readonly [member: string]: AnswerValue };

export interface AnswerColumn {
  readonly name: string;
  /** the name of the type in the database */
  readonly type: string;
}

/**
 * Rows as JSON. A number is a JSON number if a double holds it exactly; other whole numbers, decimals, NaN and infinities are texts.
 * Dates and times are ISO 8601 texts, bytes are Base64, NULL is null.
 */
export interface RowAnswer {
  readonly columns: readonly AnswerColumn[];
  readonly rows: readonly (readonly AnswerValue[])[];
  /** the statement has more rows than the answer */
  readonly truncated: boolean;
}

export interface RowPage {
  readonly columns: readonly AnswerColumn[];
  readonly content: readonly (readonly AnswerValue[])[];
  readonly page: number;
  readonly size: number;
  readonly totalElements: number;
}

/** The part of a table that a page shows. */
export interface PageSlice {
  readonly table: string;
  readonly page: number;
  readonly size: number;
}

/** Types of the columns of tables, by the name of the table. */
export type TypesOfTables = Readonly<
  Record<string, readonly { readonly name: string; readonly type: ColumnType }[]>
>;

/** A target that can be read, after the rights of the organisation were checked. `label`: as the caller named it. */
export type ReadableTarget =
  | { readonly kind: 'metadb'; readonly label: string; readonly sqlSchema: string }
  | { readonly kind: 'duckdb' | 'sqlite'; readonly label: string; readonly file: string }
  | {
      readonly kind: 'folder';
      readonly label: string;
      readonly directory: string;
      /** Returns the types of the tables of a folder whose files do not record them, from the models with these hashes. */
      readonly typesOf: (modelHashes: readonly string[], tables: readonly string[]) => Promise<TypesOfTables>;
    };

/** Runs each request in a process of its own, within limits of time, memory and rows. */
export interface TargetReader {
  /** AppError `not_found` if the target or the table does not exist, `unprocessable_input` past a limit. */
  rows(idOrg: number, target: ReadableTarget, slice: PageSlice): Promise<RowPage>;
  /** AppError `invalid_body` with the message of the database for a wrong statement; otherwise as `rows`. */
  query(idOrg: number, target: ReadableTarget, sql: string): Promise<RowAnswer>;
}

// The child process opens one target for one request.

/** Rows that are read once, in one direction. */
export interface ReadRows {
  readonly columns: readonly AnswerColumn[];
  readonly rows: AsyncIterable<readonly AnswerValue[]>;
}

export interface OpenedTarget {
  /** Returns the number of rows of a table or view, and the rows of one page. AppError `not_found` if there is no such table. */
  page(slice: PageSlice): Promise<ReadRows & { readonly total: number }>;
  /** Runs one statement of the caller. AppError `invalid_body` if it is wrong, or reads anything else than the target. */
  query(sql: string): Promise<ReadRows>;
  /** Returns whether no job has changed the target since it was opened. Absent: the rows are of one state anyway. */
  isUnchanged?(): Promise<boolean>;
  close(): Promise<void>;
}
