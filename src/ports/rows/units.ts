/**
 * Rows of a job that other processes write, each a unit of the documents: they write where only publishing looks, and commit a unit once,
 * however many attempts there are at it. Publishing handles what they answered, never their rows.
 */

/** What an executor writes a unit with: plain data, written as JSON. It holds a secret, which is worth nothing when the job has ended. */
export interface UnitToken {
  /** technology of the target: whose code reads the rest */
  readonly kind: 'postgresql';
}

/** What is in the target of one unit. */
export interface UnitReceipt {
  /** by table of the model, or its name beside those */
  readonly rows: readonly (readonly [table: number | string, rows: number])[];
  /** columns, by indexes of table and column, with rows that leave them empty though the model wants a value */
  readonly nullAllowed: readonly (readonly [table: number, column: number])[];
  /** columns with values that their types cannot hold; the values were written */
  readonly unconverted: readonly (readonly [table: number, column: number])[];
}

/** What the machine does that publishes. */
export interface UnitTarget {
  /**
   * After `open`, once: makes ready for units that are numbered from 0, none of whose rows comes by `write`. A text: the target takes
   * none from others, and why; the rows are to come by `write` then.
   */
  begin(units: number): Promise<UnitToken | string>;
  /**
   * When all units are committed: none can be written any more, and `publish` publishes what these receipts tell. AppError
   * `internal_error`: one is not there.
   */
  adopt(receipts: readonly UnitReceipt[]): Promise<void>;
}
