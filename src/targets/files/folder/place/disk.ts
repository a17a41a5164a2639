/** A folder of files on this machine, held by a lock file. A journal makes several files change as one step (docs/decisions/loading/staging-and-publishing.md). */
import { access, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolders, type CreatedFolders } from '../../../../adapters/file-staging/created-folders.ts';
import { lockFolder, type FileLock } from '../../../../adapters/file-staging/lock.ts';
import { makeStaging, removeDeadStaging } from '../../../../adapters/file-staging/marked-folder.ts';
import {
  inPinnedFolder,
  pinFolder,
  type PinnedFolder,
} from '../../../../adapters/local-files/open-folder.ts';
import {
  commitJournal,
  finishJournal,
  readCommittedManifest,
  readManifest,
  stagingPrefix,
  type TargetManifest,
} from '../contents/manifest.ts';
import type { FolderPlace, FolderStep, HeldFolder } from './folder-place.ts';

export interface DiskFolderOptions {
  readonly directory: string;
  /** the path was checked and its links resolved: one that stands in it by now is refused (false) */
  readonly refuseLinks?: boolean;
  /** how long to wait for another job that writes into the folder (15 minutes) */
  readonly lockTimeoutMs?: number;
}

export function diskFolder({
  directory: label,
  refuseLinks = false,
  lockTimeoutMs = 15 * 60_000,
}: DiskFolderOptions): FolderPlace {
  const directory = resolve(label);
  const links = refuseLinks ? 'refuse' : 'follow';
  return {
    label,
    localLabel: label,
    look: () => inPinnedFolder(directory, links, readCommittedManifest),
    hold: async () => {
      const created = await makeFolders(directory);
      const held = new HeldDiskFolder(created, await pinFolder(directory, links));
      try {
        await held.lock(lockTimeoutMs, label);
        return held;
      } catch (error) {
        await held.release();
        throw error;
      }
    },
    // nothing is made outside of the folder
    close: () => Promise.resolve(),
  };
}

class HeldDiskFolder implements HeldFolder {
  readonly local: string;
  readonly #created: CreatedFolders;
  readonly #pinned: PinnedFolder;
  #lock: FileLock | null = null;
  /** folders that no step of which was decided */
  readonly #staged = new Set<string>();
  /** folders on the way to this one stay: it has files */
  #isUsed = false;

  constructor(created: CreatedFolders, pinned: PinnedFolder) {
    this.#created = created;
    this.#pinned = pinned;
    this.local = pinned.path;
  }

  async lock(timeoutMs: number, label: string): Promise<void> {
    this.#lock = await lockFolder(this.local, timeoutMs, label);
    await finishJournal(this.local);
    // nobody else writes here now: what is still staged belongs to the dead
    for (const name of await readdir(this.local))
      if (name.startsWith(stagingPrefix)) await removeDeadStaging(join(this.local, name));
  }

  readManifest(): Promise<TargetManifest | null> {
    return readManifest(this.local);
  }

  async findFirst(names: Iterable<string>): Promise<string | null> {
    for (const name of names) {
      const found = await access(join(this.local, name)).then(
        () => true,
        () => false,
      );
      if (found) return name;
    }
    return null;
  }

  async fetch(): Promise<void> {
    // it lies here
  }

  async stage(name: string): Promise<void> {
    await makeStaging(join(this.local, name));
    this.#staged.add(name);
  }

  async prepare(): Promise<void> {
    // staged files lie in the folder, and stay there whatever becomes of this process
  }

  isHeld(): Promise<boolean> {
    return this.#lock!.isHeld();
  }

  async decide(
    { staging, files, scripts, remove, manifest }: FolderStep,
    mayDecide: () => Promise<void>,
  ): Promise<void> {
    await mayDecide();
    await commitJournal(this.local, { staging, files: [...files, ...scripts], remove, manifest });
    this.#staged.delete(staging);
    this.#isUsed = true;
  }

  finish(): Promise<void> {
    return finishJournal(this.local);
  }

  async release(): Promise<void> {
    try {
      for (const name of this.#staged) await rm(join(this.local, name), { recursive: true, force: true });
      // without it others may be at work in the folder
      if (this.#lock === null) return;
      await this.#lock.release();
      if (!this.#isUsed) await this.#created.remove();
    } finally {
      await this.#pinned.close();
    }
  }
}
