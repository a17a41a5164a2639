/** Spans over OTLP/HTTP (JSON), by the exporter of OpenTelemetry. The module is loaded only if a collector is configured. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace';
import type { FinishedSpan, Tracer } from '../../ports/environment.ts';

export interface OtlpTracerOptions {
  /** address that spans are posted to, such as `http://collector:4318/v1/traces` */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** milliseconds that spans are collected for before they are sent */
  readonly delayMs?: number;
}

/** numbers of OpenTelemetry's SpanKind */
const kinds = { internal: 0, server: 1, consumer: 4 } as const;
const sampledFlag = 1;
const exportTimeoutMs = 5_000;

export function createOtlpTracer(options: OtlpTracerOptions): Tracer {
  const resource = resourceFromAttributes({
    'service.name': options.serviceName,
    'service.version': options.serviceVersion,
  });
  const instrumentationScope = { name: 'conversion-job-service', version: options.serviceVersion };
  const exporter = new OTLPTraceExporter({
    url: options.url,
    headers: { ...options.headers },
    timeoutMillis: exportTimeoutMs,
  });
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: options.delayMs ?? 2_000,
    exportTimeoutMillis: exportTimeoutMs,
    maxQueueSize: 4_096,
  });

  function readable(span: FinishedSpan): ReadableSpan {
    const { traceId, spanId, parentSpanId, startMs, endMs, error } = span;
    return {
      name: span.name,
      kind: kinds[span.kind],
      spanContext: () => ({ traceId, spanId, traceFlags: sampledFlag }),
      ...(parentSpanId === undefined
        ? {}
        : { parentSpanContext: { traceId, spanId: parentSpanId, traceFlags: sampledFlag, isRemote: true } }),
      startTime: highResolution(startMs),
      endTime: highResolution(endMs),
      duration: highResolution(Math.max(0, endMs - startMs)),
      status: error === undefined ? { code: 0 } : { code: 2, message: error },
      attributes: span.attributes,
      links: [],
      events: [],
      ended: true,
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  }

  let closed: Promise<void> | null = null;
  return {
    record: (span) => processor.onEnd(readable(span)),
    // a collector that does not answer keeps no process from its end
    close: () => (closed ??= processor.shutdown().catch(() => undefined)),
  };
}

/** A time of OpenTelemetry: whole seconds, and the nanoseconds after them. */
function highResolution(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
