/** Where a document that stays one may be cut into ranges: before elements of a level, whatever they are called, by tags alone. */
import type { LevelHead, RowLevel } from './level.ts';
import { firstPiece, placePiece } from './pieces.ts';
import { createTagReader } from './quick-cuts.ts';
import type { RowCut } from './ranges.ts';

/** Rows at a level, each of which is but a place in its document. */
export interface LevelCuts {
  /** the first place from which on there are rows alone, up to the last cut */
  readonly head: LevelHead;
  readonly cuts: readonly RowCut[];
  readonly prologBytes: number;
  /** the elements around the rows are the only ones of their paths, as far as names at a depth tell; but for those within rows */
  readonly isSole: boolean;
}

export interface QuickLevelCuts {
  /** As of `QuickCuts`. */
  write(chunk: Uint8Array): boolean;
  /** nothing more is to be found */
  readonly isDone: boolean;
  /** Null: the document is not whole, or may not be cut. */
  end(): LevelCuts | null;
}

/** As `createQuickCuts`, for all rows of a level, whatever they are called. */
export function createLevelCuts(
  level: RowLevel,
  rangeBytes: number,
  markBytes: number,
): QuickLevelCuts | null {
  const reader = createTagReader(null, rangeBytes, markBytes, { from: 0, until: Infinity, outer: [] }, level);
  if (reader === null) return null;
  return {
    get isDone() {
      return reader.isDone;
    },
    write: (chunk) => reader.write(chunk),
    end() {
      const piece = reader.end();
      const placed = piece === null ? null : placePiece(firstPiece, piece);
      if (placed === null || piece!.prologBytes < 0 || reader.head === null) return null;
      const { head, isSole } = reader;
      return { head, isSole, cuts: placed.cuts, prologBytes: piece!.prologBytes };
    },
  };
}
