/** Converts the bytes of a document in any encoding to UTF-8. */
import { writeCodePoint } from '../utf8.ts';
import { DECLARATION_BYTES, detectEncoding, supportedEncodings, type DetectedEncoding } from './detection.ts';
import { codePointLabel } from '../../diagnostics.ts';
import { CR, LF } from '../characters.ts';

// Transcoders of UTF-16 and single-byte encodings.

/** Turns bytes of one encoding into UTF-8, in any pieces. */
interface Transcoder {
  write(bytes: Uint8Array): void;
  end(): void;
}

/** Input bytes turned at a time. */
const PIECE_BYTES = 16 * 1024;
const MULTI_BYTE = new Set([
  'utf-8',
  'gbk',
  'gb18030',
  'big5',
  'euc-jp',
  'iso-2022-jp',
  'shift_jis',
  'euc-kr',
]);

/** Returns a transcoder that passes UTF-8 to the sink. */
function plainTranscoder(sink: Utf8Sink): Transcoder {
  return { write: (bytes) => sink.take(bytes, 0, bytes.length), end() {} };
}

/** Returns null if the encoding is unknown. */
function createTranscoder(encoding: string, sink: Utf8Sink): Transcoder | null {
  if (encoding === 'utf-16le' || encoding === 'utf-16be')
    return createUtf16Transcoder(encoding === 'utf-16be', sink);
  if (encoding === 'us-ascii')
    return createByteTranscoder('us-ascii', (byte) => (byte < 0x80 ? byte : -1), sink);
  // TextDecoder treats ISO-8859-1 as windows-1252; this code decodes real ISO-8859-1.
  if (encoding === 'iso-8859-1') return createByteTranscoder('iso-8859-1', (byte) => byte, sink);
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(encoding);
  } catch {
    return null;
  }
  if (decoder.encoding.startsWith('utf-16'))
    return createUtf16Transcoder(decoder.encoding === 'utf-16be', sink);
  if (MULTI_BYTE.has(decoder.encoding)) return createDecoderTranscoder(decoder, sink);
  return createByteTranscoder(
    encoding,
    (byte) => {
      const codePoint = decoder.decode(Uint8Array.of(byte)).codePointAt(0)!;
      return codePoint === 0xfffd ? -1 : codePoint;
    },
    sink,
  );
}

function failBytes(sink: Utf8Sink, encoding: string, shown: string): never {
  return sink.fail(
    'xml_invalid_encoding',
    `${shown} not valid in ${encoding}: is the declared encoding right?`,
  );
}

/** One byte to a character. */
function createByteTranscoder(
  encoding: string,
  codePointOf: (byte: number) => number,
  sink: Utf8Sink,
): Transcoder {
  const codePoints = Int32Array.from({ length: 256 }, (_, byte) => codePointOf(byte));
  const out = new Uint8Array(PIECE_BYTES * 3);
  return {
    write(bytes) {
      for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
        const to = Math.min(from + PIECE_BYTES, bytes.length);
        let length = 0;
        for (let i = from; i < to; i++) {
          const codePoint = codePoints[bytes[i]!]!;
          if (codePoint < 0) {
            sink.take(out, 0, length);
            failBytes(sink, encoding, `the byte 0x${bytes[i]!.toString(16)} is`);
          }
          if (codePoint < 0x80) out[length++] = codePoint;
          else length = writeCodePoint(codePoint, out, length);
        }
        sink.take(out, 0, length);
      }
    },
    end() {},
  };
}

function createUtf16Transcoder(isBigEndian: boolean, sink: Utf8Sink): Transcoder {
  const encoding = isBigEndian ? 'UTF-16BE' : 'UTF-16LE';
  const out = new Uint8Array(PIECE_BYTES * 2);
  let firstByte = -1;
  let highSurrogate = 0;
  let length = 0;

  function fail(shown: string): never {
    sink.take(out, 0, length);
    return failBytes(sink, encoding, shown);
  }

  function take(unit: number): void {
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    if (isLow !== (highSurrogate !== 0)) fail('an unpaired surrogate is');
    if (isLow) {
      length = writeCodePoint(0x10000 + ((highSurrogate & 0x3ff) << 10) + (unit & 0x3ff), out, length);
      highSurrogate = 0;
    } else if (unit >= 0xd800 && unit <= 0xdbff) {
      highSurrogate = unit;
    } else {
      length = writeCodePoint(unit, out, length);
    }
  }

  return {
    write(bytes) {
      for (let i = 0; i < bytes.length; i++) {
        const byte = bytes[i]!;
        if (firstByte < 0) {
          firstByte = byte;
          continue;
        }
        take(isBigEndian ? (firstByte << 8) | byte : (byte << 8) | firstByte);
        firstByte = -1;
        if (length > out.length - 4) {
          sink.take(out, 0, length);
          length = 0;
        }
      }
      sink.take(out, 0, length);
      length = 0;
    },
    end() {
      if (firstByte >= 0 || highSurrogate !== 0) fail('half a character at the end is');
    },
  };
}

/** Several bytes to a character, by way of `TextDecoder`. */
function createDecoderTranscoder(decoder: TextDecoder, sink: Utf8Sink): Transcoder {
  const encoder = new TextEncoder();

  function pass(text: string): void {
    const replacement = text.indexOf('\uFFFD');
    const good = encoder.encode(replacement < 0 ? text : text.slice(0, replacement));
    sink.take(good, 0, good.length);
    if (replacement >= 0) failBytes(sink, decoder.encoding, 'the bytes here are');
  }

  return {
    write(bytes) {
      for (let from = 0; from < bytes.length; from += PIECE_BYTES)
        pass(decoder.decode(bytes.subarray(from, from + PIECE_BYTES), { stream: true }));
    },
    end: () => pass(decoder.decode()),
  };
}

/** The receiver of the UTF-8 text that the encoding reader produces. */
export interface Utf8Sink {
  /** bytes `[from, to)`, valid during the call */
  take(bytes: Uint8Array, from: number, to: number): void;
  /** bytes of a byte order mark, which are not part of the text */
  skip(bytes: number): void;
  /** stops reading after the bytes that have been passed */
  fail(code: string, message: string): never;
}

// The reader, which detects the encoding.

export interface EncodingReader {
  /** true if the rest is UTF-8, so that the caller may pass it to the sink directly instead of writing it here */
  readonly passesOn: boolean;
  write(chunk: Uint8Array): void;
  end(): void;
}

const noBytes = new Uint8Array(0);

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/**
 * Detects the encoding of a document and passes it on as UTF-8. UTF-8 is passed on unchanged. `override`: an encoding known from outside
 * the document.
 */
export function createEncodingReader(override: string | undefined, sink: Utf8Sink): EncodingReader {
  return new DetectingReader(override, sink);
}

/** A class because one is created for every document, even a small one: its own closures and getters would cost more than their work. */
class DetectingReader implements EncodingReader {
  passesOn = false;
  readonly #override: string | undefined;
  readonly #sink: Utf8Sink;
  #head: Uint8Array = noBytes;
  #transcoder: Transcoder | null = null;
  #lineEnds: LineEnds11 | null = null;

  constructor(override: string | undefined, sink: Utf8Sink) {
    this.#override = override;
    this.#sink = sink;
  }

  write(chunk: Uint8Array): void {
    if (this.passesOn || this.#transcoder !== null) {
      this.#pass(chunk, 0);
      return;
    }
    const first = this.#head.length === 0 ? chunk : joined(this.#head, chunk);
    const detected = detectEncoding(first, this.#override, first.length >= DECLARATION_BYTES);
    if (detected !== null) this.#begin(detected, first);
    // the chunk is its owner's again
    else this.#head = first === chunk ? joined(noBytes, chunk) : first;
  }

  end(): void {
    if (!this.passesOn && this.#transcoder === null)
      this.#begin(detectEncoding(this.#head, this.#override, true)!, this.#head);
    this.#transcoder?.end();
    this.#lineEnds?.end();
  }

  /** `first`: the bytes of the document so far. */
  #begin(detected: DetectedEncoding, first: Uint8Array): void {
    const sink = this.#sink;
    if (detected.problem !== undefined) {
      const lead = new TextEncoder().encode(detected.lead);
      sink.take(lead, 0, lead.length);
      sink.fail(detected.problem.code, detected.problem.message);
    }
    const isUtf8 = detected.encoding === 'utf-8';
    if (isUtf8) sink.skip(detected.markBytes);
    this.passesOn = isUtf8 && detected.isVersion11 !== true;
    if (detected.isVersion11 === true) this.#lineEnds = new LineEnds11(sink);
    const next = this.#lineEnds ?? sink;
    if (!this.passesOn)
      this.#transcoder = isUtf8 ? plainTranscoder(next) : createTranscoder(detected.encoding, next);
    if (!this.passesOn && this.#transcoder === null)
      sink.fail(
        'xml_unsupported_encoding',
        `the encoding "${detected.encoding}" is not supported; ${supportedEncodings}`,
      );
    this.#pass(first, detected.markBytes);
    this.#head = noBytes;
  }

  #pass(bytes: Uint8Array, from: number): void {
    if (this.passesOn) this.#sink.take(bytes, from, bytes.length);
    else this.#transcoder!.write(from === 0 ? bytes : bytes.subarray(from));
  }
}

// Line ends of XML 1.1 (§2.11): U+0085, U+2028, and CR followed by U+0085 become LF, as the rules of 1.0 know it.

const NEXT_LINE = [0xc2, 0x85] as const;
const LINE_SEPARATOR = [0xe2, 0x80, 0xa8] as const;
const DELETE = 0x7f;

/**
 * Passes UTF-8 on to its sink with these line ends replaced. XML 1.1 refuses controls from U+007F to U+009F that are written as
 * themselves (§2.2), and so does this.
 */
class LineEnds11 implements Utf8Sink {
  readonly #sink: Utf8Sink;
  /** the end of the previous piece, whose meaning depends on the next bytes: a CR, or a part of a character */
  #held = new Uint8Array(0);

  constructor(sink: Utf8Sink) {
    this.#sink = sink;
  }

  take(bytes: Uint8Array, from: number, to: number): void {
    const held = this.#held.length;
    const piece = new Uint8Array(held + to - from);
    piece.set(this.#held);
    piece.set(bytes.subarray(from, to), held);
    const end = piece.length - heldBytes(piece);
    this.#held = piece.slice(end);
    this.#pass(piece, end);
  }

  end(): void {
    const rest = this.#held;
    this.#held = new Uint8Array(0);
    this.#pass(rest, rest.length);
  }

  skip(bytes: number): void {
    this.#sink.skip(bytes);
  }

  fail(code: string, message: string): never {
    this.end();
    return this.#sink.fail(code, message);
  }

  /** Replaces the line ends in place. */
  #pass(piece: Uint8Array, end: number): void {
    let length = 0;
    for (let at = 0; at < end; at += 1) {
      const byte = piece[at]!;
      if (byte === CR && isNextLine(piece, at + 1, end)) continue;
      if (isNextLine(piece, at, end)) {
        piece[length++] = LF;
        at += 1;
      } else if (isLineSeparator(piece, at, end)) {
        piece[length++] = LF;
        at += 2;
      } else if (
        byte === DELETE ||
        (byte === NEXT_LINE[0] && piece[at + 1]! >= 0x80 && piece[at + 1]! < 0xa0)
      ) {
        this.#sink.take(piece, 0, length);
        const label = codePointLabel(byte === DELETE ? byte : piece[at + 1]!);
        this.#sink.fail(
          'xml_invalid_character',
          `${label} is a control character, which a document of XML 1.1 may only have as a character reference`,
        );
      } else piece[length++] = byte;
    }
    this.#sink.take(piece, 0, length);
  }
}

/** Returns the number of bytes at the end of a piece that may begin a line end. */
function heldBytes(piece: Uint8Array): number {
  const { length } = piece;
  const last = piece[length - 1];
  if (last === LINE_SEPARATOR[1] && piece[length - 2] === LINE_SEPARATOR[0]) return 2;
  if (last === CR || last === LINE_SEPARATOR[0]) return 1;
  if (last === NEXT_LINE[0]) return piece[length - 2] === CR ? 2 : 1;
  return 0;
}

function isNextLine(piece: Uint8Array, at: number, end: number): boolean {
  return at + 1 < end && piece[at] === NEXT_LINE[0] && piece[at + 1] === NEXT_LINE[1];
}

function isLineSeparator(piece: Uint8Array, at: number, end: number): boolean {
  return at + 2 < end && LINE_SEPARATOR.every((byte, index) => piece[at + index] === byte);
}
