/** A folder of tables, held: no other job of ours writes into it meanwhile, and nothing that dead ones left is in the way. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFolder, type FileLock } from '../file-staging/lock.ts';
import { isStaging } from '../file-staging/marked-folder.ts';
import { stagingPrefix } from '../folder/contents/manifest.ts';
import { pinFolder } from '../local-files/open-folder.ts';
import { finishStep } from './commit-tables.ts';

export interface LakeFolderOptions {
  /** what it is called in messages */
  readonly label: string;
  /** a link that stands in the path by now is refused */
  readonly refuseLinks: boolean;
  readonly lockTimeoutMs?: number;
}

export interface LakeFolder {
  /** for this process alone, as long as it is held */
  readonly path: string;
  /** false when another writer took it over */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** Waits for others (15 minutes), and ends what a dead one had decided. */
export async function holdLakeFolder(
  directory: string,
  { label, refuseLinks, lockTimeoutMs = 15 * 60_000 }: LakeFolderOptions,
): Promise<LakeFolder> {
  const pinned = await pinFolder(directory, refuseLinks ? 'refuse' : 'follow');
  const { path } = pinned;
  let lock: FileLock | null = null;
  const release = async (): Promise<void> => {
    await lock?.release();
    await pinned.close();
  };
  try {
    const taken = (lock = await lockFolder(path, lockTimeoutMs, label));
    await finishStep(path, label);
    // no other job works here now: what is still staged belongs to the dead
    for (const name of await readdir(path)) {
      if (name.startsWith(stagingPrefix) && (await isStaging(join(path, name))))
        await rm(join(path, name), { recursive: true, force: true });
    }
    return { path, isHeld: () => taken.isHeld(), release };
  } catch (error) {
    await release();
    throw error;
  }
}
