/** Counts the identity rules that documents broke. Of each fault, the first is reported. */
import { clarkName } from '../model/source-model.ts';
import type { TextLocation } from '../xml/tokens.ts';
import type { CompiledRule } from './compiled-rules.ts';

export interface BrokenRule {
  readonly name: string;
  readonly kind: 'key' | 'unique' | 'keyref';
  /** a value occurred twice; a field of a key was missing, or occurred more than once; a reference had no target */
  readonly fault: 'repeated' | 'incomplete' | 'dangling';
  count: number;
  /** the first fault: its values, and the end of its element */
  readonly sample: string;
  readonly document: string;
  readonly line: number;
  readonly column: number;
}

export type Place = Pick<TextLocation, 'line' | 'column'>;

export class BrokenRules {
  readonly list: BrokenRule[] = [];
  /** name of the present document */
  document = '';
  readonly #rules: readonly CompiledRule[];
  readonly #known = new Map<string, BrokenRule>();

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules;
  }

  /** True if the fault of the rule has not been reported. Only the first one is reported. */
  isNew(rule: number, fault: BrokenRule['fault']): boolean {
    return !this.#known.has(`${rule}/${fault}`);
  }

  /** `first`: returns the values and their place; called for the first fault only. */
  note(
    rule: number,
    fault: BrokenRule['fault'],
    first: () => { readonly values: readonly string[]; readonly place: Place },
    count = 1,
  ): void {
    const identity = `${rule}/${fault}`;
    const known = this.#known.get(identity);
    if (known !== undefined) {
      known.count += count;
      return;
    }
    const { name, kind } = this.#rules[rule]!;
    const { values, place } = first();
    const { line, column } = place;
    const sample = values.join(', ').slice(0, 200);
    const { document } = this;
    const entry = { name: clarkName(name), kind, fault, count, sample, document, line, column };
    this.#known.set(identity, entry);
    this.list.push(entry);
  }
}
