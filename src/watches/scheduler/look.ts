/** Looks at the location of a watch: the objects found are recorded, some at a time. */
import { AppError } from '../../errors.ts';
import type { MetObject, WatchClaim } from '../../ports/stores/watches.ts';
import { openPlace } from '../place.ts';
import { removesGone } from '../request.ts';
import { LookLimit } from './look-limit.ts';
import type { TurnOptions } from './options.ts';

/** objects that are recorded at once */
const chunk = 1000;
/** characters of all names of a watch whose files are removed when they go: these are held to the end of a look */
const mostNameCharacters = 32 * 1024 * 1024;

/** False: the claim is lost. AppErrors of the location. */
export async function look(
  { schedule, locations, adapters }: Pick<TurnOptions, 'schedule' | 'locations' | 'adapters'>,
  claim: WatchClaim,
  signal: AbortSignal,
): Promise<boolean> {
  const sinceMs = await schedule.beginLook(claim);
  if (sinceMs === null) return false;
  const location = await locations.open(await openPlace(adapters.secrets, claim), signal);
  const names: string[] | null = removesGone(claim.watch.options) ? [] : null;
  let characters = 0;
  let met: MetObject[] = [];
  for await (const object of location.objects()) {
    signal.throwIfAborted();
    met.push(object);
    names?.push(object.name);
    if (names !== null && (characters += object.name.length) > mostNameCharacters)
      throw new LookLimit(
        `its names of files have more than ${mostNameCharacters} characters: watch parts of it, or without --delete-missing`,
      );
    if (met.length < chunk) continue;
    if (!(await schedule.recordObjects(claim, met))) return false;
    met = [];
  }
  if (met.length > 0 && !(await schedule.recordObjects(claim, met))) return false;
  const { fileSystem } = location;
  if (names?.length === 0) checkMounted(claim, fileSystem);
  return schedule.endLook(claim, sinceMs, names, fileSystem);
}

/**
 * Throws an AppError if files that were loaded were in another place: an unmounted folder is empty, and so is a store that took
 * another's place.
 */
function checkMounted({ watch, fileSystem: before }: WatchClaim, found: string | null): void {
  if (before === null || found === null || found === before || watch.files.loaded === 0) return;
  const elsewhere = before.includes('://')
    ? `in another store (${before}): nothing is removed from the target; name that one again`
    : 'on another file system, which is not mounted there now: nothing is removed from the target; mount it again';
  throw new AppError(
    'service_unavailable',
    `it is empty, and its files lay ${elsewhere}, or, where the files are gone for good, say so by PATCH with {"paused": false}`,
  );
}
