/** Documents as files of a folder: each appears under its own name when it is whole. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsync, openSync, renameSync, write, writeSync } from 'node:fs';
import { lstat, open, opendir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { takeName, fileFault } from '../../storage/staging/durable-file.ts';
import { makeFolder } from '../../storage/staging/folders.ts';
import { pinFolder, type PinnedFolder } from '../../storage/local/open-folder.ts';
import { SpareBuffers } from '../../engine/spare-buffers.ts';
import { AppError } from '../../errors.ts';

// Names of documents as names of files: below the folder, valid on every system, each once.

const maxNameBytes = 200;

/**
 * A relative path that every system can have and that stays below the folder: names came from documents, so parts that lead
 * upwards go, and characters with a meaning of their own become an underscore.
 */
export function safeName(name: string): string {
  const parts = name
    .split(/[/\\]/)
    .map((part) =>
      part
        // oxlint-disable-next-line no-control-regex
        .replace(/[\u0000-\u001f\u007f<>:"|?*]/g, '_')
        .replace(/[. ]+$/, '')
        .replace(/^(?=(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))/i, '_'),
    )
    .filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.length === 0 ? 'document.xml' : parts.map(shortened).join('/');
}

/** A hidden name would be passed over by who reads the folder. */
function shortened(part: string): string {
  const visible = part.startsWith('.') ? `_${part.slice(1)}` : part;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(visible)?.[0] ?? '';
  let stem = visible.slice(0, visible.length - extension.length);
  while (Buffer.byteLength(stem) + extension.length > maxNameBytes) stem = [...stem].slice(0, -1).join('');
  return stem + extension;
}

/** Returns an unused name: names that differ in case alone would collide on some systems. */
function unusedName(name: string, taken: Set<string>): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  const stem = name.slice(0, name.length - extension.length);
  let candidate = name;
  for (let number = 2; taken.has(candidate.toLowerCase()); number += 1)
    candidate = `${stem}-${number}${extension}`;
  taken.add(candidate.toLowerCase());
  return candidate;
}

// The files.

const synced = promisify(fsync);
const written = promisify(write);

type Produce = (consume: (bytes: Uint8Array) => Promise<void>) => Promise<unknown>;

export interface DocumentFolder {
  /** The name of the file of a document that was called so, relative to the folder; of no other one from now on. */
  nameFor(name: string): string;
  /** `fileName`: from `nameFor`. The file exists then or a little later; this also throws a fault of an earlier file. */
  write(fileName: string, produce: Produce): Promise<void>;
  /** Like `write`, but replaces the file that was written under that name before. */
  rewrite(fileName: string, produce: Produce): Promise<void>;
  /** Removes the file that was written under that name, if there is one. */
  remove(fileName: string): Promise<void>;
  /** All documents are on the disk under their names, or the first fault is thrown; to be called whatever `write` did. */
  close(): Promise<void>;
}

interface DocumentFolderOptions {
  readonly directory: string;
  /** name for messages (default: the path) */
  readonly label?: string;
  /** a file that is there already: an AppError `conflict`, or replaced */
  readonly existing: 'refuse' | 'replace';
  /** returns the real path of a file below the folder; AppError if it may not be written */
  readonly resolvePath: (path: string) => Promise<string>;
  /** `refuse`: the answer of `resolvePath` contains no links; if it contains one later, nothing is written */
  readonly links: 'follow' | 'refuse';
}

/** Number of files that are synced at the same time: a disk syncs many as fast as one. */
const filesAtOnce = 8;
/**
 * milliseconds; a document that nobody has written to for so long was left by a process that died: clocks of file systems may be hours
 * behind ours
 */
const abandonedMs = 24 * 60 * 60 * 1000;
/** Pattern of the names that `DocumentFile` gives to incomplete documents. */
const partName = /^\..+\.[0-9a-f]{12}-\d+\.part$/;
/** bytes; a document up to here is written in one piece, behind the one that is made next */
const heldBytes = 256 * 1024;

export function createDocumentFolder(options: DocumentFolderOptions): DocumentFolder {
  const label = options.label ?? options.directory;
  const documents = new DocumentFiles(options, label);
  const told = (error: unknown): never => {
    throw fileFault(error, label);
  };
  return {
    nameFor: (name) => documents.nameFor(name),
    write: (fileName, produce) => documents.write(fileName, produce, options.existing).catch(told),
    rewrite: (fileName, produce) => documents.write(fileName, produce, 'replace').catch(told),
    remove: (fileName) => documents.remove(fileName).catch(told),
    close: () => documents.close().catch(told),
  };
}

class DocumentFiles {
  readonly #options: DocumentFolderOptions;
  readonly #label: string;
  readonly #taken = new Set<string>();
  /** part of the names of incomplete files, together with the number of each */
  readonly #draft = randomBytes(6).toString('hex');
  #drafts = 0;
  /** buffers for documents in memory */
  readonly #buffers = new SpareBuffers();
  /** pending writes by the names of files; none of them rejects */
  readonly #underWay = new Map<string, Promise<void>>();
  #fault: { readonly error: unknown } | null = null;
  /** folders without parts of processes that died */
  readonly #cleared = new Set<string>();
  /** folder of the last document; most later documents go to the same folder */
  #folder: { readonly directory: string; readonly pinned: PinnedFolder } | null = null;

  constructor(options: DocumentFolderOptions, label: string) {
    this.#options = options;
    this.#label = label;
  }

  nameFor(name: string): string {
    return unusedName(safeName(name), this.#taken);
  }

  async remove(fileName: string): Promise<void> {
    await this.#underWay.get(fileName);
    await (await this.#fileOf(fileName)).remove();
  }

  async #fileOf(fileName: string): Promise<DocumentFile> {
    const path = await this.#options.resolvePath(join(this.#options.directory, fileName));
    const draft = `${this.#draft}-${(this.#drafts += 1)}`;
    return new DocumentFile(await this.#folderOf(dirname(path)), basename(path), draft, this.#buffers);
  }

  async write(
    fileName: string,
    produce: Produce,
    existing: DocumentFolderOptions['existing'],
  ): Promise<void> {
    while (this.#underWay.size >= filesAtOnce) await Promise.race(this.#underWay.values());
    // the earlier document would take the name afterwards
    await this.#underWay.get(fileName);
    if (this.#fault !== null) throw this.#fault.error;
    const file = await this.#fileOf(fileName);
    if (existing === 'refuse' && (await file.exists())) throw alreadyExists(fileName);
    try {
      await produce((bytes) => file.write(bytes));
    } catch (error) {
      await file.discard();
      throw error;
    }
    const end = file.end(existing).catch((error: unknown) => {
      const isTaken = existing === 'refuse' && (error as NodeJS.ErrnoException).code === 'EEXIST';
      this.#fault ??= {
        error: isTaken ? alreadyExists(fileName) : fileFault(error, `${this.#label}/${fileName}`),
      };
    });
    this.#underWay.set(fileName, end);
    void end.then(() => this.#underWay.delete(fileName));
  }

  async close(): Promise<void> {
    await this.#closeFolder().catch((error: unknown) => void (this.#fault ??= { error }));
    if (this.#fault !== null) throw this.#fault.error;
  }

  /** Held open, so that names stay names of this very folder, whatever is moved meanwhile. */
  async #folderOf(directory: string): Promise<string> {
    if (this.#folder?.directory !== directory) {
      await this.#closeFolder();
      await makeFolder(directory);
      this.#folder = { directory, pinned: await pinFolder(directory, this.#options.links) };
      if (!this.#cleared.has(directory)) await removeAbandoned(this.#folder.pinned.path);
      this.#cleared.add(directory);
    }
    return this.#folder.pinned.path;
  }

  async #closeFolder(): Promise<void> {
    await Promise.all(this.#underWay.values());
    const { pinned } = this.#folder ?? {};
    this.#folder = null;
    if (pinned === undefined) return;
    try {
      await syncFolder(pinned.path);
    } finally {
      await pinned.close();
    }
  }
}

/**
 * Writes a document to a temporary file beside it until it is complete. Calls that end in the page cache are synchronous, because
 * handing them to another thread costs more; calls that wait for the disk use a thread.
 */
class DocumentFile {
  readonly #path: string;
  readonly #temporary: string;
  readonly #buffers: SpareBuffers;
  #held: Uint8Array<ArrayBuffer>[] = [];
  #heldBytes = 0;
  #isMade = false;
  /** descriptor of the open file */
  #descriptor: number | null = null;

  /** `draft`: no other file of the folder has it in its name. */
  constructor(folder: string, name: string, draft: string, buffers: SpareBuffers) {
    this.#buffers = buffers;
    this.#path = join(folder, name);
    this.#temporary = join(folder, `.${name.slice(0, 100)}.${draft}.part`);
  }

  async exists(): Promise<boolean> {
    return (await lstat(this.#path).catch(() => null)) !== null;
  }

  remove(): Promise<void> {
    return rm(this.#path, { force: true });
  }

  /** The bytes are the caller's again afterwards. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#descriptor !== null) return writeWhole(this.#descriptor, bytes);
    const copy = this.#buffers.take(bytes.length);
    copy.set(bytes);
    this.#held.push(copy);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes < heldBytes) return;
    const descriptor = this.#make();
    for (const piece of this.#held.splice(0)) {
      await writeWhole(descriptor, piece);
      this.#buffers.giveBack(piece);
    }
  }

  /** `refuse`: throws EEXIST if another program has made a file with that name meanwhile. */
  async end(existing: DocumentFolderOptions['existing']): Promise<void> {
    try {
      const descriptor = this.#descriptor ?? this.#make();
      for (const bytes of this.#held.splice(0)) {
        for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
        this.#buffers.giveBack(bytes);
      }
      await synced(descriptor);
      this.#close();
      if (existing === 'refuse') takeName(this.#temporary, this.#path);
      else renameSync(this.#temporary, this.#path);
    } catch (error) {
      // report the fault of the write
      await this.discard();
      throw error;
    }
  }

  async discard(): Promise<void> {
    for (const bytes of this.#held.splice(0)) this.#buffers.giveBack(bytes);
    if (!this.#isMade) return;
    try {
      this.#close();
    } catch {
      // nobody is to have it
    }
    await rm(this.#temporary, { force: true });
  }

  #make(): number {
    this.#descriptor = openSync(this.#temporary, 'wx');
    this.#isMade = true;
    return this.#descriptor;
  }

  #close(): void {
    const descriptor = this.#descriptor;
    // the number may belong to another file afterwards, even if closing fails
    this.#descriptor = null;
    if (descriptor !== null) closeSync(descriptor);
  }
}

function alreadyExists(fileName: string): AppError {
  return new AppError('conflict', `${fileName} already exists in the folder`);
}

export async function isEmptyFolder(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).length === 0;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return true;
    throw fileFault(error, directory);
  }
}

/** Removes incomplete documents whose writers died: no other process would ever remove them. */
async function removeAbandoned(folder: string): Promise<void> {
  // a list of the names in a folder of a million documents would take most of the memory
  for await (const { name } of await opendir(folder, { bufferSize: 1024 })) {
    if (!partName.test(name)) continue;
    const path = join(folder, name);
    // another process may have completed or removed it meanwhile
    const found = await lstat(path).catch(() => null);
    // a file that cannot be removed does no harm
    if (found?.isFile() === true && Date.now() - found.mtimeMs > abandonedMs)
      await rm(path, { force: true }).catch(() => undefined);
  }
}

async function writeWhole(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await written(descriptor, bytes, at)).bytesWritten;
}

/** The new name outlives a crash, too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
