/**
 * A target in a folder of this machine, locked by a lock file. A journal makes the change of several files one step
 * (docs/decisions/loading/staging-and-publishing.md).
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeFolders, makeStaging, removeDeadStaging } from '../../../storage/staging/folders.ts';
import {
  createOnce,
  readIfExists,
  renameIfExists,
  replaceFile,
  syncPath,
  writeDurably,
} from '../../../storage/staging/durable-file.ts';
import { lockFolder } from '../../../storage/staging/lock.ts';
import { inPinnedFolder, pinFolder, checkFolder, plainFile } from '../../../storage/local/open-folder.ts';
import { AppError } from '../../../errors.ts';
import {
  checkLock,
  journalName,
  manifestName,
  stagingPrefix,
  type HeldPlace,
  type TargetPlace,
  type PlaceFiles,
  type PlaceLock,
  type PlaceTarget,
  type StagedStep,
  type StepRecords,
} from './journal.ts';

export interface DiskOptions {
  readonly directory: string;
  /** whether a link in the path is rejected, because the path was checked before and its links resolved (false) */
  readonly refuseLinks?: boolean;
  /** how long to wait for another job that writes into the folder (15 minutes) */
  readonly lockTimeoutMs?: number;
}

export function diskTarget<Step extends StagedStep, Manifest>(
  { directory: label, refuseLinks = false, lockTimeoutMs = 15 * 60_000 }: DiskOptions,
  records: StepRecords<Step, Manifest>,
): PlaceTarget<DiskPlace<Step, Manifest>, HeldDiskPlace<Step, Manifest>> {
  const directory = resolve(label);
  const links = refuseLinks ? 'refuse' : 'follow';
  return {
    label,
    look: (work) => inPinnedFolder(directory, links, (path) => work(new DiskPlace(path, label, records))),
    hold: async (makes) => {
      const created = makes ? await makeFolders(directory) : null;
      const pinned = await pinFolder(directory, links);
      let lock: PlaceLock;
      try {
        lock = await lockFolder(pinned.path, lockTimeoutMs, label);
      } catch (error) {
        await pinned.close();
        throw error;
      }
      return new HeldDiskPlace(pinned.path, label, records, lock, async (isUsed) => {
        try {
          await lock.release();
          if (!isUsed) await created?.remove();
        } finally {
          await pinned.close();
        }
      });
    },
  };
}

export class DiskPlace<Step extends StagedStep, Manifest> implements TargetPlace<Step, Manifest>, PlaceFiles {
  readonly label: string;
  readonly local: string;
  protected readonly records: StepRecords<Step, Manifest>;
  /** the folder for unfinished files: inside the target's folder */
  protected drafts: string;

  constructor(path: string, label: string, records: StepRecords<Step, Manifest>) {
    this.local = path;
    this.label = label;
    this.records = records;
    this.drafts = path;
  }

  async list(folder: string): Promise<readonly string[]> {
    let path = this.local;
    for (const part of folder.split('/').filter((one) => one !== '')) {
      path = join(path, part);
      await checkFolder(path, `${this.label}: ${folder}`);
    }
    return readdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  }

  async has(path: string): Promise<boolean> {
    return (await lstat(join(this.local, path)).catch(() => null)) !== null;
  }

  async read(path: string): Promise<Uint8Array | null> {
    const file = await open(
      await this.localFile(path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    ).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    try {
      return (await file?.readFile()) ?? null;
    } finally {
      await file?.close();
    }
  }

  create(path: string, content: string): Promise<boolean> {
    return createOnce(join(this.local, path), content, this.drafts);
  }

  write(path: string, content: string | Uint8Array): Promise<void> {
    return replaceFile(join(this.local, path), content, this.drafts);
  }

  async add(local: string, path: string): Promise<void> {
    await syncPath(local);
    await rename(local, join(this.local, path));
    await syncPath(dirname(join(this.local, path)));
  }

  async remove(path: string): Promise<void> {
    await rm(join(this.local, path), { force: true });
  }

  async checkFile(path: string): Promise<void> {
    await this.localFile(path);
  }

  localFile(path: string): Promise<string> {
    return plainFile(this.local, path);
  }

  async makeFolder(path: string): Promise<void> {
    const whole = join(this.local, path);
    await mkdir(whole).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await lstat(whole)).isDirectory())
      throw new AppError(
        'target_not_allowed',
        `${this.label}: there is a link or a file where the folder of a table is needed.`,
      );
  }

  locationOf(path: string): Promise<string> {
    return realpath(join(this.local, path));
  }

  async readManifest(): Promise<Manifest | null> {
    const text = await readIfExists(join(this.local, manifestName));
    return text === null ? null : this.records.manifestOf(text);
  }

  async readStep(): Promise<Step | null> {
    const text = await readIfExists(join(this.local, journalName));
    if (text === null) return null;
    const step = this.records.stepOf(text);
    this.drafts = join(this.local, step.staging);
    return step;
  }
}

export class HeldDiskPlace<Step extends StagedStep, Manifest>
  extends DiskPlace<Step, Manifest>
  implements HeldPlace<Step, Manifest>
{
  readonly #lock: PlaceLock;
  readonly #end: (isUsed: boolean) => Promise<void>;
  /** parent folders of this folder stay, because it has files */
  #isUsed = false;
  #isReleased = false;

  /** `end`: releases the lock. */
  constructor(
    path: string,
    label: string,
    records: StepRecords<Step, Manifest>,
    lock: PlaceLock,
    end: (isUsed: boolean) => Promise<void>,
  ) {
    super(path, label, records);
    this.#lock = lock;
    this.#end = end;
  }

  async findFirst(names: readonly string[]): Promise<string | null> {
    for (const name of names) if (await this.has(name)) return name;
    return null;
  }

  async stage(name: string): Promise<string> {
    const path = join(this.local, name);
    await makeStaging(path);
    this.drafts = path;
    return path;
  }

  async discard(name: string): Promise<void> {
    await rm(join(this.local, name), { recursive: true, force: true });
  }

  async handOver(): Promise<void> {
    // staged files are in the folder already, and stay there if this process dies
  }

  async decide(step: Step, mayDecide: () => Promise<void>): Promise<void> {
    await mayDecide();
    await writeDurably(this.local, journalName, this.records.stepText(step));
    this.#isUsed = true;
  }

  async settle({ staging }: Step, names: readonly string[], folder: string): Promise<void> {
    for (const name of names)
      await renameIfExists(join(this.local, staging, name), join(this.local, folder, name));
    if (names.length > 0) await syncPath(join(this.local, folder));
  }

  async conclude({ staging }: Step, manifest: Manifest): Promise<void> {
    await writeDurably(this.local, manifestName, this.records.manifestText(manifest));
    await this.discard(staging);
    await rm(join(this.local, journalName), { force: true });
    await syncPath(this.local);
  }

  checkHeld(): Promise<void> {
    return checkLock(this.#lock, this.label);
  }

  async sweep(): Promise<void> {
    // no other job works here now: remaining staged files belong to dead processes
    for (const name of await readdir(this.local))
      if (name.startsWith(stagingPrefix)) await removeDeadStaging(join(this.local, name));
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    await this.#end(this.#isUsed);
  }
}
