/** The machine's clock. */
import type { Clock } from '../../ports/environment.ts';

export function createSystemClock(): Clock {
  return { nowMs: () => Date.now() };
}
