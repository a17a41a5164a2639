/** Handles UTF-8 without a `TextDecoder`, which would create a string. */

/** Length that the first byte of a sequence announces; 0 when no sequence starts with it. */
function announcedLength(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte <= 0xdf) return 2;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  return byte >= 0xf0 && byte <= 0xf4 ? 4 : 0;
}

/** True if `second` may follow `first`. Refuses overlong forms, surrogates and code points over U+10FFFF. */
function secondFits(first: number, second: number): boolean {
  if ((second & 0xc0) !== 0x80) return false;
  if (first === 0xe0) return second >= 0xa0;
  if (first === 0xed) return second < 0xa0;
  if (first === 0xf0) return second >= 0x90;
  return first !== 0xf4 || second < 0x90;
}

/**
 * Length of the sequence at `at` when it is whole, valid and an XML character;
 * 0 when `end` cuts it short, -1 when it is not UTF-8, -2 when it is U+FFFE or U+FFFF.
 */
export function sequenceLength(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at]!;
  const length = announcedLength(first);
  if (length < 2) return length === 1 ? 1 : -1;
  if (at + 1 >= end) return 0;
  if (!secondFits(first, bytes[at + 1]!)) return -1;
  for (let i = 2; i < length; i++) {
    if (at + i >= end) return 0;
    if ((bytes[at + i]! & 0xc0) !== 0x80) return -1;
  }
  return first === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2]! >= 0xbe ? -2 : length;
}

/** Skips multi-byte sequences from `at`; stops at the first ASCII byte, or at a sequence that `sequenceLength` refuses. */
export function skipMultiByte(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (bytes[i]! >= 0x80) {
    const length = sequenceLength(bytes, i, end);
    if (length <= 0) return i;
    i += length;
  }
  return i;
}

/** Code point of a valid sequence. */
export function codePointAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return first;
  const second = bytes[at + 1]! & 0x3f;
  if (first < 0xe0) return ((first & 0x1f) << 6) | second;
  const third = bytes[at + 2]! & 0x3f;
  if (first < 0xf0) return ((first & 0x0f) << 12) | (second << 6) | third;
  return ((first & 0x07) << 18) | (second << 12) | (third << 6) | (bytes[at + 3]! & 0x3f);
}

/** Writes a code point and returns the offset after it. `out` must have four bytes left. */
export function writeCodePoint(codePoint: number, out: Uint8Array, at: number): number {
  if (codePoint < 0x80) {
    out[at] = codePoint;
    return at + 1;
  }
  if (codePoint < 0x800) {
    out[at] = 0xc0 | (codePoint >> 6);
    out[at + 1] = 0x80 | (codePoint & 0x3f);
    return at + 2;
  }
  if (codePoint < 0x10000) {
    out[at] = 0xe0 | (codePoint >> 12);
    out[at + 1] = 0x80 | ((codePoint >> 6) & 0x3f);
    out[at + 2] = 0x80 | (codePoint & 0x3f);
    return at + 3;
  }
  out[at] = 0xf0 | (codePoint >> 18);
  out[at + 1] = 0x80 | ((codePoint >> 12) & 0x3f);
  out[at + 2] = 0x80 | ((codePoint >> 6) & 0x3f);
  out[at + 3] = 0x80 | (codePoint & 0x3f);
  return at + 4;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of UTF-8: U+FEFF at its start belongs to it, which a plain TextDecoder would drop. */
export function utf8Text(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
