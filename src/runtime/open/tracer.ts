/** The exporter of spans that the environment asks for, by the variables of OpenTelemetry. */
import { ConfigError } from '../../config/wrong-settings.ts';
import { readBuildInfo } from '../../adapters/server/build-info.ts';
import type { Tracer } from '../../ports/tracer.ts';
import type { Environment } from '../home.ts';

/** Returns null without `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`. ConfigError if it is no address. */
export async function openTracer(environment: Environment): Promise<Tracer | null> {
  const traces = environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']?.trim() ?? '';
  const all = environment['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim() ?? '';
  if ((traces === '' && all === '') || environment['OTEL_SDK_DISABLED'] === 'true') return null;
  const url = traces === '' ? `${all.replace(/\/$/, '')}/v1/traces` : traces;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new ConfigError([
      'OTEL_EXPORTER_OTLP_ENDPOINT: must be an address such as http://collector.example:4318',
    ]);
  const { createOtlpTracer } = await import('../../adapters/telemetry/otlp-tracer.ts');
  const { name, version } = await readBuildInfo();
  return createOtlpTracer({
    url,
    headers: headersOf(
      environment['OTEL_EXPORTER_OTLP_TRACES_HEADERS'] ?? environment['OTEL_EXPORTER_OTLP_HEADERS'] ?? '',
    ),
    serviceName: environment['OTEL_SERVICE_NAME'] || name,
    serviceVersion: version,
  });
}

/** `name=value,name=value`, values percent-encoded. */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}
