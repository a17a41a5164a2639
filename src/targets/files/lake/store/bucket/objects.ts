/**
 * Tables in a bucket of an S3-compatible store. Statements work on copies in a folder of this machine; files of a job are uploaded, and noted,
 * before it is decided, so that whoever ends its step finds them, and whoever finds the note of a dead attempt takes them away.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { AppError } from '../../../../../errors.ts';
import { isList, isObject, parsed, stagingPrefix } from '../../../folder/contents/manifest.ts';
import type { DecidingStore } from '../../../../../ports/files/objects.ts';
import { dataFolder } from '../../data-files.ts';
import { emptyManifest, type LakeManifest, type LakeStep, type TableStep } from '../../manifest.ts';
import { isTableLayout } from '../../../../../ports/rows/layouts.ts';
import type { HeldPlace, LakeTarget, SteadyPlace } from '../place.ts';
import type { TableCatalogue } from '../../iceberg/shape.ts';
import type { TableHolder } from '../files.ts';
import { eachAtOnce } from '../at-once.ts';
import { pathBelow } from '../plain-paths.ts';
import { bucketLockName, lockBucket, type BucketLock } from './lock.ts';
import { BucketSteps, lostStep, type StepsThere } from './steps.ts';

export interface BucketLakeOptions {
  readonly objects: DecidingStore;
  /** `s3://BUCKET/PREFIX`, without a '/' at its end: what other programs open it by */
  readonly location: string;
  /** before every key, '' or ending in '/' */
  readonly prefix: string;
  /** what it is called in messages */
  readonly label: string;
  /** tells the versions of tables, and where each lies; absent: what lies below the prefix does */
  readonly catalogue?: BucketCatalogue;
  /** a folder of this machine, for this job alone; whoever gives it removes it */
  readonly scratch: string;
  /** how long to wait for another job that writes there (15 minutes) */
  readonly lockTimeoutMs?: number;
}

export interface BucketCatalogue extends TableCatalogue {
  /** What other programs open a table by. */
  locationOf(directory: string): Promise<string>;
  /** As `LakeFiles.holderOf`. */
  holderOf(directory: string): Promise<TableHolder>;
  /** Where jobs keep what they decide is there. */
  prepare(): Promise<void>;
  /** Tables that the step needs are there, new ones without rows. */
  makeTables(tables: readonly TableStep[]): Promise<void>;
  /** As `HeldPlace.together`. */
  together<T>(work: () => Promise<T>): Promise<T | null>;
}

const readTries = 4;
/** of files that are uploaded several at a time */
const smallBytes = 4 * 1024 * 1024;

export function bucketLake(options: BucketLakeOptions): LakeTarget {
  const { objects, prefix, label, lockTimeoutMs = 15 * 60_000 } = options;
  return {
    label,
    look: async (work) => work(new BucketPlace(options)),
    openSteady: async () => new BucketPlace(options),
    hold: async (makes) => {
      await mkdir(options.scratch, { recursive: true, mode: 0o700 });
      if (makes) await options.catalogue?.prepare();
      const lock = await lockBucket(objects, prefix + bucketLockName, lockTimeoutMs, label);
      return new HeldBucketPlace(options, lock);
    },
  };
}

class BucketPlace implements SteadyPlace {
  readonly label: string;
  readonly local: string;
  protected readonly objects: DecidingStore;
  protected readonly prefix: string;
  protected readonly steps: BucketSteps;
  readonly catalogue: BucketCatalogue | null;
  readonly #location: string;
  /** that are being made */
  readonly #copies = new Map<string, Promise<string>>();
  protected found: Promise<StepsThere> | null = null;

  constructor({ objects, prefix, label, scratch, location, catalogue }: BucketLakeOptions) {
    this.objects = objects;
    this.prefix = prefix;
    this.label = label;
    this.local = scratch;
    this.#location = location;
    this.catalogue = catalogue ?? null;
    this.steps = new BucketSteps(objects, prefix);
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

  /** It stays here as the copy of what is there now. */
  async add(local: string, path: string): Promise<void> {
    const file = await open(local, 'r');
    const body = Readable.toWeb(file.createReadStream()) as unknown as ReadableStream<Uint8Array>;
    await this.objects.write(this.#key(path), body);
    const copy = this.#copyOf(path);
    await mkdir(dirname(copy), { recursive: true });
    await rename(local, copy);
  }

  remove(path: string): Promise<void> {
    return this.objects.removeObject(this.#key(path));
  }

  async checkFile(): Promise<void> {
    // a bucket has no links
  }

  /** Once, also where several ask for it at the same time. */
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
        throw new AppError('conflict', `${this.label}: ${path} is not there, and a table names it.`);
      await pipeline(
        Readable.fromWeb(body as NodeReadableStream<Uint8Array>),
        createWriteStream(draft, { mode: 0o600 }),
      );
    });
    await rename(draft, copy);
    return copy;
  }

  async makeFolder(): Promise<void> {
    // keys need none
  }

  async holderOf(path: string): Promise<TableHolder> {
    if (this.catalogue !== null) return this.catalogue.holderOf(path);
    for await (const _ of this.objects.listObjects(`${this.#key(path)}/`)) return 'others';
    return (await this.objects.head(this.#key(path))) === null ? 'nobody' : 'others';
  }

  locationOf(path: string): Promise<string> {
    return this.catalogue?.locationOf(path) ?? Promise.resolve(`${this.#location}/${path}`);
  }

  async readManifest(): Promise<LakeManifest | null> {
    const { manifest } = await this.newest();
    // of an attempt that died before the first job
    return manifest?.jobs.length === 0 ? null : manifest;
  }

  async readStep(): Promise<LakeStep | null> {
    return (await this.newest()).pending;
  }

  async isSteady(): Promise<boolean> {
    return this.steps.isNewest((await this.newest()).number);
  }

  protected newest(): Promise<StepsThere> {
    return (this.found ??= this.steps.newest());
  }

  #key(path: string): string {
    return this.prefix + path;
  }

  /** Names of keys may hold anything: they are no paths of this machine before that was looked at. */
  #copyOf(path: string): string {
    return join(this.local, 'copies', pathBelow(path, this.label));
  }

  /** Bodies that end too early are asked for again. */
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

class HeldBucketPlace extends BucketPlace implements HeldPlace {
  readonly #lock: BucketLock;
  /** of the step that this writer decided last, or found */
  #number: number | null = null;
  /** what became of the decision is not known: its files stay for whoever ends it */
  readonly #undecided = new Set<string>();
  readonly #handed = new Map<string, readonly string[]>();

  constructor(options: BucketLakeOptions, lock: BucketLock) {
    super(options);
    this.#lock = lock;
  }

  async stage(name: string): Promise<string> {
    const path = join(this.local, name);
    await mkdir(path, { recursive: true });
    return path;
  }

  async discard(name: string): Promise<void> {
    await rm(join(this.local, name), { recursive: true, force: true });
    if (this.#handed.has(name) && !this.#undecided.has(name)) await this.#discardNoted(name);
  }

  async handOver(step: LakeStep): Promise<void> {
    await this.catalogue?.makeTables(step.tables);
    const files = step.tables.flatMap(({ directory, files: added }) =>
      added.map(({ name, bytes }) => ({ name, bytes, path: `${directory}/${dataFolder}/${name}` })),
    );
    const paths = files.map(({ path }) => path);
    this.#handed.set(step.staging, paths);
    await this.write(noteName(step.staging), JSON.stringify({ format: step.format, paths } satisfies Note));
    const upload = ({ name, path }: (typeof files)[number]): Promise<void> =>
      this.add(join(this.local, step.staging, name), path);
    // several large ones would fill the memory
    await eachAtOnce(
      files.filter(({ bytes }) => bytes <= smallBytes),
      upload,
    );
    for (const file of files.filter(({ bytes }) => bytes > smallBytes)) await upload(file);
  }

  async decide(step: LakeStep): Promise<void> {
    const next = (await this.#newestNumber()) + 1;
    let isOwn: boolean;
    try {
      isOwn = await this.steps.decide(next, step);
    } catch (error) {
      this.#undecided.add(step.staging);
      throw error;
    }
    if (!isOwn) throw lostStep(this.label);
    this.#number = next;
    this.found = Promise.resolve({ number: next, pending: step, manifest: (await this.newest()).manifest });
    this.#undecided.add(step.staging);
  }

  together<T>(work: () => Promise<T>): Promise<T | null> {
    return this.catalogue?.together(work) ?? work();
  }

  async settle(): Promise<void> {
    // uploaded before
  }

  async conclude(step: LakeStep, manifest: LakeManifest): Promise<void> {
    const number = await this.#newestNumber();
    // before: what a note names that is left is taken away
    await this.remove(noteName(step.staging));
    await this.steps.conclude(number, manifest);
    this.found = Promise.resolve({ number, pending: null, manifest });
    await rm(join(this.local, step.staging), { recursive: true, force: true });
  }

  async checkHeld(): Promise<void> {
    if (!(await this.steps.isNewest(await this.#newestNumber()))) throw lostStep(this.label);
  }

  /** An attempt may live on that others took for dead: its step would come after this one, which is no more possible. */
  async sweep(): Promise<void> {
    const notes: string[] = [];
    for await (const { key } of this.objects.listObjects(this.prefix + stagingPrefix))
      notes.push(key.slice(this.prefix.length).replace(/\.json$/, ''));
    const [staging] = notes;
    if (staging === undefined) return;
    const { manifest } = await this.newest();
    const format = manifest?.format ?? (await this.#note(staging))?.format;
    if (format !== undefined) {
      const kept = manifest ?? emptyManifest(format);
      const none = { jobUuid: '00000000-0000-0000-0000-000000000000', job: 0, installation: '' };
      const step = { format, staging, ...none, tables: [], manifest: kept };
      await this.decide(step);
      this.#undecided.delete(staging);
      for (const note of notes) await this.#discardNoted(note);
      await this.conclude(step, kept);
    } else for (const note of notes) await this.#discardNoted(note);
  }

  async release(): Promise<void> {
    await this.#lock.release();
  }

  async #newestNumber(): Promise<number> {
    return this.#number ?? (await this.newest()).number;
  }

  /** Files of an attempt that decided nothing. */
  async #discardNoted(name: string): Promise<void> {
    const own = this.#handed.get(name);
    this.#handed.delete(name);
    const paths = own ?? (await this.#note(name))?.paths ?? [];
    for (const path of paths) await this.remove(path);
    await this.remove(noteName(name));
  }

  async #note(name: string): Promise<Note | null> {
    const bytes = await this.read(noteName(name));
    const note = bytes === null ? null : parsed<unknown>(new TextDecoder().decode(bytes));
    // anybody may have written it who may write there: it names nothing but files of rows of jobs
    const isNote = isObject(note) && isTableLayout(note['format']) && isList(note['paths'], isRowsPath);
    return isNote ? (note as unknown as Note) : null;
  }
}

/** What an attempt uploads. */
interface Note {
  readonly format: LakeManifest['format'];
  readonly paths: readonly string[];
}

function isRowsPath(path: unknown): boolean {
  return typeof path === 'string' && /^[^./][^/]*\/data\/\d+-[0-9a-f]{8}-[0-9a-f]{16}\.parquet$/.test(path);
}

function noteName(staging: string): string {
  return `${staging}.json`;
}
