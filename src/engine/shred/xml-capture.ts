/** Writes a stretch of the token tape back as XML text that stands on its own: for wildcards and unmapped content. */
import type { NameTable, TokenBatch } from '../xml/tokens.ts';
import { FLAG_DECODED, KIND_ATTRIBUTE, KIND_MASK, KIND_NAMESPACE, RECORD_INTS } from '../xml/tokens.ts';
import { ByteBuffer } from './rows/byte-buffer.ts';
import { NamespaceScope } from './values/namespace-scope.ts';
import { utf8Text } from '../xml/utf8.ts';

const utf8 = new TextEncoder();

/**
 * Declarations and prefixes are the document's own: names in values keep their meaning, unprefixed ones too. Those in scope where
 * the capture starts are declared on its first element.
 */
export class XmlCapture {
  readonly out = new ByteBuffer(1024);
  depth = 0;
  /** attributes, and runs of text that are not white space, since the capture began */
  values = 0;
  readonly #names: NameTable;
  #scope = new NamespaceScope();
  #scopeSizes: number[] = [];
  #tagOpen = false;
  /** a run of text comes in pieces */
  #runCounted = false;
  #open: string[] = [];

  constructor(names: NameTable) {
    this.#names = names;
  }

  /** Starts a capture at the START record `at`; answers the index of the tag's last record. `scope`: prefix -> URI. */
  begin(batch: TokenBatch, at: number, scope: ReadonlyMap<string, string>): number {
    this.out.length = 0;
    this.#scope = new NamespaceScope();
    this.#scopeSizes = [];
    this.#open = [];
    this.depth = 0;
    this.values = 0;
    return this.start(batch, at, scope);
  }

  start(batch: TokenBatch, at: number, scope: ReadonlyMap<string, string> | null = null): number {
    this.#closeTag();
    this.#runCounted = false;
    const { events } = batch;
    const declared = new Map(scope);
    let last = at;
    for (
      let i = at + 1;
      i < batch.count && (events[i * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE;
      i += 1
    ) {
      declared.set(this.#names.localName(events[i * RECORD_INTS + 1]!), rangeText(batch, i));
      last = i;
    }
    this.#scopeSizes.push(this.#scope.size);
    for (const [prefix, uri] of declared) this.#scope.declare(prefix, uri);
    const name = this.#qualified(events[at * RECORD_INTS + 1]!, false);
    this.#open.push(name);
    this.depth += 1;
    this.#text(`<${name}`);
    for (const [prefix, uri] of declared) {
      // no default namespace is what there is without a declaration
      if (prefix === '' && uri === '' && scope !== null) continue;
      this.#text(` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeAttribute(uri)}"`);
    }
    for (
      let i = last + 1;
      i < batch.count && (events[i * RECORD_INTS]! & KIND_MASK) === KIND_ATTRIBUTE;
      i += 1
    ) {
      const attribute = this.#qualified(events[i * RECORD_INTS + 1]!, true);
      this.#text(` ${attribute}="${escapeAttribute(rangeText(batch, i))}"`);
      this.values += 1;
      last = i;
    }
    this.#tagOpen = true;
    return last;
  }

  /** The name with a prefix in scope: a document that is namespace-well-formed has one. */
  #qualified(nameId: number, isAttribute: boolean): string {
    const uri = this.#names.namespaceUri(nameId);
    const local = this.#names.localName(nameId);
    if (uri === '' && isAttribute) return local;
    const prefix = this.#scope.prefixOf(uri, isAttribute);
    return prefix === null || prefix === '' ? local : `${prefix}:${local}`;
  }

  text(source: Uint8Array, start: number, end: number): void {
    this.#closeTag();
    const { out } = this;
    if (!this.#runCounted && !isWhiteSpace(source.subarray(start, end), end - start)) {
      this.#runCounted = true;
      this.values += 1;
    }
    for (let i = start; i < end; i += 1) {
      const byte = source[i]!;
      if (byte === 60) out.pushAscii('&lt;');
      else if (byte === 62) out.pushAscii('&gt;');
      else if (byte === 38) out.pushAscii('&amp;');
      else if (byte === 13) out.pushAscii('&#13;');
      else out.pushByte(byte);
    }
  }

  /** Closes an element; true when it was the one the capture began with. */
  end(): boolean {
    this.#runCounted = false;
    const local = this.#open.pop()!;
    this.#scope.leave(this.#scopeSizes.pop()!);
    this.depth -= 1;
    if (this.#tagOpen) {
      this.#tagOpen = false;
      this.#text('/>');
    } else this.#text(`</${local}>`);
    return this.depth === 0;
  }

  #closeTag(): void {
    if (!this.#tagOpen) return;
    this.#tagOpen = false;
    this.out.pushByte(62);
  }

  #text(text: string): void {
    const bytes = utf8.encode(text);
    this.out.push(bytes, 0, bytes.length);
  }
}

function escapeAttribute(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#9;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\r', '&#13;');
}

/** The bytes that the range of a record lies in. */
export function sourceOf({ events, bytes, decoded }: TokenBatch, at: number): Uint8Array {
  return (events[at * RECORD_INTS]! & FLAG_DECODED) === 0 ? bytes : decoded;
}

/** The range of a record as text. */
export function rangeText(batch: TokenBatch, at: number): string {
  const [start, end] = [batch.events[at * RECORD_INTS + 2]!, batch.events[at * RECORD_INTS + 3]!];
  return utf8Text(sourceOf(batch, at).subarray(start, end));
}

export function isWhiteSpace(bytes: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i += 1) {
    const byte = bytes[i]!;
    if (byte !== 32 && byte !== 9 && byte !== 10 && byte !== 13) return false;
  }
  return true;
}
