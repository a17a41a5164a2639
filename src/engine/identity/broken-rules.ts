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

export class BrokenRules {
  readonly list: BrokenRule[] = [];
  /** name of the present document */
  document = '';
  readonly #rules: readonly CompiledRule[];
  readonly #known = new Map<string, BrokenRule>();

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules;
  }

  note(
    rule: number,
    fault: BrokenRule['fault'],
    values: readonly (string | null)[],
    { line, column }: TextLocation,
    count = 1,
  ): void {
    const identity = `${rule}/${fault}`;
    const known = this.#known.get(identity);
    if (known !== undefined) {
      known.count += count;
      return;
    }
    const { name, kind } = this.#rules[rule]!;
    const sample = values
      .map((value) => value ?? '')
      .join(', ')
      .slice(0, 200);
    const { document } = this;
    const entry = { name: clarkName(name), kind, fault, count, sample, document, line, column };
    this.#known.set(identity, entry);
    this.list.push(entry);
  }
}
