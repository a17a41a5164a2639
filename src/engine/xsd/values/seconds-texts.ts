/** Times of XSD, with or without a date, as their patterns allow them to be written: how many digits of a second. */
import type { Facets } from '../../model/source-model.ts';
import { isOneOf, partsOf, ascii, endsOfTexts, type TextKind } from './pattern.ts';

export interface SecondsTexts {
  /** the fewest digits to print after the point of a second */
  readonly leastFraction: number;
  /** true if each value matches the patterns when printed with exactly these digits, or with more if it needs them */
  readonly isPrintable: boolean;
}

/** Returns null if the patterns allow no such value, or if the search takes too long. */
export function secondsTexts(
  patterns: NonNullable<Facets['patterns']>,
  base: 'dateTime' | 'time',
): SecondsTexts | null {
  const steps = partsOf(patterns).map((step) => endsOfTexts(step, base === 'time' ? times : datesWithTimes));
  const known = steps.filter((ends) => ends !== null);
  if (known.length === 0) return null;
  const forms = known.map(formsOf).reduce(inBoth);
  if (forms.size === 0) return null;
  const candidates = [...new Set([...forms.values()].flatMap((form) => [...form.keys()]))].toSorted(
    (a, b) => a - b,
  );
  const printable = candidates.find((least) => [...forms.values()].every((form) => isClosed(form, least)));
  return {
    leastFraction: Math.min(printable ?? candidates[0]!, COLUMN_DIGITS),
    isPrintable: known.length === patterns.length && printable !== undefined,
  };
}

/** digits that columns have; values with more are kept as they are written */
const COLUMN_DIGITS = 6;
const MOST_DIGITS = COLUMN_DIGITS + 1;

/** Keyed by number of digits: true if all fractions of that length are allowed, false if only some are. */
type Fractions = ReadonlyMap<number, boolean>;

/** indexed by zone */
type Forms = ReadonlyMap<string, Fractions>;

function isClosed(fractions: Fractions, least: number): boolean {
  const most = Math.min(Math.max(...fractions.keys()), COLUMN_DIGITS);
  for (let digits = 0; digits <= most; digits += 1)
    if (fractions.get(Math.max(digits, least)) !== true) return false;
  return true;
}

function formsOf(ends: ReadonlySet<string>): Forms {
  const forms = new Map<string, Map<number, boolean>>();
  for (const end of ends) {
    if (end === NO_TIME) continue;
    const { place, zone, fraction, isExact } = readState(end);
    if (!endPlaces.has(place) || (place === point && fraction === 0)) continue;
    const form = forms.get(zone) ?? new Map<number, boolean>();
    form.set(fraction, form.get(fraction) === true || isExact);
    forms.set(zone, form);
  }
  return forms;
}

function inBoth(some: Forms, others: Forms): Forms {
  return new Map(
    [...some].flatMap(([zone, own]) => {
      const other = others.get(zone);
      const both = [...own].flatMap(([digits, isExact]) =>
        other?.has(digits) === true ? [[digits, isExact && other.get(digits) === true] as const] : [],
      );
      return both.length === 0 ? [] : [[zone, new Map(both)] as const];
    }),
  );
}

/** The character class at each place of a text: `d` is a digit. */
const form = 'dddd-dd-ddTdd:dd:dd';
const yearEnd = 4;
const clockStart = 11;
const secondsEnd = form.length;
/** After the form: digits of a second, and a zone. */
const point = secondsEnd + 1;
const utc = point + 1;
const offsetStart = utc + 1;
const offset = 'dd:dd';
const endPlaces = new Set([secondsEnd, point, utc, offsetStart + offset.length]);

interface State {
  readonly place: number;
  readonly zone: '' | 'Z' | '+' | '-';
  /** digits after the point */
  readonly fraction: number;
  /** each digit so far may be any digit */
  readonly isExact: boolean;
}

const NO_TIME = 'none';

function stateKey({ place, zone, fraction, isExact }: State): string {
  return `${place} ${zone} ${fraction} ${isExact ? '=' : ''}`;
}

function readState(key: string): State {
  const [place, zone, fraction, exact] = key.split(' ');
  return {
    place: Number(place),
    zone: zone as State['zone'],
    fraction: Number(fraction),
    isExact: exact === '=',
  };
}

/** `d`: any digit; `d?`: some of them. */
type Sign = 'd' | 'd?' | '-' | ':' | '.' | '+' | 'T' | 'Z';

function signsOf({ source }: { readonly source: string }): readonly Sign[] {
  const allowed = new Set(ascii.filter((one) => isOneOf(source, one)));
  const signs: Sign[] = (['-', ':', '.', '+', 'T', 'Z'] as const).filter((one) => allowed.has(one));
  const digits = [...'0123456789'].filter((digit) => allowed.has(digit)).length;
  if (digits > 0) signs.push(digits === 10 ? 'd' : 'd?');
  return signs;
}

function follow(state: State, character: Sign): State | null {
  const { place, fraction } = state;
  const isDigit = character === 'd' || character === 'd?';
  const next = (to: number): State => ({ ...state, place: to, isExact: state.isExact && character !== 'd?' });
  const kind = isDigit ? 'd' : character;
  // years before Christ, and beyond 9999: columns do not hold them
  if ((place === 0 && kind === '-') || (place === yearEnd && isDigit)) return next(place);
  if (place < secondsEnd) return form[place] === kind ? next(place + 1) : null;
  if (place >= offsetStart) return offset[place - offsetStart] === kind ? next(place + 1) : null;
  if (place === point && isDigit) return { ...next(point), fraction: Math.min(fraction + 1, MOST_DIGITS) };
  if (place === secondsEnd && kind === '.') return next(point);
  if (place === utc || (place === point && fraction === 0)) return null;
  if (kind === 'Z') return { ...next(utc), zone: kind };
  return kind === '+' || kind === '-' ? { ...next(offsetStart), zone: kind } : null;
}

function kindFrom(place: number): TextKind<string, Sign> {
  return {
    start: stateKey({ place, zone: '', fraction: 0, isExact: true }),
    signsOf,
    follow: (key, character) => {
      const next = key === NO_TIME ? null : follow(readState(key), character);
      return next === null ? NO_TIME : stateKey(next);
    },
  };
}

const datesWithTimes = kindFrom(0);
const times = kindFrom(clockStart);
