/**
 * Content models and attributes of complex types. Each name stands for one declaration in a type and all its relatives, which makes
 * content models deterministic, and lets a path of a document name one declaration.
 */
import type { Random } from '../../../test/fuzz/random.ts';
import { freshName } from './names.ts';
import { anySimple, builtIn, newSimple } from './simple-types.ts';
import {
  concreteElements,
  concreteTypes,
  keyOf,
  wholeAnyAttribute,
  wholeAttributes,
  wholeParticle,
  wildUri,
  withMembers,
  type Attribute,
  type AttributeGroup,
  type Complex,
  type Element,
  type Group,
  type Occurs,
  type Particle,
  type SchemaFile,
  type Simple,
  type Wildcard,
} from './terms.ts';

/** The components of a set that is being made. */
export interface Draft {
  readonly random: Random;
  /** without that of the XML namespace */
  readonly files: readonly SchemaFile[];
  readonly simples: Simple[];
  readonly complexes: Complex[];
  readonly elements: Element[];
  readonly attributes: Attribute[];
  readonly groups: Group[];
  readonly attributeGroups: AttributeGroup[];
  readonly anyType: Complex;
}

const many = Infinity;
const optional: readonly Occurs[] = [
  { min: 0, max: 1 },
  { min: 0, max: 1 },
  { min: 0, max: many },
  { min: 0, max: 3 },
];
const usual: readonly Occurs[] = [
  { min: 1, max: 1 },
  { min: 1, max: 1 },
  { min: 1, max: 1 },
  ...optional,
  { min: 1, max: many },
  { min: 2, max: 2 },
  { min: 1, max: 2 },
  { min: 2, max: 5 },
];

export function newComplex(given: Partial<Complex> & Pick<Complex, 'file'>): Complex {
  return {
    kind: 'complex',
    name: null,
    isAnyType: false,
    abstract: false,
    base: null,
    derivedBy: null,
    derived: [],
    simple: null,
    mixed: false,
    particle: null,
    attributes: [],
    attributeGroups: [],
    anyAttribute: null,
    redefinition: null,
    taken: { elements: new Set(), attributes: new Set() },
    rank: 0,
    ...given,
  };
}

export function fillComplex(draft: Draft, type: Complex): void {
  const { random } = draft;
  const { base } = type;
  if (base?.kind === 'complex') type.mixed = base.mixed;
  else if (type.simple === null) type.mixed = random.chance(0.15);
  if (type.derivedBy === 'restriction' && base?.kind === 'complex') {
    const inherited = wholeParticle(base);
    if (inherited === null || isRepeatable(inherited, type.file)) return restrict(random, type, base);
    type.derivedBy = 'extension';
  }
  if (type.simple === null) type.particle = new ContentDrawing(draft, type).top();
  addAttributes(draft, type);
  const isRedefined =
    base === null && type.name !== null && type.particle?.kind !== 'all' && type.simple === null;
  if (isRedefined && type.file.path === 'parts/part.xsd' && !type.file.chameleon && random.chance(0.3))
    type.redefinition = {
      particle: new ContentDrawing(draft, type).sequence(1),
      attributes: [attributeOf(draft, type.file, type.taken.attributes, false)],
    };
}

export function groupParticle(draft: Draft, file: SchemaFile): Group['particle'] {
  const type = newComplex({ file, rank: 0 });
  return new ContentDrawing(draft, type).sequence(2);
}

/** Draws particles with names that are new to the type. */
class ContentDrawing {
  readonly #draft: Draft;
  readonly #random: Random;
  readonly #type: Complex;
  readonly #nesting: number;
  #hasWildcard = false;

  constructor(draft: Draft, type: Complex, nesting = 0) {
    this.#draft = draft;
    this.#random = draft.random;
    this.#type = type;
    this.#nesting = nesting;
  }

  top(): Particle | null {
    const random = this.#random;
    const { base, rank } = this.#type;
    this.#hasWildcard = base !== null && wholeHasWildcard(base as Complex);
    if (rank !== Infinity && random.chance(0.05)) return null;
    if (base === null && this.#type.derived.length === 0 && random.chance(0.1)) return this.#all();
    const whole = this.#nested(0);
    return whole;
  }

  /** A group that occurs once, of `count` to `count + 1` particles. */
  sequence(count: number): Group['particle'] {
    const parts = Array.from({ length: count + this.#random.below(2) }, () => this.#element());
    return { kind: 'sequence', min: 1, max: 1, parts };
  }

  #all(): Particle {
    const parts = [1, 2, 3].map(() => {
      const { element, min } = this.#element();
      return { kind: 'element' as const, element, min: Math.min(min, 1), max: 1 };
    });
    return { kind: 'all', min: this.#random.chance(0.2) ? 0 : 1, max: 1, parts };
  }

  #nested(depth: number): Particle {
    const random = this.#random;
    const kind = random.chance(depth === 0 ? 0.2 : 0.4) ? 'choice' : 'sequence';
    const count = depth === 0 ? 2 + random.below(5) : 1 + random.below(3);
    const parts = Array.from({ length: count }, () => this.#particle(depth)).filter((one) => one !== null);
    // a choice must have a branch that always ends
    if (kind === 'choice') parts.unshift(this.#element(true));
    const occurs = random.chance(depth === 0 ? 0.15 : 0.5) ? random.pick(usual) : { min: 1, max: 1 };
    if (kind === 'sequence') this.#repeatFirst(parts);
    return { kind, ...occurs, parts };
  }

  /** Sometimes the first element stands again at the end, behind something required, and is required itself. */
  #repeatFirst(parts: Particle[]): void {
    const [first, ...others] = parts;
    if (first?.kind !== 'element' || first.min === 0 || !this.#random.chance(0.15)) return;
    const { element } = first;
    const isRequired = others.some((part) => part.kind === 'element' && part.min > 0);
    if (isRequired && (element.global || isNamed(element.type)))
      parts.push({ kind: 'element', element, min: 1, max: 1 });
  }

  #particle(depth: number): Particle | null {
    const random = this.#random;
    if (depth < 3 && random.chance(0.18)) return this.#nested(depth + 1);
    if (!this.#hasWildcard && random.chance(0.06)) {
      this.#hasWildcard = true;
      return { kind: 'any', wildcard: wildcardOf(random), ...random.pick(optional) };
    }
    const group =
      this.#draft.groups.length > 0 && random.chance(0.12) ? random.pick(this.#draft.groups) : null;
    if (group !== null && this.#takes(namesIn(group.particle)))
      return { kind: 'group', group, ...random.pick(optional) };
    return this.#element();
  }

  #takes(names: readonly string[]): boolean {
    const { elements } = this.#type.taken;
    if (names.some((name) => elements.has(name))) return false;
    for (const name of names) elements.add(name);
    return true;
  }

  #element(mustEnd = false): Particle & { kind: 'element' } {
    const random = this.#random;
    const usable = this.#draft.elements.filter((one) => concreteElements(one).length > 0);
    if (!mustEnd && usable.length > 0 && random.chance(0.15)) {
      const element = random.pick(usable);
      if (this.#takes(withMembers(element).map(({ name }) => keyOf(name))))
        return {
          kind: 'element',
          element,
          ...random.pick(element.type.kind === 'simple' && !element.abstract ? usual : optional),
        };
    }
    const element = this.#local(mustEnd);
    const { type } = element;
    const ends = type.kind === 'simple' || type.isAnyType || (!type.abstract && type.rank < this.#type.rank);
    return { kind: 'element', element, ...random.pick(ends ? usual : optional) };
  }

  #local(mustEnd: boolean): Element {
    const random = this.#random;
    const { file, taken } = this.#type;
    const isQualified = random.chance(0.08) ? !file.qualified : file.qualified;
    const type = mustEnd ? anySimple(random, this.#draft.simples) : this.#elementType();
    return {
      name: freshName(random, isQualified ? file.target : '', taken.elements),
      global: false,
      type,
      nillable: random.chance(0.12),
      abstract: false,
      ...constantOf(random, type, 0.07),
      head: null,
      members: [],
      key: null,
    };
  }

  #elementType(): Simple | Complex {
    const random = this.#random;
    const { complexes, simples, anyType } = this.#draft;
    // few recursions: each multiplies the paths of the set
    const maxRank = random.chance(0.2) ? Infinity : this.#type.rank - 0.5;
    const usable = complexes.filter((type) => concreteTypes(type).length > 0 && type.rank < maxRank);
    if (usable.length > 0 && random.chance(0.35)) return random.pick(usable);
    if (random.chance(0.03)) return anyType;
    if (this.#nesting > 1 || !random.chance(0.18)) return anySimple(random, simples);
    const { file, rank } = this.#type;
    if (random.chance(0.25)) {
      const base = builtIn('decimal', 'decimal', ({ random: one }) => one.pick(['1.50', '2', '-0.05']));
      const type = newComplex({ file, rank: rank - 0.5, base, derivedBy: 'extension', simple: base });
      addAttributes(this.#draft, type);
      return type;
    }
    const type = newComplex({
      file,
      rank: rank === Infinity ? 1e6 - this.#nesting : rank - 0.5,
      mixed: random.chance(0.15),
    });
    type.particle = new ContentDrawing(this.#draft, type, this.#nesting + 1).#nested(1);
    addAttributes(this.#draft, type);
    return type;
  }
}

function wholeHasWildcard(type: Complex): boolean {
  const has = (particle: Particle): boolean =>
    particle.kind === 'any' || ('parts' in particle && particle.parts.some(has));
  const particle = wholeParticle(type);
  return particle !== null && has(particle);
}

function namesIn(particle: Particle): string[] {
  if (particle.kind === 'element') return withMembers(particle.element).map(({ name }) => keyOf(name));
  if (particle.kind === 'group') return namesIn(particle.group.particle);
  return 'parts' in particle ? particle.parts.flatMap(namesIn) : [];
}

function wildcardOf(random: Random): Wildcard {
  return {
    namespace: random.pick([wildUri, `${wildUri} urn:wilder`]),
    process: random.pick(['skip', 'lax']),
  };
}

function isNamed(type: Simple | Complex): boolean {
  return type.name !== null || (type.kind === 'simple' ? type.builtIn !== null : type.isAnyType);
}

/** A default or fixed value, now and then; null for both if the values of the type depend on their document. */
function constantOf(
  random: Random,
  type: Simple | Complex,
  share: number,
): Pick<Element, 'default' | 'fixed'> {
  const isUsable = type.kind === 'simple' && !usesContext(type);
  if (!isUsable || !random.chance(share)) return { default: null, fixed: null };
  const value = type.make({ random, unique: () => 1 });
  if (/[\t\n]/.test(value) || value === '' || value !== value.trim()) return { default: null, fixed: null };
  return random.chance(0.5) ? { default: value, fixed: null } : { default: null, fixed: value };
}

function usesContext(type: Simple): boolean {
  return (
    type.primitive === 'QName' || type.builtIn === 'ID' || (type.base !== null && usesContext(type.base))
  );
}

export function attributeOf(draft: Draft, file: SchemaFile, taken: Set<string>, global: boolean): Attribute {
  const { random, simples } = draft;
  const isQualified = global || (random.chance(0.08) ? !file.attributesQualified : file.attributesQualified);
  const name = freshName(random, isQualified ? file.target : '', taken);
  const type = random.chance(0.2) ? newSimple(random, simples, null) : anySimple(random, simples);
  const constant = constantOf(random, type, 0.1);
  const isRequired = !global && constant.default === null && random.chance(0.35);
  return { name, type, global, use: isRequired ? 'required' : 'optional', ...constant };
}

function addAttributes(draft: Draft, type: Complex): void {
  const { random } = draft;
  const taken = type.taken.attributes;
  const add = (names: readonly Attribute[], use: () => void): void => {
    if (names.some(({ name }) => taken.has(keyOf(name)))) return;
    for (const { name } of names) taken.add(keyOf(name));
    use();
  };
  for (let left = random.below(4); left > 0; left -= 1) {
    const declared = draft.attributes.length > 0 && random.chance(0.2) ? random.pick(draft.attributes) : null;
    if (declared === null) type.attributes.push(attributeOf(draft, type.file, taken, false));
    else add([declared], () => type.attributes.push(declared));
  }
  if (draft.attributeGroups.length > 0 && random.chance(0.15)) {
    const group = random.pick(draft.attributeGroups);
    add(group.attributes, () => type.attributeGroups.push(group));
  }
  const inherits = type.base?.kind === 'complex' && wholeAnyAttribute(type.base) !== null;
  if (!inherits && random.chance(0.08)) type.anyAttribute = wildcardOf(random);
}

/** Repeats the content of the base, narrower where that is surely allowed; an extension instead would need new names. */
function restrict(random: Random, type: Complex, base: Complex): void {
  const particle = base.simple === null ? wholeParticle(base) : null;
  type.particle = particle === null ? null : narrowed(random, particle);
  for (const attribute of wholeAttributes(base)) {
    const isOwn = attribute.global || attribute.name.uri === '' || attribute.name.uri === type.file.target;
    if (attribute.use === 'required' || !isOwn || !random.chance(0.3)) continue;
    if (random.chance(0.5)) type.attributes.push({ ...attribute, use: 'prohibited' });
    else if (attribute.default === null && isNamed(attribute.type))
      type.attributes.push({ ...attribute, use: 'required' });
  }
}

function narrowed(random: Random, particle: Particle): Particle {
  if (particle.kind === 'element') {
    const { element, min, max } = particle;
    const isSimple = element.type.kind === 'simple' && !element.abstract;
    if (min === 0 && isSimple && random.chance(0.3)) return { ...particle, min: 1 };
    return max === Infinity && random.chance(0.3) ? { ...particle, max: Math.max(min, 1) + 3 } : particle;
  }
  if (particle.kind === 'group' || particle.kind === 'any') return particle;
  if (particle.kind === 'choice') return particle;
  return { ...particle, parts: particle.parts.map((one) => narrowed(random, one)) };
}

/** Whether a restriction in `file` can repeat the content: its local declarations have named types and names of that file. */
function isRepeatable(particle: Particle, file: SchemaFile): boolean {
  if (particle.kind === 'group' || particle.kind === 'any') return true;
  if (particle.kind !== 'element') return particle.parts.every((one) => isRepeatable(one, file));
  const { global, name, type } = particle.element;
  return global || (isNamed(type) && (name.uri === '' || name.uri === file.target));
}
