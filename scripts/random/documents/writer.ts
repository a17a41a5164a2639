/** Writes a document tree as XML, with varying prefixes, white space, CDATA and comments that mean nothing. */
import type { Random } from '../../../test/fuzz/random.ts';
import { xmlUri, xsiUri, type Name } from '../schema/terms.ts';
import { isElement, walk, type ElementNode } from './generator.ts';

export function writeDocument(root: ElementNode, random: Random): string {
  return new DocumentWriter(root, random).text();
}

class DocumentWriter {
  readonly #root: ElementNode;
  readonly #random: Random;
  readonly #prefixes = new Map<string, string>([[xmlUri, 'xml']]);
  /** the namespace that elements have without a prefix, where that is allowed */
  #usual: string;
  readonly #isPlain: boolean;

  constructor(root: ElementNode, random: Random) {
    this.#root = root;
    this.#random = random;
    this.#usual = random.chance(0.6) ? root.name.uri : '';
    this.#isPlain = random.chance(0.4);
  }

  text(): string {
    const uris = new Set<string>();
    let hasBareValue = false;
    for (const path of walk(this.#root)) {
      const { name, attributes, children } = path.at(-1)!;
      const texts = [
        ...attributes.map(({ value }) => value),
        ...children.filter((child) => !isElement(child)),
      ];
      for (const [, uri = ''] of texts.join(' ').matchAll(/\uE000([^\uE001]*)\uE001/g)) {
        uris.add(uri);
        hasBareValue ||= uri === '';
      }
      for (const { uri } of [name, ...attributes.map((attribute) => attribute.name)]) uris.add(uri);
    }
    // an unprefixed name in a value is of no namespace only without a default one
    if (hasBareValue) this.#usual = '';
    for (const uri of uris) {
      if (uri === '' || uri === xmlUri) continue;
      this.#prefixes.set(
        uri,
        uri === xsiUri ? 'xsi' : `${this.#random.pick(['p', 'ns', 'é'])}${this.#prefixes.size}`,
      );
    }
    const declarations = [...this.#prefixes].filter(([uri]) => uri !== xmlUri);
    const head = this.#random.pick(['', '<?xml version="1.0" encoding="UTF-8"?>\n', '<!-- first -->']);
    return (
      head +
      this.#element(
        this.#root,
        '',
        declarations.map(([uri, prefix]) => ` xmlns:${prefix}="${uri.replaceAll('&', '&amp;')}"`).join(''),
      )
    );
  }

  #element(node: ElementNode, scope: string, declarations: string): string {
    const { name, attributes, children, content } = node;
    let declared = declarations;
    let inner = scope;
    let tag = name.local;
    if (name.uri === '' || (name.uri === this.#usual && !this.#random.chance(0.1))) {
      if (scope !== name.uri) declared += ` xmlns="${name.uri.replaceAll('&', '&amp;')}"`;
      inner = name.uri;
    } else tag = this.#named(name);
    const written = attributes.map(
      (attribute) =>
        ` ${this.#attributeName(attribute.name)}="${this.#escaped(this.#values(attribute.value), true)}"`,
    );
    const texts = children.map((child) =>
      isElement(child) ? this.#element(child, inner, '') : this.#run(this.#values(child)),
    );
    const hasElements = children.some(isElement);
    const body = content === 'elements' && hasElements ? this.#spaced(texts) : texts.join('');
    const start = `<${tag}${declared}${written.join('')}`;
    return body === '' && this.#random.chance(0.7) ? `${start}/>` : `${start}>${body}</${tag}>`;
  }

  #named({ uri, local }: Name): string {
    return `${this.#prefixes.get(uri)!}:${local}`;
  }

  #attributeName(name: Name): string {
    return name.uri === '' ? name.local : this.#named(name);
  }

  #values(text: string): string {
    return text.replaceAll(/\uE000([^\uE001]*)\uE001([^\uE002]*)\uE002/g, (_, uri: string, local: string) =>
      uri === '' ? local : this.#named({ uri, local }),
    );
  }

  #spaced(parts: readonly string[]): string {
    if (this.#isPlain) return parts.join('');
    const space = (): string =>
      this.#random.chance(0.4)
        ? this.#random.pick(['\n', '\n  ', ' ', '<!-- a -->', '<?pi?>\n', '\r\n\t'])
        : '';
    return parts.map((part) => space() + part).join('') + space();
  }

  #run(text: string): string {
    if (this.#isPlain || this.#random.chance(0.8)) return this.#escaped(text, false);
    if (this.#random.chance(0.5) && !text.includes(']]>') && !text.includes('\r'))
      return `<![CDATA[${text}]]>`;
    const cut = this.#random.below(text.length);
    const isPair = /[\uDC00-\uDFFF]/.test(text[cut] ?? '');
    if (isPair) return this.#escaped(text, false);
    return `${this.#escaped(text.slice(0, cut), false)}<!-- in between -->${this.#escaped(text.slice(cut), false)}`;
  }

  #escaped(text: string, isAttribute: boolean): string {
    const special = isAttribute ? /[&<"\t\n\r]/g : /[&<>\r]/g;
    return text.replaceAll(special, (character) => `&#${character.codePointAt(0)};`);
  }
}
