/**
 * Limits the transfers of one organisation that run at once in this process: each is a program of its own, and its caller waits for it.
 */
import { AppError } from '../errors.ts';

export interface Slots {
  /** Does the work once there is a slot. AppError `too_many_requests` if too many wait already. */
  within<T>(idOrg: number, work: () => Promise<T>): Promise<T>;
}

const retryAfterSeconds = 5;

/** `running` and `waiting`: limits for one organisation; `what`: noun for the work, in the plural. */
export function createSlots({
  running,
  waiting,
  what = 'exports and imports',
}: {
  readonly running: number;
  readonly waiting: number;
  readonly what?: string;
}): Slots {
  const byOrg = new Map<number, { taken: number; readonly queue: (() => void)[] }>();

  async function take(idOrg: number): Promise<void> {
    const slots = byOrg.get(idOrg) ?? { taken: 0, queue: [] };
    byOrg.set(idOrg, slots);
    if (slots.taken < running) {
      slots.taken += 1;
      return;
    }
    if (slots.queue.length >= waiting)
      throw new AppError('too_many_requests', `too many ${what} of this organisation wait`, {
        headers: { 'Retry-After': String(retryAfterSeconds) },
      });
    await new Promise<void>((resolve) => slots.queue.push(resolve));
  }

  /** The slot goes to who has waited for longest. */
  function giveUp(idOrg: number): void {
    const slots = byOrg.get(idOrg)!;
    const next = slots.queue.shift();
    if (next !== undefined) next();
    else if (slots.taken > 1) slots.taken -= 1;
    else byOrg.delete(idOrg);
  }

  return {
    async within(idOrg, work) {
      await take(idOrg);
      try {
        return await work();
      } finally {
        giveUp(idOrg);
      }
    },
  };
}
