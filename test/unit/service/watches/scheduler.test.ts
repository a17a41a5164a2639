/** How a scheduler shares its turns, and the time limit of a look. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/errors.ts';
import type { ClaimRelease, WatchClaim, WatchSchedule } from '../../../../src/ports/stores/watches.ts';
import type { WatchedLocation, WatchedPlace } from '../../../../src/ports/network.ts';
import {
  LookLimit,
  limitLook,
  type TurnOptions,
  createTurnShares,
  type TurnShares,
  takeTurn,
} from '../../../../src/service/watches/turn.ts';

/** Takes turns of these organisations, each as often as it gets one. */
function takeAll(shares: TurnShares, idOrg: number): number {
  let count = 0;
  while (shares.free() > 0 && !shares.claims().without.includes(idOrg)) {
    shares.take(idOrg);
    count += 1;
  }
  return count;
}

describe('turns of a scheduler', () => {
  it.each([
    [2, [1, 1]],
    [4, [2, 1, 1]],
    [8, [4, 2, 1, 1]],
  ])('of %i, one organisation gets half, and others half of the rest', (turns, expected) => {
    const shares = createTurnShares(turns);
    expect(expected.map((_, at) => takeAll(shares, at + 1))).toEqual(expected);
    expect(shares.free()).toBe(0);
  });

  it('go to the organisation that was served longest ago, and each is given back once', () => {
    const shares = createTurnShares(4);
    const first = shares.take(7);
    shares.take(8)();
    first();
    first();
    expect(shares.free()).toBe(4);
    expect(shares.claims()).toEqual({ without: [], served: [7, 8] });
    shares.take(7)();
    expect(shares.claims().served).toEqual([8, 7]);
  });
});

describe('the time limit of a look', () => {
  const place: WatchedPlace = { idOrg: 1, location: 'x', pattern: null, credential: null, rows: null };
  const object = { name: 'a.xml', version: '1', bytes: 1, modified: null };
  const never = new Promise<never>(() => undefined);
  const signal = new AbortController().signal;
  let close: (() => void) | null = null;
  afterEach(() => close?.());
  const opened = (location: Partial<WatchedLocation>, seen?: (signal: AbortSignal) => void) => {
    const limited = limitLook(
      {
        open: async (_place, ended) => {
          seen?.(ended);
          return {
            fileSystem: null,
            objects: async function* () {
              yield object;
            },
            digest: async () => null,
            ...location,
          };
        },
      },
      80,
    );
    close = limited.close;
    return limited.open(place, signal);
  };

  it('lets a look be that ends in time', async () => {
    const location = await opened({});
    expect(await listed(location)).toEqual(['a.xml']);
    expect(await location.digest(object)).toBe(null);
  });

  it('ends a list without an end, and what reads it is told', async () => {
    let ended: AbortSignal | null = null;
    const location = await opened(
      {
        async *objects() {
          yield object;
          await never;
        },
      },
      (given) => (ended = given),
    );
    const error = await listed(location).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LookLimit);
    expect(error).toMatchObject({
      message: 'the list of files did not end within 0.08 s (svc.limits.look)',
    });
    expect(ended!.aborted).toBe(true);
  });

  it('ends a file without an end, and counts the time of the look as a whole', async () => {
    const location = await opened({ digest: () => never });
    await delay(60);
    const startedMs = performance.now();
    await expect(location.digest(object)).rejects.toThrow(
      'a.xml could not be read within 0.08 s (svc.limits.look)',
    );
    expect(performance.now() - startedMs).toBeLessThan(60);
    await expect(location.digest(object)).rejects.toBeInstanceOf(LookLimit);
  });

  it('ends a place that does not answer', async () => {
    const limited = limitLook({ open: () => never }, 50);
    close = limited.close;
    await expect(limited.open(place, signal)).rejects.toThrow('the place did not answer within 0.05 s');
  });
});

/** The release of a claim whose looks have failed so often before. */
async function releaseAfter(failedLooks: number): Promise<ClaimRelease> {
  const releases: ClaimRelease[] = [];
  const schedule: Pick<WatchSchedule, 'findOpenJob' | 'beginLook' | 'release'> = {
    findOpenJob: async () => null,
    beginLook: () => Promise.reject(new AppError('service_unavailable', 'it cannot be reached')),
    release: async (_claim, release) => releases.push(release) > 0,
  };
  const watch = { id_watch: 1, location: 'inbox', every: '1s', next_run: null, paused: false };
  const claim = { watch, nowMs: 1_000_000, failures: 0, failedLooks };
  const logger = { warn: () => undefined };
  const options = { schedule, logger, locations: {}, lookMs: 60_000 };
  const leaseMs = 30_000;
  await takeTurn(
    options as unknown as TurnOptions,
    claim as unknown as WatchClaim,
    leaseMs,
    new AbortController().signal,
  );
  expect(releases).toHaveLength(1);
  return releases[0]!;
}

describe('a look that fails', () => {
  it.each([
    [0, 5],
    [1, 10],
    [2, 20],
    [3, 40],
    [10, 900],
  ])(
    'after %i others is followed by a pause of %i s; the third one stalls the watch',
    async (before, seconds) => {
      const dueMs = 1_000_000 + seconds * 1000;
      const stalled = before >= 2 ? { stalled: 'inbox: it cannot be reached' } : {};
      expect(await releaseAfter(before)).toEqual({
        ran: true,
        nextRunMs: dueMs,
        dueMs,
        failedLooks: before + 1,
        ...stalled,
      });
    },
  );
});

async function listed(location: WatchedLocation): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of location.objects()) names.push(name);
  return names;
}
