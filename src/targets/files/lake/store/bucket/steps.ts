/**
 * What jobs decided in a bucket: a numbered object each, made once or not at all, and beside it the manifest as it was once all was done. So
 * of two writers that begin with the same step only one goes on, whatever became of their lock.
 */
import { AppError } from '../../../../../errors.ts';
import type { DecidingStore } from '../../../../../ports/files/objects.ts';
import { manifestName } from '../../../folder/contents/manifest.ts';
import { manifestOf, stepOf, textOf, type LakeManifest, type LakeStep } from '../../manifest.ts';

const folder = '.svc-steps/';
/** as many steps are kept as a writer that slept may be behind */
const keptSteps = 200;

export interface StepsThere {
  /** of the newest step; 0: none */
  readonly number: number;
  /** null: it is done */
  readonly pending: LakeStep | null;
  /** as of the last step that is done; null: none */
  readonly manifest: LakeManifest | null;
}

export class BucketSteps {
  readonly #objects: DecidingStore;
  readonly #prefix: string;

  /** `prefix`: of the folder of tables, '' or ending in '/' */
  constructor(objects: DecidingStore, prefix: string) {
    this.#objects = objects;
    this.#prefix = prefix;
  }

  async newest(): Promise<StepsThere> {
    const names = new Set<string>();
    for await (const { key } of this.#objects.listObjects(this.#prefix + folder))
      names.add(key.slice(this.#prefix.length));
    const number = Math.max(0, ...[...names].map((name) => Number(/(\d{20})\.json$/.exec(name)?.[1] ?? 0)));
    const isDone = names.has(doneName(number));
    const done = isDone ? number : number - 1;
    const manifest = names.has(doneName(done))
      ? await this.#text(doneName(done))
      : await this.#text(manifestName);
    const pending = number === 0 || isDone ? null : await this.#text(stepName(number));
    return {
      number,
      pending: pending === null ? null : stepOf(pending),
      manifest: manifest === null ? null : manifestOf(manifest),
    };
  }

  /** False where another writer took that number. */
  decide(number: number, step: LakeStep): Promise<boolean> {
    return this.#objects.createObject(this.#key(stepName(number)), bytesOf(JSON.stringify(step)));
  }

  /** Whether no step was decided after that one. */
  async isNewest(number: number): Promise<boolean> {
    return (await this.#objects.head(this.#key(stepName(number + 1)))) === null;
  }

  async conclude(number: number, manifest: LakeManifest): Promise<void> {
    const bytes = bytesOf(textOf(manifest));
    await this.#objects.createObject(this.#key(doneName(number)), bytes);
    // for people and other programs; nothing here depends on it any more
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

export function lostStep(label: string): AppError {
  return new AppError(
    'service_unavailable',
    `${label}: another job has taken the tables over; nothing of this one is there that is not finished by whoever comes next.`,
  );
}

function stepName(number: number): string {
  return `${folder}${String(number).padStart(20, '0')}.json`;
}

function doneName(number: number): string {
  return `${folder}done-${String(number).padStart(20, '0')}.txt`;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
