/**
 * Chooses the steps that stay in the name of a column whose path is too long for it: those that show a reader which of the table's columns
 * it is, and whose value it has. The outermost steps are left out first, so that a name has the steps nearest to its value
 * (`supply_chain_trade_transaction_…` before everything says little). A step stays if a reader could otherwise mistake the name for that of
 * another column.
 */
import { byteLength, firstWords, joinedSteps, type StayingSteps, type StepChooser } from './identifiers.ts';

type Steps = readonly string[];

/** above this number of columns with the same last step, they are not compared: their names have all steps */
const maxCompared = 4000;
/**
 * The most steps of a path that are compared: in a longer path, the outermost steps are left out at once, because a name has room for few.
 */
const maxSteps = 32;
/** bytes that a name may exceed its intended length by, so that it says whose value it is */
const roomForOwner = 12;

/** A step of a name, or a part of one, that may be left out. */
interface Unit {
  readonly said: string;
  /** index of the step */
  readonly at: number;
  /** a word of a role, which may be left out before the kind that it precedes */
  readonly isRole: boolean;
  /**
   * says whose value it is: `twin`, a step that has a twin; `sole`, another step that is the innermost of those that occur once in each row
   */
  readonly owner: 'twin' | 'sole' | null;
}

/** Counts the other values that a name of such units could be mistaken for, although a name of all steps could not. */
type Confused = (kept: readonly Unit[]) => number;

export interface StepChooserOptions {
  /** the steps of all names of the table; called once, and only when a name is too long */
  readonly paths: () => readonly Steps[];
  /** whether rows of some other table have several elements of that name */
  readonly isRepeated?: (step: string) => boolean;
  /**
   * returns the words of a step that are its role (`src/engine/map/names/type-names.ts`): a name that is still too long may lose them, the
   * first words first
   */
  readonly roleOf?: (step: string) => string | undefined;
}

export function createStepChooser({
  paths,
  isRepeated = () => false,
  roleOf = () => undefined,
}: StepChooserOptions): StepChooser {
  let read: KnownPaths | null = null;
  const known = (): KnownPaths => (read ??= readPaths(paths(), isRepeated));
  const counters = new Map<string, Confused | null>();
  const confusedBy = (path: Steps, byWords: boolean): Confused | null =>
    remembered(counters, `${path.join('/')} ${byWords}`, () => {
      if (path.length > maxSteps || known().areTooMany(path)) return null;
      return byWords ? known().confusedByWords(path) : known().confusedBySteps(path);
    });
  /** Returns the steps to keep, or their words if steps are too long. */
  const distinct = (path: Steps, maxBytes: number, staying: StayingSteps): readonly Unit[] => {
    const confused = confusedBy(path, staying.bySteps !== true);
    const kept = distinctUnits(confused, known().units(path), maxBytes, staying);
    const words = kept.flatMap((unit, at) =>
      at === kept.length - 1 ? [unit] : roleWords(unit, roleOf(unit.said), known().isRepeated),
    );
    if (words.length === kept.length || bytesOf(kept) <= maxBytes) return kept;
    const { withoutOwner: _, ...rest } = staying;
    return distinctUnits(confused, words, maxBytes, rest);
  };
  return {
    shorten: (path, maxBytes) => fittingSteps(known(), path, maxBytes),
    tellApart: (path, maxBytes, staying) => saidOf(distinct(path, maxBytes, staying)),
    tellAlike: (siblings, maxBytes, staying) => {
      const family = siblings.map((path) => ({
        start: distinct(path, maxBytes, staying).slice(0, -1),
        last: known().units(path).at(-1)!,
        confused: confusedBy(path, true),
      }));
      const starts = family
        .map(({ start }) => start)
        .filter(({ length }) => length > 0)
        .toSorted((a, b) => bytesOf(b) - bytesOf(a));
      const told = starts.find((start) =>
        family.every(({ last, confused }) => {
          const kept = [...start, last];
          return bytesOf(kept) <= maxBytes && confused !== null && confused(kept) === 0;
        }),
      );
      return told === undefined ? null : family.map(({ last }) => saidOf([...told, last]));
    },
  };
}

function saidOf(units: readonly Unit[]): Steps {
  return units.map(({ said }) => said);
}

function bytesOf(units: readonly Unit[]): number {
  return byteLength(joinedSteps(saidOf(units)));
}

/**
 * Splits `original_departure_country` into `original`, `departure` and `country`: the first two are the role. If rows have several of the
 * kind, the word before it stays with it: `seller` of `seller_party` says whose.
 */
function roleWords(
  unit: Unit,
  role: string | undefined,
  isRepeated: (step: string) => boolean,
): readonly Unit[] {
  if (role === undefined) return [unit];
  const words = role.split('_');
  const kind = unit.said.slice(role.length + 1);
  const rest = isRepeated(kind) ? `${words.pop()}_${kind}` : kind;
  return [...words.map((said) => ({ ...unit, said, isRole: true, owner: null })), { ...unit, said: rest }];
}

function fittingSteps(known: KnownPaths, path: Steps, maxBytes: number): Steps {
  let kept = known.units(path).slice(-maxSteps);
  const confused = known.confusedBySteps(path);
  let last: Unit | null = null;
  const bytes = (): number => kept.reduce((sum, { said }) => sum + byteLength(said) + 1, -1);
  while (kept.length > 1 && bytes() > maxBytes) {
    const { at } = leastDistinctive(kept, confused, { last: 1, keepsOwners: [] });
    last = kept[at]!;
    kept = kept.toSpliced(at, 1);
  }
  if (kept.length > 1 || last === null) return saidOf(kept);
  // the name of a value alone says too little: add as many words as fit of the step that was left out last
  const words = firstWords(last.said, maxBytes - bytes() - 1);
  return words === '' ? saidOf(kept) : [words, ...saidOf(kept)];
}

/** `confused`: null if the others are too many to be compared. */
function distinctUnits(
  confused: Confused | null,
  units: readonly Unit[],
  maxBytes: number,
  { fewest, last, withoutOwner, withOwner }: StayingSteps,
): readonly Unit[] {
  if (confused === null) return units;
  const all = withoutOwner === true ? units.toSpliced(-2, 1) : units;
  if (withoutOwner === true && (all.length < fewest || confused(all) > 0)) return [];
  const leftOut = (...keepsOwners: readonly Unit['owner'][]): readonly Unit[] => {
    let kept = all;
    while (kept.length > fewest && bytesOf(kept) > maxBytes) {
      const found = leastDistinctive(kept, confused, { last, keepsOwners });
      if (found.confused > 0) break;
      kept = kept.toSpliced(found.at, 1);
    }
    return kept;
  };
  if (fewest < 2) return leftOut();
  const owned = leftOut('twin', 'sole');
  if (bytesOf(owned) <= maxBytes + roomForOwner) return owned;
  if (withOwner === true) return [];
  const short = leftOut('twin');
  return bytesOf(short) <= maxBytes ? short : owned;
}

/**
 * Returns the unit without which the fewest other paths could be meant, and how many these are. Of several such units it is the first word
 * of a role, or the outermost step. `last`: so many units stay at the end.
 */
function leastDistinctive(
  kept: readonly Unit[],
  confusedBy: Confused,
  { last, keepsOwners }: { readonly last: number; readonly keepsOwners: readonly Unit['owner'][] },
): { readonly at: number; readonly confused: number } {
  let found = { at: 0, confused: Infinity };
  for (let at = 0; at < kept.length - last; at += 1) {
    const isInRole = at > 0 && kept[at - 1]!.isRole;
    if (isInRole || keepsOwners.includes(kept[at]!.owner)) continue;
    const confused = confusedBy(kept.toSpliced(at, 1));
    const more = confused - found.confused;
    if (more < 0 || (more === 0 && kept[at]!.isRole && !kept[found.at]!.isRole)) found = { at, confused };
  }
  return found;
}

interface KnownPaths {
  /** whether rows of this table or of another one have several elements of that name */
  isRepeated(step: string): boolean;
  units(path: Steps): readonly Unit[];
  /** so many names have the same last step that they are not compared, or none has it */
  areTooMany(path: Steps): boolean;
  /**
   * Counts confusions as readers see them, by words only: values with the same last word, and elements with the same last word as the
   * value's owner, if their paths contain all the words that are kept.
   */
  confusedByWords(path: Steps): Confused;
  /** Counts the values with the same last step whose paths have all the steps that are kept; those that have no other steps count more. */
  confusedBySteps(path: Steps): Confused;
}

function readPaths(paths: readonly Steps[], isRepeatedElsewhere: (step: string) => boolean): KnownPaths {
  const words = new Map<string, Steps>();
  const inWords = (steps: Steps): WordedPath => steps.map((step) => remembered(words, step, wordsOf));
  const values = Map.groupBy(paths, (path) => path.at(-1)!);
  const valuesInWords = new Map<string, readonly WordedPath[]>();
  const elements = Map.groupBy(elementsOf(paths).values(), (path) => lastWord(path.at(-1)!));
  const elementsInWords = new Map<string, readonly WordedPath[]>();
  const isRepeatedHere = repeatedSteps(() => [paths]);
  const isRepeated = (step: string): boolean => isRepeatedHere(step) || isRepeatedElsewhere(step);
  let knownTwins: ReadonlySet<string> | undefined;
  const twins = (): ReadonlySet<string> => (knownTwins ??= twinElements(paths));
  const valuesLike = (path: Steps): readonly Steps[] => values.get(path.at(-1)!) ?? [];
  const wordsOfValues = (path: Steps): readonly WordedPath[] =>
    remembered(valuesInWords, path.at(-1)!, () => valuesLike(path).map(inWords));
  const wordsOfElements = (last: string): readonly WordedPath[] =>
    remembered(elementsInWords, last, () => (elements.get(last) ?? []).map(inWords));
  const units = (path: Steps): readonly Unit[] => {
    const isSole = path.slice(0, -1).map((step) => !isRepeated(step));
    const innermost = isSole.lastIndexOf(true);
    const isTwin = (at: number): boolean =>
      isSole[at] === true && twins().has(path.slice(0, at + 1).join('/'));
    return path.map((said, at) => ({
      said,
      at,
      isRole: false,
      owner: isTwin(at) ? 'twin' : at === innermost ? 'sole' : null,
    }));
  };
  return {
    isRepeated,
    units,
    areTooMany: (path) => valuesLike(path).length === 0 || valuesLike(path).length > maxCompared,
    confusedByWords: (path) => {
      const countValues = countMeant(wordsOfValues(path), path, path.length, true);
      const counters = new Map<string, Confused>();
      return (kept) => {
        const inValues = countValues(kept);
        const owner = kept.at(-2);
        if (owner === undefined || inValues > 0) return inValues;
        const last = lastWord(owner.said);
        const count = remembered(counters, `${owner.at} ${last}`, () =>
          countMeant(wordsOfElements(last), path, owner.at + 1, true),
        );
        return count(kept.slice(0, -1));
      };
    },
    confusedBySteps: (path) => {
      const others = valuesLike(path);
      // a name that has only steps of the path cannot show that it is not meant; this name has to show it
      const within = others.filter(
        (other) => other.length < path.length && other.every((step) => path.includes(step)),
      );
      const count = countMeant(wordsOfValues(path), path, path.length, false);
      const countWithin = countMeant(within.map(inWords), path, path.length, false);
      return (kept) => count(kept) + countWithin(kept) * others.length;
    },
  };
}

/** The words of each step. */
type WordedPath = readonly Steps[];

function remembered<Value>(known: Map<string, Value>, key: string, make: (key: string) => Value): Value {
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = make(key)));
  return value;
}

/**
 * Counts the paths that fit the units kept of the path's first `length` steps, and that do not fit all of these steps: paths with all of
 * the kept steps or, `byWords`, with all of their words. For an element (`length` is less than the whole path), the last unit must be at
 * the end of the path.
 */
function countMeant(paths: readonly WordedPath[], path: Steps, length: number, byWords: boolean): Confused {
  const whole = path.slice(0, length);
  const wholeWords = whole.flatMap(wordsOf);
  const own = new Set(path.flatMap(wordsOf));
  // without the words that distinguish nothing, few different ones are left
  const counts = new Map<string, number>();
  const parts = new Map<Steps, string>();
  for (const steps of paths) {
    let key = '';
    for (const words of steps) {
      let part = parts.get(words);
      if (part === undefined) parts.set(words, (part = partOf(words, own)));
      key += part;
    }
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const others = [...counts].flatMap(([key, count]) => {
    const steps = key.slice(1).split('/');
    const words = steps.flatMap(wordsOf);
    const isBySteps = !hasSteps(steps, whole);
    const isByWords = byWords && !hasInOrder(words, wholeWords);
    return isBySteps || isByWords ? [{ steps, words, count, isBySteps, isByWords }] : [];
  });
  if (others.length === 0) return () => 0;
  return (kept) => {
    const words = saidOf(kept).flatMap(wordsOf);
    const steps = stepsOf(kept, path);
    const end = `_${kept.at(-1)!.said}`;
    let sum = 0;
    for (const other of others) {
      if (length < path.length && !`_${other.steps.at(-1)!}`.endsWith(end)) continue;
      const isMeant =
        (other.isByWords && hasInOrder(other.words, words)) ||
        (other.isBySteps && hasSteps(other.steps, steps));
      if (isMeant) sum += other.count;
    }
    return sum;
  };
}

/** Returns a slash and the words of a step, with words that are not wanted left empty; nothing if none is wanted. */
function partOf(words: Steps, wanted: ReadonlySet<string>): string {
  if (!words.some((word) => wanted.has(word))) return '';
  return `/${words.map((word) => (wanted.has(word) ? word : '')).join('_')}`;
}

/** Returns the steps of the units. For a step without its first words, an underscore and the text from its first kept word on. */
function stepsOf(units: readonly Unit[], path: Steps): Steps {
  const kept = new Map<number, string>();
  for (const { at, said } of units) {
    const step = path[at]!;
    if (!kept.has(at)) kept.set(at, step.startsWith(said) ? step : step.slice(step.indexOf(`_${said}`)));
  }
  return [...kept.values()];
}

function hasSteps(steps: Steps, wanted: Steps): boolean {
  let at = 0;
  for (const step of steps) {
    const next = wanted[at];
    if (next !== undefined && (next.startsWith('_') ? `_${step}`.endsWith(next) : step === next)) at += 1;
  }
  return at === wanted.length;
}

function wordsOf(step: string): Steps {
  return step.split('_');
}

function lastWord(step: string): string {
  return step.slice(step.lastIndexOf('_') + 1);
}

// Finds elements that a row has several of, under one name or under several. They determine what names of columns must say about the owner
// of a value.

interface ElementOfRows {
  readonly table: number;
  /** the steps to it */
  readonly path: string;
  /** the words of the element's name */
  readonly words: Steps;
}

/**
 * Returns a test for steps that occur several times in one row, such as `address` if the row has a `home_address` and a `work_address`:
 * such a step says which part a value belongs to, but not whose it is. `paths`: by table, the steps of its columns; called when a step is
 * first tested.
 */
export function repeatedSteps(paths: () => readonly (readonly Steps[])[]): (step: string) => boolean {
  let elements: ReadonlyMap<string, readonly ElementOfRows[]> | undefined;
  const known = new Map<string, boolean>();
  const find = (step: string): boolean => {
    elements ??= elementsByWord(paths());
    const words = step.split('_');
    const seen = new Map<number, readonly ElementOfRows[]>();
    for (const element of elements.get(words[0]!) ?? []) {
      if (!hasInOrder(element.words, words)) continue;
      const others = seen.get(element.table) ?? [];
      if (others.some(({ path }) => areApart(element.path, path))) return true;
      seen.set(element.table, [...others, element]);
    }
    return false;
  };
  return (step) => {
    let isRepeated = known.get(step);
    if (isRepeated === undefined) known.set(step, (isRepeated = find(step)));
    return isRepeated;
  };
}

/** Returns whether neither element is inside the other: `witness` inside `witness_statement` is not a second element. */
function areApart(one: string, other: string): boolean {
  return !one.startsWith(`${other}/`) && !other.startsWith(`${one}/`);
}

/** Elements that hold values, by each word of their names. */
function elementsByWord(
  tables: readonly (readonly Steps[])[],
): ReadonlyMap<string, readonly ElementOfRows[]> {
  const found = new Map<string, ElementOfRows[]>();
  for (const [table, paths] of tables.entries())
    for (const [path, steps] of elementsOf(paths.map(holderOf))) {
      const words = steps.at(-1)!.split('_');
      for (const word of new Set(words)) {
        const known = found.get(word);
        if (known === undefined) found.set(word, [{ table, path, words }]);
        else known.push({ table, path, words });
      }
    }
  return found;
}

/**
 * Returns the paths of elements for which the row has another element, of another name, that holds half as much or more of the same
 * content, as sellers and buyers do. `paths`: the steps of the table's columns.
 */
export function twinElements(paths: readonly Steps[]): ReadonlySet<string> {
  const parts = new Map<string, string[]>();
  const wholes = new Map<string, string[]>();
  for (const steps of elementsOf(paths.map(holderOf)).values()) {
    const [whole, part] = [holderOf(steps).join('/'), steps.at(-1)!];
    if (whole === '') continue;
    parts.set(whole, [...(parts.get(whole) ?? []), part]);
    wholes.set(part, [...(wholes.get(part) ?? []), whole]);
  }
  const found = new Set<string>();
  for (const [whole, own] of parts) {
    const shared = new Map<string, number>();
    for (const other of own.flatMap((part) => wholes.get(part)!))
      shared.set(other, (shared.get(other) ?? 0) + 1);
    for (const [other, count] of shared) {
      const isAlike = count * 2 >= Math.min(own.length, parts.get(other)!.length);
      if (isAlike && areApart(whole, other) && lastStep(other) !== lastStep(whole)) found.add(whole);
    }
  }
  return found;
}

function lastStep(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function holderOf(steps: Steps): Steps {
  return steps.slice(0, -1);
}

/** Returns the elements on the paths, those at their ends as well, by their steps joined by slashes. */
export function elementsOf(paths: readonly Steps[]): ReadonlyMap<string, Steps> {
  const found = new Map<string, Steps>();
  for (const path of paths)
    for (let { length } = path; length > 0; length -= 1) {
      const steps = path.slice(0, length);
      const key = steps.join('/');
      if (found.has(key)) break;
      found.set(key, steps);
    }
  return found;
}

/** Returns whether the words are among those of a name, in their order. */
export function hasInOrder(words: Steps, wanted: Steps): boolean {
  let at = 0;
  for (const word of words) if (word === wanted[at]) at += 1;
  return at >= wanted.length;
}
