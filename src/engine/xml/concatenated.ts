/**
 * Finds where documents begin in a file that holds several, one after the other (`--concatenated`). It only distinguishes tags from other
 * markup and checks nothing: the reader of a document checks it. After the root element, another document begins with an XML declaration,
 * a document type declaration, a byte order mark or a start tag; comments before these belong to the previous document. An XML or
 * document type declaration begins a document within elements, too, because it may not be there otherwise: a truncated document does not
 * affect the others. Memory: one piece of the file, and a document type declaration as a whole.
 */
import {
  CR,
  EXCLAMATION,
  GREATER,
  LESS,
  LF,
  QUESTION,
  QUOTE,
  APOSTROPHE,
  SLASH,
  isSpace,
} from './characters.ts';
import { detectEncoding } from './encoding/detection.ts';

/** A document of the file, by its bytes. */
export interface FoundDocument {
  readonly from: number;
  readonly to: number;
  /** position of the document's start in the file, from 1 */
  readonly line: number;
  readonly column: number;
  /** encoding of the file, for a document that does not declare its own; absent: the document declares it, or needs none */
  readonly encoding?: string;
}

export interface ConcatenatedReader {
  write(chunk: Uint8Array): void;
  end(): void;
}

/** Reports each document when its end is known. */
export function createConcatenatedReader(onDocument: (found: FoundDocument) => void): ConcatenatedReader {
  return new Reader(onDocument);
}

const IN_PROLOG = 0;
const IN_CONTENT = 1;
const BEHIND_ROOT = 2;

const IN_TEXT = 0;
const IN_START_TAG = 1;
const IN_END_TAG = 2;
/** up to `closing` */
const IN_OTHER = 3;

/** bytes that identify an encoding without a declaration */
const headBytes = 4;
/** most bytes of an unterminated declaration */
const longestDeclaration = 4096;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/**
 * replace the UTF-16 characters that are not ASCII: any character, a byte order mark, and two bytes that begin markup of another encoding
 */
const OTHER = 0x80;
const MARK = 0xff;
const FOREIGN = 0xfe;

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const commentStart = ascii('<!--');
const commentEnd = ascii('-->');
const cdataStart = ascii('<![CDATA[');
const cdataEnd = ascii(']]>');
const doctypeStart = ascii('<!DOCTYPE');
const instructionEnd = ascii('?>');
const declarationStart = ascii('<?xml');
const longestStart = cdataStart.length;
const noBytes = new Uint8Array(0);

/** The width of a document's characters: one byte or more each, or two bytes. */
type Width = 'bytes' | 'utf-16le' | 'utf-16be';

class Reader implements ConcatenatedReader {
  readonly #onDocument: (found: FoundDocument) => void;
  /** the bytes being scanned: bytes of the file from `#offset` on */
  #bytes: Uint8Array = noBytes;
  #offset = 0;
  #isLast = false;
  #hasBegun = false;
  // state of the present document
  #from = 0;
  #line = 1;
  #column = 1;
  #width: Width = 'bytes';
  #saysEncoding = false;
  #stage = IN_PROLOG;
  #depth = 0;
  // the open construct in the document
  #inside = IN_TEXT;
  #quote = 0;
  #lastByte = 0;
  #closing = commentEnd;
  /** encoding of the file, as its first document declares it */
  #encoding: string | null = null;
  #isFirst = true;
  // position up to which lines have been counted
  #afterCr = false;
  #presentLine = 1;
  #presentColumn = 1;

  constructor(onDocument: (found: FoundDocument) => void) {
    this.#onDocument = onDocument;
  }

  write(chunk: Uint8Array): void {
    if (this.#bytes.length === 0) this.#bytes = chunk;
    else {
      const joined = new Uint8Array(this.#bytes.length + chunk.length);
      joined.set(this.#bytes);
      joined.set(chunk, this.#bytes.length);
      this.#bytes = joined;
    }
    this.#read();
    // the chunk is its owner's again
    this.#bytes = this.#bytes.slice();
  }

  end(): void {
    this.#isLast = true;
    this.#read();
    this.#countTo(this.#bytes.length);
    this.#tell(this.#offset);
  }

  #read(): void {
    for (;;) {
      if (!this.#hasBegun) {
        if (this.#bytes.length < headBytes && !this.#isLast) return;
        this.#hasBegun = true;
        this.#width = widthOf(this.#bytes);
      }
      const step = this.#width === 'bytes' ? 1 : 2;
      const units = this.#width === 'bytes' ? this.#bytes : unitsOf(this.#bytes, this.#width);
      const scanned = this.#scan(units);
      this.#countTo(scanned.at * step);
      if (!scanned.isNext) return;
      this.#tell(this.#offset);
      this.#begin();
    }
  }

  #tell(to: number): void {
    const inherits =
      !this.#saysEncoding && this.#width === 'bytes' && this.#encoding !== null && !this.#isFirst;
    this.#onDocument({
      from: this.#from,
      to,
      line: this.#line,
      column: this.#column,
      ...(inherits ? { encoding: this.#encoding! } : {}),
    });
    this.#isFirst = false;
  }

  /** A document begins at `#offset`. */
  #begin(): void {
    this.#from = this.#offset;
    this.#line = this.#presentLine;
    this.#column = this.#presentColumn;
    this.#hasBegun = false;
    this.#saysEncoding = false;
    this.#stage = IN_PROLOG;
    this.#depth = 0;
    this.#inside = IN_TEXT;
    this.#quote = 0;
  }

  /** Counts the lines of the first `length` bytes and discards these. */
  #countTo(length: number): void {
    const bytes = this.#bytes.subarray(0, length);
    const units = this.#width === 'bytes' ? bytes : unitsOf(bytes, this.#width);
    let line = this.#presentLine;
    let column = this.#presentColumn;
    let afterCr = this.#afterCr;
    const isWide = this.#width !== 'bytes';
    for (const unit of units) {
      if (unit === LF || unit === CR) {
        if (unit === CR || !afterCr) line += 1;
        column = 1;
      } else if (isWide || (unit & 0xc0) !== 0x80) column += 1;
      afterCr = unit === CR;
    }
    this.#presentLine = line;
    this.#presentColumn = column;
    this.#afterCr = afterCr;
    this.#bytes = this.#bytes.subarray(length);
    this.#offset += length;
  }

  /** Scans as far as possible. `isNext`: another document begins at `at`; otherwise more input is needed there. */
  #scan(units: Uint8Array): { readonly at: number; readonly isNext: boolean } {
    const { length } = units;
    let at = 0;
    while (at < length) {
      if (this.#inside === IN_OTHER) {
        const end = find(units, this.#closing, at);
        if (end < 0)
          return {
            at: this.#isLast ? length : Math.max(at, length - this.#closing.length + 1),
            isNext: false,
          };
        at = end + this.#closing.length;
        this.#inside = IN_TEXT;
      } else if (this.#inside === IN_END_TAG) {
        const end = units.indexOf(GREATER, at);
        if (end < 0) return { at: length, isNext: false };
        at = end + 1;
        this.#leaveElement();
      } else if (this.#inside === IN_START_TAG) at = this.#startTag(units, at);
      else {
        if (this.#stage === BEHIND_ROOT) {
          while (at < length && isSpace(units[at]!)) at += 1;
          if (at === length) break;
          const mark = this.#markAt(units, at);
          if (mark !== null) return { at, isNext: mark };
        }
        const tag = units.indexOf(LESS, at);
        if (tag < 0) return { at: length, isNext: false };
        at = tag;
        if (length - at < longestStart && !this.#isLast) return { at, isNext: false };
        const next = this.#markup(units, at);
        if (next === null) return { at, isNext: true };
        if (next < 0) return { at, isNext: false };
        at = next;
      }
    }
    return { at: length, isNext: false };
  }

  /**
   * Checks the place after the root element: true if a byte order mark, or text of another width, begins a document; false if more input
   * is needed; null if neither.
   */
  #markAt(units: Uint8Array, at: number): boolean | null {
    const first = units[at]!;
    if (this.#width !== 'bytes') return first === MARK || first === FOREIGN ? true : null;
    if (first !== 0xef && first !== 0xfe && first !== 0xff && first !== 0) return null;
    if (units.length - at < 3) return this.#isLast ? null : false;
    const [second, third] = [units[at + 1]!, units[at + 2]!];
    if (first === 0xef) return second === 0xbb && third === 0xbf ? true : null;
    if (first === 0) return second === LESS ? true : null;
    return second === (first === 0xfe ? 0xff : 0xfe) ? true : null;
  }

  /** Handles a `<`. Returns the position to continue at, -1 if more input is needed, or null if a document begins there. */
  #markup(units: Uint8Array, at: number): number | null {
    const next = units[at + 1];
    if (next === EXCLAMATION) {
      if (matches(units, at, commentStart)) return this.#other(commentEnd, at + commentStart.length);
      if (matches(units, at, cdataStart)) return this.#other(cdataEnd, at + cdataStart.length);
      if (!matches(units, at, doctypeStart)) return at + 1;
      if (this.#stage !== IN_PROLOG) return null;
      const end = endOfDoctype(units, at + doctypeStart.length);
      return end < 0 && this.#isLast ? units.length : end;
    }
    if (next === QUESTION) {
      const isDeclaration =
        matches(units, at, declarationStart) && isSpace(units[at + declarationStart.length]!);
      if (!isDeclaration) return this.#other(instructionEnd, at + 2);
      if (this.#stage !== IN_PROLOG) return null;
      const end = find(units, instructionEnd, at);
      if (end < 0 && !this.#isLast && units.length - at < longestDeclaration) return -1;
      this.#declaration(
        units.subarray(at, end < 0 ? Math.min(units.length, at + longestDeclaration) : end + 2),
      );
      return this.#other(instructionEnd, at + 2);
    }
    if (next === SLASH) {
      this.#inside = IN_END_TAG;
      return at + 2;
    }
    const isName = next !== undefined && !isSpace(next) && next !== GREATER && next !== LESS;
    if (!isName) return at + 1;
    if (this.#stage === BEHIND_ROOT) return null;
    this.#stage = IN_CONTENT;
    this.#depth += 1;
    this.#inside = IN_START_TAG;
    this.#quote = 0;
    this.#lastByte = 0;
    return at + 1;
  }

  #other(closing: Uint8Array, at: number): number {
    this.#inside = IN_OTHER;
    this.#closing = closing;
    return at;
  }

  #startTag(units: Uint8Array, from: number): number {
    let at = from;
    for (; at < units.length; at += 1) {
      if (this.#quote !== 0) {
        at = units.indexOf(this.#quote, at);
        if (at < 0) return units.length;
        this.#quote = 0;
        this.#lastByte = QUOTE;
        continue;
      }
      const byte = units[at]!;
      if (byte === GREATER) {
        this.#inside = IN_TEXT;
        if (this.#lastByte === SLASH) this.#leaveElement();
        return at + 1;
      }
      if (byte === QUOTE || byte === APOSTROPHE) this.#quote = byte;
      this.#lastByte = byte;
    }
    return at;
  }

  #leaveElement(): void {
    this.#inside = IN_TEXT;
    this.#depth -= 1;
    if (this.#depth <= 0 && this.#stage === IN_CONTENT) this.#stage = BEHIND_ROOT;
  }

  #declaration(units: Uint8Array): void {
    const declared = /\sencoding\s*=\s*["']([^"']+)["']/.exec(String.fromCharCode(...units))?.[1];
    this.#saysEncoding = declared !== undefined;
    if (!this.#isFirst || declared === undefined || this.#width !== 'bytes') return;
    const { encoding } = detectEncoding(units, undefined, true)!;
    if (encoding !== 'utf-8') this.#encoding = encoding;
  }
}

function matches(units: Uint8Array, at: number, literal: Uint8Array): boolean {
  return literal.every((byte, index) => units[at + index] === byte);
}

function find(units: Uint8Array, literal: Uint8Array, from: number): number {
  let at = units.indexOf(literal[0]!, from);
  while (at >= 0 && !matches(units, at, literal)) at = units.indexOf(literal[0]!, at + 1);
  return at;
}

/** Returns the position after the `>` of a document type declaration, or -1 if it does not end here. */
function endOfDoctype(units: Uint8Array, from: number): number {
  let inSubset = false;
  for (let at = from; at < units.length; at += 1) {
    const byte = units[at]!;
    if (byte === QUOTE || byte === APOSTROPHE) at = units.indexOf(byte, at + 1);
    else if (byte === OPEN_BRACKET) inSubset = true;
    else if (byte === CLOSE_BRACKET) inSubset = false;
    else if (byte === GREATER && !inSubset) return at + 1;
    else if (byte === LESS && matches(units, at, commentStart)) {
      const end = find(units, commentEnd, at + commentStart.length);
      at = end < 0 ? -1 : end + 2;
    } else if (byte === LESS && units[at + 1] === QUESTION) {
      const end = find(units, instructionEnd, at + 2);
      at = end < 0 ? -1 : end + 1;
    }
    if (at < 0) return -1;
  }
  return -1;
}

function widthOf([a = 0x20, b = 0x20]: Uint8Array): Width {
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0)) return 'utf-16le';
  return (a === 0xfe && b === 0xff) || (a === 0 && b !== 0) ? 'utf-16be' : 'bytes';
}

/** Returns a byte for each two of UTF-16, enough for finding markup. */
function unitsOf(bytes: Uint8Array, width: Exclude<Width, 'bytes'>): Uint8Array {
  const units = new Uint8Array(bytes.length >> 1);
  const low = width === 'utf-16le' ? 0 : 1;
  for (let unit = 0; unit < units.length; unit += 1) {
    const [first, second] = [bytes[2 * unit]!, bytes[2 * unit + 1]!];
    const code = low === 0 ? (second << 8) | first : (first << 8) | second;
    if (code < 0x80) units[unit] = code;
    else if (code === 0xfeff || code === 0xfffe) units[unit] = MARK;
    else {
      const isMark = first === 0xef && second === 0xbb;
      units[unit] = isMark || (first === LESS && second > 0x20 && second < 0x80) ? FOREIGN : OTHER;
    }
  }
  return units;
}
