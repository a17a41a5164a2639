/** Text between tags: gathered over batches, then a value, rows of mixed content, or a deviation. */
import { FLAG_WHITE_SPACE, KIND_MASK, KIND_TEXT, RECORD_INTS, type TokenBatch } from '../../xml/tokens.ts';
import {
  FRAME_NIL,
  FRAME_POSITION,
  FRAME_ROW,
  FRAME_SHOWN,
  FRAME_SPACE,
  type ShredState,
} from '../open-elements.ts';
import { ByteBuffer } from '../rows/byte-buffer.ts';
import { isWhiteSpace, sourceOf } from '../xml-capture.ts';
import type { ColumnValues } from './column-values.ts';
import type { WalkContext } from './context.ts';
import type { ElementRows } from './element-rows.ts';
import type { UnmappedContent } from './unmapped-content.ts';

export class TextRuns {
  readonly #context: WalkContext;
  readonly #state: ShredState;
  readonly #values: ColumnValues;
  readonly #elementRows: ElementRows;
  readonly #unmapped: UnmappedContent;
  /** start of the present text run in the state's text, for values that children interrupt */
  #runStart = 0;
  /** white space at the end of a batch that only matters if other text follows */
  readonly #heldSpace = new ByteBuffer(64);

  constructor(
    context: WalkContext,
    values: ColumnValues,
    elementRows: ElementRows,
    unmapped: UnmappedContent,
  ) {
    this.#context = context;
    this.#state = context.state;
    this.#values = values;
    this.#elementRows = elementRows;
    this.#unmapped = unmapped;
  }

  beginDocument(): void {
    this.#heldSpace.length = 0;
    this.#runStart = 0;
  }

  /** Adds the TEXT record `at`, whose flags are `flags`. */
  add(batch: TokenBatch, at: number, flags: number): void {
    const { depth, text } = this.#state;
    const node = depth === 0 ? null : this.#context.nodeOf(depth - 1);
    if (node !== null && !node.takesText && text.length === 0 && !this.#preservesSpace(depth - 1)) {
      if ((flags & FLAG_WHITE_SPACE) !== 0) return;
      this.#pushSpaceBefore(batch, at);
    }
    this.#push(text, batch, at);
  }

  /** An element was opened: its text begins. */
  start(): void {
    this.#state.text.length = 0;
    this.#runStart = 0;
  }

  /** Ends an element whose text is a value in `column`. */
  endValue(frame: number, row: number, column: number): void {
    const state = this.#state;
    if (state.frame(frame, FRAME_POSITION) > 0) this.closeRun(frame);
    if (state.frame(frame, FRAME_NIL) === 0 || state.text.length > 0) {
      this.#values.set(row, column, state.text.bytes, 0, state.text.length);
      state.setFrame(frame, FRAME_SHOWN, 1);
    }
    state.text.clear();
    this.#runStart = 0;
  }

  /** Ends a run of text, because a child starts or the element ends. */
  closeRun(frame: number): void {
    const { text } = this.#state;
    const { length } = text;
    if (length === 0) return;
    const { plan, keepsSpace } = this.#context.nodeOf(frame);
    const row = this.#state.frame(frame, FRAME_ROW);
    if (plan.textColumn >= 0) {
      // a value's text continues after a child that has no place in it; its parts are kept beside the row
      const run = text.bytes.slice(this.#runStart, length);
      this.#runStart = length;
      if (!isWhiteSpace(run, run.length)) this.#addUnmapped(frame, run, row);
      // no deviation in itself, but text that is written back around the child
      else if (keepsSpace || this.#preservesSpace(frame)) this.#keepSpace(frame, run, row);
      return;
    }
    this.#meetPrefixes();
    if (plan.textTable >= 0) {
      this.#state.setFrame(frame, FRAME_SHOWN, 1);
      const position = this.#state.nextPosition(frame);
      this.#elementRows.addContent(plan.textTable, row, position, text.bytes, length);
    } else if (!isWhiteSpace(text.bytes, length)) {
      this.#state.setFrame(frame, FRAME_SHOWN, 1);
      this.#addUnmapped(frame, text.bytes.slice(0, length), row);
    } else if (this.#preservesSpace(frame)) this.#keepSpace(frame, text.bytes.slice(0, length), row);
    text.length = 0;
  }

  #preservesSpace(frame: number): boolean {
    return this.#state.frame(frame, FRAME_SPACE) === 1;
  }

  /** Keeps white space that is content if the element has no place for text. */
  #keepSpace(frame: number, run: Uint8Array, row: number): void {
    const { plan } = this.#context.nodeOf(frame);
    if (plan.ignored?.text === true || this.#context.settings.unmapped !== 'capture') return;
    this.#state.setFrame(frame, FRAME_SHOWN, 1);
    const position = this.#state.nextPosition(frame);
    this.#unmapped.keep('text', position, this.#context.paths.element(frame), run, row);
  }

  /** The text of the innermost element is content. */
  #meetPrefixes(): void {
    const { prefixes } = this.#context;
    const { bytes, length } = this.#state.text;
    if (prefixes.wanted.length > 0) prefixes.meet(this.#unmapped, bytes, 0, length);
  }

  /** Keeps the white space a batch ends with, for text at the start of the next. */
  holdSpace(batch: TokenBatch): void {
    const first = firstOfSpace(batch, batch.count);
    if (first > 0) this.#heldSpace.length = 0;
    if (first === batch.count || this.#state.text.length > 0) return;
    for (let i = first; i < batch.count; i += 1) this.#push(this.#heldSpace, batch, i);
  }

  #addUnmapped(frame: number, run: Uint8Array, row: number): void {
    const position = this.#state.nextPosition(frame);
    this.#unmapped.add('text', position, this.#context.paths.element(frame), run, row);
  }

  #push(to: ByteBuffer, batch: TokenBatch, at: number): void {
    const { events } = batch;
    to.push(sourceOf(batch, at), events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!);
  }

  /** Adds the white space that was skipped before a text that turns out to be unexpected: it belongs to the text. */
  #pushSpaceBefore(batch: TokenBatch, at: number): void {
    const { text } = this.#state;
    const first = firstOfSpace(batch, at);
    if (first === 0) text.push(this.#heldSpace.bytes, 0, this.#heldSpace.length);
    for (let i = first; i < at; i += 1) this.#push(text, batch, i);
  }
}

/** Returns the first of the white space TEXT records that precede record `end`, or `end` if there is none. */
function firstOfSpace(batch: TokenBatch, end: number): number {
  let first = end;
  while (first > 0) {
    const flags = batch.events[(first - 1) * RECORD_INTS]!;
    if ((flags & KIND_MASK) !== KIND_TEXT || (flags & FLAG_WHITE_SPACE) === 0) break;
    first -= 1;
  }
  return first;
}
