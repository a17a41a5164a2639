/** Random restrictions of complex types: the same content model, narrower (XSD 1.0 Part 1 §3.9.6, group by group). */
import type { Choices } from './choices.ts';
import { wholeAttributes, wholeParticle, type ComplexTypeTerm, type ParticleTerm } from './schema-terms.ts';
import { restricted } from './simple-type-generator.ts';

export function fillRestriction(type: ComplexTypeTerm, choices: Choices): void {
  const base = type.base as ComplexTypeTerm;
  if (base.simple === null) {
    const particle = wholeParticle(base);
    type.particle = particle === null ? null : narrowed(particle, choices);
    type.mixed = base.mixed;
  } else type.simple = restricted(choices, base.simple, null);
  for (const attribute of wholeAttributes(base)) {
    if (attribute.use === 'required' || !choices.chance(25)) continue;
    if (choices.chance(50)) type.attributes.push({ ...attribute, use: 'prohibited' });
    else if (attribute.default === null) type.attributes.push({ ...attribute, use: 'required' });
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
      return { ...particle, particles: particle.particles.map((one) => (one.kind === 'element' ? one : narrowed(one, choices))) };
    default:
      return {
        ...particle,
        particles: particle.particles
          .filter((one) => one.kind !== 'element' || one.min > 0 || !choices.chance(20))
          .map((one) => narrowed(one, choices)),
      };
  }
}

function narrowedOccurs(particle: ParticleTerm & { readonly kind: 'element' }, choices: Choices): { min: number; max: number | null } {
  const { min, max, element } = particle;
  if (!choices.chance(30)) return { min, max };
  const isSafe = element.type.kind === 'simple' && !element.abstract;
  if (min === 0 && isSafe && max !== 0 && choices.chance(50)) return { min: 1, max };
  return max === null ? { min, max: min + 3 } : { min, max };
}
