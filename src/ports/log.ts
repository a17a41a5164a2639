/** The log of the service. */

// One structured line per event; values are masked for secrets before they are written.

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
