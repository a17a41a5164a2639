/** How often, and after which pauses, a version is tried again that somebody else was first with. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../../errors.ts';

export interface ConflictPolicy {
  readonly mostTries: number;
  /** before the second try at most; twice as long before each further one */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/** a writer that is always first is waited for about half a minute */
const usualPolicy: ConflictPolicy = { mostTries: 100, firstPauseMs: 10, longestPauseMs: 500 };

export class Conflicts {
  readonly #policy: ConflictPolicy;
  readonly #pause: (ms: number) => Promise<unknown>;
  #count = 0;

  constructor(policy: ConflictPolicy = usualPolicy, pause: (ms: number) => Promise<unknown> = sleep) {
    this.#policy = policy;
    this.#pause = pause;
  }

  /** Before the next try; of any length up to the longest, so that writers do not meet again and again. `label`: what could not be written, for people. AppError `service_unavailable` where it was tried often enough. */
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
