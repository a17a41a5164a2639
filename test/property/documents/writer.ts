/** Writes a document tree as text in one of the countless ways that say the same. */
import type { QName } from '../../../src/engine/model/source-model.ts';
import type { Choices } from '../choices/random.ts';
import { elementsOf, type ElementNode } from './terms.ts';
import { xmlUri } from '../schemas/terms.ts';
import { replaceMarkedNames } from '../choices/value-generator.ts';

export interface WritingOptions {
  /** comments, CDATA, references, white space, prefixes wherever they may stand; else the plain way */
  readonly varied: boolean;
}

const entities = [
  { name: 'amp2', literal: '&#38;#38;', text: '&' },
  { name: 'less', literal: '&#38;lt; c', text: '< c' },
  { name: 'word', literal: 'some text', text: 'some text' },
  { name: 'line', literal: '&#13;&#10;', text: '\r\n' },
  { name: 'nest', literal: 'va&part;', text: 'value' },
  { name: 'part', literal: 'lue', text: 'lue' },
];

export function writeDocument(root: ElementNode, choices: Choices, options: WritingOptions): string {
  return new DocumentWriting(root, choices, options.varied).text();
}

class DocumentWriting {
  readonly #root: ElementNode;
  readonly #choices: Choices;
  readonly #varied: boolean;
  readonly #hasEntities: boolean;

  constructor(root: ElementNode, choices: Choices, varied: boolean) {
    this.#root = root;
    this.#choices = choices;
    this.#varied = varied;
    this.#hasEntities = varied && choices.chance(20);
  }

  text(): string {
    const choices = this.#choices;
    const namesEntity = elementsOf(this.#root).some(({ attributes, children }) =>
      [...attributes.map(({ value }) => value), ...children].some(
        (value) => typeof value === 'string' && value.includes('picture'),
      ),
    );
    const declaration = choices.chance(50) ? '<?xml version="1.0" encoding="UTF-8"?>\n' : '';
    const notation = '<!NOTATION gif SYSTEM "gif"><!ENTITY picture SYSTEM "picture.gif" NDATA gif>';
    const declared = this.#hasEntities
      ? entities.map(({ name, literal }) => `<!ENTITY ${name} "${literal}">`).join('\n')
      : '';
    const needsType = namesEntity || this.#hasEntities;
    const documentType = needsType
      ? `<!DOCTYPE any [${namesEntity ? notation : ''}${declared}<!-- <a> -->]>\n`
      : '';
    const body = this.#element(this.#root, new Map([['xml', xmlUri]]));
    return declaration + this.#misc() + documentType + this.#misc() + body + this.#misc();
  }

  #misc(): string {
    return this.#varied && this.#choices.chance(15)
      ? this.#choices.pick(['<!-- c -->\n', '<?pi some data?>', '\n \n', '<!---->'])
      : '';
  }

  #element(node: ElementNode, outer: ReadonlyMap<string, string>): string {
    const choices = this.#choices;
    const scope = new Map(outer);
    const declarations: string[] = [];
    const declare = (prefix: string, uri: string): string => {
      scope.set(prefix, uri);
      declarations.push(`${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}=${this.#quoted(uri)}`);
      return prefix;
    };
    const values = [
      ...node.attributes.map(({ value }) => value),
      ...node.children.filter((child) => typeof child === 'string'),
    ];
    const names: QName[] = [];
    for (const value of values) replaceMarkedNames(value, (name) => (names.push(name), ''));
    // a name without namespace, in a value or of the element, bears no default namespace around it
    const bare = node.name.namespaceUri === '' || names.some(({ namespaceUri }) => namespaceUri === '');
    if (bare && (scope.get('') ?? '') !== '') declare('', '');
    if (this.#varied && choices.chance(4))
      declare(`u${choices.below(3)}`, choices.pick(['urn:unused', 'urn:foreign']));
    const declared = new Set(declarations.map((text) => text.slice(0, text.indexOf('='))));
    const prefixFor = (uri: string, mayBeDefault: boolean): string => {
      if (uri === '') return '';
      const known = [...scope]
        .filter(([prefix, bound]) => bound === uri && (mayBeDefault || prefix !== ''))
        .map(([prefix]) => prefix);
      const wantsNew = this.#varied && choices.chance(10);
      if (known.length > 0 && !wantsNew) return choices.pick(known);
      if (uri === xmlUri) return 'xml';
      const isFree = mayBeDefault && !bare && !declared.has('xmlns');
      if (isFree && choices.chance(40)) {
        declared.add('xmlns');
        return declare('', uri);
      }
      for (let number = choices.below(3); ; number += 1) {
        const prefix = `${choices.pick(['n', 'ns', 'é'])}${number}`;
        if (declared.has(`xmlns:${prefix}`)) continue;
        // an inner declaration must not change what an outer value or name means: it does not, but names here are written after it
        if (scope.has(prefix)) continue;
        declared.add(`xmlns:${prefix}`);
        return declare(prefix, uri);
      }
    };
    const tag = (name: QName, mayBeDefault: boolean): string => {
      const prefix = prefixFor(name.namespaceUri, mayBeDefault);
      return prefix === '' ? name.localName : `${prefix}:${name.localName}`;
    };
    const own = tag(node.name, true);
    // what a value's unprefixed name means is settled before any value is written
    const written = (value: string): string =>
      replaceMarkedNames(value, (name) => tag(name, scope.get('') === name.namespaceUri));
    const attributes = node.attributes.map(
      ({ name, value }) => `${tag(name, false)}${this.#equals()}${this.#attributeValue(written(value))}`,
    );
    const texts = node.children.map((child) => (typeof child === 'string' ? written(child) : child));
    const all = choices
      .shuffled([...declarations, ...attributes])
      .map((one) => `${this.#varied && choices.chance(10) ? '\n\t' : ' '}${one}`);
    const content = this.#content(node, texts, scope);
    const space = this.#varied && choices.chance(10) ? choices.pick([' ', '\n']) : '';
    if (content === '' && choices.chance(60)) return `<${own}${all.join('')}${space}/>`;
    return `<${own}${all.join('')}${space}>${content}</${own}${space}>`;
  }

  #equals(): string {
    return this.#varied && this.#choices.chance(5) ? ' = ' : '=';
  }

  #content(node: ElementNode, children: ElementNode['children'], scope: ReadonlyMap<string, string>): string {
    const parts: string[] = [];
    const between = (): void => {
      if (node.isElementOnly && this.#varied && this.#choices.chance(40)) {
        parts.push(
          this.#choices.pick(['\n', '\n  ', ' ', '<!-- between -->', '\t<?pi?>\r\n', '<!--a--> <!--b-->']),
        );
      }
    };
    const hasElements = children.some((child) => typeof child !== 'string');
    for (const child of children) {
      between();
      parts.push(typeof child === 'string' ? this.#text(child) : this.#element(child, scope));
    }
    if (hasElements) between();
    return parts.join('');
  }

  /** Characters as they are, in CDATA, as references or from entities, with comments between. */
  #text(text: string): string {
    if (!this.#varied) return escapeText(text);
    let result = '';
    for (let rest = text; rest !== '';) {
      const entity = this.#hasEntities ? entities.find(({ text }) => rest.startsWith(text)) : undefined;
      if (entity !== undefined) {
        result += `&${entity.name};`;
        rest = rest.slice(entity.text.length);
        continue;
      }
      const characters = [...rest];
      const part = characters.slice(0, this.#choices.between(1, 12)).join('');
      rest = rest.slice(part.length);
      const way = this.#choices.below(10);
      if (way === 9 && !part.includes(']]>') && !part.includes('\r')) result += `<![CDATA[${part}]]>`;
      else if (way === 8) result += [...part].map((character) => this.#reference(character)).join('');
      else if (way === 7)
        result += `${escapeText(part)}${this.#choices.pick(['<!-- x -->', '<?p?>', '<![CDATA[]]>', '<!---->'])}`;
      else result += escapeText(part).replaceAll('\n', this.#choices.pick(['\n', '\n', '\r\n', '\r']));
      // two pieces must not make a line end, or the end of CDATA, together
      if (result.endsWith(']') || result.endsWith('\r')) result += '<!---->';
    }
    return result;
  }

  #reference(character: string): string {
    const code = character.codePointAt(0)!;
    return this.#choices.chance(50) ? `&#${code};` : `&#x${code.toString(16)};`;
  }

  #attributeValue(value: string): string {
    if (!this.#varied) return this.#quoted(value);
    const single = this.#choices.chance(30);
    const written = [...value].map((character) => {
      if (character === '&' && this.#hasEntities) return '&amp2;';
      if (/[&<\t\n\r]/.test(character) || character === (single ? "'" : '"'))
        return this.#reference(character);
      return this.#choices.chance(3) ? this.#reference(character) : character;
    });
    return single ? `'${written.join('')}'` : `"${written.join('')}"`;
  }

  #quoted(value: string): string {
    return `"${value.replaceAll(/[&<>"\t\n\r]/g, (character) => `&#${character.codePointAt(0)};`)}"`;
  }
}

function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');
}
