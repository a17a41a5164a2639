/**
 * Prefixes that elements of a written document declare because their content uses them (src/engine/shred/walk/content-prefixes.ts). If
 * names are written with such a prefix, they get another prefix within the element.
 */
import { escapeAttribute } from './escape.ts';
import { utf8Of } from './rows/values.ts';

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

export class ContentScope {
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

  /** The name as it is written here. */
  name(name: string): string {
    const colon = name.indexOf(':');
    const other = colon < 0 ? undefined : this.#open.at(-1)?.renamed.get(name.slice(0, colon));
    return other === undefined ? name : other + name.slice(colon);
  }

  /** Does the same as `name`, in UTF-8. */
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
