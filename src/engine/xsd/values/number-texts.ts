/** Numbers of XSD as their patterns allow them to be written: how many digits, and whether every value has a form that we can print. */
import type { Facets } from '../../model/source-model.ts';
import { isOneOf, partsOf, ascii, endsOfTexts, type TextKind } from './pattern.ts';

/** The facts that patterns state about the lexical forms of a number. Infinity: any number of digits. */
export interface NumberTexts {
  readonly maxWhole: number;
  readonly maxFraction: number;
  /** the fewest digits to print before the point, and after it */
  readonly leastWhole: number;
  readonly leastFraction: number;
  /** true if each value matches the patterns when printed with exactly these digits, or with more if it needs them */
  readonly isPrintable: boolean;
}

/** Returns null if the patterns allow exponents, INF or NaN, or no number at all, or if the search takes too long. */
export function numberTexts(patterns: NonNullable<Facets['patterns']>): NumberTexts | null {
  const steps = partsOf(patterns).map((step) => endsOfTexts(step, numbers));
  const known = steps.filter((ends) => ends !== null);
  if (known.length === 0) return null;
  const forms = known.map(formsOf).reduce(inBoth);
  if ([...forms.keys()].some((key) => key === FLOAT) || forms.size === 0) return null;
  const isWholeSearch = known.length === patterns.length;
  const all = [...forms].map(([key, isExact]) => ({ ...readForm(key), isExact }));
  const exact = new Set(all.filter(({ isExact }) => isExact).map(keyOf));
  const wholes = all.map(({ whole }) => whole);
  const fractions = all.map(({ fraction }) => fraction);
  const leastWhole = Math.max(1, Math.min(...wholes));
  const candidates = [...new Set(fractions)].toSorted((a, b) => a - b);
  const printable = candidates.find((fraction) => isClosed(all, exact, leastWhole, fraction));
  const behindPoint = candidates.filter((fraction) => fraction > 0);
  const usual = behindPoint.length === 1 ? behindPoint[0]! : candidates[0]!;
  const leastFraction = printable ?? usual;
  return {
    maxWhole: bounded(Math.max(...wholes)),
    maxFraction: bounded(Math.max(...fractions)),
    leastWhole: leastWhole === MOST_DIGITS ? 1 : leastWhole,
    leastFraction: leastFraction === MOST_DIGITS ? 0 : leastFraction,
    isPrintable: isWholeSearch && printable !== undefined && leastWhole < MOST_DIGITS,
  };
}

/** the most digits of a part that are distinguished; this number also represents all larger ones */
const MOST_DIGITS = 39;

function bounded(digits: number): number {
  return digits === MOST_DIGITS ? Infinity : digits;
}

/** A set of texts with the same sign and numbers of digits. */
interface Form {
  readonly sign: '' | '+' | '-';
  /** the first digit is 0 */
  readonly hasLeadingZero: boolean;
  readonly whole: number;
  readonly fraction: number;
  /** `5.` */
  readonly endsInPoint: boolean;
}

function keyOf({ sign, hasLeadingZero, whole, fraction, endsInPoint }: Form): string {
  return `${sign} ${hasLeadingZero ? 0 : 1} ${whole} ${fraction} ${endsInPoint ? '.' : ''}`;
}

function readForm(key: string): Form {
  const [sign, first, whole, fraction, point] = key.split(' ');
  return {
    sign: sign as Form['sign'],
    hasLeadingZero: first === '0',
    whole: Number(whole),
    fraction: Number(fraction),
    endsInPoint: point === '.',
  };
}

/** Keyed by key: true if all texts of the form are allowed, false if only some are. */
type Forms = ReadonlyMap<string, boolean>;

const FLOAT = 'float';

function formsOf(ends: ReadonlySet<string>): Forms {
  const forms = new Map<string, boolean>();
  for (const end of ends) {
    if (end === FLOAT) forms.set(FLOAT, false);
    const state = end === FLOAT || end === NO_NUMBER ? null : readState(end);
    if (state === null || state.phase === 'start' || state.phase === 'sign') continue;
    if (state.whole + state.fraction === 0) continue;
    const key = keyOf({ ...state, endsInPoint: state.phase === 'point' });
    forms.set(key, forms.get(key) === true || state.isExact);
  }
  return forms;
}

function inBoth(some: Forms, others: Forms): Forms {
  return new Map(
    [...some].flatMap(([key, isExact]) => {
      const other = others.get(key);
      return other === undefined ? [] : [[key, isExact && other] as const];
    }),
  );
}

/** True if the printed form of each value, with at least these digits, is among the exact forms. */
function isClosed(
  forms: readonly Form[],
  exact: ReadonlySet<string>,
  leastWhole: number,
  leastFraction: number,
): boolean {
  const isAllowed = (sign: Form['sign'], whole: number, fraction: number): boolean => {
    const digits = Math.max(whole, 1, leastWhole);
    return exact.has(
      keyOf({
        sign,
        hasLeadingZero: digits > whole,
        whole: digits,
        fraction: Math.max(fraction, leastFraction),
        endsInPoint: false,
      }),
    );
  };
  for (const sign of ['', '-'] as const) {
    /** keyed by significant digits before the point: the most digits that may follow it */
    const reached = new Map<number, number>();
    for (const form of forms) {
      if ((form.sign === '-') !== (sign === '-')) continue;
      const lowest = form.hasLeadingZero ? 0 : form.whole;
      const highest = form.hasLeadingZero ? form.whole - 1 : form.whole;
      for (let whole = lowest; whole <= highest; whole += 1)
        reached.set(whole, Math.max(reached.get(whole) ?? 0, form.fraction));
    }
    for (const [whole, most] of reached)
      for (let fraction = 0; fraction <= most; fraction += 1) {
        const isZero = whole === 0 && fraction === 0;
        if (!isAllowed(isZero ? '' : sign, whole, fraction)) return false;
      }
  }
  return true;
}

/** The state of a partly read number. */
interface State extends Omit<Form, 'endsInPoint'> {
  readonly phase: 'start' | 'sign' | 'whole' | 'point' | 'fraction';
  /** each digit so far may be any digit, as far as the form allows */
  readonly isExact: boolean;
}

/**
 * The possible roles of a character. `0` and `1` (any digit but 0) have a suffix for the digits that their class allows: none for all of
 * them, `!` for all digits above 0, `?` for some. `e` begins an exponent; `n` is a letter of INF and NaN.
 */
type Sign = '+' | '-' | '.' | '0' | '1' | '0!' | '1!' | '0?' | '1?' | 'e' | 'n';

const NO_NUMBER = 'none';
const digitsAboveZero = [...'123456789'];

/** Other characters do not occur in numbers. */
function signsOf({ source }: { readonly source: string }): readonly Sign[] {
  const allowed = new Set(ascii.filter((one) => isOneOf(source, one)));
  const signs: Sign[] = (['+', '-', '.'] as const).filter((sign) => allowed.has(sign));
  const above = digitsAboveZero.filter((digit) => allowed.has(digit)).length;
  const hasZero = allowed.has('0');
  const isEach = above === 9;
  if (hasZero && isEach) signs.push('0', '1');
  else if (hasZero) signs.push(above === 0 ? '0!' : '0?');
  if (above > 0 && !(hasZero && isEach)) signs.push(isEach ? '1!' : '1?');
  if (allowed.has('e') || allowed.has('E')) signs.push('e');
  if ([...'INFa'].some((letter) => allowed.has(letter))) signs.push('n');
  return signs;
}

function follow(state: State, sign: Sign): State | typeof FLOAT | null {
  const { phase, whole, fraction } = state;
  switch (sign) {
    case '+':
    case '-':
      return phase === 'start' ? { ...state, phase: 'sign', sign } : null;
    case '.':
      return phase === 'point' || phase === 'fraction' ? null : { ...state, phase: 'point' };
    case 'e':
      return whole + fraction > 0 ? FLOAT : null;
    case 'n':
      return phase === 'start' || phase === 'sign' ? FLOAT : null;
    default: {
      const isAny = sign.length === 1;
      if (phase === 'point' || phase === 'fraction')
        return {
          ...state,
          phase: 'fraction',
          fraction: Math.min(fraction + 1, MOST_DIGITS),
          isExact: state.isExact && isAny,
        };
      if (phase === 'whole')
        return { ...state, whole: Math.min(whole + 1, MOST_DIGITS), isExact: state.isExact && isAny };
      return {
        ...state,
        phase: 'whole',
        whole: 1,
        hasLeadingZero: sign.startsWith('0'),
        isExact: !sign.endsWith('?'),
      };
    }
  }
}

function stateKey({ phase, sign, hasLeadingZero, whole, fraction, isExact }: State): string {
  return `${phase} ${sign} ${hasLeadingZero ? 0 : 1} ${whole} ${fraction} ${isExact ? '=' : ''}`;
}

function readState(key: string): State {
  const [phase, sign, first, whole, fraction, exact] = key.split(' ');
  return {
    phase: phase as State['phase'],
    sign: sign as State['sign'],
    hasLeadingZero: first === '0',
    whole: Number(whole),
    fraction: Number(fraction),
    isExact: exact === '=',
  };
}

/** States are represented by their keys. Texts that are not numbers end in a separate state, because the type does not allow them. */
const numbers: TextKind<string, Sign> = {
  start: stateKey({
    phase: 'start',
    sign: '',
    hasLeadingZero: false,
    whole: 0,
    fraction: 0,
    isExact: true,
  }),
  signsOf,
  follow: (key, sign) => {
    if (key === FLOAT || key === NO_NUMBER) return key;
    const next = follow(readState(key), sign);
    return next === null ? NO_NUMBER : next === FLOAT ? FLOAT : stateKey(next);
  },
};
