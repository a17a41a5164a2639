/** Measures the values that a consumer joins from several TEXT records, including across batches. */
import { KIND_END, KIND_MASK, KIND_START, KIND_TEXT, RECORD_INTS } from './tokens.ts';

/**
 * Returns the bytes of text at the end of the batch that the next batch may continue, or the size of a value over `max`. `before`: the
 * result for the previous batch. `mayHoldOne`: `max` is so small that a value within the batch may exceed it; otherwise only the ends of
 * the batch are checked. `count`: ints of `events`.
 */
export function textRunAtEnd(
  events: Int32Array,
  count: number,
  before: number,
  max: number,
  mayHoldOne: boolean,
): number {
  let run = before;
  let n = 0;
  for (; n < count; n += RECORD_INTS) {
    const kind = events[n]! & KIND_MASK;
    if (kind === KIND_TEXT) run += events[n + 3]! - events[n + 2]!;
    else if (kind === KIND_START || kind === KIND_END) {
      if (run > max) return run;
      run = 0;
      if (!mayHoldOne) break;
    }
  }
  if (n === count) return run;
  for (n = count - RECORD_INTS; n >= 0; n -= RECORD_INTS) {
    const kind = events[n]! & KIND_MASK;
    if (kind === KIND_START || kind === KIND_END) return run;
    if (kind === KIND_TEXT) run += events[n + 3]! - events[n + 2]!;
  }
  return run;
}
