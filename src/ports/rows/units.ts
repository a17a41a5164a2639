/**
 * Rows of a job that other processes write, each a unit of the documents: they write to a place that only publishing reads, and commit
 * a unit once, however many attempts there are. Publishing handles their answers, never their rows.
 */

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
