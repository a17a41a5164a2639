/** Follows patterns of strings through all texts that they allow, as long as these are of one kind: numbers, or dates. */
import type { PatternPart } from './pattern.ts';

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
