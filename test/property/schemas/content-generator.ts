/** Random content models and attributes of complex types: deterministic, consistent, and always possible to end. */
import type { Choices } from '../choices/random.ts';
import { isDeterministic } from './content-determinism.ts';
import { freshName } from '../choices/names.ts';
import type { SchemaDraft } from './draft.ts';
import {
  nameKey,
  wholeAnyAttribute,
  wholeAttributes,
  wholeParticle,
  withMembers,
  type AttributeTerm,
  type ComplexTypeTerm,
  type ElementTerm,
  type Occurs,
  type ParticleTerm,
  type SchemaFileTerm,
  type SimpleTypeTerm,
  type TypeTerm,
  type ValueMaker,
  type WildcardTerm,
} from './terms.ts';
import { anySimpleTypeTerm, idType, newSimpleType } from './simple-type-generator.ts';
import { membersOf, valueOf } from '../choices/value-generator.ts';

export interface ContentPlace {
  readonly draft: SchemaDraft;
  readonly choices: Choices;
  readonly file: SchemaFileTerm;
  /** complex types before this one are complete: what they require can be required */
  readonly completeTypes: number;
  /** anonymous types around */
  readonly nesting: number;
}

const usualOccurs: readonly Occurs[] = [
  { min: 1, max: 1 },
  { min: 1, max: 1 },
  { min: 1, max: 1 },
  { min: 0, max: 1 },
  { min: 0, max: 1 },
  { min: 0, max: null },
  { min: 1, max: null },
  { min: 2, max: 2 },
  { min: 1, max: 2 },
  { min: 0, max: 3 },
  { min: 2, max: 5 },
  { min: 0, max: 0 },
];

/** Fills a type that extends what it extends, or is all new. */
export function fillType(type: ComplexTypeTerm, place: ContentPlace): void {
  const { choices } = place;
  const base = type.base?.kind === 'complex' ? type.base : null;
  if (base !== null) type.mixed = base.mixed;
  else if (type.simple === null) type.mixed = choices.chance(15);
  if (type.simple === null) type.particle = ownContent(type, place);
  fillAttributes(type, place);
}

function ownContent(type: ComplexTypeTerm, place: ContentPlace): ParticleTerm | null {
  const inherited = type.base?.kind === 'complex' ? wholeParticle(type.base) : null;
  if (inherited?.kind === 'all' || (inherited?.kind === 'group' && inherited.group.particle.kind === 'all'))
    return null;
  for (const isPlain of [false, true]) {
    const taken = new Set(inherited === null ? [] : namesIn(inherited));
    const drawing = new ContentDrawing(place, taken, isPlain);
    const particle = drawing.top(inherited === null);
    if (particle === null) return null;
    const whole: ParticleTerm =
      inherited === null ? particle : { kind: 'sequence', min: 1, max: 1, particles: [inherited, particle] };
    if (isDeterministic(whole)) return particle;
  }
  return null;
}

export function groupContent(
  place: ContentPlace,
): ParticleTerm & { readonly kind: 'sequence' | 'choice' | 'all' } {
  for (const isPlain of [false, true]) {
    const drawn = new ContentDrawing(place, new Set(), isPlain).group(place.choices.chance(15));
    // how often the content of a group stands is said where it is referred to
    const particle = { ...drawn, min: 1, max: 1 };
    if (isDeterministic(particle)) return particle;
  }
  return { kind: 'sequence', min: 1, max: 1, particles: [] };
}

function namesIn(particle: ParticleTerm): string[] {
  switch (particle.kind) {
    case 'element':
      return withMembers(particle.element).map(({ name }) => nameKey(name));
    case 'group':
      return namesIn(particle.group.particle);
    case 'any':
      return [];
    default:
      return particle.particles.flatMap(namesIn);
  }
}

class ContentDrawing {
  readonly #place: ContentPlace;
  readonly #taken: Set<string>;
  /** distinct new names only: deterministic in any order */
  readonly #isPlain: boolean;
  readonly #elements: ElementTerm[] = [];
  #left = 9;

  constructor(place: ContentPlace, taken: Set<string>, isPlain: boolean) {
    this.#place = place;
    this.#taken = taken;
    this.#isPlain = isPlain;
  }

  top(mayBeAll: boolean): ParticleTerm | null {
    const { choices, draft } = this.#place;
    if (choices.chance(4)) return null;
    if (!this.#isPlain && draft.groups.length > 0 && choices.chance(8)) {
      const group = choices.pick(draft.groups);
      const isAll = group.particle.kind === 'all';
      if (this.#takes(group.particle) && (!isAll || mayBeAll)) {
        return { kind: 'group', group, ...(isAll ? { min: 1, max: 1 } : this.#occurs()) };
      }
    }
    return this.group(mayBeAll && choices.chance(12));
  }

  group(isAll: boolean): ParticleTerm & { readonly kind: 'sequence' | 'choice' | 'all' } {
    const { choices } = this.#place;
    if (isAll) {
      const particles = choices.several(1, 4, () => {
        const element = this.#element();
        const { min } = this.#occursOf(element);
        return { kind: 'element' as const, element, min: Math.min(min, 1), max: 1 };
      });
      return { kind: 'all', particles, min: choices.chance(20) ? 0 : 1, max: 1 };
    }
    return this.#nested(0);
  }

  #nested(depth: number): ParticleTerm & { readonly kind: 'sequence' | 'choice' } {
    const { choices } = this.#place;
    const wanted = choices.chance(25) ? 'choice' : 'sequence';
    const particles = choices
      .several(depth === 0 ? 2 : wanted === 'choice' ? 1 : 0, depth === 0 ? 7 : 4, () =>
        this.#particle(depth),
      )
      .filter((one) => one !== null);
    // a choice between nothing could not be met
    const kind = particles.every(({ max }) => max === 0) ? 'sequence' : wanted;
    const occurs = choices.chance(depth === 0 ? 15 : 40) ? this.#occurs() : { min: 1, max: 1 };
    return { kind, particles, ...occurs };
  }

  #occurs(): Occurs {
    return this.#place.choices.pick(usualOccurs.slice(0, -1));
  }

  #particle(depth: number): ParticleTerm | null {
    const { choices, draft } = this.#place;
    if (this.#left <= 0) return null;
    if (depth < 2 && choices.chance(15)) return this.#nested(depth + 1);
    if (!this.#isPlain) {
      if (choices.chance(6)) return this.#wildcard();
      const groups = draft.groups.filter(({ particle }) => particle.kind !== 'all');
      if (groups.length > 0 && choices.chance(7)) {
        const group = choices.pick(groups);
        if (this.#takes(group.particle)) return { kind: 'group', group, ...this.#occurs() };
      }
    }
    const element = this.#element();
    return { kind: 'element', element, ...this.#occursOf(element) };
  }

  #wildcard(): ParticleTerm {
    const { choices } = this.#place;
    const wildcard = wildcardTerm(this.#place);
    const occurs =
      wildcard.processContents === 'strict'
        ? { min: 0, max: null }
        : choices.pick([
            { min: 0, max: null },
            { min: 0, max: 1 },
            { min: 1, max: 1 },
            { min: 0, max: 3 },
          ]);
    return { kind: 'any', wildcard, ...occurs };
  }

  /** Whether no name of the particle is in use here; then they are. */
  #takes(particle: ParticleTerm): boolean {
    const names = namesIn(particle);
    if (names.some((name) => this.#taken.has(name))) return false;
    for (const name of names) this.#taken.add(name);
    return true;
  }

  #element(): ElementTerm {
    const { choices, draft } = this.#place;
    this.#left -= 1;
    // declarations of one name in one content model must have one type, so it needs a name
    const repeatable = this.#elements.filter(({ global, type }) => global || isNamed(type));
    if (!this.#isPlain && repeatable.length > 0 && choices.chance(8)) return choices.pick(repeatable);
    const usable = draft.elements.filter((element) => withMembers(element).some(({ abstract }) => !abstract));
    if (!this.#isPlain && usable.length > 0 && choices.chance(18)) {
      const element = choices.pick(usable);
      if (this.#takes({ kind: 'element', element, min: 1, max: 1 })) return this.#keep(element);
    }
    return this.#keep(this.#localElement());
  }

  #keep(element: ElementTerm): ElementTerm {
    this.#elements.push(element);
    return element;
  }

  #localElement(): ElementTerm {
    const { choices, file } = this.#place;
    const qualified = choices.chance(10) ? !file.elementsQualified : file.elementsQualified;
    const name = freshName(choices, qualified ? file.target : '', this.#taken);
    const type = elementType(this.#place);
    const nillable = choices.chance(10);
    return {
      name,
      global: false,
      abstract: false,
      nillable,
      type,
      ...fixedOrDefault(choices, type, 8),
      head: null,
      members: [],
    };
  }

  /** What may lead back here, or has nothing to stand for it, must not be required. */
  #occursOf(element: ElementTerm): Occurs {
    const occurs = this.#place.choices.pick(usualOccurs);
    return isSafe(element, this.#place) ? occurs : { ...occurs, min: 0 };
  }
}

function isSafe(element: ElementTerm, { draft, completeTypes }: ContentPlace): boolean {
  const { type } = element;
  if (element.abstract) return false;
  if (type.kind === 'simple' || type.isAnyType) return true;
  if (type.abstract || element.global) return false;
  return type.name === null || draft.complexTypes.indexOf(type) < completeTypes;
}

export function isNamed(type: TypeTerm): boolean {
  return type.name !== null || (type.kind === 'simple' ? type.builtIn !== null : type.isAnyType);
}

/** The type of an element: mostly simple. */
export function elementType(place: ContentPlace): TypeTerm {
  const { choices, draft } = place;
  if (draft.complexTypes.length > 0 && choices.chance(30)) return choices.pick(draft.complexTypes);
  if (place.nesting < 2 && choices.chance(20)) {
    const type = anonymousType(null, null);
    if (choices.chance(20)) becomeSimpleContent(type, place);
    fillType(type, { ...place, nesting: place.nesting + 1 });
    return type;
  }
  if (choices.chance(4)) return draft.anyType;
  return anySimpleTypeTerm(choices, draft.simpleTypes);
}

export function anonymousType(
  base: ComplexTypeTerm | SimpleTypeTerm | null,
  derivation: ComplexTypeTerm['derivation'],
): ComplexTypeTerm {
  return {
    kind: 'complex',
    name: null,
    isAnyType: false,
    abstract: false,
    derivation,
    base,
    derived: [],
    simple: base === null ? null : base.kind === 'simple' ? base : base.simple,
    mixed: false,
    particle: null,
    attributes: [],
    attributeGroups: [],
    anyAttribute: null,
  };
}

function becomeSimpleContent(type: ComplexTypeTerm, place: ContentPlace): void {
  const base = anySimpleTypeTerm(place.choices, place.draft.simpleTypes);
  Object.assign(type, {
    base: base.name === null && base.builtIn === null ? place.draft.stringType : base,
    derivation: 'extension',
  });
  type.simple = type.base as SimpleTypeTerm;
}

function wildcardTerm({ choices, file }: ContentPlace): WildcardTerm {
  return {
    namespaces: choices.pick(['##other', '##any', '##local', '##targetNamespace', 'urn:foreign'] as const),
    target: file.target,
    processContents: choices.pick(['lax', 'skip', 'strict'] as const),
  };
}

export function fixedOrDefault(
  choices: Choices,
  type: TypeTerm,
  percent: number,
): { readonly default: string | null; readonly fixed: string | null } {
  if (type.kind === 'complex' || !choices.chance(percent) || !mayBeConstant(type))
    return { default: null, fixed: null };
  const maker: ValueMaker = { choices, extreme: false, unusual: false, nextId: () => 'id' };
  const value = valueOf(type, maker);
  return choices.chance(50) ? { default: null, fixed: value } : { default: value, fixed: null };
}

/** Names and identifiers say something only where they stand. */
function mayBeConstant(type: SimpleTypeTerm): boolean {
  if (type.variety === 'union') return membersOf(type).every(mayBeConstant);
  if (type.variety === 'list') return mayBeConstant(type.item ?? type.base!);
  return !['ID', 'QName', 'ENTITY'].includes(type.values.base);
}

export function attributeTerm(place: ContentPlace, taken: Set<string>, global: boolean): AttributeTerm {
  const { choices, file, draft } = place;
  const qualified = global || (choices.chance(10) ? !file.attributesQualified : file.attributesQualified);
  const name = freshName(choices, qualified ? file.target : '', taken);
  const type = choices.chance(25)
    ? newSimpleType(choices, draft.simpleTypes, null)
    : anySimpleTypeTerm(choices, draft.simpleTypes);
  const constant = fixedOrDefault(choices, type, 12);
  const required = !global && constant.default === null && choices.chance(30);
  return { name, type, global, use: required ? 'required' : 'optional', ...constant };
}

function fillAttributes(type: ComplexTypeTerm, place: ContentPlace): void {
  const { choices, draft } = place;
  const inherited = type.base?.kind === 'complex' ? wholeAttributes(type.base) : [];
  const taken = new Set(inherited.map(({ name }) => nameKey(name)));
  const isFree = (attributes: readonly AttributeTerm[]): boolean =>
    attributes.every(({ name }) => !taken.has(nameKey(name)));
  for (let left = choices.below(4); left > 0; left -= 1) {
    if (draft.attributes.length > 0 && choices.chance(15)) {
      const declared = choices.pick(draft.attributes);
      if (!isFree([declared])) continue;
      taken.add(nameKey(declared.name));
      type.attributes.push({
        ...declared,
        use: choices.chance(30) && declared.default === null ? 'required' : 'optional',
      });
    } else type.attributes.push(attributeTerm(place, taken, false));
  }
  if (
    choices.chance(8) &&
    ![...inherited, ...type.attributes].some((attribute) => attribute.type === idType)
  ) {
    const name = freshName(choices, '', taken);
    type.attributes.push({ name, type: idType, global: false, use: 'optional', default: null, fixed: null });
  }
  if (draft.attributeGroups.length > 0 && choices.chance(12)) {
    const group = choices.pick(draft.attributeGroups);
    if (isFree(group.attributes)) type.attributeGroups.push(group);
  }
  if (choices.chance(10) && (type.base?.kind !== 'complex' || wholeAnyAttribute(type.base) === null)) {
    type.anyAttribute = wildcardTerm(place);
  }
}
