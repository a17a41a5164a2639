/** Detects patterns of strings that only allow dates, with or without a time. */
import type { Facets } from '../../model/source-model.ts';
import { isOneOf, partsOf, ascii, endsOfTexts, type TextKind } from './pattern.ts';

/** `local`, `zoned`: dates with times, none of which has a zone, all of which have one. */
export type CalendarTexts = 'date' | 'local' | 'zoned';

/**
 * Returns the texts that the patterns allow if they represent dates, or null if the patterns may allow anything else, or dates of several
 * kinds. Nonexistent days count as dates, because few patterns know the lengths of months. So do texts that only a misplaced comma in a
 * character class allows (`[1,3-9]`, `[\-,\+]`), where the comma was meant as a separator.
 */
export function calendarTexts(patterns: NonNullable<Facets['patterns']>): CalendarTexts | null {
  for (const step of partsOf(patterns)) {
    const ends = endsOfTexts(step, dates);
    const kinds = ends === null ? [] : [...ends].map((end) => kindOf(end));
    const [first] = kinds;
    if (first !== undefined && first !== null && kinds.every((kind) => kind === first)) return first;
  }
  return null;
}

/** The character class at each place of a text: `d` is a digit. */
const form = 'dddd-dd-ddTdd:dd:dd';
const dateEnd = 10;
const secondsEnd = form.length;

/** After the form: a number of digits, and a zone. */
const point = secondsEnd + 1;
const fraction = point + 1;
const utc = fraction + 1;
const sign = utc + 1;
const offset = 'dd:dd';
const offsetEnd = sign + offset.length;

const characters = '-:.+TZ0123456789';

function kindOf(end: number): CalendarTexts | null {
  if (end === dateEnd) return 'date';
  if (end === secondsEnd || end === fraction) return 'local';
  return end === utc || end === offsetEnd ? 'zoned' : null;
}

/** Returns the place after the character, or null if the text is then not a date. */
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

/** Returns null for characters that no date has, and for none. For digits (`\d`), returns those of ASCII. */
function charactersOf(source: string): readonly string[] | null {
  if (isOneOf(source, 'é')) return null;
  const all = ascii.filter((one) => isOneOf(source, one));
  const meant = all.length > 1 ? all.filter((one) => one !== ',') : all;
  return meant.length > 0 && meant.every((one) => characters.includes(one)) ? meant : null;
}

/** States are places in the form. */
const dates: TextKind<number, string> = { start: 0, signsOf: ({ source }) => charactersOf(source), follow };
