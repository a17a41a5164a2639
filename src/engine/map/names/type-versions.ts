/** Types of a standard's next version that replace others: `PartyIdentification32` has become `PartyIdentification135`. */
import type { SourceModel } from '../../model/source-model.ts';
import { withoutVersion } from './type-names.ts';
import type { UsePrinter } from './use-paths.ts';

const namedType = /(\((?:type|as) )([^()]+)(?=\))/g;

/**
 * Translates paths of an earlier version, given in the namespaces of the later one, to the type names of the later version. A type that is
 * gone is matched with the type that differs only in the version at the end of its name, if no other matches.
 */
export function typeTranslation(
  paths: Iterable<string>,
  { types }: Pick<SourceModel, 'types'>,
  uses: UsePrinter,
): (path: string) => string {
  const later = new Set(types.flatMap(({ name }) => (name === null ? [] : [uses.element(name)])));
  const earlier = new Set<string>();
  for (const path of paths) for (const [, , name] of path.matchAll(namedType)) earlier.add(name!);
  const lost = [...earlier].filter((name) => !later.has(name));
  if (lost.length === 0) return (path) => path;
  const gone = Map.groupBy(lost, withoutVersion);
  const come = Map.groupBy(
    [...later].filter((name) => !earlier.has(name)),
    withoutVersion,
  );
  const counterparts = new Map(
    [...gone].flatMap(([bare, [before, ...others]]) => {
      const [after, ...more] = come.get(bare) ?? [];
      return after === undefined || others.length > 0 || more.length > 0 ? [] : [[before!, after] as const];
    }),
  );
  if (counterparts.size === 0) return (path) => path;
  return (path) =>
    path.replace(namedType, (_, word: string, name: string) => word + (counterparts.get(name) ?? name));
}
