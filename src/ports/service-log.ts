/** The log of the service itself: its level, and its most recent part. */
export const logLevels = ['OFF', 'ERROR', 'WARN', 'INFO'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Bytes from `from` on, counted from the first that this process wrote; earlier ones are no longer held. */
export interface HeldLog {
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
