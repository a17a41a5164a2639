/** Elements that selectors have found and that are open, with the values of their fields. */
import { ByteBuffer } from '../shred/rows/byte-buffer.ts';
import type { RuleScope } from './rule-scopes.ts';

/** An element that a selector found. Objects are reused. */
export interface Candidate {
  scope: RuleScope;
  rule: number;
  /** 1: has a value */
  readonly isSet: Uint8Array;
  /** values as they are compared; only the first `fields` of them are used */
  readonly values: readonly ByteBuffer[];
  fields: number;
  /** a field was found more than once */
  ambiguous: boolean;
  /** the values of several fields as one, and the hash of the whole value, once `isWhole` says that they are made */
  readonly tuple: ByteBuffer;
  hash: number;
  isWhole: boolean;
}

export class Candidates {
  readonly #all: Candidate[] = [];

  at(index: number): Candidate {
    return this.#all[index]!;
  }

  /** Begins the one at a place, above all that are open. */
  begin(index: number, scope: RuleScope, rule: number, fields: number): void {
    const known = this.#all[index];
    if (known === undefined || known.values.length < fields) {
      this.#all[index] = {
        scope,
        rule,
        isSet: new Uint8Array(fields),
        values: Array.from({ length: fields }, () => new ByteBuffer(32)),
        fields,
        ambiguous: false,
        tuple: new ByteBuffer(fields > 1 ? 64 : 0),
        hash: 0,
        isWhole: false,
      };
      return;
    }
    known.scope = scope;
    known.rule = rule;
    known.isSet.fill(0);
    known.fields = fields;
    known.ambiguous = false;
    known.isWhole = false;
  }
}

export function isComplete({ isSet, fields }: Candidate): boolean {
  for (let field = 0; field < fields; field += 1) if (isSet[field] === 0) return false;
  return true;
}
