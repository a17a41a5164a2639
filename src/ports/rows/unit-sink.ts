/** The executor’s side of units (src/ports/rows/units.ts). */
import type { RowSink } from './sink.ts';
import type { UnitReceipt } from './units.ts';

/** The work of an executor for one unit, in one attempt. */
export interface UnitSink extends Pick<RowSink, 'write' | 'writeSide' | 'unconverted' | 'allowNull'> {
  /**
   * Makes the unit's rows, and `note` on them, the unit's own: all or none. Where another attempt was first, this one's rows go, and
   * its note is answered; else `note`.
   */
  commit(note: (receipt: UnitReceipt) => string): Promise<string>;
  /** Gives up what was not committed; safe to call at any time. */
  close(): Promise<void>;
}
