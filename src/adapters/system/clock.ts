/** The machine's clock. */
import type { Clock } from '../../ports/clock.ts';

export function createSystemClock(): Clock {
  return { nowMs: () => Date.now() };
}
