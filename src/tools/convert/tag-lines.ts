/**
 * Maps lines to tags for validators, which report lines although a document may have only one. Each tag of a checked document gets a
 * line end of its own (white space before `>` means nothing). From a reported line, the exact tag is found, with its line and column in
 * the document (src/tools/validation/check-documents.ts).
 */
import {
  KIND_END,
  KIND_MASK,
  KIND_START,
  RECORD_INTS,
  type TextLocation,
  type TokenBatch,
} from '../../engine/xml/tokens.ts';

type Locate = (recordIndex: number) => TextLocation;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const lessThan = 0x3c;
const greaterThan = 0x3e;
const slash = 0x2f;
const exclamation = 0x21;
const question = 0x3f;
const lineEnd = Uint8Array.of(lineFeed);

/** Whether offsets of the tokeniser, which are those of the text in UTF-8, are those of the bytes. */
export function isUtf8(bytes: Uint8Array): boolean {
  const head = String.fromCharCode(...bytes.subarray(0, 200));
  if (/^(?:\xfe\xff|\xff\xfe)|\0|^(?:\xef\xbb\xbf)?<\?xml\s+version\s*=\s*["']1\.1/.test(head)) return false;
  const [, encoding = 'utf-8'] =
    /^(?:\xef\xbb\xbf)?<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)/.exec(head) ?? [];
  return /^(?:utf-8|us-ascii)$/i.test(encoding);
}

/** A CR alone is a line end, too, and some programs do not count it. */
function withLineFeeds(document: Uint8Array): Uint8Array {
  let at = document.indexOf(carriageReturn);
  if (at < 0) return document;
  const changed = document.slice();
  for (; at >= 0; at = document.indexOf(carriageReturn, at + 1))
    if (document[at + 1] !== lineFeed) changed[at] = lineFeed;
  return changed;
}

/** The tags of a batch; an empty element's tag once. */
function* tagsOf({ events, count }: TokenBatch): Iterable<number> {
  let last = -1;
  for (let record = 0; record < count; record += 1) {
    const n = record * RECORD_INTS;
    const kind = events[n]! & KIND_MASK;
    if (kind !== KIND_START && kind !== KIND_END) continue;
    const start = events[n + 2]!;
    if (kind === KIND_END && start === last) continue;
    last = start;
    yield record;
  }
}

/** Collects the ends of a document's tags, batch by batch. */
export function createTagMarker() {
  const starts: number[] = [];
  const ends: number[] = [];
  return {
    take(batch: TokenBatch, locate: Locate): void {
      for (const record of tagsOf(batch)) {
        const n = record * RECORD_INTS;
        const { offset } = locate(record);
        starts.push(offset);
        ends.push(offset + batch.events[n + 3]! - batch.events[n + 2]!);
      }
    },
    /** Returns the document with a line end before the end of each tag, or null if it has tags in the text of entities. */
    marked(given: Uint8Array): Uint8Array | null {
      const document = withLineFeeds(given);
      const marked = new Uint8Array(document.length + ends.length);
      let from = 0;
      let to = 0;
      for (const [tag, end] of ends.entries()) {
        if (document[starts[tag]!] !== lessThan || document[end - 1] !== greaterThan) return null;
        const at = document[end - 2] === slash ? end - 2 : end - 1;
        marked.set(document.subarray(from, at), to);
        to += at - from;
        marked[to++] = lineFeed;
        from = at;
      }
      marked.set(document.subarray(from), to);
      return marked;
    },
  };
}

/** Limit for the size of a tag whose end is not known yet. An apparent tag in a comment is not awaited longer. */
const maxHeldBytes = 64 * 1024 * 1024;

/** Marks a document that comes bit by bit, as its tokeniser finds the tags. */
export function createStreamMarker() {
  /** bytes that have not been passed on yet */
  let held: Uint8Array = new Uint8Array(0);
  let heldFrom = 0;
  /** start and end of each tag, as offsets in the buffered bytes */
  let tags: { readonly start: number; readonly end: number }[] = [];
  /** false: the text of entities contains tags; from the first of them on, tags have no lines of their own */
  let isWhole = true;
  return {
    take(batch: TokenBatch, locate: Locate): void {
      for (const record of tagsOf(batch)) {
        const n = record * RECORD_INTS;
        const start = locate(record).offset;
        tags.push({ start, end: start + batch.events[n + 3]! - batch.events[n + 2]! });
      }
    },
    /** Returns the part of the document that is final so far, with its tags marked. The tokeniser has already processed `piece`. */
    marked(piece: Uint8Array): Uint8Array {
      held = held.length === 0 ? piece.slice() : Buffer.concat([held, piece]);
      const done = tags.at(-1)?.end ?? heldFrom;
      return release(Math.max(done - heldFrom, sureBytes(Math.max(0, done - heldFrom))));
    },
    rest: (): Uint8Array => release(held.length),
  };

  /** Returns the number of bytes up to a possible incomplete tag, or half of a line end. */
  function sureBytes(from: number): number {
    if (held.length - from > maxHeldBytes) return held.length;
    for (let at = held.indexOf(lessThan, from); at >= 0; at = held.indexOf(lessThan, at + 1)) {
      const next = held[at + 1];
      if (next !== exclamation && next !== question) return at;
    }
    return held.at(-1) === carriageReturn ? held.length - 1 : held.length;
  }

  function release(bytes: number): Uint8Array {
    const sure = withLineFeeds(held.subarray(0, bytes));
    const parts: Uint8Array[] = [];
    let from = 0;
    for (const { start, end } of tags) {
      const [at, behind] = [start - heldFrom, end - heldFrom];
      if (!isWhole || sure[at] !== lessThan || sure[behind - 1] !== greaterThan) {
        isWhole = false;
        break;
      }
      const close = sure[behind - 2] === slash ? behind - 2 : behind - 1;
      parts.push(sure.subarray(from, close), lineEnd);
      from = close;
    }
    parts.push(sure.subarray(from));
    tags = [];
    held = held.subarray(bytes);
    heldFrom += bytes;
    return Buffer.concat(parts);
  }
}
