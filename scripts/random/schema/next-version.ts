/** Changes a random XSD set as a later version would: optional additions only, so that older documents stay valid. */
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
    if (random.chance(0.2)) addAttribute(type, random);
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
