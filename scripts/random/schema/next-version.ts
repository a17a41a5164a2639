/** Changes a random XSD set as a later version would: additions that are optional, and what is no longer required, so that older documents stay valid. */
import type { Random } from '../../../test/fuzz/random.ts';
import { freshName } from './names.ts';
import { builtIn } from './simple-types.ts';
import {
  concreteTypes,
  wholeParticle,
  type Complex,
  type Element,
  type Particle,
  type Schema,
} from './terms.ts';

/** Changes the terms themselves. */
export function changeSchema(schema: Schema, random: Random): void {
  const changeable = schema.complexes.filter((type) => isExtendable(type));
  for (let left = 1 + random.below(2); left > 0 && changeable.length > 0; left -= 1) {
    const type = random.pick(changeable);
    const change = random.below(6);
    if (change === 0) addAttribute(type, random);
    else if (change === 1) makeOptional(type, random);
    else if (change === 2) addMember(schema, random);
    else addElement(type, schema, random);
  }
}

/** A restriction would have to repeat what is new, `all` takes no sequence around it, and mixed text alone is a column only without elements. */
function isExtendable(type: Complex): boolean {
  const isRestricted = (one: Complex): boolean =>
    one.derivedBy === 'restriction' || one.derived.some(isRestricted);
  if (type.mixed && wholeParticle(type) === null) return false;
  return (
    type.simple === null &&
    type.particle?.kind !== 'all' &&
    wholeParticle(type)?.kind !== 'all' &&
    !isRestricted(type)
  );
}

function addAttribute(type: Complex, random: Random): void {
  const text = builtIn('string', 'text', ({ random: one }) => one.pick(['new', 'later']));
  const name = freshName(
    random,
    type.file.attributesQualified ? type.file.target : '',
    type.taken.attributes,
  );
  type.attributes.push({ name, type: text, global: false, use: 'optional', default: null, fixed: null });
}

/** One of the elements that the type requires in a sequence; choices stay as they are. */
function makeOptional(type: Complex, random: Random): void {
  const { particle } = type;
  if (particle?.kind !== 'sequence') return;
  const required = particle.parts.filter((part) => part.kind === 'element' && part.min > 0);
  if (required.length === 0) return;
  const chosen = random.pick(required);
  type.particle = {
    ...particle,
    parts: particle.parts.map((part) => (part === chosen ? { ...part, min: 0 } : part)),
  };
}

/** A further member of a substitution group, or of an element that becomes the head of one. */
function addMember({ files, elements }: Schema, random: Random): void {
  const heads = elements.slice(1);
  if (heads.length === 0) return;
  const head = random.pick(heads);
  const file = files.find((one) => one.elements.includes(head))!;
  const name = { uri: file.target, local: `joined${file.elements.length}` };
  const member: Element = { ...head, name, abstract: false, nillable: false, head, members: [], key: null };
  head.members.push(member);
  file.elements.push(member);
}

/** An element of a type that stands elsewhere, often of this very type. */
function addElement(type: Complex, { complexes }: Schema, random: Random): void {
  const usable = complexes.filter((one) => concreteTypes(one).length > 0);
  const self = usable.includes(type) && random.chance(0.4) ? type : null;
  const text = builtIn('string', 'text', ({ random: one }) => one.pick(['new', 'later']));
  const element: Element = {
    name: freshName(random, type.file.qualified ? type.file.target : '', type.taken.elements),
    global: false,
    type: self ?? (usable.length > 0 && random.chance(0.7) ? random.pick(usable) : text),
    nillable: false,
    abstract: false,
    default: null,
    fixed: null,
    head: null,
    members: [],
    key: null,
  };
  const added: Particle = { kind: 'element', element, min: 0, max: random.pick([1, Infinity]) };
  const parts = type.particle === null ? [added] : [type.particle, added];
  type.particle = { kind: 'sequence', min: 1, max: 1, parts };
}
