/**
 * Shares the turns of a scheduler between organisations. An organisation may have at most as many turns at a time as are free. It
 * therefore never has more than half of them, and even if slow places of several organisations hold turns, one is left for the next. Of
 * organisations whose watches are due, the one that was served longest ago comes first.
 */
import type { ClaimShares } from '../../ports/stores/watches.ts';

export interface TurnShares {
  /** number of free turns */
  free(): number;
  /** The organisations that get no turn now, and in which order the others do. */
  claims(): ClaimShares;
  /** Takes a turn for the organisation. Returns the function that releases it, which does nothing when called again. */
  take(idOrg: number): () => void;
}

/** Organisations whose order is remembered; earlier turns are forgotten. */
const mostServed = 1000;

/** `turns`: how many there are, at least 2. */
export function createTurnShares(turns: number): TurnShares {
  const taken = new Map<number, number>();
  // organisations in the order of their last turns
  const served = new Set<number>();
  let free = turns;
  return {
    free: () => free,
    claims: () => ({
      without: [...taken].filter(([, count]) => count >= free).map(([idOrg]) => idOrg),
      served: [...served],
    }),
    take(idOrg) {
      free -= 1;
      taken.set(idOrg, (taken.get(idOrg) ?? 0) + 1);
      served.delete(idOrg);
      served.add(idOrg);
      for (const earliest of served) {
        if (served.size <= mostServed) break;
        served.delete(earliest);
      }
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        free += 1;
        const rest = taken.get(idOrg)! - 1;
        if (rest === 0) taken.delete(idOrg);
        else taken.set(idOrg, rest);
      };
    },
  };
}
