/** The messages between a load and its threads. */
import type { Diagnostic } from '../../../engine/diagnostics.ts';
import type { DocumentStatistics } from '../../../engine/infer/statistics.ts';
import type { QName } from '../../../engine/model/source-model.ts';
import type { PackedRelationalModel } from '../../../engine/model/packed/models.ts';
import type { ErrorCode } from '../../../errors.ts';
import type { SideTable, UnconvertedValue } from '../../../ports/rows/sink.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import type { LoadFindings } from '../findings.ts';
import type { KeyRange } from '../document-cut.ts';
import type { LoadingJob } from '../row-loader.ts';
import type { UnitMember } from '../spark/work.ts';

/** size of a slot: as large as the chunks in which rows of a table are handed over, except very long rows */
export const slotBytes = 192 * 1024;

export interface ThreadJob extends LoadingJob {
  readonly packed: PackedRelationalModel;
  readonly stored: Omit<StoredLogicalSchema, 'model'>;
  /** SHA-256 of the documents are known */
  readonly hashed: boolean;
}

/** Documents that follow one another. */
export interface ThreadUnit extends KeyRange {
  readonly number: number;
  readonly members: readonly UnitMember[];
}

export type ToThread =
  | { readonly kind: 'unit'; readonly unit: ThreadUnit }
  /** path of a file whose SHA-256 is asked for */
  | { readonly kind: 'hash'; readonly file: string }
  /** the sink has consumed that number of bytes, and their slots are free */
  | { readonly kind: 'taken'; readonly bytes: number; readonly slots: readonly number[] }
  | { readonly kind: 'end' };

/**
 * Rows in memory that both see, which is used again and again: buffers that change hands cost the one who gets them a collection of
 * garbage for each few of them.
 */
export interface SlotRows {
  readonly slot: number;
  readonly length: number;
  /** set when the slot is used for the first time */
  readonly memory: SharedArrayBuffer | null;
}

export interface RowsOfTable {
  readonly table: number | SideTable;
  readonly rows: SlotRows | Uint8Array;
  readonly rowCount: number;
}

export type ThreadFault =
  | { readonly diagnostic: Diagnostic }
  | { readonly code: ErrorCode; readonly message: string };

export type FromThread =
  | { readonly kind: 'rows'; readonly tables: readonly RowsOfTable[] }
  | { readonly kind: 'unconverted'; readonly value: UnconvertedValue }
  | { readonly kind: 'allowNull'; readonly table: number; readonly column: number }
  | {
      readonly kind: 'unit';
      readonly unit: number;
      readonly statistics: DocumentStatistics | null;
      /** for a range of one document: the elements that are open around it; null: whole documents */
      readonly open: readonly QName[] | null;
      /** documents of the unit */
      readonly documents: number;
      readonly bytes: number;
    }
  | { readonly kind: 'failed'; readonly unit: number; readonly fault: ThreadFault }
  /** null: the file could not be read */
  | { readonly kind: 'hashed'; readonly sha256: string | null }
  | {
      readonly kind: 'end';
      readonly findings: LoadFindings;
      readonly lastKeys: ReadonlyMap<string, number>;
    };
