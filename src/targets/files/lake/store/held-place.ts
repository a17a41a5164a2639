/** A folder of tables, held: no other job of ours writes into it meanwhile, and nothing that dead ones left is in the way. */
import { finishStep } from '../commit/finish-step.ts';
import type { HeldPlace, LakeTarget } from './place.ts';

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
