/** Line and column of an offset in a document. */
import { CR, LF } from './characters.ts';
import type { TokenizerMemory } from './tokenizer/memory.ts';
import type { TextLocation } from './tokens.ts';

/** A place in the text that moves on: `line` from 0, `column` in characters from 0. */
interface Cursor {
  at: number;
  line: number;
  column: number;
  afterCr: boolean;
}

/** From this length on, words and vectors count faster than single bytes. */
const longWay = 256;

/**
 * Computes lines and columns of offsets in the window. Nothing is counted while scanning: bytes that leave the window are counted at
 * once, and places within the window on request.
 */
export class LocationCounter {
  private readonly windowStart: Cursor = { at: 0, line: 0, column: 0, afterCr: false };
  private readonly latest: Cursor = { at: 0, line: 0, column: 0, afterCr: false };
  private offset = 0;
  private readonly countQuickly: TokenizerMemory['countLineFeeds'];

  /** `start`: line and column of the first character, from 1. */
  constructor(
    countQuickly?: TokenizerMemory['countLineFeeds'],
    start?: Pick<TextLocation, 'line' | 'column'>,
  ) {
    this.countQuickly = countQuickly;
    if (start === undefined) return;
    Object.assign(this.windowStart, { line: start.line - 1, column: start.column - 1 });
    Object.assign(this.latest, this.windowStart);
  }

  /** The first `count` bytes leave the window; `words` is the same memory in words of four bytes. */
  advance(bytes: Uint8Array, words: Uint32Array, count: number): void {
    if (count === 0) return;
    Object.assign(this.windowStart, this.behind(this.windowStart, bytes, words, count), { at: 0 });
    Object.assign(this.latest, this.windowStart);
    this.offset += count;
  }

  /** Returns the position after the first `to` bytes of the window, starting from an earlier position. */
  private behind(start: Cursor, bytes: Uint8Array, words: Uint32Array, to: number): Cursor {
    const from = start.at;
    const gone = bytes.subarray(from, to);
    let lastLineEnd = gone.lastIndexOf(LF);
    let lines = start.afterCr ? -1 : (this.countQuickly?.(bytes, from, to) ?? -1);
    if (lines < 0 && (start.afterCr || gone.includes(CR))) {
      lastLineEnd = Math.max(lastLineEnd, gone.lastIndexOf(CR));
      lines = countLineEnds(bytes, words, { from, to, afterCr: start.afterCr });
    } else if (lines < 0) {
      lines = countLineFeeds(bytes, words, from, to);
    }
    return {
      at: to,
      line: start.line + lines,
      column:
        (lastLineEnd < 0 ? start.column : 0) + countCharacters(bytes, words, from + lastLineEnd + 1, to),
      afterCr: bytes[to - 1] === CR,
    };
  }

  /** Skips bytes that are not part of the text, such as a byte order mark. */
  skip(count: number): void {
    this.offset += count;
  }

  /** `words`: as in `advance`; without it, every byte is looked at. */
  locate(bytes: Uint8Array, at: number, words?: Uint32Array): TextLocation {
    if (at < this.latest.at) Object.assign(this.latest, this.windowStart);
    if (words !== undefined && at - this.latest.at >= longWay)
      Object.assign(this.latest, this.behind(this.latest, bytes, words, at));
    moveOn(this.latest, bytes, at);
    return { line: this.latest.line + 1, column: this.latest.column + 1, offset: this.offset + at };
  }
}

function moveOn(cursor: Cursor, bytes: Uint8Array, to: number): void {
  for (let i = cursor.at; i < to; i++) {
    const byte = bytes[i]!;
    if (byte === LF && cursor.afterCr) {
      cursor.afterCr = false;
    } else if (byte === LF || byte === CR) {
      cursor.line++;
      cursor.column = 0;
      cursor.afterCr = byte === CR;
    } else {
      cursor.afterCr = false;
      if ((byte & 0xc0) !== 0x80) cursor.column++;
    }
  }
  cursor.at = to;
}

/** The first offset from `from` on at which a word begins. */
function nextWord(from: number, to: number): number {
  return Math.min(to, (from + 3) & ~3);
}

function countLineFeeds(bytes: Uint8Array, words: Uint32Array, from: number, to: number): number {
  let lines = 0;
  let i = from;
  for (const first = nextWord(from, to); i < first; i++) if (bytes[i] === LF) lines++;
  for (; i + 4 <= to; i += 4) {
    const marks = zeroMarks(words[i >>> 2]! ^ 0x0a0a0a0a);
    if (marks !== 0) lines += markCount(marks);
  }
  for (; i < to; i++) if (bytes[i] === LF) lines++;
  return lines;
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  /** the byte before it is a CR */
  readonly afterCr: boolean;
}

/** Counts LF, CR and CR LF as one line end each. Assumes little-endian words, which all JavaScript platforms have. */
function countLineEnds(bytes: Uint8Array, words: Uint32Array, { from, to, afterCr }: Stretch): number {
  let lines = 0;
  let follows = afterCr;
  let i = from;
  const countUpTo = (end: number): void => {
    for (; i < end; i++) {
      const byte = bytes[i];
      if (byte === CR || (byte === LF && !follows)) lines++;
      follows = byte === CR;
    }
  };
  countUpTo(nextWord(from, to));
  let carry = follows ? 0x80 : 0;
  for (; i + 4 <= to; i += 4) {
    const word = words[i >>> 2]!;
    const feeds = zeroMarks(word ^ 0x0a0a0a0a);
    const returns = zeroMarks(word ^ 0x0d0d0d0d);
    const pairs = feeds & ((returns << 8) | carry);
    if ((feeds | returns) !== 0) lines += markCount(feeds) + markCount(returns) - markCount(pairs);
    carry = returns >>> 24;
  }
  follows = carry !== 0;
  countUpTo(to);
  return lines;
}

/** Returns 0x80 in every byte in which the word has a zero byte. */
function zeroMarks(word: number): number {
  return ~(((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word | 0x7f7f7f7f);
}

function markCount(marks: number): number {
  return Math.imul(marks >>> 7, 0x01010101) >>> 24;
}

/** Counts the bytes of `[from, to)` that are not continuation bytes. */
function countCharacters(bytes: Uint8Array, words: Uint32Array, from: number, to: number): number {
  let continuations = 0;
  let i = from;
  for (; i < to && (i & 3) !== 0; i++) if ((bytes[i]! & 0xc0) === 0x80) continuations++;
  for (; i + 4 <= to; i += 4) {
    const word = words[i >>> 2]!;
    const marks = (word >>> 7) & ~(word >>> 6) & 0x01010101;
    if (marks !== 0) continuations += Math.imul(marks, 0x01010101) >>> 24;
  }
  for (; i < to; i++) if ((bytes[i]! & 0xc0) === 0x80) continuations++;
  return to - from - continuations;
}
