/**
 * Decides which texts the patterns of a type allow. It evaluates the patterns itself, because matching one by a regular expression may
 * take unbounded time.
 */
import type { Facets } from '../../model/source-model.ts';
import { readPattern, type PatternPart } from './pattern.ts';

/** Characters of the texts that are allowed. */
export interface TextLengths {
  readonly min: number;
  /** Infinity: any number */
  readonly max: number;
}

type Patterns = NonNullable<Facets['patterns']>;

/** Patterns of one step are alternatives, steps must all match. */
export function lengthsOfPatterns(patterns: Patterns): TextLengths {
  let [min, max] = [0, Infinity];
  for (const step of partsOf(patterns)) {
    const lengths = step.map(lengthsOf);
    min = Math.max(min, Math.min(...lengths.map((one) => one.min)));
    max = Math.min(max, Math.max(...lengths.map((one) => one.max)));
  }
  return { min, max };
}

/** True if a text that the patterns allow may contain the character. */
export function mayHoldCharacter(patterns: Patterns, character: string): boolean {
  return partsOf(patterns).every((step) => step.some((part) => holds(part, character)));
}

/** True if the patterns as written only allow ASCII: checks ranges and characters, not names of classes. */
export function holdsAsciiAlone(patterns: Patterns): boolean {
  return partsOf(patterns).some((step) => step.every(isAsciiAlone));
}

export function isAsciiAlone(part: PatternPart): boolean {
  switch (part.kind) {
    case 'character':
      return !/\\p|\\P|\^|\\[sS]|[^\0-\x7F]|\\u\{(?:[89a-f][0-9a-f]|[0-9a-f]{3,})\}/u.test(part.source);
    case 'sequence':
      return part.items.every(isAsciiAlone);
    case 'choice':
      return part.options.every(isAsciiAlone);
    case 'repeat':
      return isAsciiAlone(part.item);
  }
}

/** steps of a search, beyond which a pattern counts as one that allows the text */
const maxSteps = 20_000;

/** True if the patterns may allow the text, as far as a search of limited time shows; meant for short texts. */
export function mayAllowText(patterns: Patterns, text: string): boolean {
  return partsOf(patterns).every((step) => step.some((part) => new TextSearch(text).mayMatch(part)));
}

/** Returns the parts of the patterns without those that are not valid regular expressions. */
export function partsOf(patterns: Patterns): PatternPart[][] {
  return patterns
    .map((step) => step.map(readPattern))
    .filter((step): step is PatternPart[] => step.length > 0 && !step.includes(null));
}

function lengthsOf(part: PatternPart): TextLengths {
  switch (part.kind) {
    case 'character':
      return { min: 1, max: 1 };
    case 'sequence': {
      const all = part.items.map(lengthsOf);
      return { min: sum(all.map(({ min }) => min)), max: sum(all.map(({ max }) => max)) };
    }
    case 'choice': {
      const all = part.options.map(lengthsOf);
      return { min: Math.min(...all.map(({ min }) => min)), max: Math.max(...all.map(({ max }) => max)) };
    }
    case 'repeat': {
      const { min, max } = lengthsOf(part.item);
      // zero repetitions of an unbounded part are nothing
      return { min: min * part.min, max: part.max === 0 || max === 0 ? 0 : max * part.max };
    }
  }
}

function holds(part: PatternPart, character: string): boolean {
  switch (part.kind) {
    case 'character':
      return isOneOf(part.source, character);
    case 'sequence':
      return part.items.some((item) => holds(item, character));
    case 'choice':
      return part.options.some((option) => holds(option, character));
    case 'repeat':
      return part.max > 0 && holds(part.item, character);
  }
}

class TextSearch {
  readonly #text: readonly string[];
  #steps = 0;

  constructor(text: string) {
    this.#text = [...text];
  }

  mayMatch(part: PatternPart): boolean {
    const ends = this.#endsOf(part, new Set([0]));
    return ends.has(this.#text.length) || this.#steps > maxSteps;
  }

  /** Returns the possible ends of the part when it begins at one of these places. */
  #endsOf(part: PatternPart, starts: ReadonlySet<number>): ReadonlySet<number> {
    this.#steps += 1;
    if (this.#steps > maxSteps || starts.size === 0) return new Set();
    const text = this.#text;
    switch (part.kind) {
      case 'character':
        return new Set(
          [...starts].flatMap((at) => (at < text.length && isOneOf(part.source, text[at]!) ? [at + 1] : [])),
        );
      case 'sequence':
        return part.items.reduce((ends, item) => this.#endsOf(item, ends), starts);
      case 'choice':
        return new Set(part.options.flatMap((option) => [...this.#endsOf(option, starts)]));
      case 'repeat':
        return this.#endsOfRepeat(part, starts);
    }
  }

  #endsOfRepeat(
    { item, min, max }: PatternPart & { readonly kind: 'repeat' },
    starts: ReadonlySet<number>,
  ): ReadonlySet<number> {
    const all = new Set(min === 0 ? starts : []);
    let ends = starts;
    for (let times = 1; times <= max && ends.size > 0; times += 1) {
      const next = this.#endsOf(item, ends);
      // if a repetition adds no new ends, further repetitions do not either
      const isSettled = isSame(next, ends);
      if (times >= min || isSettled) for (const end of next) all.add(end);
      if (isSettled || times - min > this.#text.length) break;
      ends = next;
    }
    return all;
  }
}

/** True if a part of the kind `character` matches this one. */
export function isOneOf(source: string, character: string): boolean {
  return new RegExp(`^${source}$`, 'v').test(character);
}

function isSame(some: ReadonlySet<number>, others: ReadonlySet<number>): boolean {
  return some.size === others.size && some.isSubsetOf(others);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
