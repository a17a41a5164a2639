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
