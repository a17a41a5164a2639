/** Detects patterns of strings that only allow decimals, such as amounts and rates. */
import type { Facets } from '../../model/source-model.ts';
import {
  isAsciiAlone,
  isOneOf,
  partsOf,
  type PatternPart,
  ascii,
  endsOfTexts,
  type TextKind,
} from './pattern.ts';

/** Digits that texts have at most before the point, and after it. */
export interface DecimalTexts {
  readonly whole: number;
  readonly fraction: number;
  /** true if the same number of digits follows every point */
  readonly isUniform: boolean;
}

/**
 * Returns the texts that the patterns allow if they represent numbers with a fraction, or null if the patterns may allow anything else. A
 * point and digits alone are not enough: versions (`1.10`), sections and codes are not numbers, and their zeros are significant. Numbers
 * have no leading zeros, are bounded, and may be below one, with and without a fraction, or below zero.
 */
export function decimalTexts(patterns: NonNullable<Facets['patterns']>): DecimalTexts | null {
  for (const step of partsOf(patterns)) {
    const texts = endsOfTexts(step, numbers);
    const found = texts === null ? null : numbersOf([...texts].map(readState));
    if (found !== null) return found;
  }
  return null;
}

/** The state of a partly read number. */
interface State {
  readonly phase: Phase;
  readonly isNegative: boolean;
  /** digits before the point; 0: a zero */
  readonly whole: number;
  readonly fraction: number;
}

type Phase = 'start' | 'sign' | 'whole' | 'point' | 'fraction';

type Sign = '-' | '.' | '0' | '1';

/** One digit other than 0 represents all of them. */
const signs: readonly Sign[] = ['-', '.', '0', '1'];
const numerals = '-.0123456789';

/** digits of whole numbers and of fractions, each */
const maxDigits = 30;

function numbersOf(states: readonly State[]): DecimalTexts | null {
  if (!states.every(({ phase }) => phase === 'whole' || phase === 'fraction')) return null;
  const fractions = states.filter(({ phase }) => phase === 'fraction');
  const lengths = new Set(fractions.map(({ fraction }) => fraction));
  const isBelowOne = fractions.some(({ whole }) => whole === 0);
  const isAmount = fractions.length < states.length || states.some(({ isNegative }) => isNegative);
  if (!isBelowOne || !isAmount) return null;
  const whole = Math.max(1, ...states.map((state) => state.whole));
  return { whole, fraction: Math.max(...lengths), isUniform: lengths.size === 1 };
}

/** Returns null for characters that no number has, and for none. */
function signsOf(part: PatternPart & { readonly kind: 'character' }): readonly Sign[] | null {
  if (!isAsciiAlone(part)) return null;
  const characters = ascii.filter((one) => isOneOf(part.source, one));
  if (characters.length === 0 || !characters.every((one) => numerals.includes(one))) return null;
  return signs.filter((sign) =>
    characters.some((one) => (one >= '1' && one <= '9' ? sign === '1' : sign === one)),
  );
}

/** Returns null if the text is then not a number. */
function follow(state: State, sign: Sign): State | null {
  const { phase, whole, fraction } = state;
  switch (sign) {
    case '-':
      return phase === 'start' ? { ...state, phase: 'sign', isNegative: true } : null;
    case '.':
      return phase === 'whole' ? { ...state, phase: 'point' } : null;
    default:
      if (phase === 'point' || phase === 'fraction')
        return fraction === maxDigits ? null : { ...state, phase: 'fraction', fraction: fraction + 1 };
      if (phase === 'whole')
        return whole === 0 || whole === maxDigits ? null : { ...state, whole: whole + 1 };
      return { ...state, phase: 'whole', whole: sign === '0' ? 0 : 1 };
  }
}

function stateKey(state: State): string {
  return `${state.phase} ${state.isNegative} ${state.whole} ${state.fraction}`;
}

function readState(key: string): State {
  const [phase, isNegative, whole, fraction] = key.split(' ');
  return {
    phase: phase as Phase,
    isNegative: isNegative === 'true',
    whole: Number(whole),
    fraction: Number(fraction),
  };
}

/** States are represented by their keys. */
const numbers: TextKind<string, Sign> = {
  start: stateKey({ phase: 'start', isNegative: false, whole: 0, fraction: 0 }),
  signsOf,
  follow: (key, sign) => {
    const next = follow(readState(key), sign);
    return next === null ? null : stateKey(next);
  },
};
