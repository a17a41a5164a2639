/**
 * Where a document may be cut into ranges, as `createRowCutFinder` finds it, but by tags alone and several times as fast: nothing is
 * checked, as who reads the ranges checks all of them. What is not well-formed before a cut is met in a range before that cut.
 */
import type { RowElementName } from './elements.ts';
import { firstPiece, placePiece } from './pieces.ts';
import type { RowCut } from './ranges.ts';
import { createTagReader, type PieceBounds, type QuickPiece } from './tag-reader.ts';

export interface QuickCuts {
  /** False: the document needs more than its tags to be seen; nothing more is to be written. */
  write(chunk: Uint8Array): boolean;
  /** Null: the document is not whole, or has no element. */
  end(): { readonly cuts: readonly RowCut[]; readonly prologBytes: number } | null;
}

/**
 * `rangeBytes`: of a range, but for the rest of the row that it ends in; `markBytes`: of the file, which are not written. Null:
 * WebAssembly is refused, or the name is longer than any.
 */
export function createQuickCuts(
  rowTag: RowElementName,
  rangeBytes: number,
  markBytes: number,
): QuickCuts | null {
  const bounds = { from: 0, until: Infinity, outer: [] };
  const reader = createQuickPiece(rowTag, rangeBytes, markBytes, bounds);
  if (reader === null) return null;
  return {
    write: (chunk) => reader.write(chunk),
    end() {
      const piece = reader.end();
      const placed = piece === null ? null : placePiece(firstPiece, piece);
      if (placed === null || piece!.prologBytes < 0) return null;
      return { cuts: placed.cuts, prologBytes: piece!.prologBytes };
    },
  };
}

/** As `createQuickCuts`: what a piece says of the cuts that lie in it. `markBytes`: of one that begins at 0. */
export function createQuickPiece(
  rowTag: RowElementName,
  rangeBytes: number,
  markBytes: number,
  bounds: PieceBounds,
): QuickPiece | null {
  return createTagReader({ rowTag, level: null, around: null, rangeBytes }, markBytes, bounds);
}
