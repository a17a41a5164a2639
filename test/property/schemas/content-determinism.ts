/**
 * Whether a content model is deterministic (Unique Particle Attribution, XSD 1.0 Part 1 §3.8.6). Counts are not looked at, so a few
 * models are refused that the standard allows; none is accepted that it refuses.
 */
import { allows, nameKey, withMembers, type ParticleTerm, type WildcardTerm } from './terms.ts';

type Matcher = { readonly names: ReadonlyMap<string, string> } | { readonly wildcard: WildcardTerm };

interface Fragment {
  readonly emptiable: boolean;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

export function isDeterministic(particle: ParticleTerm): boolean {
  const matchers: Matcher[] = [];
  const follow: Set<number>[] = [];
  const link = (from: readonly number[], to: readonly number[]): void => {
    for (const position of from) for (const next of to) follow[position]!.add(next);
  };
  const position = (matcher: Matcher): Fragment => {
    const at = matchers.push(matcher) - 1;
    follow.push(new Set());
    return { emptiable: false, first: [at], last: [at] };
  };
  const once = (term: ParticleTerm): Fragment => {
    switch (term.kind) {
      case 'element': {
        const names = withMembers(term.element).map(
          ({ name }) => [nameKey(name), name.namespaceUri] as const,
        );
        return position({ names: new Map(names) });
      }
      case 'any':
        return position({ wildcard: term.wildcard });
      case 'group':
        return visit(term.group.particle);
      case 'sequence':
        return term.particles.map(visit).reduce(
          (before, after) => {
            link(before.last, after.first);
            return {
              emptiable: before.emptiable && after.emptiable,
              first: before.emptiable ? [...before.first, ...after.first] : before.first,
              last: after.emptiable ? [...before.last, ...after.last] : after.last,
            };
          },
          { emptiable: true, first: [], last: [] } as Fragment,
        );
      case 'choice':
      case 'all': {
        const parts = term.particles.map(visit);
        const whole = {
          emptiable:
            term.kind === 'all'
              ? parts.every((part) => part.emptiable)
              : parts.some((part) => part.emptiable),
          first: parts.flatMap((part) => part.first),
          last: parts.flatMap((part) => part.last),
        };
        if (term.kind === 'all') link(whole.last, whole.first);
        return whole;
      }
    }
  };
  const visit = (term: ParticleTerm): Fragment => {
    const whole = once(term);
    if (term.max === null || term.max > 1) link(whole.last, whole.first);
    return { ...whole, emptiable: whole.emptiable || term.min === 0 };
  };
  const { first } = visit(particle);
  return [new Set(first), ...follow].every((positions) => {
    const list = [...positions];
    return list.every((one, at) =>
      list.slice(at + 1).every((other) => !overlap(matchers[one]!, matchers[other]!)),
    );
  });
}

function overlap(one: Matcher, other: Matcher): boolean {
  if ('names' in one && 'names' in other) return [...one.names.keys()].some((key) => other.names.has(key));
  if ('wildcard' in one && 'wildcard' in other) {
    const samples = ['', 'urn:foreign', 'urn:elsewhere', one.wildcard.target, other.wildcard.target];
    return samples.some((uri) => allows(one.wildcard, uri) && allows(other.wildcard, uri));
  }
  const [names, { wildcard }] =
    'names' in one
      ? [one.names, other as { wildcard: WildcardTerm }]
      : [(other as { names: ReadonlyMap<string, string> }).names, one];
  return [...names.values()].some((uri) => allows(wildcard, uri));
}
