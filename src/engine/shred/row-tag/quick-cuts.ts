/**
 * Finds the places where a document may be cut into ranges, as `createRowCutFinder` does, but by tags alone and several times as fast. It
 * checks nothing, because the readers of the ranges check all of them. A range before a cut reports whatever is not well-formed before
 * that cut.
 */
import type { RowElementName } from './elements.ts';
import { cutAt, firstPiece, placeOfCut, placePiece } from './pieces.ts';
import type { RowCut } from './ranges.ts';
import { createTagReader, type PieceBounds, type QuickPiece } from './tag-reader.ts';

export interface QuickCuts {
  /** False: the document needs more than its tags to be seen; nothing more is to be written. */
  write(chunk: Uint8Array): boolean;
  /** Returns the cuts found since the last call, in their order, or null if the rest cannot be cut. */
  take(): readonly RowCut[] | null;
  /** bytes before the root element; -1: it has not begun */
  readonly prologBytes: number;
  /** Null: the document is incomplete, or has no element. */
  end(): { readonly cuts: readonly RowCut[]; readonly prologBytes: number } | null;
}

/**
 * `rangeBytes`: bytes of a range, not counting the rest of its last row; `markBytes`: bytes of the file's byte order mark, which are not
 * written. Returns null if WebAssembly is not available, or if the name is too long.
 */
export function createQuickCuts(
  rowTag: RowElementName,
  rangeBytes: number,
  markBytes: number,
): QuickCuts | null {
  const bounds = { from: 0, until: Infinity, outer: [] };
  const reader = createQuickPiece(rowTag, rangeBytes, markBytes, bounds);
  if (reader === null) return null;
  let taken = 0;
  return {
    write: (chunk) => reader.write(chunk),
    take() {
      const places = reader.cuts.slice(taken).map((cut) => placeOfCut(firstPiece, cut));
      taken += places.length;
      return places.includes(null) ? null : places.map((place) => cutAt(place!));
    },
    get prologBytes() {
      return reader.prologBytes;
    },
    end() {
      const piece = reader.end();
      const placed = piece === null ? null : placePiece(firstPiece, piece);
      if (placed === null || piece!.prologBytes < 0) return null;
      return { cuts: placed.cuts, prologBytes: piece!.prologBytes };
    },
  };
}

/**
 * Does the same as `createQuickCuts` for one piece: returns the cuts in it. `markBytes`: bytes of the byte order mark, if the piece
 * begins at 0.
 */
export function createQuickPiece(
  rowTag: RowElementName,
  rangeBytes: number,
  markBytes: number,
  bounds: PieceBounds,
): QuickPiece | null {
  return createTagReader({ rowTag, level: null, around: null, rangeBytes }, markBytes, bounds);
}
