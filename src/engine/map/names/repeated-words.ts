/** Words that one step of a name ends and the next begins with: `status_code`, `code` is `status_code`. */
import { byteLength, joinedSteps } from './identifiers.ts';

type Steps = readonly string[];

/**
 * Shortens names of the table's columns, given by their steps: words are said once if no other column could have that name, drawn or not
 * (`unmet`; null: unknown). Names that are longer than `maxBytes` even so say all steps.
 */
export function createWordsSaidOnce(
  drawn: readonly Steps[],
  unmet: () => readonly Steps[] | null,
  maxBytes: number,
): (steps: Steps) => string {
  let known: KnownNames | undefined;
  return (steps) => {
    const words = steps.join('_');
    const once = joinedSteps(steps);
    if (once === words || byteLength(once) > maxBytes) return words;
    known ??= namesOf(drawn, unmet());
    const isSure =
      known.uses.get(once.toLowerCase()) === 1 && !isChoice(steps) && !hasTwin(steps, known.siblings);
    return isSure ? once : words;
  };
}

interface KnownNames {
  /** how many columns could have each name */
  readonly uses: ReadonlyMap<string, number>;
  /** by the steps before: last steps */
  readonly siblings: ReadonlyMap<string, readonly string[]>;
}

function namesOf(drawn: readonly Steps[], unmet: readonly Steps[] | null): KnownNames {
  const uses = new Map<string, number>();
  const all = unmet === null ? [] : [...drawn, ...unmet];
  for (const steps of all)
    for (const name of new Set([steps.join('_').toLowerCase(), joinedSteps(steps).toLowerCase()]))
      uses.set(name, (uses.get(name) ?? 0) + 1);
  const byParent = Map.groupBy(all, (steps) => steps.slice(0, -1).join('/'));
  const siblings = new Map(
    [...byParent].map(([parent, group]) => [parent, group.map((steps) => steps.at(-1)!)] as const),
  );
  return { uses, siblings };
}

/** Tests for a choice: in `cd_or_prtry`, `prtry`, the repeated word says which alternative it is. */
function isChoice(steps: Steps): boolean {
  return steps.slice(0, -1).some((step) => /_or_/i.test(step));
}

/**
 * Tests for a sibling that could have the same name: for `fr_to_dt`, `to_dt_tm`, the name `fr_to_dt_tm` could also be that of `fr_dt_tm`.
 */
function hasTwin(steps: Steps, siblings: KnownNames['siblings']): boolean {
  const before = steps.slice(0, -1);
  const last = steps.at(-1)!;
  const added = joinedSteps(steps).slice(joinedSteps(before).length);
  return (
    added !== '' &&
    added !== `_${last}` &&
    siblings.get(before.join('/'))!.some((other) => other !== last && `_${other}`.endsWith(added))
  );
}
