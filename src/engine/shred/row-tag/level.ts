/** Where a large document may be cut into ranges without a name being given: below the outermost element that has many children. */
import type { QName } from '../../model/source-model.ts';
import {
  KIND_END,
  KIND_MASK,
  KIND_START,
  RECORD_INTS,
  type TextLocation,
  type TokenBatch,
} from '../../xml/tokens.ts';
import type { PieceCut, TagsAround } from './pieces.ts';

/** Offsets in the document: of the start tag of the element around, and of its first child. */
export interface FoundLevel {
  readonly offset: number;
  readonly contentOffset: number;
}

/** Where all elements are that the document may be cut before, as who looks for cuts sees it. */
export interface RowLevel {
  /** offset of the start tag of the element around them */
  readonly offset: number;
  /** whether an element of that name leaves no trace but a row of its own; others end what may be cut, unless they stand near the beginning */
  readonly isRow: (name: QName) => boolean;
  /** bytes of the document, near its beginning */
  readonly headBytes: number;
  /** of what stands behind the rows, so much is looked at for elements like those around them */
  readonly tailBytes: number;
}

/** A row, with its number among those of its level. */
export type LevelHead = Omit<PieceCut, keyof TagsAround>;

export interface LevelFinder {
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
  /** `bytes`: of the document's beginning, which were read; null: there is none in them */
  find(bytes: number): FoundLevel | null;
}

interface OpenElement {
  readonly offset: number;
  children: number;
  /** where the first and the last child begin; -1 */
  firstChild: number;
  lastChild: number;
  /** bytes of the largest child but the last */
  largest: number;
}

/** Children of which one is larger than such a part of what was read are no rows. */
const largestShare = 1 / 4;
const fewestChildren = 4;

export function createLevelFinder(): LevelFinder {
  const open: OpenElement[] = [];
  function grow(parent: OpenElement, to: number): void {
    if (parent.lastChild >= 0) parent.largest = Math.max(parent.largest, to - parent.lastChild);
  }
  return {
    consume({ events, count }, locate) {
      for (let at = 0; at < count; at += 1) {
        const kind = events[at * RECORD_INTS]! & KIND_MASK;
        if (kind === KIND_END) open.pop();
        else if (kind === KIND_START) {
          const { offset } = locate(at);
          const parent = open.at(-1);
          if (parent !== undefined) {
            grow(parent, offset);
            if (parent.children === 0) parent.firstChild = offset;
            parent.children += 1;
            parent.lastChild = offset;
          }
          open.push({ offset, children: 0, firstChild: -1, lastChild: -1, largest: 0 });
        }
      }
    },
    find(bytes) {
      for (const element of open) grow(element, bytes);
      const found = open.find(
        ({ children, largest }) => children >= fewestChildren && largest <= bytes * largestShare,
      );
      return found === undefined ? null : { offset: found.offset, contentOffset: found.firstChild };
    },
  };
}
