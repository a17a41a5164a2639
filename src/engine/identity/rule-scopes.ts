/** Open elements that declare rules, with the values of their rules. */
import type { TextLocation } from '../xml/tokens.ts';
import { RuleValues, INNER } from './rule-values.ts';

export class RuleScope {
  rules: readonly number[] = [];
  /** memory of its values, more or less */
  held = 0;
  /** by rule: values of keys, of references that have not occurred as keys, and of keys of elements inside */
  readonly values = new RuleValues();
  /** keyrefs that have references, in the order of their first one */
  readonly referring: number[] = [];
  /** by entry: the start of references' values that are stored in a short form */
  readonly longTexts = new Map<number, string>();
  /** entries of references whose place is not known yet, each with its record of the present batch */
  readonly unplaced: number[] = [];

  begin(rules: readonly number[]): void {
    this.rules = rules;
    this.held = 0;
    this.clear();
  }

  clear(): void {
    // most elements that declare rules have few values or none, and clearing an empty table has a cost
    if (this.values.count === 0) return;
    this.values.clear();
    if (this.longTexts.size > 0) this.longTexts.clear();
    if (this.referring.length > 0) this.referring.length = 0;
    if (this.unplaced.length > 0) this.unplaced.length = 0;
  }

  /** True if a reference's value has occurred as a key, here or in elements inside. */
  isFound(entry: number, refers: number): boolean {
    return this.values.has(entry, refers) || this.values.has(entry, refers + INNER);
  }

  /**
   * Stores the places of references that are not keys yet, because their records are about to be discarded. `refers`: returns the key of
   * a keyref, or -1.
   */
  placeAll(locate: (recordIndex: number) => TextLocation, refers: (rule: number) => number): void {
    const { unplaced, values } = this;
    for (let at = 0; at < unplaced.length; at += 2) {
      const entry = unplaced[at]!;
      if (!this.isFound(entry, refers(values.rule(entry)))) values.setPlace(entry, locate(unplaced[at + 1]!));
    }
    if (unplaced.length > 0) unplaced.length = 0;
  }

  /** References that lead nowhere, by keyref in the order of their first reference. */
  dangling(refers: (rule: number) => number): number[] {
    const { values, referring } = this;
    if (referring.length === 0) return [];
    const found: number[] = [];
    for (let entry = 0; entry < values.count; entry += 1) {
      const key = refers(values.rule(entry));
      if (key >= 0 && !this.isFound(entry, key)) found.push(entry);
    }
    return found.toSorted(
      (a, b) => referring.indexOf(values.rule(a)) - referring.indexOf(values.rule(b)) || a - b,
    );
  }
}
