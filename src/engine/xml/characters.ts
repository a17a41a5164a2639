/** Character classes of XML 1.0 (fifth edition), as tables over UTF-8 bytes and tests over code points. */

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const EXCLAMATION = 0x21;
export const QUOTE = 0x22;
export const HASH = 0x23;
export const PERCENT = 0x25;
export const AMPERSAND = 0x26;
export const APOSTROPHE = 0x27;
export const DASH = 0x2d;
export const SLASH = 0x2f;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;
export const LESS = 0x3c;
export const EQUALS = 0x3d;
export const GREATER = 0x3e;
export const QUESTION = 0x3f;
export const CLOSE_BRACKET = 0x5d;

/** Not a name character. */
export const NAME_NONE = 0;
/** ASCII letter, `_` or `:`. */
export const NAME_START = 1;
/** ASCII digit, `-` or `.`. */
const NAME_PART = 2;
/** Byte of a longer sequence: the code point must be checked. */
export const NAME_WIDE = 3;

function table(classOf: (byte: number) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => classOf(byte));
}

function isAsciiLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

export function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === TAB || byte === CR;
}

export const nameClass: Uint8Array = table((byte) => {
  if (byte >= 0x80) return NAME_WIDE;
  if (isAsciiLetter(byte) || byte === 0x5f || byte === COLON) return NAME_START;
  return (byte >= 0x30 && byte <= 0x39) || byte === DASH || byte === 0x2e ? NAME_PART : NAME_NONE;
});

/** 1 for bytes that end a run of plain character data: markup, `]`, CR, control characters and multi-byte sequences. */
export const textStops: Uint8Array = table((byte) =>
  byte >= 0x80 ||
  byte === LESS ||
  byte === AMPERSAND ||
  byte === CLOSE_BRACKET ||
  (byte < SPACE && byte !== TAB && byte !== LF)
    ? 1
    : 0,
);

/** 1 for bytes that end a run of a plain attribute value: quotes, markup, white space other than a space, multi-byte sequences. */
export const attributeStops: Uint8Array = table((byte) =>
  byte >= 0x80 || byte < SPACE || byte === LESS || byte === AMPERSAND || byte === QUOTE || byte === APOSTROPHE
    ? 1
    : 0,
);

/** `Char` of XML 1.0 §2.2. */
export function isXmlCharacter(codePoint: number): boolean {
  if (codePoint < SPACE) return codePoint === TAB || codePoint === LF || codePoint === CR;
  return (
    codePoint <= 0xd7ff ||
    (codePoint >= 0xe000 && codePoint <= 0xfffd) ||
    (codePoint >= 0x10000 && codePoint <= 0x10ffff)
  );
}

/** `NameStartChar` of XML 1.0 §2.3, for code points from U+0080. */
export function isWideNameStart(c: number): boolean {
  return (
    (c >= 0xc0 && c <= 0x2ff && c !== 0xd7 && c !== 0xf7) ||
    (c >= 0x370 && c <= 0x1fff && c !== 0x37e) ||
    c === 0x200c ||
    c === 0x200d ||
    (c >= 0x2070 && c <= 0x218f) ||
    (c >= 0x2c00 && c <= 0x2fef) ||
    (c >= 0x3001 && c <= 0xd7ff) ||
    (c >= 0xf900 && c <= 0xfdcf) ||
    (c >= 0xfdf0 && c <= 0xfffd) ||
    (c >= 0x10000 && c <= 0xeffff)
  );
}

/** `NameChar` of XML 1.0 §2.3, for code points from U+0080. */
export function isWideNamePart(c: number): boolean {
  return isWideNameStart(c) || c === 0xb7 || (c >= 0x300 && c <= 0x36f) || c === 0x203f || c === 0x2040;
}

/** `PubidChar` of XML 1.0 §2.3. */
export function isPublicIdCharacter(byte: number): boolean {
  return (
    byte < 0x80 &&
    (isAsciiLetter(byte) || " \r\n0123456789-'()+,./:=?;!*#@$_%".includes(String.fromCharCode(byte)))
  );
}
