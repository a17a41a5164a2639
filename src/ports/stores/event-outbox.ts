/** The outbox: events of jobs, kept by the metadata database until they are delivered. */
import type { ClaimShares } from './watches.ts';

export type EventKind = 'webhook' | 'openlineage';

/** One message of one kind; it is claimed for a while, so that no two processes deliver it at once. */
export interface StoredEvent {
  readonly idEvent: number;
  readonly idOrg: number;
  /** a UUID, the same for every attempt */
  readonly message: string;
  /** for jobs: `started`, `ended`; for a watch: `stalled`; for a file of a watch: `rejected` */
  readonly moment: 'started' | 'ended' | 'stalled' | 'rejected';
  /** JSON of the record that it is about, as it was at that moment */
  readonly job: string;
  /** epoch milliseconds */
  readonly occurred: number;
  /** number of this attempt, from 1 */
  readonly attempt: number;
}

export interface EventOutbox {
  /** Sets the kinds of events that are recorded from now on, in the transactions that change the jobs. */
  recordKinds(kinds: readonly EventKind[]): Promise<void>;
  /**
   * Claims the oldest due events of one organisation: of those that `shares` does not leave out, the one that was served longest ago.
   * Each event comes back by itself when it is not settled within `leaseMs`.
   */
  claimEvents(
    kind: EventKind,
    limit: number,
    leaseMs: number,
    shares?: ClaimShares,
  ): Promise<readonly StoredEvent[]>;
  /** Gives back claimed events that nobody tried to deliver: they are due at once, and the attempt is not counted. */
  release(idEvents: readonly number[]): Promise<void>;
  delivered(idEvent: number): Promise<void>;
  /** `retryMs` null: given up, it is dead. `reason` holds no secret. */
  failed(idEvent: number, reason: string, retryMs: number | null): Promise<void>;
}
