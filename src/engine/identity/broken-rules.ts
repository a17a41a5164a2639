/** Identity rules that documents broke, counted: of each fault the first is told. */
import { clarkName } from '../model/source-model.ts';
import type { TextLocation } from '../xml/tokens.ts';
import type { CompiledRule } from './compiled-rules.ts';

export interface BrokenRule {
  readonly name: string;
  readonly kind: 'key' | 'unique' | 'keyref';
  /** a value stood twice; a field of a key was not there, or more than once; a reference led nowhere */
  readonly fault: 'repeated' | 'incomplete' | 'dangling';
  count: number;
  /** the first: its values, and where its element ends */
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

  /** `first`: the values and their place, asked for where it is the first. */
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
