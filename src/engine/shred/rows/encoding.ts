/** Encodes values as bytes: PostgreSQL COPY text format (also `-f tsv`), and RFC 4180 CSV. */
import type { ByteBuffer } from './byte-buffer.ts';

const TAB = 9;
const LF = 10;
const CR = 13;
const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;

export interface RowEncoder {
  readonly separator: number;
  /** written for NULL */
  pushNull(out: ByteBuffer): void;
  /** character data, escaped; never confused with NULL */
  pushText(out: ByteBuffer, source: Uint8Array, start: number, end: number): void;
  readonly trueText: string;
  readonly falseText: string;
  /** byte that is written before and after a text that contains one; null: texts have no quotes */
  readonly quote: number | null;
}

/** PostgreSQL manual, COPY, "Text Format": backslash escapes, `\N` for NULL. */
export const copyTextEncoder: RowEncoder = {
  separator: TAB,
  trueText: 't',
  falseText: 'f',
  quote: null,
  pushNull(out) {
    out.pushByte(BACKSLASH);
    out.pushByte(78);
  },
  pushText(out, source, start, end) {
    out.ensure((end - start) * 2);
    const { bytes } = out;
    let at = out.length;
    for (let i = start; i < end; i += 1) {
      const byte = source[i]!;
      if (byte === BACKSLASH || byte === TAB || byte === LF || byte === CR) {
        bytes[at++] = BACKSLASH;
        bytes[at++] = byte === BACKSLASH ? BACKSLASH : byte === TAB ? 116 : byte === LF ? 110 : 114;
      } else bytes[at++] = byte;
    }
    out.length = at;
  },
};

/** COPY text with booleans as words, as in XML Schema, so that they have the same form in a column that became text. */
export const wordsEncoder: RowEncoder = { ...copyTextEncoder, trueText: 'true', falseText: 'false' };

/** RFC 4180 with LF line ends: NULL is an empty field, the empty string is `""`. */
export const csvEncoder: RowEncoder = {
  separator: COMMA,
  trueText: 'true',
  falseText: 'false',
  quote: QUOTE,
  pushNull() {},
  pushText(out, source, start, end) {
    let quoted = start === end;
    for (let i = start; i < end && !quoted; i += 1) {
      const byte = source[i]!;
      quoted = byte === COMMA || byte === QUOTE || byte === LF || byte === CR;
    }
    // `\.` alone on a line ends the data for PostgreSQL before 17
    if (!quoted && source[start] === BACKSLASH) quoted = true;
    if (!quoted) {
      out.push(source, start, end);
      return;
    }
    out.ensure((end - start) * 2 + 2);
    const { bytes } = out;
    let at = out.length;
    bytes[at++] = QUOTE;
    for (let i = start; i < end; i += 1) {
      const byte = source[i]!;
      if (byte === QUOTE) bytes[at++] = QUOTE;
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    out.length = at;
  },
};

/** The properties of the row encoding of a target. */
interface RowEncodingTraits {
  readonly values: RowEncoder;
  /**
   * True if rows are lines of JSON, made of values in COPY text (src/engine/shred/rows/forms.ts). False: values with separators between
   * them.
   */
  readonly isJson: boolean;
  /** The target extracts the items of lists from array literals. */
  readonly takesListsApart: boolean;
}

/** The registry of encodings; each kernel declares for every one of them how it writes it. */
const encodings = {
  'copy-text': { values: copyTextEncoder, isJson: false, takesListsApart: false },
  csv: { values: csvEncoder, isJson: false, takesListsApart: false },
  tsv: { values: copyTextEncoder, isJson: false, takesListsApart: false },
  words: { values: wordsEncoder, isJson: false, takesListsApart: true },
  'json-lines': { values: copyTextEncoder, isJson: true, takesListsApart: true },
} as const satisfies Readonly<Record<string, RowEncodingTraits>>;

export type EncodingName = keyof typeof encodings;

export function rowEncoderFor(encoding: EncodingName): RowEncoder {
  return encodings[encoding].values;
}

export function isJsonEncoding(encoding: EncodingName): boolean {
  return encodings[encoding].isJson;
}

export function takesListsApart(encoding: EncodingName): boolean {
  return encodings[encoding].takesListsApart;
}
