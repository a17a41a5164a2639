/** Names of values in one element: if the way to it is too long for the name of one of them, the names of all keep the same part of it. */
import { joinedSteps, type StayingSteps, type StepChooser } from './identifiers.ts';

type Steps = readonly string[];

/** Groups steps that differ only in their last one, elements and attributes separately. */
export function siblingsOf<T>(
  values: readonly T[],
  stepsOf: (value: T) => Steps,
  isAttribute: (value: T) => boolean,
): readonly (readonly T[])[] {
  const families = Map.groupBy(values, (value) =>
    [isAttribute(value) ? '@' : '', ...stepsOf(value).slice(0, -1)].join('/'),
  );
  return [...families.values()].filter(([first, ...more]) => more.length > 0 && stepsOf(first!).length > 1);
}

/** A name to be given: to one value, or to it together with its siblings. */
export interface ValueName {
  readonly steps: Steps;
  readonly isAttribute: boolean;
  /** whether it says all of its steps */
  readonly isWhole: boolean;
  /** whether the name comes from its steps, and was not requested by the user */
  readonly isOfSteps: boolean;
  isFree(name: string): boolean;
  /** `short`: tried before the name with all steps */
  claim(short: Steps): void;
  claimAlone(): void;
}

/**
 * Gives names to values. Siblings that cannot all say everything come last. `chosen`: returns names of siblings that leave out the same
 * steps, in the order in which they are tried.
 */
export function claimValueNames(
  values: readonly ValueName[],
  chosen: (siblings: readonly ValueName[]) => readonly Steps[],
): void {
  const families = siblingsOf(
    values.filter(({ isOfSteps }) => isOfSteps),
    ({ steps }) => steps,
    ({ isAttribute }) => isAttribute,
  ).filter((family) => family.some(({ isWhole }) => !isWhole));
  const inFamilies = new Set(families.flat());
  for (const value of values) if (!inFamilies.has(value)) value.claimAlone();
  for (const family of families) {
    const names = chosen(family).find((tried) => family.every(({ isFree }, at) => isFree(tried[at]!)));
    for (const [at, value] of family.entries())
      if (names === undefined) value.claimAlone();
      else value.claim([names[at]!]);
  }
}

/** Returns names of siblings that all leave out the same steps, one set for each way by which all of them differ. */
export function alikeNames(
  siblings: readonly Steps[],
  choose: StepChooser,
  maxBytes: number,
  ways: readonly StayingSteps[],
): readonly Steps[] {
  return ways.flatMap((staying) => {
    const told = choose.tellAlike(siblings, maxBytes, staying);
    return told === null ? [] : [told.map(joinedSteps)];
  });
}
