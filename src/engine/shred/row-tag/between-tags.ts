/**
 * Reads a range between the tags of the elements around it. Passes on the records of the range itself and drops the records of these
 * tags.
 */
import {
  KIND_ATTRIBUTE,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  RECORD_INTS,
  type TextLocation,
  type TokenBatch,
} from '../../xml/tokens.ts';
import { PartOfBatch } from './part-of-batch.ts';

export type ConsumeBatch = (batch: TokenBatch, locate: (recordIndex: number) => TextLocation) => void;

export class BetweenTags {
  readonly #consume: ConsumeBatch;
  readonly #part = new PartOfBatch();
  /** number of start tags that still precede the range */
  #lead = 0;
  /** the last of them may have declarations and attributes */
  #inLead = false;
  /** end offset of the range, once it is known; Infinity before */
  #end = Infinity;

  constructor(consume: ConsumeBatch) {
    this.#consume = consume;
  }

  /** `tags`: number of start tags before the range. */
  begin(tags: number): void {
    this.#lead = tags;
    this.#inLead = tags > 0;
    this.#end = Infinity;
  }

  /** Ends the range at this offset of the document: later content at or after it does not belong to the range. */
  endAt(offset: number): void {
    this.#end = offset;
  }

  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void {
    const from = this.#inLead ? this.#leadRecords(batch) : 0;
    let to = batch.count;
    if (this.#end < Infinity) while (to > from && locate(to - 1).offset >= this.#end) to -= 1;
    if (from === 0 && to === batch.count) this.#consume(batch, locate);
    else if (from < to) this.#consume(this.#part.take(batch, from, to, locate), this.#part.locate);
  }

  #leadRecords({ events, count }: TokenBatch): number {
    for (let at = 0; at < count; at += 1) {
      const kind = events[at * RECORD_INTS]! & KIND_MASK;
      if (kind === KIND_START && this.#lead > 0) this.#lead -= 1;
      else if (this.#lead === 0 && kind !== KIND_NAMESPACE && kind !== KIND_ATTRIBUTE) {
        this.#inLead = false;
        return at;
      }
    }
    return count;
  }
}
