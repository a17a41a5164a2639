/**
 * A folder of files in an object store. A job makes its files on this machine, and uploads them under names that no manifest lists yet.
 * Then the new manifest, a single object, makes them part of the folder. A journal beside it shows the next writer what a dead attempt has
 * left, and what remains to be done after the last manifest.
 */
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../errors.ts';
import { isObject, isOwnName } from '../json.ts';
import { BucketFiles, namesBelow, type BucketOptions } from '../place/bucket.ts';
import { checkLock, holdRecovered, manifestName, type PlaceLock } from '../place/journal.ts';
import { manifestText, parseManifest, type TargetManifest } from './manifest.ts';
import { carryOut, endStep, type FolderStep, type FolderTarget, type HeldFolder } from './place.ts';

/** `scratch` is removed at the end. */
export interface BucketFolderOptions extends BucketOptions {
  /** takes the lock of the writer: one at a time, across all machines */
  readonly lock: () => Promise<PlaceLock>;
}

interface BucketJournal {
  readonly job_uuid: string;
  /** names of new files */
  readonly files: readonly string[];
  /** files of an earlier manifest, which are removed once the new manifest is written */
  readonly remove: readonly string[];
  /** texts of scripts by their names */
  readonly scripts: Readonly<Record<string, string>>;
}

const journalPrefix = '.svc-publish-';

export function bucketFolder(options: BucketFolderOptions): FolderTarget {
  const { label, scratch } = options;
  const hold = async (): Promise<HeldBucketFolder> => {
    await rm(scratch, { recursive: true, force: true });
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    return new HeldBucketFolder(options, await options.lock());
  };
  return {
    label,
    localLabel: scratch,
    look: () => manifestIn(new BucketFiles(options)),
    hold: () => holdRecovered({ hold }, true, endStep),
    close: () => rm(scratch, { recursive: true, force: true }),
  };
}

async function manifestIn(files: Pick<BucketFiles, 'read'>): Promise<TargetManifest | null> {
  const bytes = await files.read(manifestName);
  return bytes === null ? null : parseManifest(new TextDecoder().decode(bytes));
}

class HeldBucketFolder extends BucketFiles implements HeldFolder {
  readonly #lock: PlaceLock;
  /** the journal of the step that was handed over or read */
  #journal: BucketJournal | null = null;

  constructor(options: BucketFolderOptions, lock: PlaceLock) {
    super(options);
    this.#lock = lock;
  }

  readManifest(): Promise<TargetManifest | null> {
    return manifestIn(this);
  }

  async readStep(): Promise<null> {
    // journals record both decided steps and dead attempts: `sweep` handles both
    return null;
  }

  async findFirst(names: readonly string[]): Promise<string | null> {
    const wanted = new Set(names);
    return (await namesBelow(this.objects, this.prefix, '')).find((name) => wanted.has(name)) ?? null;
  }

  async stage(name: string): Promise<string> {
    const path = join(this.local, name);
    await mkdir(path);
    return path;
  }

  async discard(name: string): Promise<void> {
    await rm(join(this.local, name), { recursive: true, force: true });
  }

  async handOver({ staging, files, scripts, remove, manifest }: FolderStep): Promise<void> {
    const directory = join(this.local, staging);
    const texts = scripts.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const);
    this.#journal = {
      job_uuid: manifest.jobs.at(-1)!.job_uuid,
      files,
      remove,
      scripts: Object.fromEntries(await Promise.all(texts)),
    };
    await this.write(nameOf(this.#journal), JSON.stringify(this.#journal));
    const staged = files.map(async (path) => {
      const local = join(directory, path);
      return { local, path, bytes: (await stat(local)).size };
    });
    await this.addAll(await Promise.all(staged));
  }

  async decide({ manifest }: FolderStep, mayDecide: () => Promise<void>): Promise<void> {
    await mayDecide();
    await this.write(manifestName, manifestText(manifest));
  }

  /** Writes the scripts, which may replace older ones. Files were uploaded before. */
  async settle(_: FolderStep, names: readonly string[]): Promise<void> {
    const { scripts } = this.#journal!;
    for (const name of names) if (Object.hasOwn(scripts, name)) await this.write(name, scripts[name]!);
  }

  async conclude(): Promise<void> {
    await this.remove(nameOf(this.#journal!));
  }

  checkHeld(): Promise<void> {
    return checkLock(this.#lock, this.label);
  }

  /** Finishes the journals: if the manifest contains the job of a journal, its step is carried out; otherwise its files are removed. */
  async sweep(): Promise<void> {
    const left = await namesBelow(this.objects, this.prefix, journalPrefix);
    if (left.length === 0) return;
    // read the stored manifest, because this process may remember another one
    const manifest = await this.readManifest();
    const listed = new Set(manifest?.tables.flatMap((table) => table.files.map(({ name }) => name)));
    for (const name of left) {
      const bytes = await this.read(name);
      if (bytes === null) continue;
      const journal = JSON.parse(new TextDecoder().decode(bytes)) as BucketJournal;
      const { remove } = journal;
      const scripts = isObject(journal.scripts) ? Object.keys(journal.scripts) : null;
      if (scripts === null || ![...journal.files, ...remove, ...scripts].every(isOwnName))
        throw new AppError('conflict', `${this.label}: ${name} is not a journal of this version.`);
      if (manifest?.jobs.some((job) => job.job_uuid === journal.job_uuid) === true) {
        this.#journal = journal;
        await carryOut(this, { staging: '', files: [], scripts, remove, manifest });
        continue;
      }
      for (const file of journal.files) if (!listed.has(file)) await this.remove(file);
      await this.remove(name);
    }
  }

  async release(): Promise<void> {
    try {
      await this.sweep();
    } finally {
      await this.#lock.release();
    }
  }
}

function nameOf({ job_uuid: jobUuid }: Pick<BucketJournal, 'job_uuid'>): string {
  return `${journalPrefix}${jobUuid}.json`;
}
