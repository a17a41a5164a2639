/** Names the columns of a view, by as many steps of the path to each as distinguish them. */
import { createStepChooser } from '../map/names/distinctive-steps.ts';
import {
  byteLength,
  identifierOf,
  joinedSteps,
  type NamingOptions,
  type StepChooser,
} from '../map/names/identifiers.ts';
import type { JoinedTexts, ViewColumn, ViewContent } from './entity-columns.ts';
import { rowAboveOf, type JoinedRows } from './joined-rows.ts';

/** the path to repeating texts needs at least this many steps to describe them */
const fewestStepsToTexts = 2;

export interface ColumnNamesOptions {
  readonly nameMode: NamingOptions['nameMode'];
  /** bytes of a name */
  readonly longest: number;
  readonly tableName: (table: number) => string;
}

export interface ColumnNames {
  /** `end`: words that are appended to the name of the column */
  ofColumn(column: ViewColumn, end?: string): string;
  /** `isFree`: no other column has the name */
  ofTexts(texts: JoinedTexts, isFree: (name: string) => boolean): string;
}

/** Returns the names of a view's columns. Names that cannot be shortened further may exceed the maximum length. */
export function columnNames(
  content: ViewContent,
  { nameMode, longest, tableName }: ColumnNamesOptions,
): ColumnNames {
  const word = (text: string): string => identifierOf(text, nameMode);
  const shortened = shortSteps(content);
  const toTexts = new Map(content.texts.map((texts) => [texts, stepsToTexts(texts, shortened)]));

  /** The table's name is that of the row above that the column is of, if it is of one. */
  function wordsOf({ of, place, steps }: ViewColumn): WordsOfName {
    if (of === null) return { table: '', words: [place.column.name] };
    const above = rowAboveOf(of);
    const table = above === null ? '' : tableName(above.table);
    // a column of the row above itself has its name already
    if (of === above) {
      const name = withoutPrefix(place.column.name, table);
      return { table, words: [name], steps: steps.map(word) };
    }
    const front = shortened.get(of) ?? of.steps;
    return {
      table,
      words: [...front, ...steps.slice(of.steps.length)].map(word).filter((one) => one !== ''),
    };
  }

  const choosers = new Map<string, StepChooser>();
  function fitting({ table, words, steps = words }: WordsOfName, end: string): string {
    const bytes = longest - byteLength(end) - (table === '' ? 0 : byteLength(table) + 1);
    const start = table === '' ? [] : [table];
    const whole = words.join('_');
    if (byteLength(whole) <= bytes) return [...start, whole].join('_') + end;
    let chooser = choosers.get(table);
    if (chooser === undefined) {
      const alike = content.columns.map(wordsOf).filter((other) => other.table === table);
      chooser = createStepChooser({ paths: () => alike.map((other) => other.steps ?? other.words) });
      choosers.set(table, chooser);
    }
    const apart = chooser.tellApart(steps, bytes, { fewest: 2, last: 1 });
    const told = byteLength(joinedSteps(apart)) <= bytes ? apart : chooser.shorten(steps, bytes);
    return [...start, joinedSteps(told)].join('_') + end;
  }

  return {
    ofColumn: (column, end = '') => fitting(wordsOf(column), end),
    ofTexts(texts, isFree) {
      const steps = toTexts.get(texts)!;
      const others = [...toTexts.values()].filter((other) => other !== steps);
      let length = Math.min(fewestStepsToTexts, steps.length);
      const said = (): string => joinedSteps(steps.slice(-length).map(word));
      const isTold = (): boolean =>
        isFree(said()) && !others.some((other) => endsAlike(other, steps, length));
      while (length < steps.length && !isTold()) length += 1;
      return isFree(said()) ? said() : steps.slice(-length).map(word).join('_');
    },
  };
}

interface WordsOfName {
  /** words of the row above that has the column; empty: the column is of the row itself, or hangs from it */
  readonly table: string;
  readonly words: readonly string[];
  /** if a column already has the name: steps that may shorten it */
  readonly steps?: readonly string[];
}

function withoutPrefix(name: string, prefix: string): string {
  return name.toLowerCase().startsWith(`${prefix.toLowerCase()}_`) ? name.slice(prefix.length + 1) : name;
}

function stepsToTexts(
  { of, steps }: JoinedTexts,
  shortened: ReadonlyMap<JoinedRows, readonly string[]>,
): readonly string[] {
  return of === null ? steps : [...(shortened.get(of) ?? []), ...steps.slice(of.steps.length)];
}

/**
 * Returns the last steps to joined rows, as many as distinguish them from others that are joined to the same row. If the rows hang from
 * rows that several others share, the steps to those come first: `seller_address`.
 */
function shortSteps({ columns, texts }: ViewContent): ReadonlyMap<JoinedRows, readonly string[]> {
  const all = new Set([...columns, ...texts].flatMap(({ of }) => (of === null || of.isAbove ? [] : [of])));
  const lengths = new Map<JoinedRows, number>();
  const lengthOf = (rows: JoinedRows): number => {
    const known = lengths.get(rows);
    if (known !== undefined) return known;
    const { steps, to, isOfShared } = rows;
    let length = isOfShared && to !== null ? lengthOf(to) + steps.length - to.steps.length : 1;
    const others = [...all].filter(
      (one) => one !== rows && rowAboveOf(one) === rowAboveOf(rows) && !startsWith(one.steps, steps),
    );
    while (length < steps.length && others.some((one) => endsAlike(one.steps, steps, length))) length += 1;
    lengths.set(rows, length);
    return length;
  };
  return new Map([...all].map((rows) => [rows, rows.steps.slice(-lengthOf(rows))]));
}

function startsWith(steps: readonly string[], start: readonly string[]): boolean {
  return start.every((step, at) => steps[at] === step);
}

/** True if the last `length` steps are equal. */
function endsAlike(steps: readonly string[], others: readonly string[], length: number): boolean {
  return startsWith(steps.toReversed(), others.slice(-length).toReversed());
}
