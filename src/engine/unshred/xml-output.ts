/** Collects the bytes of a document in pieces and passes them to the consumer. */
import { utf8Of } from './rows/values.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { xmlNamespace, xsdNamespace } from '../model/name-labels.ts';
import { rootDeclarations } from '../model/root-declarations.ts';
import type { QName } from '../model/source-model.ts';

/**
 * Receives UTF-8; its promise is the back-pressure. The bytes belong to the consumer until the promise resolves, and are then
 * overwritten.
 */
export type ByteConsumer = (bytes: Uint8Array<ArrayBuffer>) => Promise<void> | void;

const pieceBytes = 64 * 1024;
/** bytes of a value that at least go into the same piece; each may become a reference */
const leastBytes = 64;

const [openBracket, slash, closeBracket, quote, blank, equals] = [0x3c, 0x2f, 0x3e, 0x22, 0x20, 0x3d];

export class XmlOutput {
  readonly #scope: ContentScope;
  /** bytes of the present document so far */
  bytes = 0;
  #consume: ByteConsumer = () => undefined;
  #piece = new Uint8Array(pieceBytes);
  #filled = 0;
  /** pieces that are full */
  #full: Uint8Array<ArrayBuffer>[] = [];
  /** a start tag waits for its `>` */
  #tagOpen = false;
  /** the piece that was passed to the consumer last, and the consumer's promise */
  #given: Uint8Array<ArrayBuffer> | null = null;
  #taking: Promise<void> | null = null;
  /** a piece to be reused */
  #spare: Uint8Array<ArrayBuffer> | null = null;

  /** `scope`: of the names that are written */
  constructor(scope: ContentScope) {
    this.#scope = scope;
  }

  begin(consume: ByteConsumer): void {
    this.#consume = consume;
    this.#scope.reset();
    this.bytes = 0;
    this.#filled = 0;
    this.#full = [];
    this.#tagOpen = false;
    this.#given = null;
    this.#taking = null;
  }

  /** A start tag; attributes may follow it. */
  start(tag: Uint8Array): void {
    const name = this.#scope.isActive ? this.#scope.tag(tag) : tag;
    if (this.#scope.isActive) this.#scope.enter();
    this.#closeTag();
    this.#room(name.length + 1);
    this.#piece[this.#filled++] = openBracket;
    this.#copy(name, 0, name.length);
    this.#tagOpen = true;
  }

  end(tag: Uint8Array): void {
    const name = this.#scope.isActive ? this.#scope.tag(tag) : tag;
    if (this.#scope.isActive) this.#scope.leave();
    this.#room(name.length + 3);
    if (this.#tagOpen) {
      this.#piece[this.#filled++] = slash;
    } else {
      this.#piece[this.#filled++] = openBracket;
      this.#piece[this.#filled++] = slash;
      this.#copy(name, 0, name.length);
    }
    this.#piece[this.#filled++] = closeBracket;
    this.#tagOpen = false;
  }

  /** An attribute of the start tag that is open, its value in `bytes`. */
  attribute(tag: Uint8Array, bytes: Uint8Array, from: number, to: number): void {
    const name = this.#scope.isActive ? this.#scope.tag(tag) : tag;
    this.#room(name.length + 3);
    this.#piece[this.#filled++] = blank;
    this.#copy(name, 0, name.length);
    this.#piece[this.#filled++] = equals;
    this.#piece[this.#filled++] = quote;
    this.#escaped(bytes, from, to, inAttribute);
    this.#room(1);
    this.#piece[this.#filled++] = quote;
  }

  /** Writes attributes into the open start tag as given, each with a blank before it. */
  attributes(markup: string): void {
    if (markup !== '') this.#whole(utf8Of(markup));
  }

  value(bytes: Uint8Array, from: number, to: number): void {
    if (from === to) return;
    this.#closeTag();
    this.#escaped(bytes, from, to, inText);
  }

  text(text: string): void {
    const bytes = utf8Of(text);
    this.value(bytes, 0, bytes.length);
  }

  /** Writes self-contained XML text. */
  markup(content: string): void {
    this.#closeTag();
    this.#whole(utf8Of(content));
  }

  /** Does the same as `markup` for a range of `bytes`. */
  markupBytes(bytes: Uint8Array, from: number, to: number): void {
    this.#closeTag();
    this.#whole(bytes.subarray(from, to));
  }

  /** Hands over the pieces that are full; undefined: nothing to wait for. */
  drain(): Promise<void> | undefined {
    return this.#full.length === 0 ? undefined : this.#hand();
  }

  /** Passes all bytes on, and waits until the consumer is ready. */
  async flush(): Promise<void> {
    // the rest of the piece is used for the next document
    if (this.#filled > 0) this.#full.push(this.#piece.slice(0, this.#filled));
    this.#filled = 0;
    await this.#hand();
    await this.#taking;
  }

  /** Passes a piece on. The next one is filled while the consumer handles it. */
  async #hand(): Promise<void> {
    for (const piece of this.#full.splice(0)) {
      await this.#taking;
      if (this.#given?.buffer.byteLength === pieceBytes) this.#spare = new Uint8Array(this.#given.buffer);
      this.#given = piece;
      this.bytes += piece.length;
      this.#taking = this.#consume(piece) ?? null;
      // its fault is reported when the promise is awaited
      this.#taking?.catch(() => undefined);
    }
  }

  #closeTag(): void {
    if (!this.#tagOpen) return;
    this.#tagOpen = false;
    this.#room(1);
    this.#piece[this.#filled++] = closeBracket;
  }

  /** Reserves room for this number of bytes. */
  #room(bytes: number): void {
    if (this.#filled + bytes > this.#piece.length) this.#nextPiece(bytes);
  }

  #nextPiece(bytes: number): void {
    this.#full.push(this.#piece.subarray(0, this.#filled));
    this.#piece = (bytes > pieceBytes ? null : this.#spare) ?? new Uint8Array(Math.max(pieceBytes, bytes));
    this.#spare = null;
    this.#filled = 0;
  }

  #escaped(bytes: Uint8Array, from: number, to: number, { special, references }: ByteEscapes): void {
    for (let at = from; at < to;) {
      const end = Math.min(to, at + this.#roomToEscape(to - at));
      const piece = this.#piece;
      let filled = this.#filled;
      for (; at < end; at += 1) {
        const byte = bytes[at]!;
        if (special[byte] === 0) piece[filled++] = byte;
        else for (const one of references[byte]!) piece[filled++] = one;
      }
      this.#filled = filled;
    }
  }

  /** Returns the number of bytes, at least one, that fit into the piece even if all of them are escaped. */
  #roomToEscape(bytes: number): number {
    if (bytes * longestReference <= this.#piece.length - this.#filled) return bytes;
    this.#room(Math.min(bytes, leastBytes) * longestReference);
    return Math.floor((this.#piece.length - this.#filled) / longestReference);
  }

  /** There is room. */
  #copy(bytes: Uint8Array, from: number, to: number): void {
    const piece = this.#piece;
    let filled = this.#filled;
    for (let at = from; at < to; at += 1) piece[filled++] = bytes[at]!;
    this.#filled = filled;
  }

  #whole(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#piece.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }
}

// Escapes character data for a document (XML 1.0 §2.4). Characters that a parser would change are written as references.

type Escapes = ReadonlyMap<string, string>;

const textEscapes: Escapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['\r', '&#13;'],
]);

const attributeEscapes: Escapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['"', '&quot;'],
  ['\t', '&#9;'],
  ['\n', '&#10;'],
  ['\r', '&#13;'],
]);

export function escapeAttribute(value: string): string {
  return value.replaceAll(/[&<"\t\n\r]/g, (character) => attributeEscapes.get(character)!);
}

/** References by byte of UTF-8. */
interface ByteEscapes {
  /** 1: the byte is written as a reference */
  readonly special: Uint8Array;
  readonly references: readonly Uint8Array[];
}

const inText = byteEscapes(textEscapes);
const inAttribute = byteEscapes(attributeEscapes);

/** bytes of the longest reference */
const longestReference = 6;

function byteEscapes(escapes: Escapes): ByteEscapes {
  const utf8 = new TextEncoder();
  const special = new Uint8Array(256);
  const references = Array.from(special, () => new Uint8Array(0));
  for (const [character, reference] of escapes) {
    special[character.charCodeAt(0)] = 1;
    references[character.charCodeAt(0)] = utf8.encode(reference);
  }
  return { special, references };
}

// Prefixes of a written document: every namespace has one, declared at the root; there is no default namespace.

/** Namespaces that one start tag has to declare itself: URI -> prefix. */
export type OwnDeclarations = Map<string, string>;

export interface OutputNamespaces {
  /** attributes of the root element, with a blank before each */
  readonly declarations: string;
  /** scope of the document that is written */
  readonly content: ContentScope;
  /** a name of the model, or of the schema-instance namespace */
  nameOf(name: QName): string;
  /**
   * Returns the UTF-8 of a name, or of a text that names an element in rows. Returns the same array for all places with the same text, of
   * which a large model has many.
   */
  bytesOf(text: string): Uint8Array;
  /**
   * Returns the text for a name that the model may not know: if the root does not declare its namespace, the declaration is added to
   * `own`.
   */
  nameWith(name: QName, own: OwnDeclarations): string;
}

export function createOutputNamespaces(model: RelationalModel): OutputNamespaces {
  const { known, prefixes, declared, taken } = rootDeclarations(model);
  prefixes.set(xmlNamespace, 'xml');
  // namespaces that the model knows and the root need not declare: values may hold names in them
  const usual = new Map(taken.has('xs') ? [] : [[xsdNamespace, 'xs']]);
  for (const [prefix, uri] of known.toReversed()) if (!prefixes.has(uri)) usual.set(uri, prefix);
  for (const prefix of usual.values()) taken.add(prefix);
  const texts = new Map<string, Uint8Array>();
  const content = new ContentScope(declared);
  return {
    content,
    bytesOf(text) {
      let bytes = texts.get(text);
      if (bytes === undefined) texts.set(text, (bytes = utf8Of(text)));
      return bytes;
    },
    declarations: Array.from(declared, ([prefix, uri]) => ` xmlns:${prefix}="${escapeAttribute(uri)}"`).join(
      '',
    ),
    nameOf(name) {
      return name.namespaceUri === '' ? name.localName : prefixed(prefixes.get(name.namespaceUri)!, name);
    },
    nameWith(name, own) {
      if (name.namespaceUri === '') return name.localName;
      const atRoot = prefixes.get(name.namespaceUri);
      if (atRoot !== undefined) return content.name(prefixed(atRoot, name));
      let prefix = own.get(name.namespaceUri);
      if (prefix === undefined) {
        const isFree = (one: string): boolean => !content.binds(one);
        prefix = [usual.get(name.namespaceUri)].find((one) => one !== undefined && isFree(one));
        for (let number = own.size + 1; prefix === undefined; number += 1)
          if (!taken.has(`_${number}`) && isFree(`_${number}`)) prefix = `_${number}`;
        own.set(name.namespaceUri, prefix);
      }
      return prefixed(prefix, name);
    },
  };
}

function prefixed(prefix: string, name: QName): string {
  return `${prefix}:${name.localName}`;
}

// Prefixes that elements of a written document declare because their content uses them (src/engine/shred/walk/content-prefixes.ts). If
// names are written with such a prefix, they get another prefix within the element.

interface BindingElement {
  /** new prefixes of names within it, by their prefixes at the root */
  readonly renamed: ReadonlyMap<string, string>;
  /** URIs by prefix, of it and of the elements around */
  readonly bound: ReadonlyMap<string, string>;
  /** elements open within it, itself included */
  depth: number;
}

const COLON = 0x3a;
const noNames: ReadonlyMap<string, string> = new Map();

class ContentScope {
  /** URIs by prefix, as the root declares them for names */
  readonly #atRoot: ReadonlyMap<string, string>;
  readonly #open: BindingElement[] = [];
  #renamedTags = new Map<Uint8Array, Uint8Array>();

  constructor(atRoot: ReadonlyMap<string, string>) {
    this.#atRoot = atRoot;
  }

  /** Content of an open element binds prefixes. */
  get isActive(): boolean {
    return this.#open.length > 0;
  }

  /** Names are written otherwise than at the root. */
  get renames(): boolean {
    return (this.#open.at(-1)?.renamed.size ?? 0) > 0;
  }

  /** No document is open. */
  reset(): void {
    this.#open.length = 0;
    this.#renamedTags.clear();
  }

  /** True if the content of an open element uses the prefix. */
  binds(prefix: string): boolean {
    return this.#open.at(-1)?.bound.has(prefix) === true;
  }

  /** The element that begins next binds these; returns the declarations of its start tag, those of names included if it is the root. */
  bind(declared: ReadonlyMap<string, string>, isRoot: boolean): string {
    const outer = this.#open.at(-1);
    const renamed = new Map(outer?.renamed ?? noNames);
    const bound = new Map([...(outer?.bound ?? noNames), ...declared]);
    const inTag = new Map(isRoot ? this.#atRoot : noNames);
    for (const [prefix, uri] of this.#atRoot) {
      const present = renamed.get(prefix) ?? prefix;
      const other = declared.get(present);
      if (other === undefined || other === uri) continue;
      const fresh = this.#freshPrefix(prefix, renamed, bound);
      renamed.set(prefix, fresh);
      inTag.set(fresh, uri);
    }
    for (const [prefix, uri] of declared) inTag.set(prefix, uri);
    this.#open.push({ renamed, bound, depth: 0 });
    this.#renamedTags.clear();
    return [...inTag].map(([prefix, uri]) => ` xmlns:${prefix}="${escapeAttribute(uri)}"`).join('');
  }

  #freshPrefix(
    prefix: string,
    renamed: ReadonlyMap<string, string>,
    bound: ReadonlyMap<string, string>,
  ): string {
    const taken = new Set([...this.#atRoot.keys(), ...renamed.values(), ...bound.keys()]);
    for (let number = 1; ; number += 1) if (!taken.has(`${prefix}_${number}`)) return `${prefix}_${number}`;
  }

  /** An element begins. */
  enter(): void {
    this.#open.at(-1)!.depth += 1;
  }

  /** An element has ended. */
  leave(): void {
    const innermost = this.#open.at(-1)!;
    innermost.depth -= 1;
    if (innermost.depth > 0) return;
    this.#open.pop();
    this.#renamedTags.clear();
  }

  /** Returns the name with the prefix that it has in the output at this place. */
  name(name: string): string {
    const colon = name.indexOf(':');
    const other = colon < 0 ? undefined : this.#open.at(-1)?.renamed.get(name.slice(0, colon));
    return other === undefined ? name : other + name.slice(colon);
  }

  /** Like `name`, for a tag in UTF-8. */
  tag(tag: Uint8Array): Uint8Array {
    if (!this.renames || !tag.includes(COLON)) return tag;
    let renamed = this.#renamedTags.get(tag);
    if (renamed === undefined) {
      renamed = utf8Of(this.name(new TextDecoder().decode(tag)));
      this.#renamedTags.set(tag, renamed);
    }
    return renamed;
  }
}
