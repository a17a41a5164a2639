/** Namespace declarations in scope, innermost last, and QNames in values read with them. */
import { clarkName, type QName } from '../model/source-model.ts';
import { xmlNamespace } from '../model/name-labels.ts';
import { qualifiedName } from '../xsd/values/lexical-form.ts';

export class NamespaceScope {
  readonly #pairs: [prefix: string, uri: string][] = [];

  get size(): number {
    return this.#pairs.length;
  }

  /** Back to an earlier `size`. */
  leave(size: number): void {
    // setting a length costs, and hardly any element declares
    if (this.#pairs.length !== size) this.#pairs.length = size;
  }

  /** prefix '': the default namespace */
  declare(prefix: string, uri: string): void {
    this.#pairs.push([prefix, uri]);
  }

  /** Returns null for a prefix that is not declared. */
  uriOf(prefix: string): string | null {
    const known = this.#pairs.findLast(([other]) => other === prefix)?.[1];
    return known ?? (prefix === 'xml' ? xmlNamespace : prefix === '' ? '' : null);
  }

  /** Every prefix in scope, '' for a default namespace. */
  declared(): Map<string, string> {
    return new Map(this.#pairs);
  }

  /** Returns all declarations, outermost first. */
  all(): (readonly [prefix: string, uri: string])[] {
    return [...this.#pairs];
  }

  /** Declarations from that place on, outermost first. */
  from(place: number): (readonly [prefix: string, uri: string])[] {
    return this.#pairs.slice(place);
  }

  /** Returns a prefix in scope for a namespace, or null if there is none. */
  prefixOf(uri: string, isAttribute: boolean): string | null {
    if (!isAttribute && this.uriOf('') === uri) return '';
    const found = this.#pairs.findLast(
      ([prefix, bound]) => bound === uri && prefix !== '' && this.uriOf(prefix) === uri,
    );
    return found?.[0] ?? (uri === xmlNamespace ? 'xml' : null);
  }

  /** Returns the name that a QName value denotes, or null if the value is not a QName or its prefix is not declared. */
  resolve(value: string): QName | null {
    if (!qualifiedName.test(value)) return null;
    const colon = value.indexOf(':');
    const namespaceUri = this.uriOf(colon < 0 ? '' : value.slice(0, colon));
    return namespaceUri === null ? null : { namespaceUri, localName: value.slice(colon + 1) };
  }

  /**
   * Returns a value of type QName, or a list of QNames, with every name written as `{uri}local`. Returns null if the prefixes of `known`
   * alone, without a default namespace, give the same names, or if the value is not valid.
   */
  expand(value: string, isList: boolean, known: Readonly<Record<string, string>>): string | null {
    let exact = true;
    const names = value.split(/[ \t\r\n]+/).filter((item) => item !== '');
    if (!isList && names.length > 1) return null;
    const expanded = names.map((item) => {
      const name = this.resolve(item);
      if (name === null) return item;
      const colon = item.indexOf(':');
      const prefix = colon < 0 ? '' : item.slice(0, colon);
      if ((prefix === '' ? '' : prefix === 'xml' ? xmlNamespace : known[prefix]) !== name.namespaceUri)
        exact = false;
      return clarkName(name);
    });
    return exact ? null : expanded.join(' ');
  }
}
