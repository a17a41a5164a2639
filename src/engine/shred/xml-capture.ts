/** Writes a stretch of the token tape back as XML text that stands on its own: for wildcards and unmapped content. */
import { xmlNamespace, xsiNamespace } from '../model/name-labels.ts';
import type { NameTable, TokenBatch } from '../xml/tokens.ts';
import { FLAG_DECODED, KIND_ATTRIBUTE, KIND_MASK, KIND_NAMESPACE, RECORD_INTS } from '../xml/tokens.ts';
import { ByteBuffer } from './byte-buffer.ts';

const utf8 = new TextEncoder();
const decoder = new TextDecoder();

/** Prefixes in scope where a capture starts: [prefix, uri] pairs, outermost first; the default namespace is left out. */
export type ScopePairs = readonly (readonly [string, string])[];

/**
 * Element names are written in the default namespace, attribute names with a prefix in scope or a made one; declared prefixes are
 * kept, so that QNames in content keep their meaning.
 */
export class XmlCapture {
  readonly out = new ByteBuffer(1024);
  depth = 0;
  readonly #names: NameTable;
  #defaultNamespaces: string[] = [];
  /** the default namespaces of the document itself, which names in values are read with */
  #sourceDefaults: string[] = [];
  #tagOpen = false;
  #open: string[] = [];

  constructor(names: NameTable) {
    this.#names = names;
  }

  /** Starts a capture at the START record `at`, where `sourceDefault` is in scope; answers the index of the tag's last record. */
  begin(batch: TokenBatch, at: number, scope: ScopePairs, sourceDefault: string): number {
    this.#sourceDefaults = [sourceDefault];
    this.out.length = 0;
    this.#defaultNamespaces = [''];
    this.#open = [];
    this.depth = 0;
    return this.start(batch, at, scope);
  }

  start(batch: TokenBatch, at: number, scope: ScopePairs = []): number {
    this.#closeTag();
    const { events } = batch;
    const nameId = events[at * RECORD_INTS + 1]!;
    const uri = this.#names.namespaceUri(nameId);
    const local = this.#names.localName(nameId);
    this.#text(`<${local}`);
    if (uri !== this.#defaultNamespaces.at(-1)) this.#text(` xmlns="${escapeAttribute(uri)}"`);
    this.#defaultNamespaces.push(uri);
    this.#open.push(local);
    this.depth += 1;
    const declared = new Map<string, string>(scope);
    let sourceDefault = this.#sourceDefaults.at(-1)!;
    let last = at;
    for (
      let i = at + 1;
      i < batch.count && (events[i * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE;
      i += 1
    ) {
      const prefix = this.#names.localName(events[i * RECORD_INTS + 1]!);
      if (prefix === '') sourceDefault = rangeText(batch, i);
      else declared.set(prefix, rangeText(batch, i));
      last = i;
    }
    for (const [prefix, bound] of declared) this.#text(` xmlns:${prefix}="${escapeAttribute(bound)}"`);
    this.#sourceDefaults.push(sourceDefault);
    let made = 0;
    for (
      let i = last + 1;
      i < batch.count && (events[i * RECORD_INTS]! & KIND_MASK) === KIND_ATTRIBUTE;
      i += 1
    ) {
      const attribute = events[i * RECORD_INTS + 1]!;
      const space = this.#names.namespaceUri(attribute);
      let name = this.#names.localName(attribute);
      if (space === xmlNamespace) name = `xml:${name}`;
      else if (space !== '') {
        made += 1;
        this.#text(` xmlns:_${made}="${escapeAttribute(space)}"`);
        name = `_${made}:${name}`;
      }
      let value = rangeText(batch, i);
      if (space === xsiNamespace && name.endsWith(':type') && !value.includes(':') && sourceDefault !== uri) {
        // an unprefixed type name is one of the default namespace, which the element's own has replaced here
        if (sourceDefault !== '') {
          made += 1;
          this.#text(` xmlns:_${made}="${escapeAttribute(sourceDefault)}"`);
          value = `_${made}:${value.trim()}`;
        }
      }
      this.#text(` ${name}="${escapeAttribute(value)}"`);
      last = i;
    }
    this.#tagOpen = true;
    return last;
  }

  text(source: Uint8Array, start: number, end: number): void {
    this.#closeTag();
    const { out } = this;
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
    const local = this.#open.pop()!;
    this.#defaultNamespaces.pop();
    this.#sourceDefaults.pop();
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

/** The range of a record as text. */
export function rangeText(batch: TokenBatch, at: number): string {
  const flags = batch.events[at * RECORD_INTS]!;
  const source = (flags & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
  return decoder.decode(
    source.subarray(batch.events[at * RECORD_INTS + 2]!, batch.events[at * RECORD_INTS + 3]!),
  );
}
