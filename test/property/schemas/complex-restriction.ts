/** Random restrictions of complex types: the same content model, narrower (XSD 1.0 Part 1 §3.9.6, group by group). */
import type { Choices } from '../choices/random.ts';
import { isNamed } from './content-generator.ts';
import {
  wholeAttributes,
  wholeParticle,
  type ComplexTypeTerm,
  type ParticleTerm,
  type SchemaFileTerm,
} from './terms.ts';
import { restricted } from './simple-type-generator.ts';

/** Whether the base can be restricted: what is written again must have the same names, and the same types. */
export function isRestrictable(base: ComplexTypeTerm, file: SchemaFileTerm): boolean {
  const particle = wholeParticle(base);
  return particle === null || isRepeatable(particle, file);
}

export function fillRestriction(type: ComplexTypeTerm, choices: Choices, file: SchemaFileTerm): void {
  const base = type.base as ComplexTypeTerm;
  if (base.simple === null) {
    const particle = wholeParticle(base);
    type.particle = particle === null ? null : narrowed(particle, choices);
    type.mixed = base.mixed;
  } else type.simple = restricted(choices, base.simple, null);
  for (const attribute of wholeAttributes(base)) {
    const isNameable = attribute.global || ['', file.target].includes(attribute.name.namespaceUri);
    if (attribute.use === 'required' || !isNameable || !choices.chance(25)) continue;
    if (choices.chance(50)) type.attributes.push({ ...attribute, use: 'prohibited' });
    else if (attribute.default === null && isNamed(attribute.type))
      type.attributes.push({ ...attribute, use: 'required' });
  }
}

function isRepeatable(particle: ParticleTerm, file: SchemaFileTerm): boolean {
  switch (particle.kind) {
    case 'element': {
      const { global, name, type } = particle.element;
      return global || (['', file.target].includes(name.namespaceUri) && isNamed(type));
    }
    case 'group':
      return true;
    case 'any':
      return particle.wildcard.target === file.target;
    default:
      return particle.particles.every((one) => isRepeatable(one, file));
  }
}

function narrowed(particle: ParticleTerm, choices: Choices): ParticleTerm {
  switch (particle.kind) {
    case 'group':
    case 'any':
      return particle;
    case 'element':
      return { ...particle, ...narrowedOccurs(particle, choices) };
    case 'choice':
      return {
        ...particle,
        particles: particle.particles.map((one) => (one.kind === 'element' ? one : narrowed(one, choices))),
      };
    default:
      return {
        ...particle,
        particles: particle.particles
          .filter((one) => one.kind !== 'element' || one.min > 0 || !choices.chance(20))
          .map((one) => narrowed(one, choices)),
      };
  }
}

function narrowedOccurs(
  particle: ParticleTerm & { readonly kind: 'element' },
  choices: Choices,
): { min: number; max: number | null } {
  const { min, max, element } = particle;
  if (!choices.chance(30)) return { min, max };
  const isSafe = element.type.kind === 'simple' && !element.abstract;
  if (min === 0 && isSafe && max !== 0 && choices.chance(50)) return { min: 1, max };
  return max === null ? { min, max: min + 3 } : { min, max };
}
