/**
 * Translates the patterns of XSD types to regular expressions (XSD Part 2, Appendix F), and decides which texts they allow. That decision
 * evaluates the pattern itself, because matching a regular expression may take unbounded time.
 */
import type { Facets } from '../../model/source-model.ts';

/** A part of a pattern: one character of a set, a sequence, a choice, or a repetition. */
export type PatternPart =
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'sequence'; readonly items: readonly PatternPart[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternPart[] }
  | {
      readonly kind: 'repeat';
      readonly item: PatternPart;
      readonly min: number;
      /** Infinity: any number */
      readonly max: number;
      /** the quantifier as it is written */
      readonly source: string;
    };

/** The translation, anchored at both ends; null when the pattern is not a regular expression of the standard. */
export function translatePattern(pattern: string): RegExp | null {
  const read = readPattern(pattern);
  return read === null ? null : compiled(`^(?:${sourceOf(read)})$`);
}

/** Its parts; null when the pattern is not a regular expression of the standard. */
function readPattern(pattern: string): PatternPart | null {
  try {
    return createReader(pattern).read();
  } catch (error) {
    if (error instanceof PatternError) return null;
    throw error;
  }
}

function compiled(source: string): RegExp | null {
  try {
    return new RegExp(source, 'v');
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function sourceOf(part: PatternPart): string {
  switch (part.kind) {
    case 'character':
      return part.source;
    case 'sequence':
      return part.items.map(grouped).join('');
    case 'choice':
      return part.options.map(sourceOf).join('|');
    case 'repeat':
      return grouped(part.item) + part.source;
  }
}

function grouped(part: PatternPart): string {
  return part.kind === 'choice' ? `(?:${sourceOf(part)})` : sourceOf(part);
}

class PatternError extends Error {}

function one(source: string): PatternPart {
  return { kind: 'character', source };
}

const maxNesting = 500;

const nameStart = '[_:\\p{L}]';
const nameCharacter = '[_:\\-.\\p{L}\\p{Nd}\\p{Mc}\\p{Mn}\\u00B7]';
const classEscapes: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: '[ \\t\\n\\r]',
  S: '[^ \\t\\n\\r]',
  i: nameStart,
  I: `[^${nameStart}]`,
  c: nameCharacter,
  C: `[^${nameCharacter}]`,
  w: '[^\\p{P}\\p{Z}\\p{C}]',
  W: '[\\p{P}\\p{Z}\\p{C}]',
};
const characterEscapes: Readonly<Record<string, string>> = { n: '\\n', r: '\\r', t: '\\t' };
const singleEscapes = '\\|.?*+(){}-[]^nrt';
const categories = /^(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)$/u;

/** A character as itself, inside a class or outside. */
function literal(character: string): string {
  const special = /[\^$\\.*+?()[\]{}|/\-&!#%,:;<=>@`~]/u.test(character);
  return special ? `\\u{${character.codePointAt(0)!.toString(16)}}` : character;
}

function createReader(pattern: string) {
  const characters = [...pattern];
  let at = 0;
  let depth = 0;
  const fail = (): never => {
    throw new PatternError(pattern);
  };
  const escape = (): { text: string; single: string | null } => {
    const character = characters[at++] ?? fail();
    if (character === 'p' || character === 'P') {
      if (characters[at++] !== '{') fail();
      const end = characters.indexOf('}', at);
      if (end < 0) fail();
      const property = characters.slice(at, end).join('');
      at = end + 1;
      if (/^Is[a-zA-Z0-9-]+$/u.test(property))
        return { text: character === 'p' ? '[\\s\\S]' : '[\\s\\S]', single: null };
      if (!categories.test(property)) fail();
      return { text: `\\${character}{${property}}`, single: null };
    }
    const classEscape = classEscapes[character];
    if (classEscape !== undefined) return { text: classEscape, single: null };
    if (!singleEscapes.includes(character)) fail();
    const text = characterEscapes[character] ?? literal(character);
    return {
      text,
      single:
        characterEscapes[character] === undefined ? character : { n: '\n', r: '\r', t: '\t' }[character]!,
    };
  };

  /** A class after its opening bracket, up to and with the closing one. */
  const characterClass = (): string => {
    if (++depth > maxNesting) fail();
    const negated = characters[at] === '^';
    if (negated) at++;
    const parts: string[] = [];
    let subtracted = '';
    let previous: string | null = null;
    for (;;) {
      const character = characters[at++] ?? fail();
      if (character === ']') {
        if (parts.length === 0) fail();
        break;
      }
      if (character === '-' && characters[at] === '[') {
        if (parts.length === 0) fail();
        at++;
        subtracted = characterClass();
        if (characters[at++] !== ']') fail();
        break;
      }
      if (character === '[') fail();
      if (character === '-' && previous !== null && characters[at] !== ']' && characters[at] !== undefined) {
        const next = characters[at++]!;
        if (next === '[') fail();
        const end: string | null = next === '\\' ? escape().single : next;
        if (end === null || previous.codePointAt(0)! > end.codePointAt(0)!) fail();
        parts[parts.length - 1] = `${literal(previous)}-${literal(end!)}`;
        previous = null;
        continue;
      }
      if (character === '\\') {
        const { text, single } = escape();
        parts.push(text);
        previous = single;
      } else {
        parts.push(literal(character));
        previous = character;
      }
    }
    depth--;
    const positive = `[${negated ? '^' : ''}${parts.join('')}]`;
    return subtracted === '' ? positive : `[${positive}--${subtracted}]`;
  };

  const repeated = (item: PatternPart): PatternPart => {
    const character = characters[at];
    if (character === '?' || character === '*' || character === '+') {
      at++;
      const min = character === '+' ? 1 : 0;
      return { kind: 'repeat', item, min, max: character === '?' ? 1 : Infinity, source: character };
    }
    if (character !== '{') return item;
    const end = characters.indexOf('}', at);
    const source = end < 0 ? '' : characters.slice(at, end + 1).join('');
    const bounds = /^\{(\d+)(,(\d*))?\}$/u.exec(source) ?? fail();
    const min = Number(bounds[1]);
    const max = bounds[2] === undefined ? min : bounds[3] === '' ? Infinity : Number(bounds[3]);
    if (min > max) fail();
    at = end + 1;
    return { kind: 'repeat', item, min, max, source };
  };

  const expression = (): PatternPart => {
    if (++depth > maxNesting) fail();
    const options: PatternPart[][] = [[]];
    for (;;) {
      const character = characters[at];
      if (character === undefined || character === ')') break;
      at++;
      if (character === '|') {
        options.push([]);
        continue;
      }
      let atom: PatternPart;
      if (character === '(') {
        atom = expression();
        if (characters[at++] !== ')') fail();
      } else if (character === '[') atom = one(characterClass());
      else if (character === '\\') atom = one(escape().text);
      else if (character === '.') atom = one('[^\\n\\r]');
      else if ('?*+{}]'.includes(character)) atom = fail();
      else atom = one(literal(character));
      options.at(-1)!.push(repeated(atom));
    }
    depth--;
    return { kind: 'choice', options: options.map((items) => ({ kind: 'sequence', items })) };
  };

  return {
    read(): PatternPart {
      const read = expression();
      if (at < characters.length) fail();
      return read;
    },
  };
}

// Follows patterns of strings through all texts that they allow, as long as these are of one kind: numbers, or dates.

/** A kind of text, by how far its beginnings are one. */
export interface TextKind<State extends string | number, Sign extends string> {
  /** before the first character */
  readonly start: State;
  /**
   * possible roles of a pattern's character, as far as `follow` distinguishes characters; null: no text of the kind has the character, or
   * nothing matches
   */
  readonly signsOf: (character: PatternPart & { readonly kind: 'character' }) => readonly Sign[] | null;
  /** null: the text is then not of the kind */
  readonly follow: (state: State, sign: Sign) => State | null;
}

export const ascii: readonly string[] = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

/** the most steps of a search; a pattern that needs more is treated as one that allows other texts, too */
const maxSteps = 5000;

/** Returns the possible ends of the texts of a choice, or null if one of them is not of the kind, or if the search takes too long. */
export function endsOfTexts<State extends string | number, Sign extends string>(
  options: readonly PatternPart[],
  kind: TextKind<State, Sign>,
): ReadonlySet<State> | null {
  return new PatternSearch(kind).endsOf({ kind: 'choice', options }, new Set([kind.start]));
}

class PatternSearch<State extends string | number, Sign extends string> {
  readonly #kind: TextKind<State, Sign>;
  readonly #signs = new Map<string, readonly Sign[] | null>();
  #steps = 0;

  constructor(kind: TextKind<State, Sign>) {
    this.#kind = kind;
  }

  endsOf(part: PatternPart, starts: ReadonlySet<State>): ReadonlySet<State> | null {
    this.#steps += 1;
    if (this.#steps > maxSteps) return null;
    switch (part.kind) {
      case 'character':
        return this.#afterCharacter(this.#signsOf(part), starts);
      case 'sequence':
        return part.items.reduce<ReadonlySet<State> | null>(
          (ends, item) => (ends === null ? null : this.endsOf(item, ends)),
          starts,
        );
      case 'choice':
        return union(part.options.map((option) => this.endsOf(option, starts)));
      case 'repeat':
        return this.#endsOfRepeat(part, starts);
    }
  }

  #signsOf(part: PatternPart & { readonly kind: 'character' }): readonly Sign[] | null {
    let known = this.#signs.get(part.source);
    if (known === undefined) this.#signs.set(part.source, (known = this.#kind.signsOf(part)));
    return known;
  }

  #afterCharacter(allowed: readonly Sign[] | null, starts: ReadonlySet<State>): ReadonlySet<State> | null {
    if (allowed === null) return null;
    const ends = new Set<State>();
    for (const start of starts)
      for (const sign of allowed) {
        const next = this.#kind.follow(start, sign);
        if (next === null) return null;
        ends.add(next);
      }
    return ends;
  }

  #endsOfRepeat(
    { item, min, max }: PatternPart & { readonly kind: 'repeat' },
    starts: ReadonlySet<State>,
  ): ReadonlySet<State> | null {
    const all = new Set(min === 0 ? starts : []);
    let ends = starts;
    for (let times = 1; times <= max; times += 1) {
      const next = this.endsOf(item, ends);
      if (next === null) return null;
      const isSettled = next.size === ends.size && next.isSubsetOf(ends);
      if (times >= min || isSettled) for (const end of next) all.add(end);
      // digits of a second may repeat without end
      if (isSettled) break;
      ends = next;
    }
    return all;
  }
}

function union<State>(sets: readonly (ReadonlySet<State> | null)[]): ReadonlySet<State> | null {
  const all = new Set<State>();
  for (const set of sets) {
    if (set === null) return null;
    for (const one of set) all.add(one);
  }
  return all;
}

// The texts that all patterns of a type allow.

/** Characters of the texts that are allowed. */
interface TextLengths {
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
const maxDerivationSteps = 20_000;

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
    return ends.has(this.#text.length) || this.#steps > maxDerivationSteps;
  }

  /** Returns the possible ends of the part when it begins at one of these places. */
  #endsOf(part: PatternPart, starts: ReadonlySet<number>): ReadonlySet<number> {
    this.#steps += 1;
    if (this.#steps > maxDerivationSteps || starts.size === 0) return new Set();
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
