/** `traceparent` as W3C Trace Context has it. */
import { describe, expect, it } from 'vitest';
import { childOf, formatTraceparent, parseTraceparent } from '../../../../src/service/jobs/trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('traceparent', () => {
  it('is read and written', () => {
    const trace = { traceId, spanId, sampled: true };
    expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toEqual(trace);
    expect(parseTraceparent(`00-${traceId}-${spanId}-02`)).toEqual({ ...trace, sampled: false });
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01-later`)).toEqual(trace);
    expect(formatTraceparent(trace)).toBe(`00-${traceId}-${spanId}-01`);
  });

  it.each([
    undefined,
    '',
    'x',
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}`,
  ])('begins anew for %s', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });

  it('a child has a span of its own in the same trace', () => {
    const child = childOf({ traceId, spanId, sampled: false });
    expect(child).toMatchObject({ traceId, sampled: false });
    expect(child.spanId).not.toBe(spanId);
    expect(parseTraceparent(formatTraceparent(childOf(null)))).not.toBeNull();
  });
});
