/** Assigns a few slots fairly: organisations take turns, however many requests any of them has. */
import { AppError } from '../../errors.ts';

export interface TurnSettings {
  /** slots in all */
  readonly slots: number;
  /** slots that one organisation may hold */
  readonly slotsOfOne: number;
  /** requests of one organisation that wait; past it AppError `too_many_requests` */
  readonly mostWaiting: number;
  /** past it AppError `service_unavailable` */
  readonly waitMs: number;
  /** noun for what callers wait for, as in "the organisation has 20 … waiting" */
  readonly what: string;
}

export interface Turns {
  /** Waits for a slot, `waitMs` at most; returns a function that gives the slot back, to be called once. */
  take(idOrg: number, waitMs?: number): Promise<() => void>;
}

export function createTurns(settings: TurnSettings): Turns {
  const held = new Map<number, number>();
  /** by organisation; an organisation that was served moves to the end */
  const waiting = new Map<number, (() => void)[]>();
  let free = settings.slots;

  function mayTake(idOrg: number): boolean {
    return free > 0 && (held.get(idOrg) ?? 0) < settings.slotsOfOne;
  }

  function enter(idOrg: number): void {
    free -= 1;
    held.set(idOrg, (held.get(idOrg) ?? 0) + 1);
  }

  function leave(idOrg: number): void {
    free += 1;
    const left = (held.get(idOrg) ?? 1) - 1;
    if (left === 0) held.delete(idOrg);
    else held.set(idOrg, left);
    for (const [next, those] of waiting) {
      if (!mayTake(next)) continue;
      const [first, ...rest] = those;
      waiting.delete(next);
      if (rest.length > 0) waiting.set(next, rest);
      enter(next);
      first!();
      return;
    }
  }

  function wait(idOrg: number, waitMs: number): Promise<void> {
    const those = waiting.get(idOrg) ?? [];
    if (those.length >= settings.mostWaiting)
      throw refusal('too_many_requests', `the organisation has ${those.length} ${settings.what} waiting`);
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        const rest = (waiting.get(idOrg) ?? []).filter((other) => other !== start);
        if (rest.length > 0) waiting.set(idOrg, rest);
        else waiting.delete(idOrg);
        reject(refusal('service_unavailable', `${settings.what} before it take long`));
      }, waitMs);
      waiting.set(idOrg, [...those, start]);
    });
  }

  return {
    async take(idOrg, waitMs = settings.waitMs) {
      if (mayTake(idOrg) && !waiting.has(idOrg)) enter(idOrg);
      else await wait(idOrg, waitMs);
      return () => leave(idOrg);
    },
  };
}

function refusal(code: 'too_many_requests' | 'service_unavailable', detail: string): AppError {
  return new AppError(code, `${detail}: try again later`, { headers: { 'Retry-After': '10' } });
}
