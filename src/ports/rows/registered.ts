/**
 * The interface that a host application implements to receive rows in a place of its own. A store keeps batches of rows and one text,
 * the state. The state lists the batches and the jobs that wrote them. Both change in one step. Save modes, keys, exactly-once loads
 * and documents written back are built on that.
 */
import type { DialectName } from '../../engine/sql/dialects/every-dialect.ts';
import type { ColumnType } from '../../engine/model/relational-model.ts';

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
