/** Limits the number of logs that a key and an organisation follow at a time, in this process. */
import type { Principal } from '../../access/keys.ts';
import { AppError } from '../../errors.ts';
import type { Limits } from '../../config/limits.ts';

export interface Followers {
  /**
   * Takes a slot; returns the function that releases it, which may be called repeatedly. AppError `too_many_requests` if there is none.
   */
  enter(principal: Principal): () => void;
}

/** After this time a slot may well be free. */
const retryAfterS = 5;

export function createFollowers(
  limits: Pick<Limits, 'followersPerKey' | 'followersPerOrganisation'>,
): Followers {
  const counts = new Map<string, number>();

  function add(name: string, by: 1 | -1): void {
    const count = (counts.get(name) ?? 0) + by;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  }

  function check(name: string, most: number, who: string, property: string): void {
    if ((counts.get(name) ?? 0) < most) return;
    throw new AppError(
      'too_many_requests',
      `${who} follows ${most} logs already, or waits for as many jobs (${property}): end one, or read the log without following it`,
      { headers: { 'Retry-After': String(retryAfterS) } },
    );
  }

  return {
    enter({ idOrg, idKey }) {
      const names = [`key ${idOrg} ${idKey}`, `organisation ${idOrg}`] as const;
      check(names[0], limits.followersPerKey, 'this key', 'svc.limits.followers_per_key');
      check(names[1], limits.followersPerOrganisation, 'this organisation', 'svc.limits.followers_per_org');
      for (const name of names) add(name, 1);
      let inside = true;
      return () => {
        if (inside) for (const name of names) add(name, -1);
        inside = false;
      };
    },
  };
}
