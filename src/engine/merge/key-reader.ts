/** Reads documents for their keys (`--key`), and for a digest of their content that does not depend on their position. */
import { ByteBuffer } from '../shred/rows/byte-buffer.ts';
import { rangeText, sourceOf } from '../shred/xml-capture.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
  type NameTable,
  type TokenBatch,
} from '../xml/tokens.ts';
import { isName, type KeyPath } from './key-paths.ts';

/** Between the values of several paths: U+001F, which no document of XML 1.0 can have in a value. */
export const keySeparator = '\u001F';

/** The result of reading the key paths of a document: its key, or the path that has no value or several. */
export type FoundKey =
  | { readonly key: string }
  | { readonly path: string; readonly is: 'missing' | 'repeated' };

export interface KeyReader {
  /** `inherited`: namespaces declared around a document that is a part of a larger one */
  begin(inherited?: ReadonlyMap<string, string>): void;
  consume(batch: TokenBatch): void;
  end(): FoundKey;
}

/**
 * `digest`: receives names, values and text of each document, each with a mark before it. The bytes are only valid during the call. They
 * do not depend on how the tokens are divided into batches.
 */
export function createKeyReader(
  paths: readonly KeyPath[],
  names: NameTable,
  digest: ((bytes: Uint8Array) => void) | null,
): KeyReader {
  return new PathReader(paths, names, digest);
}

const marks = { start: 1, end: 2, attribute: 3, text: 4, namespace: 5 } as const;
const fullBytes = 64 * 1024;
const utf8 = new TextEncoder();

class PathReader implements KeyReader {
  readonly #paths: readonly KeyPath[];
  readonly #names: NameTable;
  readonly #digest: ((bytes: Uint8Array) => void) | null;
  readonly #out = new ByteBuffer(fullBytes);
  readonly #labels: Uint8Array[] = [];
  #depth = 0;
  #inText = false;
  /** by path: number of its elements that are open, from the root on */
  readonly #open: number[];
  readonly #values: (string | null)[];
  readonly #isRepeated: boolean[];
  /** by path to an element: its text so far; null: it is not open */
  readonly #texts: (string[] | null)[];

  constructor(paths: readonly KeyPath[], names: NameTable, digest: ((bytes: Uint8Array) => void) | null) {
    this.#paths = paths;
    this.#names = names;
    this.#digest = digest;
    this.#open = paths.map(() => 0);
    this.#values = paths.map(() => null);
    this.#isRepeated = paths.map(() => false);
    this.#texts = paths.map(() => null);
  }

  begin(inherited: ReadonlyMap<string, string> = new Map()): void {
    this.#depth = 0;
    this.#inText = false;
    this.#out.length = 0;
    this.#open.fill(0);
    this.#values.fill(null);
    this.#isRepeated.fill(false);
    this.#texts.fill(null);
    if (this.#digest === null) return;
    // the meaning of prefixes is a part of values that are names
    for (const prefix of [...inherited.keys()].toSorted())
      this.#mark(marks.namespace, utf8.encode(`${prefix}\0${inherited.get(prefix)!}\0`));
  }

  consume(batch: TokenBatch): void {
    const { events, count } = batch;
    for (let at = 0; at < count; at += 1) {
      const kind = events[at * RECORD_INTS]! & KIND_MASK;
      const nameId = events[at * RECORD_INTS + 1]!;
      if (kind !== KIND_TEXT) this.#inText = false;
      if (kind === KIND_START) this.#start(nameId);
      else if (kind === KIND_END) this.#end();
      else if (kind === KIND_ATTRIBUTE) this.#attribute(batch, at, nameId);
      else if (kind === KIND_TEXT) this.#text(batch, at);
      else if (kind === KIND_NAMESPACE && this.#digest !== null)
        this.#mark(
          marks.namespace,
          utf8.encode(`${this.#names.localName(nameId)}\0${rangeText(batch, at)}\0`),
        );
    }
  }

  end(): FoundKey {
    this.#flush();
    for (const [at, { text }] of this.#paths.entries()) {
      if (this.#isRepeated[at]!) return { path: text, is: 'repeated' };
      if ((this.#values[at] ?? '') === '') return { path: text, is: 'missing' };
    }
    return { key: this.#values.join(keySeparator) };
  }

  #start(nameId: number): void {
    const before = this.#depth;
    this.#depth += 1;
    for (let at = 0; at < this.#paths.length; at += 1) {
      const { elements, attribute } = this.#paths[at]!;
      if (this.#open[at] !== before || before >= elements.length) continue;
      const name = {
        namespaceUri: this.#names.namespaceUri(nameId),
        localName: this.#names.localName(nameId),
      };
      if (!isName(name, elements[before]!)) continue;
      this.#open[at] = this.#depth;
      if (this.#depth === elements.length && attribute === null) this.#texts[at] = [];
    }
    if (this.#digest !== null) this.#mark(marks.start, this.#label(nameId));
  }

  #end(): void {
    for (let at = 0; at < this.#paths.length; at += 1) {
      if (this.#open[at] !== this.#depth) continue;
      const text = this.#texts[at];
      if (text != null && this.#depth === this.#paths[at]!.elements.length) {
        this.#texts[at] = null;
        this.#found(at, text.join(''));
      }
      this.#open[at] = this.#depth - 1;
    }
    this.#depth -= 1;
    if (this.#digest !== null) this.#mark(marks.end, null);
  }

  #attribute(batch: TokenBatch, record: number, nameId: number): void {
    for (let at = 0; at < this.#paths.length; at += 1) {
      const { elements, attribute } = this.#paths[at]!;
      if (attribute === null || this.#depth !== elements.length || this.#open[at] !== this.#depth) continue;
      const name = {
        namespaceUri: this.#names.namespaceUri(nameId),
        localName: this.#names.localName(nameId),
      };
      if (isName(name, attribute)) this.#found(at, rangeText(batch, record));
    }
    if (this.#digest === null) return;
    this.#mark(marks.attribute, this.#label(nameId));
    this.#add(batch, record);
    this.#out.pushByte(0);
  }

  #text(batch: TokenBatch, record: number): void {
    for (let at = 0; at < this.#paths.length; at += 1)
      // text of elements inside does not belong to the value
      if (this.#texts[at] !== null && this.#open[at] === this.#depth)
        this.#texts[at]!.push(rangeText(batch, record));
    if (this.#digest === null) return;
    if (!this.#inText) this.#mark(marks.text, null);
    this.#inText = true;
    this.#add(batch, record);
  }

  #found(at: number, text: string): void {
    if (this.#values[at] !== null) this.#isRepeated[at] = true;
    this.#values[at] = text.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  }

  #label(nameId: number): Uint8Array {
    return (this.#labels[nameId] ??= utf8.encode(
      `${this.#names.namespaceUri(nameId)}\0${this.#names.localName(nameId)}\0`,
    ));
  }

  #mark(mark: number, bytes: Uint8Array | null): void {
    this.#out.pushByte(mark);
    if (bytes !== null) this.#out.push(bytes, 0, bytes.length);
    if (this.#out.length >= fullBytes) this.#flush();
  }

  #add(batch: TokenBatch, record: number): void {
    this.#out.push(
      sourceOf(batch, record),
      batch.events[record * RECORD_INTS + 2]!,
      batch.events[record * RECORD_INTS + 3]!,
    );
    if (this.#out.length >= fullBytes) this.#flush();
  }

  #flush(): void {
    if (this.#out.length > 0) this.#digest?.(this.#out.bytes.subarray(0, this.#out.length));
    this.#out.length = 0;
  }
}
