/** A folder while it is read: nobody else writes into it, or, where no lock can be made there, whatever was written meanwhile is known at the end. */
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../../errors.ts';
import { isDeadLock, lockFolder, lockName } from '../../../../adapters/file-staging/lock.ts';
import { journalName, manifestName } from '../../place/journal.ts';
import { HeldDiskPlace } from '../../place/disk.ts';
import { endStep, folderRecords } from '../place.ts';

export interface ReadingTurn {
  /** AppError `conflict`: jobs have published there since, without a lock that would have kept them away. To be called once. */
  end(): Promise<void>;
}

/** as for a writer */
const waitMs = 15 * 60_000;
const pollMs = 100;
/** a lock of another machine that was not refreshed for so long is a dead one's, as far as this machine's clock tells */
const staleMs = 60_000;

/**
 * What a job began to publish there, and died over, is published first. AppError `conflict`: that cannot be done where nothing can be
 * written; `service_unavailable`: another job writes there, and goes on to.
 */
export async function readingTurn(
  directory: string,
  label: string,
  lockIn: typeof lockFolder = lockFolder,
): Promise<ReadingTurn> {
  const lock = await lockIn(directory, waitMs, label).catch((error: unknown) => {
    if (isReadOnly(error)) return null;
    throw error;
  });
  if (lock === null) return unlockedTurn(directory, label);
  const held = new HeldDiskPlace(directory, label, folderRecords, lock, () => lock.release());
  try {
    await endStep(held);
  } catch (error) {
    await held.release();
    throw error;
  }
  return { end: () => held.release() };
}

/** The file system, or the user's rights: other files than ours may be written all the same, by others. */
function isReadOnly(error: unknown): boolean {
  return ['EROFS', 'EACCES', 'EPERM'].includes(String((error as { code?: unknown }).code));
}

/** A job writes its journal first, then moves files, writes the manifest, and removes the journal: files that the manifest lists are whole without one. */
async function unlockedTurn(directory: string, label: string): Promise<ReadingTurn> {
  const deadline = Date.now() + waitMs;
  while (await isHeld(join(directory, lockName))) {
    if (Date.now() > deadline)
      throw new AppError('service_unavailable', `Another job has been writing into ${label} for long.`);
    await sleep(pollMs);
  }
  if (await isThere(join(directory, journalName)))
    throw new AppError(
      'conflict',
      `${label}: a job died while it published there, and it cannot be brought to an end where nothing can be written; read it once with the right to write, or load it again.`,
    );
  const before = await manifestText(directory);
  return {
    end: async () => {
      if (!(await isThere(join(directory, journalName))) && (await manifestText(directory)) === before)
        return;
      throw new AppError(
        'conflict',
        `${label}: a job published there while it was read, which no lock kept away, as none can be made there; what was written of it may be of before and after: run it again.`,
      );
    },
  };
}

async function isHeld(path: string): Promise<boolean> {
  if (!(await isThere(path))) return false;
  try {
    return !(await isDeadLock(path));
  } catch (error) {
    // of another machine: what time it is there cannot be asked where nothing can be written
    if (!isReadOnly(error)) throw error;
    const found = await lstat(path).catch(() => null);
    return found !== null && Date.now() - found.mtimeMs <= staleMs;
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

function manifestText(directory: string): Promise<string | null> {
  return readFile(join(directory, manifestName), 'utf8').catch(() => null);
}
