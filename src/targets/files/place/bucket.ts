/** The files of a target in an object store, such as S3 or Azure, and their local copies, which statements read. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../errors.ts';
import { isGoneProcess, startOfProcess } from '../../../storage/staging/lock.ts';
import { parsed, pathBelow } from '../json.ts';
import type { DecidingStore } from '../../../ports/files.ts';
import { type PlaceLock, eachAtOnce, type PlaceFiles } from './journal.ts';
import { neverConditional } from '../../../storage/object-store/s3.ts';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

// A lock for one writer at a time: an object that names the writer, and that the writer refreshes. The lock only avoids wasted work. If two
// writers take each other for dead, the tables remain correct because each step is decided only once.

export const bucketLockName = '.svc-lock';
const refreshMs = 10_000;
/** a holder that wrote nothing for this long is dead, by the clock of the waiting process */
const staleMs = 45_000;
const pollMs = 250;

interface Holder {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  readonly started: string | null;
  /** increases while the lock is held */
  readonly beat: number;
}

/**
 * Takes the lock. AppErrors: `invalid_option` if the store does not distinguish new from existing objects, `service_unavailable` after
 * `timeoutMs`.
 */
export async function lockBucket(
  objects: DecidingStore,
  key: string,
  timeoutMs: number,
  label: string,
): Promise<PlaceLock> {
  const own = { token: randomUUID(), host: hostname(), pid: process.pid };
  const started = await startOfProcess(process.pid);
  const holder = (beat: number): Uint8Array =>
    new TextEncoder().encode(JSON.stringify({ ...own, started, beat } satisfies Holder));
  const deadline = Date.now() + timeoutMs;
  let seen = { text: '', since: Date.now() };
  while (!(await objects.createObject(key, holder(0)))) {
    const text = await textAt(objects, key);
    if (text !== seen.text) seen = { text: text ?? '', since: Date.now() };
    if (text !== null && (Date.now() - seen.since > staleMs || (await isDead(text))))
      await objects.removeObject(key);
    else if (Date.now() > deadline)
      throw new AppError('service_unavailable', `Another job has been writing into ${label} for long.`);
    else await sleep(pollMs * (0.5 + Math.random()));
  }
  // If creating the object again succeeds, a waiting process that knew the dead writer's lock has removed it, or the store accepts a second
  // object as new.
  const isMadeAnew = await objects.createObject(key, holder(-1));
  if (isMadeAnew && !(await tellsNewObjects(objects, `${key}-${own.token}`))) throw neverConditional();
  let beat = 0;
  let isEnded = false;
  let writing: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    writing = writing
      .then(async () => {
        if (isEnded || !(await isOwn(objects, key, own.token))) return;
        beat += 1;
        await objects.write(key, holder(beat));
      })
      // a waiting process then takes this one for dead; the steps show it to this process
      .catch(() => undefined);
  }, refreshMs);
  timer.unref();
  return {
    isHeld: () => isOwn(objects, key, own.token),
    release: async () => {
      clearInterval(timer);
      isEnded = true;
      await writing;
      // the next process finds a remaining lock dead
      await isOwn(objects, key, own.token)
        .then((isStill) => (isStill ? objects.removeObject(key) : undefined))
        .catch(() => undefined);
    },
  };
}

/**
 * Tests with a key that no other process uses. A store that accepts a second object as new would also accept a second version of a table.
 */
async function tellsNewObjects(objects: DecidingStore, key: string): Promise<boolean> {
  const [first, second] = ['first', 'second'].map((text) => new TextEncoder().encode(text));
  try {
    await objects.createObject(key, first!);
    return !(await objects.createObject(key, second!));
  } finally {
    // a remaining object of a few bytes is harmless
    await objects.removeObject(key).catch(() => undefined);
  }
}

async function textAt(objects: DecidingStore, key: string): Promise<string | null> {
  const body = await objects.read(key);
  return body === null ? null : new Response(body).text();
}

async function isOwn(objects: DecidingStore, key: string, token: string): Promise<boolean> {
  return parsed<Partial<Holder>>((await textAt(objects, key)) ?? '')?.token === token;
}

/** Returns whether the lock holder is a process of this machine that has ended. */
async function isDead(text: string): Promise<boolean> {
  const holder = parsed<Partial<Holder>>(text);
  return (
    holder?.host === hostname() &&
    typeof holder.pid === 'number' &&
    isGoneProcess(holder.pid, holder.started ?? null)
  );
}

// The files.

export interface BucketOptions {
  readonly objects: DecidingStore;
  /** `s3://BUCKET/PREFIX`, without a trailing '/': the address by which other programs open the target */
  readonly location: string;
  /** the start of every key, '' or ending in '/' */
  readonly prefix: string;
  /** the name of the target in messages */
  readonly label: string;
  /** a folder of this machine that only this job uses */
  readonly scratch: string;
}

const readTries = 4;
/** the maximum size of files that are uploaded several at a time */
const smallBytes = 4 * 1024 * 1024;

export class BucketFiles implements PlaceFiles {
  readonly label: string;
  readonly local: string;
  protected readonly objects: DecidingStore;
  protected readonly prefix: string;
  readonly #location: string;
  /** the local copies that are being made */
  readonly #copies = new Map<string, Promise<string>>();

  constructor({ objects, prefix, label, scratch, location }: BucketOptions) {
    this.objects = objects;
    this.prefix = prefix;
    this.label = label;
    this.local = scratch;
    this.#location = location;
  }

  async list(folder: string): Promise<readonly string[]> {
    const above = `${this.prefix}${folder === '' ? '' : `${folder}/`}`;
    const names: string[] = [];
    for await (const { key } of this.objects.listObjects(above)) {
      const name = key.slice(above.length);
      if (name !== '' && !name.includes('/')) names.push(name);
    }
    return names;
  }

  async has(path: string): Promise<boolean> {
    for await (const _ of this.objects.listObjects(`${this.#key(path)}/`)) return true;
    return (await this.objects.head(this.#key(path))) !== null;
  }

  async read(path: string): Promise<Uint8Array | null> {
    return this.#tried(async () => {
      const body = await this.objects.read(this.#key(path));
      return body === null ? null : new Uint8Array(await new Response(body).arrayBuffer());
    });
  }

  create(path: string, content: string): Promise<boolean> {
    return this.objects.createObject(this.#key(path), new TextEncoder().encode(content));
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    await this.objects.write(this.#key(path), bytes);
  }

  /** Uploads a file. The local file remains as the copy of the stored one. */
  async add(local: string, path: string): Promise<void> {
    const file = await open(local, 'r');
    const body = Readable.toWeb(file.createReadStream()) as unknown as ReadableStream<Uint8Array>;
    await this.objects.write(this.#key(path), body);
    const copy = this.#copyOf(path);
    await mkdir(dirname(copy), { recursive: true });
    await rename(local, copy);
  }

  /** Adds files as `add` does, small ones several at a time. */
  protected async addAll(
    files: readonly { readonly local: string; readonly path: string; readonly bytes: number }[],
  ): Promise<void> {
    // several large files would fill the memory
    await eachAtOnce(
      files.filter(({ bytes }) => bytes <= smallBytes),
      ({ local, path }) => this.add(local, path),
    );
    for (const { local, path, bytes } of files) if (bytes > smallBytes) await this.add(local, path);
  }

  remove(path: string): Promise<void> {
    return this.objects.removeObject(this.#key(path));
  }

  async checkFile(): Promise<void> {
    // a bucket has no links
  }

  /** Downloads a file once, even if several callers request it at the same time. */
  localFile(path: string): Promise<string> {
    let copy = this.#copies.get(path);
    if (copy === undefined) {
      copy = this.#copied(path).finally(() => this.#copies.delete(path));
      this.#copies.set(path, copy);
    }
    return copy;
  }

  async #copied(path: string): Promise<string> {
    const copy = this.#copyOf(path);
    if ((await stat(copy).catch(() => null)) !== null) return copy;
    await mkdir(dirname(copy), { recursive: true });
    const draft = `${copy}.part`;
    await this.#tried(async () => {
      const body = await this.objects.read(this.#key(path));
      if (body === null)
        throw new AppError(
          'conflict',
          `${this.label}: ${path} does not exist, although a table refers to it.`,
        );
      await pipeline(
        Readable.fromWeb(body as NodeReadableStream<Uint8Array>),
        createWriteStream(draft, { mode: 0o600 }),
      );
    });
    await rename(draft, copy);
    return copy;
  }

  async makeFolder(): Promise<void> {
    // keys need no folders
  }

  locationOf(path: string): Promise<string> {
    return Promise.resolve(`${this.#location}/${path}`);
  }

  #key(path: string): string {
    return this.prefix + path;
  }

  /** Returns the local path of a copy. Keys may contain any characters, so they are checked before they become paths of this machine. */
  #copyOf(path: string): string {
    return join(this.local, 'copies', pathBelow(path, this.label));
  }

  /** Retries if a response body ends too early. */
  async #tried<T>(work: () => Promise<T>): Promise<T> {
    for (let number = 1; ; number += 1) {
      try {
        return await work();
      } catch (error) {
        const isPassing = !(error instanceof AppError) || error.code === 'service_unavailable';
        if (!isPassing || number === readTries)
          throw error instanceof AppError || !isNetworkFault(error)
            ? error
            : new AppError(
                'service_unavailable',
                `${this.label}: the object store cannot be used now (${(error as Error).message})`,
                { cause: error },
              );
      }
    }
  }
}

function isNetworkFault(error: unknown): boolean {
  const { code, name } = error as NodeJS.ErrnoException;
  return name === 'TypeError' || /^(?:ECONN|EPIPE|ETIMEDOUT|UND_ERR)/.test(String(code));
}

/** Returns the names below the prefix that begin with `begin`, including those in folders. */
export async function namesBelow(objects: DecidingStore, prefix: string, begin: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { key } of objects.listObjects(prefix + begin)) names.push(key.slice(prefix.length));
  return names;
}
