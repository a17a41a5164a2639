/** Random documents that are valid against a random XSD set. Each node names the declaration it was made from. */
import type { Random } from '../../../test/fuzz/random.ts';
import {
  concreteElements,
  concreteTypes,
  wholeAnyAttribute,
  wholeAttributes,
  wholeParticle,
  wildUri,
  xsiUri,
  type Complex,
  type Element,
  type Name,
  type Particle,
  type Schema,
  type Simple,
  type ValueContext,
  type Wildcard,
} from '../schema/terms.ts';

export interface AttributeNode {
  readonly name: Name;
  readonly value: string;
  /** null: nothing is declared */
  readonly type: Simple | null;
}

export interface ElementNode {
  readonly name: Name;
  readonly attributes: readonly AttributeNode[];
  /** text runs stand apart from one another */
  readonly children: readonly (ElementNode | string)[];
  readonly content: 'simple' | 'elements' | 'mixed';
  /** of the text; null: not declared, or there is none */
  readonly value: Simple | null;
  /** the type that the element has; null: only a wildcard allows the element */
  readonly type: Simple | Complex | null;
  /** xsi:type names another type than the declared one */
  readonly isDerived: boolean;
}

/** QNames in values stand between these marks until a writer gives them prefixes. */
export function markedName({ uri, local }: Name): string {
  return `\uE000${uri}\uE001${local}\uE002`;
}

export function isElement(node: ElementNode | string): node is ElementNode {
  return typeof node !== 'string';
}

/** `padded`: also values with white space around them, which their types take away; xmllint does not, and refuses them. */
export function makeDocument(schema: Schema, random: Random, padded: boolean): ElementNode {
  const roots = schema.elements.filter((one) => concreteElements(one).includes(one));
  const [first] = schema.elements;
  const root = random.chance(0.9) ? first! : random.pick(roots);
  return new DocumentMaking(random, 10 + random.below(40), padded).element(root, 0);
}

const deepest = 10;

class DocumentMaking {
  readonly #random: Random;
  readonly #values: ValueContext;
  readonly #padded: boolean;
  #left: number;

  constructor(random: Random, left: number, padded: boolean) {
    let last = 0;
    this.#random = random;
    this.#left = left;
    this.#padded = padded;
    this.#values = { random, unique: () => (last += 1) };
  }

  element(declared: Element, depth: number): ElementNode {
    const random = this.#random;
    this.#left -= 1;
    const types = concreteTypes(declared.type);
    // a derived type may require an element that is derived again
    const keeps = types.includes(declared.type) && (this.#isTight(depth) || !random.chance(0.3));
    const type = keeps ? declared.type : random.pick(types);
    const attributes: AttributeNode[] = [];
    const give = (local: string, value: string): void =>
      void attributes.push({ name: { uri: xsiUri, local }, value, type: null });
    if (type !== declared.type || (type.name !== null && random.chance(0.02)))
      give('type', markedName(type.name!));
    const isNil = declared.nillable && declared.fixed === null && random.chance(0.3);
    if (isNil) give('nil', random.pick(['true', '1']));
    else if (declared.nillable && random.chance(0.1)) give('nil', 'false');
    if (type.kind === 'complex') attributes.push(...this.#attributes(type, depth));
    const value = type.kind === 'simple' ? type : type.simple;
    const content = value !== null ? 'simple' : (type as Complex).mixed ? 'mixed' : 'elements';
    const children = isNil ? [] : this.#content(declared, type, value, depth);
    return {
      name: declared.name,
      attributes: shuffled(random, attributes),
      children,
      content,
      value,
      type,
      isDerived: type !== declared.type,
    };
  }

  #isTight(depth: number): boolean {
    return this.#left <= 0 || depth >= deepest;
  }

  #attributes(type: Complex, depth: number): AttributeNode[] {
    const random = this.#random;
    const made = wholeAttributes(type)
      .filter(({ use }) => use === 'required' || (!this.#isTight(depth) && random.chance(0.6)))
      .map(({ name, type: simple, fixed }) => ({ name, value: fixed ?? this.#value(simple), type: simple }));
    const wildcard = type.isAnyType ? anything : wholeAnyAttribute(type);
    return wildcard === null || random.chance(0.5) ? made : [...made, ...this.#wildAttributes()];
  }

  #wildAttributes(): AttributeNode[] {
    const random = this.#random;
    return ['x', 'Y']
      .filter(() => random.chance(0.7))
      .map((local) => ({
        name: { uri: wildUri, local },
        value: random.pick(['', '1', 'a "b" <c> & d', 'two\nlines']),
        type: null,
      }));
  }

  #value(type: Simple): string {
    const random = this.#random;
    const value = type.make(this.#values);
    if (type.space !== 'collapse' || !this.#padded || !random.chance(0.1)) return value;
    return `${random.pick(['', ' ', '\n  '])}${value}${random.pick(['', ' ', '\t'])}`;
  }

  #content(
    declared: Element,
    type: Simple | Complex,
    value: Simple | null,
    depth: number,
  ): ElementNode['children'] {
    const random = this.#random;
    if (value !== null) {
      const hasConstant = declared.fixed !== null || declared.default !== null;
      const text = hasConstant && random.chance(0.2) ? '' : (declared.fixed ?? this.#value(value));
      return text === '' ? [] : [text];
    }
    const complex = type as Complex;
    const particle = wholeParticle(complex);
    const elements = complex.isAnyType
      ? this.#wild(anything, random.below(3), depth)
      : particle === null
        ? []
        : this.#particle(particle, depth);
    return complex.mixed ? this.#withText(elements) : elements;
  }

  #withText(elements: readonly ElementNode[]): ElementNode['children'] {
    const random = this.#random;
    const text = (): string[] =>
      random.chance(0.6) ? [random.pick(['some text', ' ', 'a & b < c', '\n  ', 'x', ' padded ', '0'])] : [];
    return [...text(), ...elements.flatMap((element) => [element, ...text()])];
  }

  #particle(particle: Particle, depth: number): ElementNode[] {
    const { min, max } = particle;
    const most = Math.min(max, min + 3);
    const count = this.#isTight(depth) ? min : min + this.#random.below(most - min + 1);
    if (particle.kind === 'any') return this.#wild(particle.wildcard, count, depth);
    return Array.from({ length: count }, () => this.#once(particle, depth)).flat();
  }

  #once(particle: Exclude<Particle, { kind: 'any' }>, depth: number): ElementNode[] {
    const random = this.#random;
    if (particle.kind === 'element') {
      const usable = concreteElements(particle.element);
      const isPlain = usable.includes(particle.element) && (this.#isTight(depth) || random.chance(0.5));
      return usable.length === 0
        ? []
        : [this.element(isPlain ? particle.element : random.pick(usable), depth + 1)];
    }
    if (particle.kind === 'group') return this.#particle(particle.group.particle, depth);
    const { kind, parts } = particle;
    if (kind === 'choice')
      return this.#particle(this.#isTight(depth) ? parts[0]! : random.pick(parts), depth);
    const order = kind === 'all' ? shuffled(random, parts) : parts;
    return order.flatMap((part) => this.#particle(part, depth));
  }

  /** Elements that nothing declares, with whatever in them. */
  #wild({ namespace }: Wildcard, count: number, depth: number): ElementNode[] {
    const random = this.#random;
    return Array.from({ length: count }, () => {
      this.#left -= 1;
      const uri = random.pick(namespace.split(' '));
      const inner =
        depth > deepest || this.#left < 0
          ? []
          : this.#wild({ namespace, process: 'skip' }, random.below(2), depth + 1);
      return {
        name: { uri, local: random.pick(['w', 'item', 'a']) },
        attributes: random.chance(0.3) ? this.#wildAttributes() : [],
        children: this.#withText(inner),
        content: 'mixed',
        value: null,
        type: null,
        isDerived: false,
      };
    });
  }
}

const anything: Wildcard = { namespace: wildUri, process: 'lax' };

function shuffled<T>(random: Random, values: readonly T[]): T[] {
  const result = [...values];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [result[at], result[other]] = [result[other]!, result[at]!];
  }
  return result;
}

/** Every element of a document in document order, each with the elements above it. */
export function* walk(root: ElementNode): Generator<readonly ElementNode[]> {
  const open: (readonly ElementNode[])[] = [[root]];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    yield path;
    for (const child of path.at(-1)!.children.filter(isElement).toReversed()) open.push([...path, child]);
  }
}
