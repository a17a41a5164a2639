/** Writes a range of the token tape back as self-contained XML text: for wildcards and unmapped content. */
import type { NameTable, TokenBatch } from '../xml/tokens.ts';
import { FLAG_DECODED, KIND_ATTRIBUTE, KIND_MASK, KIND_NAMESPACE, RECORD_INTS } from '../xml/tokens.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { NamespaceScope } from './namespace-scope.ts';
import { utf8Text } from '../xml/utf8.ts';

const utf8 = new TextEncoder();

/** The tags of an element, in UTF-8: `<name` and `</name>`. */
interface Tag {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

type Declarations = ReadonlyMap<string, string>;

/**
 * Keeps the document's own declarations and prefixes, so that names in values keep their meaning, including unprefixed ones. The first
 * element of the capture declares all those in scope where the capture starts.
 */
export class XmlCapture {
  readonly out = new ByteBuffer(1024);
  depth = 0;
  /** attributes, and runs of text that are not white space, since the capture began */
  values = 0;
  readonly #names: NameTable;
  /** declarations of the first element: mostly equal to those of the previous capture, whose tags are known */
  #declared: Declarations = new Map();
  #declarations = new Uint8Array(0);
  #scope = new NamespaceScope();
  /** indexed by name id, if nothing is declared within the capture */
  readonly #tags = new Map<number, Tag>();
  readonly #attributes = new Map<number, Uint8Array>();
  readonly #scopeSizes: number[] = [];
  #tagOpen = false;
  /** a run of text may consist of several pieces */
  #runCounted = false;
  readonly #open: Tag[] = [];

  constructor(names: NameTable) {
    this.#names = names;
  }

  /** Starts a capture at the START record `at`. Returns the index of the tag's last record. `scope`: prefix -> URI. */
  begin(batch: TokenBatch, at: number, scope: Declarations): number {
    this.out.length = 0;
    this.#tagOpen = false;
    this.#runCounted = false;
    this.#scopeSizes.length = 0;
    this.#open.length = 0;
    this.depth = 0;
    this.values = 0;
    const last = lastDeclaration(batch, at);
    const declared = new Map(scope);
    for (let i = at + 1; i <= last; i += 1) declared.set(this.#prefixAt(batch, i), rangeText(batch, i));
    if (!isSame(declared, this.#declared)) this.#declareFirst(declared);
    return this.#startTag(batch, at, last, this.#declarations);
  }

  start(batch: TokenBatch, at: number): number {
    this.#closeTag();
    this.#runCounted = false;
    const last = lastDeclaration(batch, at);
    if (last === at) return this.#startTag(batch, at, last, null);
    let declarations = '';
    const size = this.#scope.size;
    for (let i = at + 1; i <= last; i += 1) {
      const [prefix, uri] = [this.#prefixAt(batch, i), rangeText(batch, i)];
      this.#scope.declare(prefix, uri);
      declarations += declarationOf(prefix, uri);
    }
    return this.#startTag(batch, at, last, utf8.encode(declarations), size);
  }

  /** `scopeSize`: declarations in scope before its own, which end with record `last`. */
  #startTag(
    batch: TokenBatch,
    at: number,
    last: number,
    declarations: Uint8Array | null,
    scopeSize = this.#scope.size,
  ): number {
    const { events } = batch;
    const { out } = this;
    this.#scopeSizes.push(scopeSize);
    const tag = this.#tagOf(events[at * RECORD_INTS + 1]!);
    this.#open.push(tag);
    this.depth += 1;
    out.push(tag.start, 0, tag.start.length);
    if (declarations !== null) out.push(declarations, 0, declarations.length);
    let i = last + 1;
    for (; i < batch.count && (events[i * RECORD_INTS]! & KIND_MASK) === KIND_ATTRIBUTE; i += 1) {
      const name = this.#attributeOf(events[i * RECORD_INTS + 1]!);
      out.push(name, 0, name.length);
      pushEscaped(
        sourceOf(batch, i),
        events[i * RECORD_INTS + 2]!,
        events[i * RECORD_INTS + 3]!,
        attributeEscapes,
        out,
      );
      out.pushByte(quote);
      this.values += 1;
    }
    this.#tagOpen = true;
    return i - 1;
  }

  #declareFirst(declared: Declarations): void {
    this.#declared = declared;
    this.#scope = new NamespaceScope();
    this.#tags.clear();
    this.#attributes.clear();
    let declarations = '';
    for (const [prefix, uri] of declared) {
      this.#scope.declare(prefix, uri);
      // an empty default namespace needs no declaration
      if (prefix !== '' || uri !== '') declarations += declarationOf(prefix, uri);
    }
    this.#declarations = utf8.encode(declarations);
  }

  #prefixAt(batch: TokenBatch, at: number): string {
    return this.#names.localName(batch.events[at * RECORD_INTS + 1]!);
  }

  #tagOf(nameId: number): Tag {
    const known = this.#declaresWithin ? undefined : this.#tags.get(nameId);
    if (known !== undefined) return known;
    const name = this.#qualified(nameId, false);
    const tag = { start: utf8.encode(`<${name}`), end: utf8.encode(`</${name}>`) };
    if (!this.#declaresWithin) this.#tags.set(nameId, tag);
    return tag;
  }

  /** Returns the bytes before an attribute's value. */
  #attributeOf(nameId: number): Uint8Array {
    const known = this.#declaresWithin ? undefined : this.#attributes.get(nameId);
    if (known !== undefined) return known;
    const before = utf8.encode(` ${this.#qualified(nameId, true)}="`);
    if (!this.#declaresWithin) this.#attributes.set(nameId, before);
    return before;
  }

  /** True if an open element within the capture has declarations of its own. */
  get #declaresWithin(): boolean {
    return this.#scope.size > this.#declared.size;
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
    if (!this.#runCounted && !isWhiteSpace(source.subarray(start, end), end - start)) {
      this.#runCounted = true;
      this.values += 1;
    }
    pushEscaped(source, start, end, textEscapes, this.out);
  }

  /** Closes an element; true when it was the one the capture began with. */
  end(): boolean {
    this.#runCounted = false;
    const { end } = this.#open.pop()!;
    this.#scope.leave(this.#scopeSizes.pop()!);
    this.depth -= 1;
    if (this.#tagOpen) {
      this.#tagOpen = false;
      this.out.pushAscii('/>');
    } else this.out.push(end, 0, end.length);
    return this.depth === 0;
  }

  #closeTag(): void {
    if (!this.#tagOpen) return;
    this.#tagOpen = false;
    this.out.pushByte(greaterThan);
  }
}

const quote = 34;
const greaterThan = 62;

/** The escapes of bytes below 64, indexed by the byte; undefined: the byte itself. */
type Escapes = readonly (string | undefined)[];

const textEscapes = escapesOf({ '<': '&lt;', '>': '&gt;', '&': '&amp;', '\r': '&#13;' });
const attributeEscapes = escapesOf({
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
});

function escapesOf(escapes: Readonly<Record<string, string>>): Escapes {
  return Array.from({ length: 64 }, (_, byte) => escapes[String.fromCharCode(byte)]);
}

function pushEscaped(
  source: Uint8Array,
  start: number,
  end: number,
  escapes: Escapes,
  out: ByteBuffer,
): void {
  let from = start;
  for (let at = start; at < end; at += 1) {
    const byte = source[at]!;
    if (byte >= 64) continue;
    const escape = escapes[byte];
    if (escape === undefined) continue;
    out.push(source, from, at);
    out.pushAscii(escape);
    from = at + 1;
  }
  out.push(source, from, end);
}

function declarationOf(prefix: string, uri: string): string {
  return ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeAttribute(uri)}"`;
}

function escapeAttribute(value: string): string {
  return value.replaceAll(/["&<\t\n\r]/g, (character) => attributeEscapes[character.charCodeAt(0)]!);
}

/** Returns the record of the last declaration of the element that starts at `at`, or `at` if it has none. */
function lastDeclaration({ events, count }: TokenBatch, at: number): number {
  let last = at;
  while (last + 1 < count && (events[(last + 1) * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE) last += 1;
  return last;
}

/** True if the declarations are equal, in the same order as in the text. */
function isSame(some: Declarations, others: Declarations): boolean {
  if (some.size !== others.size) return false;
  const entries = others.entries();
  for (const [prefix, uri] of some) {
    const [otherPrefix, otherUri] = entries.next().value!;
    if (prefix !== otherPrefix || uri !== otherUri) return false;
  }
  return true;
}

/** Returns the bytes that contain the range of a record. */
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
