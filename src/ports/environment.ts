/** The surroundings of the service: its clock, its log, its tracer, and the probes of its health and of the installation's figures. */

/** Wall time of the process. It never decides about leases: those use the database's clock. */
export interface Clock {
  /** epoch milliseconds */
  nowMs(): number;
}

// The log: one structured line for each event. Secrets in values are masked before they are written.

export interface Logger {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The log of the service itself: its level, and its most recent part. */
export const logLevels = ['OFF', 'ERROR', 'WARN', 'INFO'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Bytes from `from` on, counted from the first that this process wrote; earlier ones are no longer held. */
interface HeldLog {
  readonly from: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface ServiceLog {
  level(): LogLevel;
  /** Sets the level; null restores the initial one, and `configured` is then null, too. */
  setLevel(level: LogLevel | null): void;
  configured(): LogLevel | null;
  held(): HeldLog;
}

// Spans: the duration of a request, a job or a step of a job.

export interface FinishedSpan {
  readonly name: string;
  readonly kind: 'server' | 'consumer' | 'internal';
  readonly traceId: string;
  readonly spanId: string;
  /** absent: the first span of its trace */
  readonly parentSpanId?: string;
  /** epoch milliseconds, fractions included */
  readonly startMs: number;
  readonly endMs: number;
  /** description of the error; absent: no error */
  readonly error?: string;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

export interface Tracer {
  /** Never throws and never waits: a collector that does not answer loses spans, and delays nobody. */
  record(span: FinishedSpan): void;
  /** Sends the buffered spans. Idempotent. */
  close(): Promise<void>;
}

// Probes of the operator: the health of parts, and figures of the whole installation (waiting work, and its waiting times).

/** Answers the operator's probes: the states of the parts, named as in Spring Boot's health endpoint. */
export type HealthStatus = 'UP' | 'DOWN' | 'OUT_OF_SERVICE' | 'UNKNOWN';

export interface HealthComponent {
  readonly status: HealthStatus;
  /** shown to holders of a key only: no secrets, no addresses with passwords */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface HealthProbe {
  /** The metadata database; never rejects, a fault is DOWN. Detail `database` as in Spring: `PostgreSQL`. */
  db(): Promise<HealthComponent>;
  /** Free space below the home folder: details `total`, `free`, `threshold` in bytes, `path`, `exists`. UNKNOWN if there is no disk. */
  diskSpace(): Promise<HealthComponent>;
  /** The store of files and logs; absent if that is a folder. Never rejects; bounded in time. */
  objectStore?(): Promise<HealthComponent>;
  /** The workers of this process; UP with `running: 0` if they run elsewhere. */
  worker(): Promise<HealthComponent>;
  /** Whether the database has the version of this program; OUT_OF_SERVICE after a newer release migrated it. Asks nothing. */
  version?(): HealthComponent;
  /** False while the process drains: readiness is OUT_OF_SERVICE then. */
  acceptsTraffic(): boolean;
}

export interface OperationFigures {
  readonly outbox: readonly {
    /** `webhook`, `openlineage` */
    readonly kind: string;
    readonly waiting: number;
    /** given up after the last attempt, and not removed yet */
    readonly dead: number;
    /** milliseconds since the event that waits longest occurred; 0 if none waits */
    readonly oldestMs: number;
  }[];
  /** connections to the metadata database from all its clients */
  readonly connections: number;
  /** connections that the server accepts */
  readonly maxConnections: number;
  /** overdue time of the oldest record of ended jobs that should have been removed, in milliseconds; 0: none is due */
  readonly retentionLagMs: number;
  /** the organisations whose oldest queued job has waited longest, at most 20, longest first */
  readonly queues: readonly { readonly idOrg: number; readonly ageMs: number }[];
  /** jobs that wait for a server or for room on a disk */
  readonly outageJobs: number;
  /** milliseconds that the job among them that waits longest has waited; 0 if none waits */
  readonly outageMs: number;
}

export interface OperationFigureSource {
  read(): Promise<OperationFigures>;
  /** open connections of this process by pool, without asking the database */
  pools(): Readonly<Record<string, { readonly open: number; readonly max: number }>>;
}
