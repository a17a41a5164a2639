/** A folder of tables that stands still while one looks at it: held, so that no other job of ours writes into it, or looked at again where a job wrote meanwhile. */
import { finishStep } from '../commit/finish-step.ts';
import type { HeldPlace, LakeTarget, LakePlace } from './place.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../../errors.ts';

/** Waits for others, and ends what a dead one had decided. */
export async function holdPlace(target: LakeTarget, makes: boolean): Promise<HeldPlace> {
  const place = await target.hold(makes);
  try {
    await finishStep(place, { isRecovery: true });
    await place.sweep();
    return place;
  } catch (error) {
    await place.release();
    throw error;
  }
}

/** a step that takes longer is a dead one's, which is to be ended */
const stepMs = 60_000;
const pollMs = 500;
const mostLooks = 20;

export interface ReadPlace<T> {
  readonly found: T;
  release(): Promise<void>;
}

/** What `look` finds between two jobs; `drop` undoes what it found in vain. AppError `service_unavailable` where jobs leave no time between them. */
export async function readBetweenJobs<T>(
  target: LakeTarget,
  look: (place: LakePlace) => Promise<T>,
  drop: (found: T) => void,
): Promise<ReadPlace<T>> {
  if (target.openSteady === undefined) {
    const place = await holdPlace(target, false);
    try {
      return { found: await look(place), release: () => place.release() };
    } catch (error) {
      await place.release();
      throw error;
    }
  }
  const deadline = Date.now() + stepMs;
  for (let looks = 0; looks < mostLooks; looks += 1) {
    const place = await target.openSteady();
    if ((await place.readStep()) === null) {
      const found = await look(place);
      if (await place.isSteady()) return { found, release: () => Promise.resolve() };
      drop(found);
    } else if (Date.now() > deadline) await (await holdPlace(target, false)).release();
    else {
      looks -= 1;
      await sleep(pollMs);
    }
  }
  throw new AppError(
    'service_unavailable',
    `${target.label}: jobs write there without a pause; run it again later.`,
  );
}
