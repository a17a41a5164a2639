/** Text between tags: gathered over batches, then written as a value, as rows of mixed content, or as a deviation. */
import { utf8Text } from '../../xml/utf8.ts';
import { partOf } from '../compiled-plan.ts';
import type { OpenRows } from '../open-rows.ts';
import { EMPTY, FITS, UNCONVERTED, cellOfMisfit, isMistakable } from '../conversion.ts';
import type { WalkContext } from './context.ts';
import type { UnmappedContent } from './unmapped-content.ts';
import { FLAG_WHITE_SPACE, KIND_MASK, KIND_TEXT, RECORD_INTS, type TokenBatch } from '../../xml/tokens.ts';
import {
  FRAME_NIL,
  FRAME_POSITION,
  FRAME_ROW,
  FRAME_SHOWN,
  FRAME_SPACE,
  type ShredState,
} from '../open-elements.ts';
import { ByteBuffer } from '../byte-buffer.ts';
import { isWhiteSpace, sourceOf } from '../xml-capture.ts';
import type { ElementRows } from './element-rows.ts';

// Writes values of the source to their columns. Keeps values that a column's type cannot hold exactly beside the row.

export interface UnconvertedText {
  readonly table: number;
  readonly column: number;
  /** the key as it is written: decimal digits, because it may exceed 2^53 */
  readonly rowKey: number | string;
  readonly text: string;
}

export class ColumnValues {
  /** values their columns cannot hold; the consumer empties it */
  readonly unconvertedValues: UnconvertedText[] = [];
  readonly #context: WalkContext;
  readonly #rows: OpenRows;
  readonly #unmapped: UnmappedContent;

  constructor(context: WalkContext, unmapped: UnmappedContent) {
    this.#context = context;
    this.#unmapped = unmapped;
    this.#rows = context.rows;
  }

  set(row: number, column: number, source: Uint8Array, start: number, end: number): void {
    const result = this.#rows.setValue(row, column, source, start, end);
    if (result !== FITS) this.#setOther(result, row, column, source, start, end);
    const keepsName =
      result === FITS &&
      this.#rows.table(row).holdsNames[column] === 1 &&
      this.#keepName(row, column, source.subarray(start, end));
    const { prefixes } = this.#context;
    if (!keepsName && prefixes.wanted.length > 0) prefixes.meet(this.#unmapped, source, start, end);
  }

  #setOther(
    result: number,
    row: number,
    column: number,
    source: Uint8Array,
    start: number,
    end: number,
  ): void {
    const { deviations, output, settings } = this.#context;
    const table = this.#rows.table(row);
    const part = partOf(table, column);
    const { name, keepsForm, type } = table.columns[column]!;
    const written = source.subarray(start, end);
    const rowKey = this.#rows.key(row);
    if (result === UNCONVERTED) {
      const text = utf8Text(written);
      this.unconvertedValues.push({ table: part.index, column: column - part.start, rowKey, text });
      if (settings.widensInPlace) this.#rows.mark(row, column);
      else {
        const cell = cellOfMisfit(written, type, settings.encoding);
        this.#rows.setRaw(row, column, cell, 0, cell.length);
        if (isMistakable(text, type))
          output.side('lexical', [this.#context.documentKey(), part.name, rowKey, name, written]);
      }
      deviations.unconverted(`${part.name}.${name}`, text);
      return;
    }
    const kept = result === EMPTY && keepsForm !== true ? new Uint8Array(0) : written;
    output.side('lexical', [this.#context.documentKey(), part.name, rowKey, name, kept]);
  }

  /** Keeps a QName with its namespace, and returns true, if the model gives its prefix another meaning or none. */
  #keepName(row: number, column: number, value: Uint8Array): boolean {
    const { output, scope, settings } = this.#context;
    const table = this.#rows.table(row);
    const { name, type } = table.columns[column]!;
    const expanded = scope.expand(utf8Text(value), type.list === true, settings.model.namespaces);
    if (expanded === null) return false;
    const document = this.#context.documentKey();
    output.side('lexical', [document, partOf(table, column).name, this.#rows.key(row), name, expanded]);
    return true;
  }
}

// Runs of text.

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
