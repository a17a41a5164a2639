/** Measures the values that a consumer joins from several TEXT records, including across batches. */
import { KIND_END, KIND_MASK, KIND_START, KIND_TEXT, RECORD_INTS } from './tokens.ts';

/**
 * Bytes of text that the batch ends with, which the next may go on with; of a value that is over `max`, what it has. `before`: what the
 * batch before ended with. `mayHoldOne`: `max` is small enough for a value that begins and ends in the batch to be over it; else only
 * its ends are looked at. `count`: ints of `events`.
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
