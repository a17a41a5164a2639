/**
 * Finds the level at which a large document may be cut into ranges without a given row name: below the outermost element that has many
 * children.
 */
import type { QName } from '../../model/source-model.ts';
import {
  KIND_END,
  KIND_MASK,
  KIND_START,
  RECORD_INTS,
  type TextLocation,
  type TokenBatch,
} from '../../xml/tokens.ts';
import type { PieceOfLevel } from './pieces.ts';

/** Offsets in the document: of the start tag of the element around, and of its first child. */
export interface FoundLevel {
  readonly offset: number;
  readonly contentOffset: number;
  /** name ids of its children that have been read */
  readonly children: ReadonlySet<number>;
}

/** The level of the elements that the document may be cut before, for readers that look for cuts. */
export interface RowLevel {
  /** offset of the start tag of the element around them */
  readonly offset: number;
  /**
   * names of elements that contribute more than a row of their own: they end the part that may be cut, unless they are near the beginning
   */
  readonly folded: readonly QName[];
  /** bytes of the document, near its beginning */
  readonly headBytes: number;
  /** bytes after the rows that are searched for elements like those around the rows */
  readonly tailBytes: number;
}

/** The state of a level, known after reading the document up to it. */
export interface LevelAround {
  /** start tags of the elements around the rows, outermost first */
  readonly tags: readonly string[];
  /** number of elements so far at each of their places */
  readonly met: readonly (readonly [place: string, count: number])[];
}

/** A row, with its number among those of its level. */
export type LevelHead = NonNullable<PieceOfLevel['head']>;

export interface LevelFinder {
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
  /** `bytes`: of the document's beginning, which were read; null: there is none in them */
  find(bytes: number): FoundLevel | null;
}

interface OpenElement {
  readonly offset: number;
  children: number;
  /** name ids of these children */
  readonly names: Set<number>;
  /** offsets of the first and the last child; -1 if none */
  firstChild: number;
  lastChild: number;
  /** bytes of the largest child but the last */
  largest: number;
}

/** The largest share of the bytes read that a child may have for its siblings to be rows. */
const largestShare = 1 / 4;
const fewestChildren = 4;

export function createLevelFinder(): LevelFinder {
  const open: OpenElement[] = [];
  function grow(parent: OpenElement, to: number): void {
    if (parent.lastChild >= 0) parent.largest = Math.max(parent.largest, to - parent.lastChild);
  }
  return {
    consume({ events, count }, locate) {
      // offset of the batch's bytes in the document
      let base = -1;
      for (let at = 0; at < count; at += 1) {
        const kind = events[at * RECORD_INTS]! & KIND_MASK;
        if (kind === KIND_END) open.pop();
        else if (kind === KIND_START) {
          const start = events[at * RECORD_INTS + 2]!;
          // lines and columns of each would be counted, too
          if (base < 0) base = locate(at).offset - start;
          const offset = base + start;
          const parent = open.at(-1);
          if (parent !== undefined) {
            grow(parent, offset);
            if (parent.children === 0) parent.firstChild = offset;
            parent.children += 1;
            parent.names.add(events[at * RECORD_INTS + 1]!);
            parent.lastChild = offset;
          }
          open.push({ offset, children: 0, names: new Set(), firstChild: -1, lastChild: -1, largest: 0 });
        }
      }
    },
    find(bytes) {
      for (const element of open) grow(element, bytes);
      const found = open.find(
        ({ children, largest }) => children >= fewestChildren && largest <= bytes * largestShare,
      );
      if (found === undefined) return null;
      return { offset: found.offset, contentOffset: found.firstChild, children: found.names };
    },
  };
}
