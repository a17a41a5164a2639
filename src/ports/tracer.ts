/** Exports spans: the duration of a request, a job or a step of a job. */

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
