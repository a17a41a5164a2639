/** Reads the newest versions of tables, and waits after another writer made one first. */
import { eachAtOnce } from '../../place/at-once.ts';
import type { LakePlace } from '../place.ts';
import type { TableFormat, TableVersion } from '../table-format.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../../errors.ts';

export class NewestVersions {
  readonly #place: LakePlace;
  readonly #seen = new Map<string, TableVersion>();
  /** the results for the next calls of `of`, by format and directory */
  readonly #ahead = new Map<string, TableVersion | null>();

  constructor(place: LakePlace) {
    this.#place = place;
  }

  /** Returns the newest version; null if there is no table. AppErrors as of `TableFormat.readTable`. */
  async of(format: TableFormat, { name, directory }: TableAt): Promise<TableVersion | null> {
    const key = `${format.name} ${directory}`;
    const ahead = this.#ahead.get(key);
    this.#ahead.delete(key);
    return ahead === undefined ? this.#read(format, { name, directory }) : ahead;
  }

  /** Reads several tables at a time, for later calls of `of`. */
  async lookAt(format: TableFormat, tables: readonly TableAt[]): Promise<void> {
    await eachAtOnce(tables, async (table) => {
      this.#ahead.set(`${format.name} ${table.directory}`, await this.#read(format, table));
    });
  }

  async #read(format: TableFormat, { name, directory }: TableAt): Promise<TableVersion | null> {
    const label = `${this.#place.label}: ${name}`;
    const key = `${format.name} ${directory}`;
    const seen = this.#seen.get(key);
    const now =
      seen === undefined
        ? await format.readTable(this.#place, directory, label)
        : await format.readSince(this.#place, directory, label, seen);
    if (now === null) this.#seen.delete(key);
    else this.#seen.set(key, now);
    return now;
  }
}

export interface TableAt {
  readonly name: string;
  readonly directory: string;
}

export interface ConflictPolicy {
  readonly mostTries: number;
  /** the maximum pause before the second try; it doubles with each further one */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/** waits about half a minute for a writer that is always first */
const usualPolicy: ConflictPolicy = { mostTries: 100, firstPauseMs: 10, longestPauseMs: 500 };

export class Conflicts {
  readonly #policy: ConflictPolicy;
  readonly #pause: (ms: number) => Promise<unknown>;
  #count = 0;

  constructor(policy: ConflictPolicy = usualPolicy, pause: (ms: number) => Promise<unknown> = sleep) {
    this.#policy = policy;
    this.#pause = pause;
  }

  /**
   * Waits before the next try, for a random time up to the maximum, so that writers do not collide repeatedly. `label`: the name of what
   * could not be written, for people. AppError `service_unavailable` after the last try.
   */
  async next(label: string): Promise<void> {
    const { mostTries, firstPauseMs, longestPauseMs } = this.#policy;
    this.#count += 1;
    if (this.#count >= mostTries)
      throw new AppError(
        'service_unavailable',
        `${label}: other programs were first with a version in each of ${mostTries} tries; what the job decided is kept, and whoever writes there next ends it: run it again while they write less`,
      );
    await this.#pause(Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#count - 1)) * Math.random());
  }
}
