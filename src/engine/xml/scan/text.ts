/** Text that has to be decoded: references, line ends, CDATA sections, and the limit on its length. */
import { appendCodePoint } from './attribute-value.ts';
import { AMPERSAND, CLOSE_BRACKET, CR, GREATER, LESS, LF, SPACE, TAB, textStops } from '../characters.ts';
import { REFERENCE_CUT, REFERENCE_ENTITY, replacementText, scanReference } from './references.ts';
import { GOES_ON, IN_CDATA, IN_NOTHING, NEEDS_INPUT, STATE_CHANGED } from '../tokenizer/state.ts';
import type { Outcome, TokenizerState } from '../tokenizer/state.ts';
import { FLAG_DECODED, FLAG_WHITE_SPACE, KIND_TEXT } from '../tokens.ts';
import { sequenceLength, skipMultiByte } from '../utf8.ts';

/** Decoded text is handed over in records of about this size, so that it never has to be held whole. */
const DECODED_RECORD_BYTES = 64 * 1024;

/** A text record in the making: raw while nothing in it needs decoding, then a range of `decoded`. */
interface TextRun {
  /** start of the text in the input */
  start: number;
  /** first byte not yet copied */
  from: number;
  decodedStart: number;
  isDecoded: boolean;
  /** holds something that came from a reference or CDATA */
  isLiteral: boolean;
}

function beginRun(s: TokenizerState, start: number, isLiteral: boolean): TextRun {
  return { start, from: start, decodedStart: s.decodedEnd, isDecoded: false, isLiteral };
}

/** Copies the bytes read up to `at`; the run continues at `next`. */
function copyRun(s: TokenizerState, run: TextRun, at: number, next: number): void {
  s.appendDecoded(s.bytes, run.from, at);
  run.isDecoded = true;
  run.from = next;
}

/** Appends the run's record, if it holds anything, up to `at`. */
function endRun(s: TokenizerState, run: TextRun, at: number): void {
  let bytes = s.bytes;
  let { start } = run;
  let stop = at;
  if (run.isDecoded) {
    s.appendDecoded(bytes, run.from, at);
    bytes = s.decoded;
    start = run.decodedStart;
    stop = s.decodedEnd;
  }
  if (stop === start) return;
  if (stop - start > s.limits.xmlMaxTextBytes) s.failTextLimit(run.start);
  const white = !run.isLiteral && !s.inEntity && isWhiteSpace(bytes, start, stop) ? FLAG_WHITE_SPACE : 0;
  if (run.isDecoded) s.emitDecoded(KIND_TEXT | FLAG_DECODED | white, 0, start, run.start);
  else s.emit(KIND_TEXT | white, 0, start, stop);
}

function isWhiteSpace(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const c = bytes[i]!;
    if (c !== SPACE && c !== LF && c !== TAB && c !== CR) return false;
  }
  return true;
}

/** Ends the record at the border of the input. The bytes after `at` are scanned again with more input. */
function stopRun(s: TokenizerState, run: TextRun, at: number): Outcome {
  endRun(s, run, at);
  s.pos = at;
  return NEEDS_INPUT;
}

/** Scans text that has other than plain characters, from `start` on; all before `at` is known to be plain. Emits one record if possible. */
export function scanSpecialText(s: TokenizerState, start: number, at: number): Outcome {
  const { bytes, end } = s;
  const keepsLineEnds = s.inEntity;
  let run = beginRun(s, start, false);
  let i = at;
  for (;;) {
    let c = bytes[i]!;
    while (textStops[c] === 0) c = bytes[++i]!;
    if (c === LESS) {
      endRun(s, run, i);
      s.pos = i;
      return GOES_ON;
    }
    if (c === AMPERSAND) {
      const codePoint = scanReference(s, bytes, i, end, i);
      if (codePoint === REFERENCE_CUT) return stopRun(s, run, i);
      const after = s.scanEnd;
      if (codePoint !== REFERENCE_ENTITY) {
        copyRun(s, run, i, after);
        appendCodePoint(s, codePoint);
        run.isLiteral = true;
      } else if (s.entity!.plain) {
        const text = replacementText(s, s.entity!, 0, i);
        copyRun(s, run, i, after);
        s.appendDecoded(text, 0, text.length - 1);
        run.isLiteral = true;
      } else {
        const entity = s.entity!;
        const text = replacementText(s, entity, 0, i);
        endRun(s, run, i);
        s.enterEntity(entity, text, i, after);
        return STATE_CHANGED;
      }
      i = after;
    } else if (c === CR && keepsLineEnds) {
      i++;
    } else if (c === CR) {
      if (i + 1 >= end && !s.final) return stopRun(s, run, i);
      const next = bytes[i + 1] === LF ? i + 2 : i + 1;
      copyRun(s, run, i, next);
      s.appendByte(LF);
      i = next;
    } else if (c === CLOSE_BRACKET) {
      const held = heldBrackets(s, i);
      if (held < 0) return stopRun(s, run, i);
      if (held === 3) s.fail(i, 'xml_syntax', 'found "]]>" in text: expected "]]&gt;"');
      i += held;
    } else if (c >= 0x80) {
      const next = skipMultiByte(bytes, i, end);
      if (next === i) {
        const refusal = sequenceLength(bytes, i, end);
        if (refusal !== 0) s.failSequence(i, refusal);
        return stopRun(s, run, i);
      }
      i = next;
    } else {
      if (i >= end) return stopRun(s, run, i);
      s.failCharacter(i);
    }
    if (s.decodedEnd - run.decodedStart > DECODED_RECORD_BYTES) {
      endRun(s, run, i);
      if (s.batchIsFull) s.flush();
      run = beginRun(s, i, false);
    }
  }
}

/** Handles a `]`. Returns 3 for `]]>`, otherwise the number of brackets that can be skipped, or -1 if that depends on further input. */
function heldBrackets(s: TokenizerState, at: number): number {
  const { bytes, end } = s;
  if (at + 1 >= end) return s.final ? 1 : -1;
  if (bytes[at + 1] !== CLOSE_BRACKET) return 1;
  if (at + 2 >= end) return s.final ? 1 : -1;
  return bytes[at + 2] === GREATER ? 3 : 1;
}

/** The inside of a CDATA section, from `pos` on. */
export function scanCdata(s: TokenizerState): Outcome {
  const { bytes, end } = s;
  const keepsLineEnds = s.inEntity;
  let run = beginRun(s, s.pos, true);
  let i = s.pos;
  s.inside = IN_CDATA;
  for (;;) {
    const c = bytes[i]!;
    if (textStops[c] === 0 || c === LESS || c === AMPERSAND || (c === CR && keepsLineEnds)) {
      i++;
    } else if (c === CLOSE_BRACKET) {
      const held = heldBrackets(s, i);
      if (held < 0) return stopRun(s, run, i);
      if (held === 3) {
        endRun(s, run, i);
        s.inside = IN_NOTHING;
        s.pos = i + 3;
        return GOES_ON;
      }
      i++;
    } else if (c === CR) {
      if (i + 1 >= end && !s.final) return stopRun(s, run, i);
      const next = bytes[i + 1] === LF ? i + 2 : i + 1;
      copyRun(s, run, i, next);
      s.appendByte(LF);
      i = next;
      if (s.decodedEnd - run.decodedStart > DECODED_RECORD_BYTES) {
        endRun(s, run, i);
        if (s.batchIsFull) s.flush();
        run = beginRun(s, i, true);
      }
    } else if (c >= 0x80) {
      const next = skipMultiByte(bytes, i, end);
      if (next === i) {
        const refusal = sequenceLength(bytes, i, end);
        if (refusal !== 0) s.failSequence(i, refusal);
        return stopRun(s, run, i);
      }
      i = next;
    } else {
      if (i >= end) return stopRun(s, run, i);
      s.failCharacter(i);
    }
  }
}
