/**
 * A folder of files in a store that is elsewhere. A job makes its files on this machine; then they go there under names that no manifest
 * lists yet, and the new manifest, one object, makes them the folder's. A journal beside it tells who comes next what a dead attempt has
 * left, and what is still to be done after a manifest that was written last.
 */
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AppError } from '../../../../errors.ts';
import type { FileStore } from '../../../../ports/files/organisation-files.ts';
import { fetchFiles } from '../../../../adapters/local-files/fetched-objects.ts';
import {
  isObject,
  isOwnName,
  manifestName,
  manifestText,
  parseManifest,
  type TargetManifest,
} from '../contents/manifest.ts';
import type { FolderLock, FolderPlace, FolderStep, HeldFolder } from './folder-place.ts';

export interface BucketFolderOptions {
  readonly files: Pick<FileStore, 'listFiles' | 'read' | 'write' | 'discard'>;
  /** as the store resolved it */
  readonly location: string;
  /** the folder as people named it */
  readonly label: string;
  /** a folder of this machine, for this job alone; removed at the end */
  readonly staging: string;
  /** one writer at a time, on all machines */
  readonly lock: () => Promise<FolderLock>;
}

interface Journal {
  readonly job_uuid: string;
  /** new ones */
  readonly files: readonly string[];
  /** files of an earlier manifest, to be removed once the new one is there */
  readonly remove: readonly string[];
  /** texts of scripts by their names */
  readonly scripts: Readonly<Record<string, string>>;
}

const journalPrefix = '.svc-publish-';

export function bucketFolder(options: BucketFolderOptions): FolderPlace {
  const { label, staging } = options;
  const store = new FolderStore(options);
  return {
    label,
    localLabel: staging,
    look: () => store.readManifest(),
    hold: async () => {
      await rm(staging, { recursive: true, force: true });
      const held = new HeldBucketFolder(store, staging, await options.lock());
      try {
        await store.clearJournals();
        await mkdir(staging, { recursive: true, mode: 0o700 });
        return held;
      } catch (error) {
        await held.release();
        throw error;
      }
    },
    close: () => rm(staging, { recursive: true, force: true }),
  };
}

/** The files of the folder, and the journals beside them. */
class FolderStore {
  readonly #files: BucketFolderOptions['files'];
  readonly #location: string;
  readonly #label: string;

  constructor({ files, location, label }: BucketFolderOptions) {
    this.#files = files;
    this.#location = location;
    this.#label = label;
  }

  async readManifest(): Promise<TargetManifest | null> {
    const text = await this.#text(manifestName);
    return text === null ? null : parseManifest(text);
  }

  async *names(): AsyncGenerator<string, void, void> {
    for await (const { name } of this.#files.listFiles(this.#location)) yield name;
  }

  async download(name: string, directory: string): Promise<void> {
    await fetchFiles(this.#files, this.#at(name), directory);
  }

  async upload(path: string, name: string): Promise<void> {
    const file = await open(path, 'r');
    const body = Readable.toWeb(file.createReadStream()) as unknown as ReadableStream<Uint8Array>;
    await this.#files.write(this.#at(name), body);
  }

  async put(name: string, text: string): Promise<void> {
    await this.#files.write(this.#at(name), new TextEncoder().encode(text));
  }

  putJournal(journal: Journal): Promise<void> {
    return this.put(journalName(journal), JSON.stringify(journal));
  }

  async finish(journal: Journal): Promise<void> {
    for (const [name, text] of Object.entries(journal.scripts)) await this.put(name, text);
    for (const name of journal.remove) await this.#files.discard(this.#at(name));
    await this.#files.discard(this.#at(journalName(journal)));
  }

  /** A journal whose job the manifest knows is finished; the files of another are taken away. */
  async clearJournals(): Promise<void> {
    const left: string[] = [];
    for await (const name of this.names()) if (name.startsWith(journalPrefix)) left.push(name);
    if (left.length === 0) return;
    // what this process believes may not be what was stored
    const manifest = await this.readManifest();
    const listed = new Set(manifest?.tables.flatMap((table) => table.files.map(({ name }) => name)));
    for (const name of left) {
      const text = await this.#text(name);
      if (text === null) continue;
      const journal = JSON.parse(text) as Journal;
      const scripts = isObject(journal.scripts) ? Object.keys(journal.scripts) : null;
      if (scripts === null || ![...journal.files, ...journal.remove, ...scripts].every(isOwnName))
        throw new AppError('conflict', `${this.#label}: ${name} is not a journal of this version.`);
      if (manifest?.jobs.some((job) => job.job_uuid === journal.job_uuid) === true) {
        await this.finish(journal);
        continue;
      }
      for (const file of journal.files) if (!listed.has(file)) await this.#files.discard(this.#at(file));
      await this.#files.discard(this.#at(name));
    }
  }

  #at(name: string): string {
    return `${this.#location}/${name}`;
  }

  async #text(name: string): Promise<string | null> {
    const body = await this.#files.read(this.#at(name));
    return body === null ? null : new Response(body).text();
  }
}

class HeldBucketFolder implements HeldFolder {
  readonly local: string;
  readonly #store: FolderStore;
  readonly #lock: FolderLock;
  #journal: Journal | null = null;

  constructor(store: FolderStore, local: string, lock: FolderLock) {
    this.#store = store;
    this.local = local;
    this.#lock = lock;
  }

  readManifest(): Promise<TargetManifest | null> {
    return this.#store.readManifest();
  }

  async findFirst(names: Iterable<string>): Promise<string | null> {
    const wanted = new Set(names);
    for await (const name of this.#store.names()) if (wanted.has(name)) return name;
    return null;
  }

  fetch(name: string): Promise<void> {
    return this.#store.download(name, this.local);
  }

  async stage(name: string): Promise<void> {
    await mkdir(join(this.local, name));
  }

  async prepare({ jobUuid, staging, files, scripts, remove }: FolderStep): Promise<void> {
    const directory = join(this.local, staging);
    const texts = scripts.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const);
    this.#journal = {
      job_uuid: jobUuid,
      files,
      remove,
      scripts: Object.fromEntries(await Promise.all(texts)),
    };
    await this.#store.putJournal(this.#journal);
    for (const name of files) await this.#store.upload(join(directory, name), name);
  }

  isHeld(): Promise<boolean> {
    return this.#lock.isHeld();
  }

  async decide({ manifest }: FolderStep, mayDecide: () => Promise<void>): Promise<void> {
    await mayDecide();
    await this.#store.put(manifestName, manifestText(manifest));
  }

  finish(): Promise<void> {
    return this.#store.finish(this.#journal!);
  }

  async release(): Promise<void> {
    try {
      await this.#store.clearJournals();
    } finally {
      await this.#lock.release();
    }
  }
}

function journalName({ job_uuid: jobUuid }: Pick<Journal, 'job_uuid'>): string {
  return `${journalPrefix}${jobUuid}.json`;
}
