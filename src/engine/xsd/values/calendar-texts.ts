/** Text that is a date, with or without a time: which patterns of strings allow these, and nothing else. */
import type { Facets } from '../../model/source-model.ts';
import { isOneOf, partsOf } from './allowed-texts.ts';
import type { PatternPart } from './pattern.ts';

/** `local`, `zoned`: dates with times, none of which has a zone, all of which have one. */
export type CalendarTexts = 'date' | 'local' | 'zoned';

/**
 * What patterns allow that stand for dates; null where they may allow anything else, or dates of several kinds. Days that do not exist count as
 * dates, as few patterns know the lengths of months, and so does what only a comma in a class of characters lets in (`[1,3-9]`, `[\-,\+]`), where it
 * was meant to stand between these.
 */
export function calendarTexts(patterns: NonNullable<Facets['patterns']>): CalendarTexts | null {
  for (const step of partsOf(patterns)) {
    const ends = new DateSearch().endsOfAll(step);
    const kinds = ends === null ? [] : [...ends].map((end) => kindOf(end));
    const [first] = kinds;
    if (first !== undefined && first !== null && kinds.every((kind) => kind === first)) return first;
  }
  return null;
}

/** What each place of a text holds: `d` is a digit. */
const form = 'dddd-dd-ddTdd:dd:dd';
const dateEnd = 10;
const secondsEnd = form.length;

/** Behind the form: a number of digits, and a zone. */
const point = secondsEnd + 1;
const fraction = point + 1;
const utc = fraction + 1;
const sign = utc + 1;
const offset = 'dd:dd';
const offsetEnd = sign + offset.length;

const characters = '-:.+TZ0123456789';
const ascii: readonly string[] = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

/** steps beyond which a pattern counts as one that allows more than dates */
const maxSteps = 5000;

function kindOf(end: number): CalendarTexts | null {
  if (end === dateEnd) return 'date';
  if (end === secondsEnd || end === fraction) return 'local';
  return end === utc || end === offsetEnd ? 'zoned' : null;
}

/** The place behind that of the character; null: what comes so is no date. */
function follow(place: number, character: string): number | null {
  const kind = character >= '0' && character <= '9' ? 'd' : character;
  if (place < secondsEnd) return form[place] === kind ? place + 1 : null;
  if (place >= sign) return offset[place - sign] === kind ? place + 1 : null;
  if (kind === 'd') return place === point || place === fraction ? fraction : null;
  if (place !== secondsEnd && place !== fraction) return null;
  if (kind === '.') return place === secondsEnd ? point : null;
  if (kind === 'Z') return utc;
  return kind === '+' || kind === '-' ? sign : null;
}

/** Follows a pattern through all texts that it allows, as long as they are dates. */
class DateSearch {
  #steps = 0;
  readonly #allowed = new Map<string, readonly string[] | null>();

  /** Where the texts end; null: one of them is no date, or that is not found out in reasonable time. */
  endsOfAll(options: readonly PatternPart[]): ReadonlySet<number> | null {
    return this.#endsOf({ kind: 'choice', options }, new Set([0]));
  }

  #endsOf(part: PatternPart, starts: ReadonlySet<number>): ReadonlySet<number> | null {
    this.#steps += 1;
    if (this.#steps > maxSteps) return null;
    switch (part.kind) {
      case 'character':
        return afterCharacter(this.#charactersOf(part.source), starts);
      case 'sequence':
        return part.items.reduce<ReadonlySet<number> | null>(
          (ends, item) => (ends === null ? null : this.#endsOf(item, ends)),
          starts,
        );
      case 'choice':
        return union(part.options.map((option) => this.#endsOf(option, starts)));
      case 'repeat':
        return this.#endsOfRepeat(part, starts);
    }
  }

  #charactersOf(source: string): readonly string[] | null {
    let known = this.#allowed.get(source);
    if (known === undefined) this.#allowed.set(source, (known = charactersOf(source)));
    return known;
  }

  #endsOfRepeat(
    { item, min, max }: PatternPart & { readonly kind: 'repeat' },
    starts: ReadonlySet<number>,
  ): ReadonlySet<number> | null {
    const all = new Set(min === 0 ? starts : []);
    let ends = starts;
    for (let times = 1; times <= max; times += 1) {
      const next = this.#endsOf(item, ends);
      if (next === null) return null;
      const isSettled = next.size === ends.size && next.isSubsetOf(ends);
      if (times >= min || isSettled) for (const end of next) all.add(end);
      // digits of a second may go on without end
      if (isSettled) break;
      ends = next;
    }
    return all;
  }
}

function afterCharacter(
  allowed: readonly string[] | null,
  starts: ReadonlySet<number>,
): ReadonlySet<number> | null {
  if (allowed === null) return null;
  const ends = new Set<number>();
  for (const start of starts)
    for (const character of allowed) {
      const next = follow(start, character);
      if (next === null) return null;
      ends.add(next);
    }
  return ends;
}

/** Null: characters that no date has, or none. Of digits (`\d`), those of ASCII. */
function charactersOf(source: string): readonly string[] | null {
  if (isOneOf(source, 'é')) return null;
  const all = ascii.filter((one) => isOneOf(source, one));
  const meant = all.length > 1 ? all.filter((one) => one !== ',') : all;
  return meant.length > 0 && meant.every((one) => characters.includes(one)) ? meant : null;
}

function union(sets: readonly (ReadonlySet<number> | null)[]): ReadonlySet<number> | null {
  const all = new Set<number>();
  for (const set of sets) {
    if (set === null) return null;
    for (const one of set) all.add(one);
  }
  return all;
}
