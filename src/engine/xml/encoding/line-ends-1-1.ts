/** Line ends of XML 1.1 (§2.11): U+0085, U+2028, and CR followed by U+0085 become LF, as the rules of 1.0 know it. */
import { codePointLabel } from '../../diagnostics.ts';
import { CR, LF } from '../characters.ts';
import type { Utf8Sink } from './transcoders.ts';

const NEXT_LINE = [0xc2, 0x85] as const;
const LINE_SEPARATOR = [0xe2, 0x80, 0xa8] as const;
const DELETE = 0x7f;

/**
 * Passes UTF-8 on to its sink with these line ends replaced. XML 1.1 refuses controls from U+007F to U+009F that are written as
 * themselves (§2.2), and so does this.
 */
export class LineEnds11 implements Utf8Sink {
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
