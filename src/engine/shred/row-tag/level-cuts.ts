/**
 * Finds the places where a document that stays one document may be cut into ranges: before the elements of a level, whatever their names.
 * Reads tags only.
 */
import type { LevelAround, LevelHead, RowLevel } from './level.ts';
import { firstPiece, placePiece } from './pieces.ts';
import type { RowCut } from './ranges.ts';
import { createTagReader, type PieceBounds, type QuickPiece } from './tag-reader.ts';

/** Rows at a level, each of which is but a place in its document. */
export interface LevelCuts {
  /** the first place from which on there are rows alone, up to the last cut */
  readonly head: LevelHead;
  readonly cuts: readonly RowCut[];
  readonly prologBytes: number;
  /** see `PieceOfLevel` */
  readonly isSole: boolean;
}

export interface QuickLevelCuts {
  /** See `QuickCuts`. */
  write(chunk: Uint8Array): boolean;
  /** nothing more is to be found */
  readonly isDone: boolean;
  /** Null: the document is incomplete, or may not be cut. */
  end(): LevelCuts | null;
}

/** Does the same as `createQuickCuts` for all rows of a level, whatever their names. */
export function createLevelCuts(
  level: RowLevel,
  rangeBytes: number,
  markBytes: number,
): QuickLevelCuts | null {
  const whole = { from: 0, until: Infinity, outer: [] };
  const reader = createTagReader({ rowTag: null, level, around: null, rangeBytes }, markBytes, whole);
  if (reader === null) return null;
  return {
    get isDone() {
      return reader.isDone;
    },
    write: (chunk) => reader.write(chunk),
    end() {
      const piece = reader.end();
      const placed = piece === null ? null : placePiece(firstPiece, piece);
      if (placed === null || piece!.prologBytes < 0) return null;
      const { head, isSole } = piece!.level!;
      return head === null ? null : { head, isSole, cuts: placed.cuts, prologBytes: piece!.prologBytes };
    },
  };
}

/** Does the same as `createQuickPiece` for all rows of a level. `around`: the level's state, if the piece begins within it. */
export function createLevelPiece(
  level: RowLevel,
  around: LevelAround | null,
  rangeBytes: number,
  markBytes: number,
  bounds: PieceBounds,
): QuickPiece | null {
  return createTagReader({ rowTag: null, level, around, rangeBytes }, markBytes, bounds);
}

/**
 * Returns the elements around the rows of a level, or null if its tags alone do not show them. `beginning`: the document after its byte
 * order mark, up to the first child.
 */
export function levelAround(level: RowLevel, beginning: Uint8Array, markBytes: number): LevelAround | null {
  const bounds = { from: 0, until: Infinity, outer: [] };
  const looking = { rowTag: null, level, around: null, rangeBytes: Infinity };
  const reader = createTagReader(looking, markBytes, bounds);
  return reader?.write(beginning) === true ? reader.around : null;
}
