/**
 * Finds prefixes that content uses, such as `q` in `<t xmlns:q="urn:y">q:n</t>`. Without a schema, a QName, an XPath or a CURIE cannot be
 * distinguished from other text. A declaration is therefore kept beside the data, in `_unmapped`, as an attribute, if content in its
 * scope uses its prefix, unless written documents declare it at their root anyway. The meaning of a name without a prefix depends on the
 * default namespace. Any word may be such a name, so only the types of an XSD identify these.
 */
import { surelyDeclared } from '../../model/root-declarations.ts';
import type { RelationalModel } from '../../model/relational-model.ts';
import { utf8Text } from '../../xml/utf8.ts';
import { FRAME_ROW, FRAME_SCOPE, type ShredState } from '../open-elements.ts';
import type { NamespaceScope } from '../namespace-scope.ts';
import type { DocumentPaths } from './document-paths.ts';

/** A declaration in scope. */
interface Declared {
  readonly prefix: string;
  readonly uri: string;
  /** place in the scope of the outermost declaration that this one repeats, or its own */
  readonly meant: number;
  /** the declaration is kept when its prefix is used */
  isWanted: boolean;
}

/** Stores the content of the document that is kept beside its rows. */
interface Keeper {
  keep(kind: 'attribute', position: number, xpath: string, content: string, row: number): void;
}

/** Prefixes in UTF-8 that are looked for; `any`: there are too many to look for each. */
export type WantedPrefixes = readonly Uint8Array[] | 'any';

const maxWanted = 32;
const noPrefixes: readonly Uint8Array[] = [];
const utf8 = new TextEncoder();
const COLON = 0x3a;
const ASTERISK = 0x2a;

export class ContentPrefixes {
  /** a new array whenever the prefixes change */
  wanted: WantedPrefixes = noPrefixes;
  readonly #model: RelationalModel;
  readonly #scope: NamespaceScope;
  readonly #state: ShredState;
  readonly #paths: DocumentPaths;
  #atRoot: ReadonlyMap<string, string> | null = null;
  /** in scope order */
  readonly #declared: Declared[] = [];
  /** places in the scope, by prefix, outermost first */
  readonly #places = new Map<string, number[]>();
  readonly #wanted = new Set<string>();

  constructor(model: RelationalModel, scope: NamespaceScope, state: ShredState, paths: DocumentPaths) {
    this.#model = model;
    this.#scope = scope;
    this.#state = state;
    this.#paths = paths;
  }

  /** Begins a document with the declarations in scope around it. */
  beginDocument(): void {
    this.#declared.length = 0;
    this.#places.clear();
    this.#wanted.clear();
    this.wanted = noPrefixes;
    if (this.#scope.size > 0) this.declared();
  }

  /** Declarations were added to the scope. */
  declared(): void {
    for (const [prefix, uri] of this.#scope.from(this.#declared.length)) {
      const places = this.#places.get(prefix) ?? [];
      if (places.length === 0) this.#places.set(prefix, places);
      const outer = places.length === 0 ? null : this.#declared[places.at(-1)!]!;
      const own = this.#declared.length;
      const repeats = outer !== null && outer.uri === uri;
      places.push(own);
      this.#declared.push({
        prefix,
        uri,
        meant: repeats ? outer.meant : own,
        isWanted: !repeats && (outer !== null || !this.#isAtRoot(prefix, uri)),
      });
      this.#note(prefix);
    }
  }

  /** Declarations have gone out of scope. */
  left(): void {
    while (this.#declared.length > this.#scope.size) {
      const { prefix } = this.#declared.pop()!;
      this.#places.get(prefix)!.pop();
      this.#note(prefix);
    }
  }

  /** The text is content of the innermost open element. */
  meet(unmapped: Keeper, source: Uint8Array, start: number, end: number): void {
    const text = source.subarray(start, end);
    for (let colon = text.indexOf(COLON); colon >= 0; colon = text.indexOf(COLON, colon + 1)) {
      if (colon + 1 === text.length || !startsName(text[colon + 1]!)) continue;
      let from = colon;
      while (from > 0 && isPartOfName(text[from - 1]!)) from -= 1;
      const prefix = utf8Text(text.subarray(from, colon));
      if (this.#wanted.has(prefix)) this.#keep(prefix, unmapped);
    }
  }

  #isAtRoot(prefix: string, uri: string): boolean {
    if (prefix === '' || prefix === 'xml') return true;
    this.#atRoot ??= surelyDeclared(this.#model);
    return this.#atRoot.get(prefix) === uri;
  }

  /** Updates a prefix whose declaration may have changed. */
  #note(prefix: string): void {
    const place = prefix === '' ? undefined : this.#places.get(prefix)?.at(-1);
    const isWanted = place !== undefined && this.#declared[this.#declared[place]!.meant]!.isWanted;
    if (isWanted === this.#wanted.has(prefix)) return;
    if (isWanted) this.#wanted.add(prefix);
    else this.#wanted.delete(prefix);
    this.wanted = this.#wanted.size > maxWanted ? 'any' : Array.from(this.#wanted, (one) => utf8.encode(one));
  }

  #keep(prefix: string, unmapped: Keeper): void {
    const { meant } = this.#declared[this.#places.get(prefix)!.at(-1)!]!;
    const declared = this.#declared[meant]!;
    declared.isWanted = false;
    this.#note(prefix);
    const frame = this.#frameOf(meant);
    const xpath = `${this.#paths.element(frame)}/@xmlns:${prefix}`;
    unmapped.keep('attribute', 0, xpath, declared.uri, this.#state.frame(frame, FRAME_ROW));
  }

  /** The open element that has the declaration; the outermost has those around a part of a larger document. */
  #frameOf(declaration: number): number {
    let frame = this.#state.depth - 1;
    while (frame > 0 && this.#state.frame(frame, FRAME_SCOPE) > declaration) frame -= 1;
    return frame;
  }
}

// src/engine/shred/kernel/text.as has the same rules

function isLetter(byte: number): boolean {
  return byte >= 0x80 || byte === 0x5f || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a);
}

function startsName(byte: number): boolean {
  return isLetter(byte) || byte === ASTERISK;
}

function isPartOfName(byte: number): boolean {
  return isLetter(byte) || byte === 0x2d || byte === 0x2e || (byte >= 0x30 && byte <= 0x39);
}
