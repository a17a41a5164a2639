/**
 * Tables in a bucket. The files of a job are uploaded and noted before the job is decided. So the process that finishes the step finds
 * them, and the process that finds the note of a dead attempt removes them. Steps are numbered objects, each created at most once: if two
 * writers start from the same step, only one continues, whatever happened to their lock.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../errors.ts';
import type { DecidingStore } from '../../../ports/files.ts';
import { isTableLayout } from '../../../ports/layouts.ts';
import { isList, isObject, parsed } from '../json.ts';
import { BucketFiles, namesBelow, type BucketOptions, bucketLockName, lockBucket } from '../place/bucket.ts';
import { manifestName, stagingPrefix, type PlaceLock } from '../place/journal.ts';
import { emptyManifest, lakeRecords, type LakeManifest, type LakeStep } from './manifest.ts';
import type { HeldLakePlace, LakeTarget, SteadyPlace } from './place.ts';
import { type TableCatalogue, dataFolder } from './table-format.ts';

export interface BucketLakeOptions extends BucketOptions {
  /** provides the versions and locations of tables; absent: they are in files beside the rows */
  readonly catalogue?: TableCatalogue;
  /** how long to wait for another job that writes to the target (15 minutes) */
  readonly lockTimeoutMs?: number;
}

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

class BucketPlace extends BucketFiles implements SteadyPlace {
  readonly catalogue: TableCatalogue | undefined;
  protected readonly steps: BucketSteps;
  protected found: Promise<DecidedSteps> | null = null;

  constructor(options: BucketLakeOptions) {
    super(options);
    this.catalogue = options.catalogue;
    this.steps = new BucketSteps(options.objects, options.prefix);
  }

  override locationOf(path: string): Promise<string> {
    return this.catalogue?.locationOf(path) ?? super.locationOf(path);
  }

  async readManifest(): Promise<LakeManifest | null> {
    const { manifest } = await this.newest();
    // an attempt that died before the first job leaves a manifest without jobs
    return manifest?.jobs.length === 0 ? null : manifest;
  }

  async readStep(): Promise<LakeStep | null> {
    return (await this.newest()).pending;
  }

  async isSteady(): Promise<boolean> {
    return this.steps.isNewest((await this.newest()).number);
  }

  protected newest(): Promise<DecidedSteps> {
    return (this.found ??= this.steps.newest());
  }
}

class HeldBucketPlace extends BucketPlace implements HeldLakePlace {
  readonly #lock: PlaceLock;
  /** the number of the step that this writer decided last, or found */
  #number: number | null = null;
  /** the outcome of the decision is unknown: its files remain for the writer that finishes the step */
  readonly #undecided = new Set<string>();
  readonly #handed = new Map<string, readonly string[]>();

  constructor(options: BucketLakeOptions, lock: PlaceLock) {
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
      added.map(({ name, bytes }) => ({
        local: join(this.local, step.staging, name),
        path: `${directory}/${dataFolder}/${name}`,
        bytes,
      })),
    );
    const paths = files.map(({ path }) => path);
    this.#handed.set(step.staging, paths);
    await this.write(noteName(step.staging), JSON.stringify({ format: step.format, paths } satisfies Note));
    await this.addAll(files);
  }

  async decide(step: LakeStep, mayDecide: () => Promise<void>): Promise<void> {
    await mayDecide();
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

  async settle(): Promise<void> {
    // files are already uploaded
  }

  async conclude(step: LakeStep, manifest: LakeManifest): Promise<void> {
    const number = await this.#newestNumber();
    // removed first, because the files that a remaining note names would be removed
    await this.remove(noteName(step.staging));
    await this.steps.conclude(number, manifest);
    this.found = Promise.resolve({ number, pending: null, manifest });
    await rm(join(this.local, step.staging), { recursive: true, force: true });
  }

  async checkHeld(): Promise<void> {
    if (!(await this.steps.isNewest(await this.#newestNumber()))) throw lostStep(this.label);
  }

  /**
   * Removes the files of dead attempts. An attempt that others took for dead may still run, but its step would come after this one, and can
   * no longer be decided.
   */
  async sweep(): Promise<void> {
    const names = await namesBelow(this.objects, this.prefix, stagingPrefix);
    const notes = names.map((name) => name.replace(/\.json$/, ''));
    const [staging] = notes;
    if (staging === undefined) return;
    const { manifest } = await this.newest();
    const format = manifest?.format ?? (await this.#note(staging))?.format;
    if (format !== undefined) {
      const kept = manifest ?? emptyManifest(format);
      const none = { jobUuid: '00000000-0000-0000-0000-000000000000', job: 0, installation: '' };
      const step = { format, staging, ...none, tables: [], manifest: kept };
      await this.decide(step, () => Promise.resolve());
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

  /** Removes the files of an attempt that decided no step. */
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
    // any user with write access may have written the note: it may only name files of rows of jobs
    const isNote = isObject(note) && isTableLayout(note['format']) && isList(note['paths'], isRowsPath);
    return isNote ? (note as unknown as Note) : null;
  }
}

/** The list of the files that an attempt uploads. */
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

const stepsFolder = '.svc-steps/';
/** the number of steps that are kept, for a writer that is that far behind */
const keptSteps = 200;

interface DecidedSteps {
  /** the number of the newest step; 0 if there is none */
  readonly number: number;
  /** null: the newest step is carried out */
  readonly pending: LakeStep | null;
  /** the manifest after the last finished step; null if there is none */
  readonly manifest: LakeManifest | null;
}

/** Decided steps, each with the manifest as it was after the step was carried out. */
class BucketSteps {
  readonly #objects: DecidingStore;
  readonly #prefix: string;

  /** `prefix`: the folder of tables, '' or ending in '/' */
  constructor(objects: DecidingStore, prefix: string) {
    this.#objects = objects;
    this.#prefix = prefix;
  }

  async newest(): Promise<DecidedSteps> {
    const names = new Set(await namesBelow(this.#objects, this.#prefix, stepsFolder));
    const number = Math.max(0, ...[...names].map((name) => Number(/(\d{20})\.json$/.exec(name)?.[1] ?? 0)));
    const isDone = names.has(doneName(number));
    const done = isDone ? number : number - 1;
    const manifest = names.has(doneName(done))
      ? await this.#text(doneName(done))
      : await this.#text(manifestName);
    const pending = number === 0 || isDone ? null : await this.#text(stepName(number));
    return {
      number,
      pending: pending === null ? null : lakeRecords.stepOf(pending),
      manifest: manifest === null ? null : lakeRecords.manifestOf(manifest),
    };
  }

  /** Returns false if another writer took that number. */
  decide(number: number, step: LakeStep): Promise<boolean> {
    return this.#objects.createObject(this.#key(stepName(number)), bytesOf(lakeRecords.stepText(step)));
  }

  /** Returns whether no later step was decided. */
  async isNewest(number: number): Promise<boolean> {
    return (await this.#objects.head(this.#key(stepName(number + 1)))) === null;
  }

  async conclude(number: number, manifest: LakeManifest): Promise<void> {
    const bytes = bytesOf(lakeRecords.manifestText(manifest));
    await this.#objects.createObject(this.#key(doneName(number)), bytes);
    // for people and other programs only: this program no longer reads it
    if (await this.isNewest(number)) await this.#objects.write(this.#key(manifestName), bytes);
    const old = number - keptSteps;
    if (old > 0)
      for (const name of [stepName(old), doneName(old)]) await this.#objects.removeObject(this.#key(name));
  }

  #key(name: string): string {
    return this.#prefix + name;
  }

  async #text(name: string): Promise<string | null> {
    const body = await this.#objects.read(this.#key(name));
    return body === null ? null : new Response(body).text();
  }
}

function lostStep(label: string): AppError {
  return new AppError(
    'service_unavailable',
    `${label}: another job has taken over the lock. If this job left unfinished work, the next job that writes there finishes it.`,
  );
}

function stepName(number: number): string {
  return `${stepsFolder}${String(number).padStart(20, '0')}.json`;
}

function doneName(number: number): string {
  return `${stepsFolder}done-${String(number).padStart(20, '0')}.txt`;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
