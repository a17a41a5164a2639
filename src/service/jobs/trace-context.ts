/** W3C Trace Context: reads and writes the `traceparent` header (https://www.w3.org/TR/trace-context/). */

export interface TraceContext {
  /** 32 hexadecimal digits, not all zero */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero: the span that work done from now on belongs to */
  readonly spanId: string;
  /** whether the caller records its spans */
  readonly sampled: boolean;
}

const known = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Returns null if the header is absent or invalid; a caller then begins a new trace. Later versions are read by their first four
 * fields.
 */
export function parseTraceparent(header: string | null | undefined): TraceContext | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = known.exec(header?.trim() ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** A new span within the trace of `parent`, or within a new trace. */
export function childOf(parent: TraceContext | null): TraceContext {
  return {
    traceId: parent?.traceId ?? randomHex(16),
    spanId: randomHex(8),
    sampled: parent?.sampled ?? true,
  };
}

function randomHex(bytes: number): string {
  const values = crypto.getRandomValues(new Uint8Array(bytes));
  // an id of zeros alone is invalid
  values[0] ||= 1;
  return Array.from(values, (value) => value.toString(16).padStart(2, '0')).join('');
}
