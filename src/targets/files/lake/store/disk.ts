/** Tables in a folder of this machine, held by a lock file; a journal tells what is decided. */
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, rename, rm, link } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../../../../errors.ts';
import { makeFolders } from '../../../../adapters/file-staging/created-folders.ts';
import { lockFolder, type FileLock } from '../../../../adapters/file-staging/lock.ts';
import { makeStaging, removeDeadStaging } from '../../../../adapters/file-staging/marked-folder.ts';
import {
  journalName,
  manifestName,
  readIfThere,
  renameIfThere,
  stagingPrefix,
  syncPath,
  writeDurably,
} from '../../folder/contents/manifest.ts';
import { inPinnedFolder, pinFolder } from '../../../../adapters/local-files/open-folder.ts';
import { manifestOf, stepOf, textOf, type LakeManifest, type LakeStep } from '../manifest.ts';
import { checkFolder, plainFile } from './plain-paths.ts';
import type { TableHolder } from './files.ts';
import type { HeldPlace, LakePlace, LakeTarget } from './place.ts';
import { randomUUID } from 'node:crypto';
import { lacksLinks } from '../../../../adapters/file-staging/durable-file.ts';

export interface DiskLakeOptions {
  readonly directory: string;
  /** the path was checked and its links resolved: one that stands in it by now is refused (false) */
  readonly refuseLinks?: boolean;
  /** how long to wait for another job that writes into the folder (15 minutes) */
  readonly lockTimeoutMs?: number;
}

export function diskLake({
  directory: label,
  refuseLinks = false,
  lockTimeoutMs = 15 * 60_000,
}: DiskLakeOptions): LakeTarget {
  const directory = resolve(label);
  const links = refuseLinks ? 'refuse' : 'follow';
  return {
    label,
    look: (work) => inPinnedFolder(directory, links, (path) => work(new DiskPlace(path, label))),
    hold: async (makes) => {
      const created = makes ? await makeFolders(directory) : null;
      const pinned = await pinFolder(directory, links);
      let lock: FileLock;
      try {
        lock = await lockFolder(pinned.path, lockTimeoutMs, label);
      } catch (error) {
        await pinned.close();
        throw error;
      }
      return new HeldDiskPlace(pinned.path, label, lock, async (isUsed) => {
        await lock.release();
        await pinned.close();
        if (!isUsed) await created?.remove();
      });
    },
  };
}

class DiskPlace implements LakePlace {
  readonly catalogue = null;
  readonly label: string;
  readonly local: string;
  /** where what is not finished is made: a folder inside */
  protected drafts: string;

  constructor(path: string, label: string) {
    this.local = path;
    this.label = label;
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
        `${this.label}: a link or a file stands where a table’s folder is needed.`,
      );
  }

  async holderOf(path: string): Promise<TableHolder> {
    return (await lstat(join(this.local, path)).catch(() => null)) === null ? 'nobody' : 'others';
  }

  locationOf(path: string): Promise<string> {
    return realpath(join(this.local, path));
  }

  async readManifest(): Promise<LakeManifest | null> {
    const text = await readIfThere(join(this.local, manifestName));
    return text === null ? null : manifestOf(text);
  }

  async readStep(): Promise<LakeStep | null> {
    const text = await readIfThere(join(this.local, journalName));
    if (text === null) return null;
    const step = stepOf(text);
    this.drafts = join(this.local, step.staging);
    return step;
  }
}

class HeldDiskPlace extends DiskPlace implements HeldPlace {
  readonly #lock: FileLock;
  readonly #end: (isUsed: boolean) => Promise<void>;
  #isUsed = false;
  #isReleased = false;

  constructor(path: string, label: string, lock: FileLock, end: (isUsed: boolean) => Promise<void>) {
    super(path, label);
    this.#lock = lock;
    this.#end = end;
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
    // they lie in the folder, and stay there whatever becomes of this process
  }

  async decide(step: LakeStep): Promise<void> {
    await writeDurably(this.local, journalName, JSON.stringify(step));
    this.#isUsed = true;
  }

  together<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  async settle({ staging }: LakeStep, names: readonly string[], folder: string): Promise<void> {
    for (const name of names)
      await renameIfThere(join(this.local, staging, name), join(this.local, folder, name));
    if (names.length > 0) await syncPath(join(this.local, folder));
  }

  async conclude({ staging }: LakeStep, manifest: LakeManifest): Promise<void> {
    await writeDurably(this.local, manifestName, textOf(manifest));
    await this.discard(staging);
    await rm(join(this.local, journalName), { force: true });
    await syncPath(this.local);
  }

  async checkHeld(): Promise<void> {
    if (!(await this.#lock.isHeld()))
      throw new AppError('service_unavailable', `${this.label}: another job has taken the folder over.`);
  }

  async sweep(): Promise<void> {
    // no other job works here now: what is still staged belongs to the dead
    for (const name of await readdir(this.local))
      if (name.startsWith(stagingPrefix)) await removeDeadStaging(join(this.local, name));
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    await this.#end(this.#isUsed);
  }
}

/** Durable; false where there is such a file. `drafts`: a folder of the same file system. */
export async function createOnce(path: string, text: string, drafts: string): Promise<boolean> {
  const draft = join(drafts, `.commit-${randomUUID()}`);
  await writeNew(draft, text);
  try {
    // a link is made whole, and fails where the name is taken: nobody ever sees half of a version
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    if (!lacksLinks(error)) throw error;
    if (!(await writeNew(path, text))) return false;
  } finally {
    await rm(draft, { force: true });
  }
  await syncPath(dirname(path));
  return true;
}

/** Over what stood there, whole and durable. `drafts`: as of `createOnce`. */
export async function replaceFile(path: string, content: string | Uint8Array, drafts: string): Promise<void> {
  const draft = join(drafts, `.draft-${randomUUID()}`);
  try {
    await writeNew(draft, content);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  await syncPath(dirname(path));
}

/** Durable but for its name; false where there is such a file. */
async function writeNew(path: string, content: string | Uint8Array): Promise<boolean> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(path, flags, 0o666).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw error;
  });
  if (file === null) return false;
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  return true;
}
