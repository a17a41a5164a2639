/** A view of a part of a token batch, for consumers that must not see the rest. */
import { RECORD_INTS, type TextLocation, type TokenBatch } from '../../xml/tokens.ts';

/** Some records of a batch: one for all that are handed over, as it is needed only meanwhile. */
export class PartOfBatch implements TokenBatch {
  events: Int32Array = new Int32Array(0);
  count = 0;
  bytes: Uint8Array = new Uint8Array(0);
  decoded: Uint8Array = new Uint8Array(0);
  /** index in the batch of the first record */
  from = 0;
  #whole: ((recordIndex: number) => TextLocation) | null = null;
  readonly locate = (recordIndex: number): TextLocation => this.#whole!(this.from + recordIndex);

  take(batch: TokenBatch, from: number, to: number, locate: (recordIndex: number) => TextLocation): this {
    const isWhole = from === 0 && to === batch.count;
    this.events = isWhole ? batch.events : batch.events.subarray(from * RECORD_INTS, to * RECORD_INTS);
    this.count = to - from;
    this.bytes = batch.bytes;
    this.decoded = batch.decoded;
    this.from = from;
    this.#whole = locate;
    return this;
  }
}
