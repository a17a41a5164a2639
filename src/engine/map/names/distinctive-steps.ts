/**
 * Which steps of a path that is too long for a name are to stay in it: the distinctive ones, which tell a reader which of the table's columns it is.
 * `supply_chain_trade_transaction_…` before everything says little, though it comes first.
 */
import { byteLength, firstWords, joinedSteps, type StayingSteps, type StepChooser } from './identifiers.ts';

/** more columns of one last step than these are told apart by how common their steps are alone */
const mostCompared = 4000;
/** In a longer path, the steps that most names go through are left out at once: a name has room for few. */
const mostSteps = 32;

interface Kept {
  readonly step: string;
  /** what a name has of it */
  readonly said: string;
  /** whether it is a word of a role, which may go before what it is the role of */
  readonly isRole: boolean;
  /** the share of names that go through the step, among those as long: 1 is all of them, and says nothing */
  readonly share: number;
  readonly bytes: number;
}

/**
 * `pathsOf`: the steps of all names of the table; asked for once, and only when a name is too long. `roleOf`: the words of a step that say a
 * role (`src/engine/map/names/type-names.ts`): what is still too long may lose them, the first words first.
 */
export function createStepChooser(
  pathsOf: () => readonly (readonly string[])[],
  roleOf: (step: string) => string | undefined = () => undefined,
): StepChooser {
  let known: KnownPaths | null = null;
  let inWords: KnownPaths | null = null;
  const split = (path: readonly string[]): readonly string[] =>
    path.flatMap((step, at) => (at === path.length - 1 ? [step] : roleWords(step, roleOf(step))));
  /** Steps, or their words where steps are too long. */
  const distinct = (path: readonly string[], maxBytes: number, staying: StayingSteps): readonly string[] => {
    const kept = distinctSteps((known ??= readPaths(pathsOf())), path, maxBytes, staying);
    const words = split(kept);
    if (words.length === kept.length || byteLength(joinedSteps(kept)) <= maxBytes) return kept;
    inWords ??= readPaths(pathsOf().map(split));
    const { withoutOwner: _, ...rest } = staying;
    return distinctSteps(inWords, words, maxBytes, rest);
  };
  return {
    shorten: (path, maxBytes) => fittingSteps((known ??= readPaths(pathsOf())), path, maxBytes),
    tellApart: (path, maxBytes, staying) => distinct(path, maxBytes, staying).map(saidOf),
    tellAlike: (siblings, maxBytes, staying) => {
      const starts = siblings.map((path) => split(distinct(path, maxBytes, staying)).slice(0, -1));
      const paths = (inWords ??= readPaths(pathsOf().map(split)));
      const told = starts
        .filter(({ length }) => length > 0)
        .toSorted((a, b) => byteLength(joinedSteps(b.map(saidOf))) - byteLength(joinedSteps(a.map(saidOf))))
        .find((start) =>
          siblings.every((path) => {
            const kept = [...start, path.at(-1)!];
            return byteLength(joinedSteps(kept.map(saidOf))) <= maxBytes && isTold(paths, split(path), kept);
          }),
        );
      return told === undefined ? null : siblings.map((path) => [...told.map(saidOf), path.at(-1)!]);
    },
  };
}

/** Whether no more names have the steps that are kept than have all of the path's. */
function isTold(known: KnownPaths, path: readonly string[], kept: readonly string[]): boolean {
  const rivals = known.rivals(path);
  const whole = known.shares(path);
  const others = withKeptSteps(rivals, whole);
  const steps = kept.map((step) => ({ step }));
  return rivals.length > 0 && holdersOf(steps, others) === holdersOf(whole, others);
}

/** Behind a word of a role: the step from there on. No name has it. */
const roleMark = '|';

/** `original_departure_country` is `original|departure_country`, `departure|country`, `country`: without its first words it is what others without theirs are. */
function roleWords(step: string, role: string | undefined): readonly string[] {
  const words = role?.split('_') ?? [];
  let rest = step;
  const marked = words.map((word) => {
    rest = rest.slice(word.length + 1);
    return `${word}${roleMark}${rest}`;
  });
  return [...marked, rest];
}

function saidOf(step: string): string {
  const at = step.indexOf(roleMark);
  return at < 0 ? step : step.slice(0, at);
}

function fittingSteps(known: KnownPaths, path: readonly string[], maxBytes: number): readonly string[] {
  let kept = withoutCommonest(known.shares(path));
  const rivals = known.rivals(path);
  // what has no step but the path's cannot say that it is not meant: this name has to
  const weight = rivals.length + 1;
  const within = rivals.filter(
    (rival) => rival.length < path.length && rival.every((step) => path.includes(step)),
  );
  const others = [
    ...withKeptSteps(rivals, kept),
    ...withKeptSteps(within, kept).map(({ steps, count }) => ({ steps, count: count * weight })),
  ];
  let last: Kept | null = null;
  const bytes = (): number => kept.reduce((sum, step) => sum + step.bytes + 1, -1);
  while (kept.length > 1 && bytes() > maxBytes) {
    const dropped = leastDistinctive(kept, others).at;
    last = kept[dropped]!;
    kept = kept.toSpliced(dropped, 1);
  }
  if (kept.length > 1 || last === null) return kept.map(({ step }) => step);
  // what a value is says too little alone: as many words of the step that was left out at last as fit
  const words = firstWords(last.step, maxBytes - bytes() - 1);
  return words === '' ? [kept[0]!.step] : [words, kept[0]!.step];
}

function distinctSteps(
  known: KnownPaths,
  path: readonly string[],
  maxBytes: number,
  { fewest, last, withoutOwner }: StayingSteps,
): readonly string[] {
  const rivals = known.rivals(path);
  if (path.length > mostSteps || rivals.length === 0) return path;
  let kept = known.shares(path);
  const others = withKeptSteps(rivals, kept);
  // the path itself, and those that hold all of its steps
  const same = holdersOf(kept, others);
  const isTooLong = (): boolean => byteLength(joinedSteps(kept.map(({ said }) => said))) > maxBytes;
  if (withoutOwner === true) {
    kept = kept.toSpliced(-2, 1);
    if (kept.length < fewest || holdersOf(kept, others) > same) return [];
  }
  while (kept.length > fewest && isTooLong()) {
    const { at, confused } = leastDistinctive(kept, others, last);
    if (confused > same) break;
    kept = kept.toSpliced(at, 1);
  }
  return kept.map(({ step }) => step);
}

/** How many names have all of these steps, in their order. */
function holdersOf(kept: readonly Pick<Kept, 'step'>[], others: readonly Rival[]): number {
  return others.reduce(
    (sum, { steps, count }) => (indexesFromStart(kept, steps).at(-1)! < Infinity ? sum + count : sum),
    0,
  );
}

interface Rival {
  readonly steps: readonly string[];
  /** names that have them */
  readonly count: number;
}

/** Rivals without the steps that the path does not have, which tell nothing: few are left that differ. */
function withKeptSteps(rivals: readonly (readonly string[])[], kept: readonly Kept[]): readonly Rival[] {
  const indexes = new Map(kept.map(({ step }, at) => [step, at]));
  const found = new Map<string, { readonly steps: readonly string[]; count: number }>();
  for (const rival of rivals) {
    const steps = rival.filter((step) => indexes.has(step));
    const key = steps.map((step) => indexes.get(step)).join();
    const known = found.get(key);
    if (known === undefined) found.set(key, { steps, count: 1 });
    else known.count += 1;
  }
  return [...found.values()];
}

function withoutCommonest(path: readonly Kept[]): readonly Kept[] {
  if (path.length <= mostSteps) return path;
  const rarest = path.slice(0, -1).toSorted((a, b) => a.share - b.share);
  const chosen = new Set([...rarest.slice(0, mostSteps - 1), path.at(-1)!]);
  return path.filter((step) => chosen.has(step));
}

/**
 * The step without which the fewest names could be meant, and how many; of several a word of a role, and that or the one that most go through, the
 * first of those.
 */
function leastDistinctive(
  kept: readonly Kept[],
  others: readonly Rival[],
  last = 1,
): { readonly at: number; readonly confused: number } {
  const confused = new Uint32Array(kept.length);
  for (const { steps, count } of others) {
    const before = indexesFromStart(kept, steps);
    const after = indexesFromEnd(kept, steps);
    for (let at = 0; at < kept.length; at += 1) if (before[at]! <= after[at + 1]!) confused[at]! += count;
  }
  let found = 0;
  for (let at = 1; at < kept.length - last; at += 1) {
    if (kept[at - 1]!.isRole) continue;
    const more = confused[at]! - confused[found]!;
    if (more < 0 || (more === 0 && saysLess(kept[at]!, kept[found]!))) found = at;
  }
  return { at: found, confused: confused[found]! };
}

function saysLess(one: Kept, other: Kept): boolean {
  return one.isRole === other.isRole ? one.share > other.share : one.isRole;
}

/** By index: how many steps of the other path it takes to find all before it, in their order; Infinity where they are not in it. */
function indexesFromStart(kept: readonly Pick<Kept, 'step'>[], other: readonly string[]): Float64Array {
  const indexes = new Float64Array(kept.length + 1).fill(Infinity);
  let next = 0;
  indexes[0] = next;
  for (let at = 0; at < kept.length; at += 1) {
    while (next < other.length && other[next] !== kept[at]!.step) next += 1;
    if (next === other.length) break;
    next += 1;
    indexes[at + 1] = next;
  }
  return indexes;
}

/** By index: the last place in the other path from which it and all behind it are found; -1 where they are not in it. */
function indexesFromEnd(kept: readonly Kept[], other: readonly string[]): Int32Array {
  const indexes = new Int32Array(kept.length + 1).fill(-1);
  let next = other.length;
  indexes[kept.length] = next;
  for (let at = kept.length - 1; at >= 0; at -= 1) {
    next -= 1;
    while (next >= 0 && other[next] !== kept[at]!.step) next -= 1;
    if (next < 0) break;
    indexes[at] = next;
  }
  return indexes;
}

interface KnownPaths {
  shares(path: readonly string[]): readonly Kept[];
  /** Names that end alike. */
  rivals(path: readonly string[]): readonly (readonly string[])[];
}

/** What paths have in common, step by step from their start. */
interface Branch {
  count: number;
  readonly next: Map<string, Branch>;
}

function readPaths(paths: readonly (readonly string[])[]): KnownPaths {
  const root: Branch = { count: 0, next: new Map() };
  for (const path of paths) {
    let branch = root;
    for (const step of path) {
      branch.count += 1;
      let next = branch.next.get(step);
      if (next === undefined) branch.next.set(step, (next = { count: 0, next: new Map() }));
      branch = next;
    }
  }
  const byLast = Map.groupBy(paths, (path) => path.at(-1)!);
  return {
    shares: (path) => {
      let branch: Branch | undefined = root;
      return path.map((step) => {
        const reached: number = branch?.count ?? 0;
        branch = branch?.next.get(step);
        const said = saidOf(step);
        return {
          step,
          said,
          isRole: said !== step,
          share: (branch?.count ?? 0) / Math.max(1, reached),
          bytes: byteLength(said),
        };
      });
    },
    rivals: (path) => {
      const rivals = byLast.get(path.at(-1)!) ?? [];
      return rivals.length > mostCompared ? [] : rivals;
    },
  };
}
