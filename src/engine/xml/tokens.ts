/**
 * The token tape: the batches that a tokeniser passes to its consumer, without a string per token.
 *
 * A record is four int32: `[kind | flags, nameId, start, end]`. Ranges are byte offsets into `bytes` (UTF-8), or into `decoded` if
 * `FLAG_DECODED` is set. In `decoded`, entities, character references, line ends and attribute white space (XML 1.0 §2.11, §3.3.3) have
 * been processed, so a consumer always reads final bytes. Both buffers are valid only until the handler returns.
 *
 * A START and all its NAMESPACE and ATTRIBUTE records are always in one batch, so a consumer may look ahead to them.
 *
 * Order: START, its NAMESPACE records, its ATTRIBUTE records, content, END. An empty element has START and END. A text run may consist of
 * several TEXT records (window borders, CDATA, references, comments and PIs between): consumers join TEXT records until the next START or
 * END. White space is reported like all other text inside the root element.
 */
export const KIND_MASK = 7;
/** nameId: expanded element name; range: the tag, from `<` to behind `>` (for an empty element START and END have the same) */
export const KIND_START = 0;
export const KIND_END = 1;
/** nameId: expanded attribute name; range: value */
export const KIND_ATTRIBUTE = 2;
export const KIND_TEXT = 3;
/** nameId: interned prefix as a no-namespace name ('' for the default); range: namespace URI. Emitted for xmlns declarations. */
export const KIND_NAMESPACE = 4;
/** only with `comments: true`; range: the comment's text */
export const KIND_COMMENT = 5;
/** only with `comments: true`; nameId: target; range: data */
export const KIND_INSTRUCTION = 6;
export const FLAG_DECODED = 8;
/** TEXT: the range holds only space, tab, CR, LF (and did not come from CDATA or a reference) */
export const FLAG_WHITE_SPACE = 16;
/** ATTRIBUTE: supplied by a default of the DTD's internal subset */
export const FLAG_DEFAULTED = 32;
export const RECORD_INTS = 4;

export interface TokenBatch {
  /** records; `count * RECORD_INTS` ints are valid */
  readonly events: Int32Array;
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly decoded: Uint8Array;
}

/** Interned expanded names. Ids are dense from 0 and stable for the table's life; a table may serve many documents. */
export interface NameTable {
  readonly size: number;
  /** number of long names and namespaces (`checkNameCount`) */
  readonly longNames: number;
  namespaceUri(id: number): string;
  localName(id: number): string;
  /** id of an expanded name, interning it when new */
  intern(namespaceUri: string, localName: string): number;
}

export interface TextLocation {
  /** from 1 */
  readonly line: number;
  /** from 1, in characters */
  readonly column: number;
  /** bytes of the (UTF-8) document before this point */
  readonly offset: number;
}

export interface XmlTokenizer {
  readonly names: NameTable;
  /** Feeds bytes, whole or in any pieces; calls the handler zero or more times before it returns. Throws `InputError`. */
  write(chunk: Uint8Array): void;
  /**
   * Returns the buffer for the next bytes, so that they need not be copied: at least one byte long, valid until the next call of any
   * method. Returns null if the caller must use `write`: before the encoding is known, and in any encoding other than UTF-8. May call the
   * handler. Throws `InputError`.
   */
  room(): Uint8Array | null;
  /** Notes that the first `length` bytes of the buffer that `room` returned have been filled. Has the same effect as `write`. */
  filled(length: number): void;
  /** End of the document; checks that it is complete. Throws `InputError`. */
  end(): void;
  /** Returns the location of a record of the batch being handled (START, END, TEXT, ATTRIBUTE: the start of its range). */
  locate(recordIndex: number): TextLocation;
  /** bytes consumed so far */
  readonly bytesRead: number;
}
