/** Namespace contexts: which prefixes are bound to which namespaces at an element. */
import { ByteInterner, hashBytes } from './interned.ts';

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

/** The context of a document before any declaration: only `xml` is bound. */
export const ROOT_CONTEXT = 0;

/** More declarations than this are never in force at one place of data; each look-up may have to pass all of them. */
export const MAX_NAMESPACES_IN_FORCE = 10_000;

/**
 * Sets of prefix bindings in force. A context is its parent plus one binding. The same declaration in the same context leads to the same
 * context, so that repeated declarations only cost a look-up.
 */
export class NamespaceContexts {
  private readonly uris = new ByteInterner();
  private readonly uriTexts: string[] = [''];
  private readonly parents: number[] = [-1];
  private readonly prefixes: number[] = [-1];
  private readonly bindings: number[] = [0];
  /** the first declaration, that of `xml`, is everybody's and counts for nothing */
  private readonly depths: number[] = [-1];
  private readonly children: (Map<number, number> | undefined)[] = [undefined];

  get size(): number {
    return this.parents.length;
  }

  get longUris(): number {
    return this.uris.longNames;
  }

  /** Id of a namespace URI given as bytes; 0 is the empty one. */
  internUri(bytes: Uint8Array, from: number, to: number): number {
    const known = this.uris.intern(bytes, from, to, hashBytes(bytes, from, to));
    if (known >= 0) return known;
    const id = -1 - known;
    this.uriTexts[id] = this.uris.text(id);
    return id;
  }

  uriText(uri: number): string {
    return this.uriTexts[uri]!;
  }

  /** Declarations in force in a context, those included that are hidden by inner ones of their prefix. */
  depth(context: number): number {
    return this.depths[context]!;
  }

  /** URI id bound to a prefix; -1 when the prefix is not declared. */
  lookup(context: number, prefix: number): number {
    for (let c = context; c > 0; c = this.parents[c]!)
      if (this.prefixes[c] === prefix) return this.bindings[c]!;
    return prefix === 0 ? 0 : -1;
  }

  /** True if a prefix other than `xml` or the default namespace is declared as a namespace other than `uri`. */
  declaresOther(context: number, uri: string): boolean {
    for (let c = context; c > 0; c = this.parents[c]!) {
      const declared = this.uriText(this.bindings[c]!);
      if (declared !== '' && declared !== uri && declared !== XML_NAMESPACE) return true;
    }
    return false;
  }

  /** Returns the context in which `prefix` is bound to `uri` and everything else is as in `context`. */
  declare(context: number, prefix: number, uri: number): number {
    if (this.lookup(context, prefix) === uri) return context;
    const key = prefix * 0x4000000 + uri;
    let children = this.children[context];
    if (children === undefined) {
      children = new Map();
      this.children[context] = children;
    }
    let child = children.get(key);
    if (child === undefined) {
      child = this.parents.length;
      children.set(key, child);
      this.parents.push(context);
      this.prefixes.push(prefix);
      this.bindings.push(uri);
      this.depths.push(this.depths[context]! + 1);
      this.children.push(undefined);
    }
    return child;
  }
}
