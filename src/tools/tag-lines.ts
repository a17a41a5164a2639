/**
 * Validators tell lines, where a document may have but one. So each tag of a document that is checked gets a line end of its own
 * (white space before `>` means nothing), and from a line told the very tag is found, with its line and column in the document.
 */
import type { ValidityFault } from '../ports/document-validator.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_START,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
} from '../engine/xml/tokens.ts';

type Locate = (recordIndex: number) => TextLocation;

const lineFeed = 0x0a;
const lessThan = 0x3c;
const greaterThan = 0x3e;
const slash = 0x2f;

/** Whether offsets of the tokeniser, which are those of the text in UTF-8, are those of the bytes. */
export function isUtf8(bytes: Uint8Array): boolean {
  const head = String.fromCharCode(...bytes.subarray(0, 200));
  if (/^(?:\xfe\xff|\xff\xfe)|\0/.test(head)) return false;
  const [, encoding = 'utf-8'] =
    /^(?:\xef\xbb\xbf)?<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)/.exec(head) ?? [];
  return /^(?:utf-8|us-ascii)$/i.test(encoding);
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

/** Collects, batch by batch, where the tags of a document end. */
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
    /** The document with a line end before the end of each tag; null where it has tags in the text of entities. */
    marked(document: Uint8Array): Uint8Array | null {
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

/** Finds the tag, or the attribute, that a fault speaks of. `marked`: the fault's line is that of the marked document. */
export function createFaultFinder(fault: ValidityFault, marked: boolean, names: NameTable) {
  let tags = 0;
  let place: TextLocation | null = null;
  return {
    /** null until it is found */
    get place(): TextLocation | null {
      return place;
    },
    take(batch: TokenBatch, locate: Locate): void {
      for (const record of tagsOf(batch)) {
        if (place !== null) return;
        const n = record * RECORD_INTS;
        tags += 1;
        const tag = batch.bytes.subarray(batch.events[n + 2], batch.events[n + 3]);
        const start = locate(record);
        const lines = tag.reduce((sum, byte) => sum + (byte === lineFeed ? 1 : 0), 0);
        const endLine = start.line + lines + (marked ? tags : 0);
        if (endLine !== fault.line) continue;
        const isNamed = fault.element === null || names.localName(batch.events[n + 1]!) === fault.element;
        if (marked || isNamed) place = attributePlace(batch, record, locate) ?? start;
      }
    },
  };

  function attributePlace(batch: TokenBatch, tag: number, locate: Locate): TextLocation | null {
    if (fault.attribute === null) return null;
    for (let record = tag + 1; record < batch.count; record += 1) {
      const kind = batch.events[record * RECORD_INTS]! & KIND_MASK;
      if (kind === KIND_START || kind === KIND_END) return null;
      if (kind !== KIND_ATTRIBUTE) continue;
      if (names.localName(batch.events[record * RECORD_INTS + 1]!) === fault.attribute) return locate(record);
    }
    return null;
  }
}
