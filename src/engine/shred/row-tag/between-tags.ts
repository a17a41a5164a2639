/** Of a range that is read between tags of elements around it: its own records, without those of these tags. */
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
  /** start tags that are still to come before the range */
  #lead = 0;
  /** the last of them may have declarations and attributes */
  #inLead = false;
  /** offset behind the range, once what comes may lie there; Infinity */
  #end = Infinity;

  constructor(consume: ConsumeBatch) {
    this.#consume = consume;
  }

  /** `tags`: how many start tags stand before the range. */
  begin(tags: number): void {
    this.#lead = tags;
    this.#inLead = tags > 0;
    this.#end = Infinity;
  }

  /** Of what comes from now on, nothing from that offset of the document on is the range's. */
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
