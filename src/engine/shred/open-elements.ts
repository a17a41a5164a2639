/**
 * The open state while a document is shredded: the elements, their rows, and the rows' values. It is stored in plain arrays so that it
 * can also be in the memory of WebAssembly (`src/engine/shred/kernel/shred.as` knows this layout).
 */
import { ByteBuffer } from './byte-buffer.ts';

/** An open element: int32 fields, from `frame * FRAME_INTS` on. */
export const FRAME_INTS = 16;
/** index of its plan node */
export const FRAME_NODE = 0;
/** the row that holds its values */
export const FRAME_ROW = 1;
/** children and text runs so far */
export const FRAME_POSITION = 2;
/** name id */
export const FRAME_NAME = 3;
/** number of rows that close with the element: 0 if it is folded, 2 if a subtype has a separate table */
export const FRAME_ROW_COUNT = 4;
/** 1: xsi:nil was true */
export const FRAME_NIL = 5;
/** 1: something was kept that shows a folded element was there */
export const FRAME_SHOWN = 6;
/** its own place among its parent's children */
export const FRAME_ORDINAL = 7;
/** node of the last folded child whose position follows from its order */
export const FRAME_LAST_FOLDED = 8;
/** namespace declarations in scope before its own */
export const FRAME_SCOPE = 9;
/** 1: xml:space is `preserve`, so that white space between elements is content */
export const FRAME_SPACE = 10;

/** An open row: int32 fields, from `row * ROW_INTS` on; its number is a float64, at `row * ROW_FLOATS + ROW_NUMBER`. */
export const ROW_INTS = 8;
export const ROW_TABLE = 0;
/** index of the row's first slot */
export const ROW_SLOTS = 1;
/** length of the arena before its values */
export const ROW_MARK = 2;
export const ROW_FLOATS = 4;
export const ROW_NUMBER = 2;

/** A slot has a start and an end in the arena; instead of a start: */
export const SLOT_FREE = -1;
/** the slot is used, without a value */
export const SLOT_TAKEN = -2;

/** Returns the value of FRAME_SPACE for a value of xml:space, or -1 if the value is invalid and changes nothing. */
export function spaceOf(value: string): 0 | 1 | -1 {
  return value === 'preserve' ? 1 : value === 'default' ? 0 : -1;
}

export class ShredState {
  frames = new Int32Array(64 * FRAME_INTS);
  depth = 0;
  rows = new Int32Array(64 * ROW_INTS);
  rowNumbers = new Float64Array(this.rows.buffer);
  /** the innermost row; -1 for none */
  rowTop = -1;
  slots = new Int32Array(1024);
  slotTop = 0;
  /** encoded values of the open rows: a stack, as rows close inside out */
  readonly arena = new ByteBuffer(64 * 1024);
  /** the text of the innermost open element since its last child */
  readonly text = new ByteBuffer(1024);
  /** number of the last row, indexed by table */
  lastNumbers: Float64Array<ArrayBuffer>;

  constructor(lastNumbers: Float64Array<ArrayBuffer>) {
    this.lastNumbers = lastNumbers;
  }

  reset(): void {
    this.depth = 0;
    this.rowTop = -1;
    this.slotTop = 0;
    this.arena.length = 0;
    this.text.length = 0;
  }

  /** A field of an open element, by its depth from 0. */
  frame(frame: number, field: number): number {
    return this.frames[frame * FRAME_INTS + field]!;
  }

  setFrame(frame: number, field: number, value: number): void {
    this.frames[frame * FRAME_INTS + field] = value;
  }

  /** Counts one more child or text run. Returns its position. */
  nextPosition(frame: number): number {
    return ++this.frames[frame * FRAME_INTS + FRAME_POSITION]!;
  }

  /** Room for one more open element. */
  reserveFrame(): void {
    if ((this.depth + 1) * FRAME_INTS > this.frames.length) this.frames = grown(this.frames, 0);
  }

  /** Reserves room for one more row with `slotCount` slots. */
  reserveRow(slotCount: number): void {
    if ((this.rowTop + 2) * ROW_INTS > this.rows.length) {
      this.rows = grown(this.rows, 0);
      this.rowNumbers = new Float64Array(this.rows.buffer);
    }
    const end = this.slotTop + slotCount * 2;
    if (end > this.slots.length) this.slots = grown(this.slots, end);
  }
}

function grown(old: Int32Array, needed: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(needed, old.length * 2));
  larger.set(old);
  return larger;
}
