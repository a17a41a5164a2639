/** The executor’s side of units (src/ports/rows/units.ts). */
import type { RowSink } from './sink.ts';
import type { UnitReceipt } from './units.ts';

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
