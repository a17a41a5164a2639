/**
 * Finds the cuts of a document in pieces that are searched independently. A piece that is assumed to begin at a row element has correct
 * cuts if a row element outside of any other does begin there. That is the case if the previous piece ends there.
 */
import type { TextLocation } from '../../xml/tokens.ts';
import type { RowCut } from './ranges.ts';

/** The elements around a place, as known from its piece. */
export interface TagsAround {
  /** number of the elements around the beginning of the piece that have ended */
  readonly ended: number;
  /** start tags of those that have begun since, outermost first */
  readonly begun: readonly string[];
}

/** A cut: lines, columns and rows are counted from the beginning of the piece, the offset is the file's. */
export interface PieceCut extends TagsAround {
  readonly location: TextLocation;
  readonly number: number;
}

export interface PieceOfRows {
  /** start offset: 0, or that of the `<` of a row element */
  readonly from: number;
  /** start tags that the piece assumed to be around it, if that made a difference; null otherwise */
  readonly outer: readonly string[] | null;
  /** bytes of the document before its root element; -1: the document does not begin in this piece */
  readonly prologBytes: number;
  /** the last one is the start of the next piece, if there is one */
  readonly cuts: readonly PieceCut[];
  /** state at the end of the document; null: the document ends in another piece */
  readonly end: TagsAround | null;
  /** present if rows are the elements of a level */
  readonly level?: PieceOfLevel;
}

export interface PieceOfLevel {
  /** the first row from which on there are rows alone, up to the last cut; of a piece within the level its first; null: there is none */
  readonly head: Omit<PieceCut, keyof TagsAround> | null;
  /** the level, or the part of it that may be cut, ends here: no other piece has a cut */
  readonly hasEnded: boolean;
  /**
   * the elements around the rows are the only ones with their paths, as far as names and depths show; elements within rows are not
   * counted
   */
  readonly isSole: boolean;
}

/** The start of a piece, as known from the document before it. */
export interface PieceStart {
  readonly location: TextLocation;
  /** number of the row element that begins there, from 1 */
  readonly number: number;
  /** start tags of the elements around, outermost first */
  readonly around: readonly string[];
}

export const firstPiece: PieceStart = {
  location: { line: 1, column: 1, offset: 0 },
  number: 1,
  around: [],
};

export interface PlacedPiece {
  readonly cuts: readonly RowCut[];
  /** null: the document has ended */
  readonly next: PieceStart | null;
}

/** Returns the placed piece, assuming that it begins at `start`. Returns null if it does not, or if the document is not well-formed. */
export function placePiece(start: PieceStart, piece: PieceOfRows): PlacedPiece | null {
  if (piece.from !== start.location.offset) return null;
  if (piece.outer !== null && piece.outer.join('') !== start.around.join('')) return null;
  const cuts: RowCut[] = [];
  let next: PieceStart | null = null;
  for (const cut of piece.cuts) {
    next = placeOfCut(start, cut);
    if (next === null) return null;
    cuts.push(rowCutOf(next));
  }
  if (piece.end === null) return { cuts, next };
  return tagsAt(start, piece.end)?.length === 0 ? { cuts, next: null } : null;
}

/** Returns the document's state at a cut of the piece that begins at `start`, or null if the document is not well-formed before the cut. */
export function placeOfCut(start: PieceStart, cut: PieceCut): PieceStart | null {
  const around = tagsAt(start, cut);
  // a second root
  if (around === null || around.length === 0) return null;
  return {
    location: locationAt(start.location, cut.location),
    number: start.number + cut.number - 1,
    around,
  };
}

export function rowCutOf({ location, number, around }: PieceStart): RowCut {
  const attributes = around.flatMap((tag) => [...attributesOf(tag)]);
  return {
    location,
    number,
    openTags: around.join(''),
    attributes: attributes.filter(([name]) => name !== 'xmlns' && !name.startsWith('xmlns:')).length,
  };
}

/** Returns the start tags around a place, or null if more elements have ended than have begun. */
function tagsAt({ around }: PieceStart, { ended, begun }: TagsAround): readonly string[] | null {
  return ended > around.length ? null : [...around.slice(0, around.length - ended), ...begun];
}

function locationAt(start: TextLocation, { line, column, offset }: TextLocation): TextLocation {
  return {
    line: start.line + line - 1,
    column: line === 1 ? start.column + column - 1 : column,
    offset,
  };
}

/** Yields the attributes of a start tag with their values as written. */
export function* attributesOf(tag: string): Iterable<readonly [name: string, value: string]> {
  for (const [, name, value] of tag.matchAll(/([^\s<>"'=]+)\s*=\s*("[^"]*"|'[^']*')/g))
    yield [name!, value!.slice(1, -1)];
}
