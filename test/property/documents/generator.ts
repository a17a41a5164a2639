/** Random documents that are valid against a schema term. */
import type { QName } from '../../../src/engine/model/source-model.ts';
import type { Choices } from '../choices/random.ts';
import type { AttributeNode, ElementNode } from './terms.ts';
import {
  allows,
  nameKey,
  wholeAnyAttribute,
  wholeAttributes,
  wholeParticle,
  withDerived,
  withMembers,
  xmlUri,
  xsiUri,
  type ComplexTypeTerm,
  type ElementTerm,
  type ParticleTerm,
  type SchemaTerm,
  type SimpleTypeTerm,
  type TypeTerm,
  type ValueMaker,
  type WildcardTerm,
} from '../schemas/terms.ts';
import { markedName, valueOf, writtenForm } from '../choices/value-generator.ts';

export interface DocumentOptions {
  readonly extreme: boolean;
  readonly unusual: boolean;
  /** elements beyond which only what is required is made */
  readonly size: number;
  /** a document may start with any global element; else with the first */
  readonly anyRoot: boolean;
}

export function makeDocument(schema: SchemaTerm, choices: Choices, options: DocumentOptions): ElementNode {
  const making = new DocumentMaking(schema, choices, options);
  const roots = options.anyRoot ? schema.elements.filter((element) => making.isConcrete(element)) : [];
  return making.element(
    roots.length > 0 && choices.chance(30) ? choices.pick(roots) : schema.elements[0]!,
    0,
  );
}

const maxDepth = 9;

class DocumentMaking {
  readonly #schema: SchemaTerm;
  readonly #choices: Choices;
  readonly #maker: ValueMaker;
  #left: number;

  constructor(schema: SchemaTerm, choices: Choices, { extreme, unusual, size }: DocumentOptions) {
    let ids = 0;
    this.#schema = schema;
    this.#choices = choices;
    this.#left = size;
    this.#maker = { choices, extreme, unusual, nextId: () => `id${(ids += 1)}` };
  }

  isConcrete(element: ElementTerm): boolean {
    return !element.abstract && this.#actualTypes(element.type).length > 0;
  }

  /** The declared type and those that may be named in its place, without abstract ones. */
  #actualTypes(type: TypeTerm): TypeTerm[] {
    if (type.kind === 'simple' || type.name === null) return [type];
    return withDerived(type).filter((one) => !one.abstract);
  }

  element(declared: ElementTerm, depth: number): ElementNode {
    this.#left -= 1;
    const choices = this.#choices;
    const types = this.#actualTypes(declared.type);
    const isTight = this.#isTight(depth);
    const type =
      types.includes(declared.type) && (isTight || !choices.chance(30)) ? declared.type : choices.pick(types);
    const attributes: AttributeNode[] = [];
    if (type !== declared.type || (type.name !== null && choices.chance(3))) {
      attributes.push({ name: xsi('type'), value: markedName(type.name!) });
    }
    const isNil = declared.nillable && declared.fixed === null && choices.chance(35);
    if (declared.nillable && (isNil || choices.chance(10))) {
      attributes.push({
        name: xsi('nil'),
        value: isNil ? choices.pick(['true', '1']) : choices.pick(['false', '0']),
      });
    }
    if (type.kind === 'complex') attributes.push(...this.#attributes(type, isTight));
    const isElementOnly = type.kind === 'complex' && type.simple === null && !type.mixed;
    const node: ElementNode = {
      name: declared.name,
      attributes: choices.shuffled(attributes),
      children: [],
      isElementOnly,
    };
    if (!isNil) node.children = this.#content(declared, type, depth);
    return node;
  }

  #isTight(depth: number): boolean {
    return this.#left <= 0 || depth >= maxDepth;
  }

  #attributes(type: ComplexTypeTerm, isTight: boolean): AttributeNode[] {
    const choices = this.#choices;
    const declared = wholeAttributes(type);
    const likely = declared.length > 50 ? 2 : 60;
    const made = declared
      .filter(({ use }) => use === 'required' || (!isTight && choices.chance(likely)))
      .map(({ name, type: valueType, fixed }) => ({ name, value: this.#value(valueType, fixed) }));
    const wildcard = type.isAnyType ? anything : wholeAnyAttribute(type);
    if (wildcard !== null && choices.chance(50)) {
      const names = new Set(declared.map(({ name }) => nameKey(name)));
      const free = this.#foreignAttributes(wildcard).filter(({ name }) => !names.has(nameKey(name)));
      made.push(...free.slice(0, choices.between(1, 3)));
    }
    return made;
  }

  #foreignAttributes(wildcard: WildcardTerm): AttributeNode[] {
    if (wildcard.processContents === 'strict') return [];
    const candidates: AttributeNode[] = [
      {
        name: { namespaceUri: 'urn:foreign', localName: 'x' },
        value: this.#choices.pick(['', '1', 'a "b" <c> & d', '\n\t']),
      },
      { name: { namespaceUri: 'urn:elsewhere', localName: 'x' }, value: 'y' },
      { name: { namespaceUri: '', localName: 'loose' }, value: this.#choices.pick(['1', '=']) },
      { name: { namespaceUri: wildcard.target, localName: 'unheard' }, value: '2' },
      { name: { namespaceUri: xmlUri, localName: 'lang' }, value: 'en' },
    ];
    const known = new Set<string>();
    return candidates.filter(({ name }) => {
      const isNew = !known.has(nameKey(name));
      known.add(nameKey(name));
      return isNew && allows(wildcard, name.namespaceUri);
    });
  }

  #value(type: SimpleTypeTerm, fixed: string | null): string {
    return fixed ?? writtenForm(type, valueOf(type, this.#maker), this.#maker);
  }

  #content(declared: ElementTerm, type: TypeTerm, depth: number): ElementNode['children'] {
    const choices = this.#choices;
    const simple = type.kind === 'simple' ? type : type.simple;
    if (simple !== null) {
      const hasConstant = declared.fixed !== null || declared.default !== null;
      if (hasConstant && choices.chance(25)) return [];
      const value = this.#value(simple, declared.fixed);
      return value === '' ? [] : [value];
    }
    const complex = type as ComplexTypeTerm;
    if (complex.isAnyType) return this.#anything(depth);
    const particle = wholeParticle(complex);
    const elements = particle === null ? [] : this.#particle(particle, depth);
    return complex.mixed ? this.#withText(elements) : elements;
  }

  #withText(elements: readonly ElementNode[]): ElementNode['children'] {
    const choices = this.#choices;
    const text = (): string[] =>
      choices.chance(60)
        ? [choices.pick(['some text', ' ', 'a & b < c', '\n  ', 'x', 'é😀', ' padded '])]
        : [];
    return [...text(), ...elements.flatMap((element) => [element, ...text()])];
  }

  #anything(depth: number): ElementNode['children'] {
    const choices = this.#choices;
    if (choices.chance(40)) return [choices.pick(['text', '1', ' x '])];
    return this.#withText(this.#wildcardElements(anything, depth, choices.below(3)));
  }

  #particle(particle: ParticleTerm, depth: number): ElementNode[] {
    const choices = this.#choices;
    const { min, max } = particle;
    const most = max === null ? min + 3 : Math.min(max, min + 3);
    const count = this.#isTight(depth) ? min : choices.between(min, most);
    if (particle.kind === 'any') return this.#wildcardElements(particle.wildcard, depth, count);
    return Array.from({ length: count }, () => this.#once(particle, depth)).flat();
  }

  #once(particle: ParticleTerm, depth: number): ElementNode[] {
    const choices = this.#choices;
    switch (particle.kind) {
      case 'element': {
        const members = withMembers(particle.element).filter((member) => this.isConcrete(member));
        if (members.length === 0) return [];
        const isPlain = members[0] === particle.element && (this.#isTight(depth) || !choices.chance(50));
        return [this.element(isPlain ? particle.element : choices.pick(members), depth + 1)];
      }
      case 'sequence':
        return particle.particles.flatMap((one) => this.#particle(one, depth));
      case 'all':
        return choices.shuffled(particle.particles).flatMap((one) => this.#particle(one, depth));
      case 'choice':
        return this.#particle(choices.pick(particle.particles.filter(({ max }) => max !== 0)), depth);
      case 'group':
        return this.#once(particle.group.particle, depth);
      case 'any':
        return [];
    }
  }

  #wildcardElements(wildcard: WildcardTerm, depth: number, count: number): ElementNode[] {
    const made: ElementNode[] = [];
    for (let left = count; left > 0; left -= 1) {
      const known = this.#schema.elements.filter(
        (element) => allows(wildcard, element.name.namespaceUri) && this.isConcrete(element),
      );
      const takesKnown = wildcard.processContents === 'strict' || this.#choices.chance(20);
      if (takesKnown && known.length > 0 && !this.#isTight(depth))
        made.push(this.element(this.#choices.pick(known), depth + 1));
      else if (wildcard.processContents !== 'strict') made.push(this.#foreignElement(wildcard, depth));
    }
    return made;
  }

  #foreignElement(wildcard: WildcardTerm, depth: number): ElementNode {
    const choices = this.#choices;
    this.#left -= 1;
    const uris = ['urn:foreign', 'urn:elsewhere', '', wildcard.target].filter((uri) => allows(wildcard, uri));
    const name: QName = {
      namespaceUri: choices.pick(uris),
      localName: choices.pick(['foreign', 'Foreign', 'étranger']),
    };
    const attributes: AttributeNode[] = choices.chance(50)
      ? [
          { name: { namespaceUri: '', localName: 'f' }, value: choices.pick(['1', 'a&b', '']) },
          { name: { namespaceUri: 'urn:foreign', localName: 'f' }, value: '2' },
        ]
      : [];
    if (this.#isTight(depth)) return { name, attributes, children: [], isElementOnly: false };
    // what is not known is not looked into, but its own children are again: they stay unknown
    const inner = { ...wildcard, processContents: 'lax' as const };
    const children: ElementNode['children'] = choices.chance(30)
      ? [this.#foreignElement(inner, depth + 1), 'tail']
      : [choices.pick(['value', ' a < b ', ']]>', '\n'])];
    return { name, attributes, children, isElementOnly: false };
  }
}

const anything: WildcardTerm = { namespaces: '##any', target: '', processContents: 'lax' };

function xsi(localName: string): QName {
  return { namespaceUri: xsiUri, localName };
}
