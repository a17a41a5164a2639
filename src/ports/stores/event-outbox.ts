/** The outbox: events of jobs, kept by the metadata database until they are delivered. */
export type EventKind = 'webhook' | 'openlineage';

/** One message of one kind; it is claimed for a while, so that no two processes deliver it at once. */
export interface StoredEvent {
  readonly idEvent: number;
  /** a UUID, the same for every attempt */
  readonly message: string;
  /** of jobs: `started`, `ended`; a watch is `stalled`, a file of one `rejected` */
  readonly moment: 'started' | 'ended' | 'stalled' | 'rejected';
  /** JSON of the record that it is about, as it was at that moment */
  readonly job: string;
  /** epoch milliseconds */
  readonly occurred: number;
  /** from 1, this one included */
  readonly attempt: number;
}

export interface EventOutbox {
  /** From now on events of these kinds are recorded, in the transactions that change the jobs, and of no other kinds. */
  recordKinds(kinds: readonly EventKind[]): Promise<void>;
  /** The oldest events that are due; each comes back by itself when it is not settled within `leaseMs`. */
  claimEvents(kind: EventKind, limit: number, leaseMs: number): Promise<readonly StoredEvent[]>;
  delivered(idEvent: number): Promise<void>;
  /** `retryMs` null: given up, it is dead. `reason` holds no secret. */
  failed(idEvent: number, reason: string, retryMs: number | null): Promise<void>;
}
