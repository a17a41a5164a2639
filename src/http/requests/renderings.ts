/** Long maps, diagrams and scripts: how many of one organisation are rendered at once in this process. */
import { createSlots, type Slots } from '../../transfer/turns.ts';

/** Limits renderings: each takes some hundred megabytes and seconds. */
export function createRenderings(): Slots {
  return createSlots({ running: 1, waiting: 20, what: 'maps, diagrams and scripts' });
}
