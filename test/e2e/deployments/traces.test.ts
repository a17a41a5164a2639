/** A trace from a request to its job, the job's tool and the steps of it: in records, in lines of the log, and at a collector of OTLP. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { execution } from '../../support/service/client.ts';
import { projectRoot, serviceEnvironment } from '../../support/service/start.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

const trial = useTrial();
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const callerSpan = '00f067aa0ba902b7';

describe('traces', { timeout: 120_000 }, () => {
  let home: ServiceHome;
  let service: RunningService;
  const spans: Span[] = [];
  const headers: unknown[] = [];
  let collector = '';

  beforeAll(async () => {
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        headers.push(request.headers['x-collector']);
        expect(request.url).toBe('/v1/traces');
        const told = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
        spans.push(...told.resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)));
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    trial.keep(server, async (one) => void one.close());
    collector = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    home = await trial.home({ 'cmd.enabled': 'true' });
    service = await trial.service(home, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector=a%20b',
    });
  });

  async function run(traceparent?: string): Promise<number> {
    const { client } = service;
    const path = await client.upload('xml', 'a.xml', new TextEncoder().encode('<a><b>1</b></a>'));
    const answer = await client.fetch('/v2/run/cmd', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      body: JSON.stringify({ executions: [execution('xml2er', path, [['-o', 'metadb:traced']])] }),
    });
    const { jobs } = (await answer.json()) as { jobs: number[] };
    await client.ended(jobs[0]!);
    return jobs[0]!;
  }

  it('carries the trace of the caller to the job, its log lines and its steps', async () => {
    const idJob = await run(`00-${traceId}-${callerSpan}-01`);
    expect(await service.client.job(idJob)).toMatchObject({ status: 'C', trace_id: traceId });
    const lines = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const messages = lines.flatMap((line) => (line['trace_id'] === traceId ? [line['message']] : []));
    expect(messages).toEqual(expect.arrayContaining(['request', 'job claimed', 'process ended']));

    const ours = await eventually('spans', async () => {
      const found = spans.filter((span) => span.traceId === traceId);
      return found.some(({ name }) => name.startsWith('step ')) && found.length > 3 ? found : null;
    });
    const request = ours.find(({ name }) => name === 'POST /v2/run/cmd')!;
    expect(request).toMatchObject({ parentSpanId: callerSpan, kind: 2 });
    const job = ours.find(({ name }) => name === 'job xml2er')!;
    expect(job.parentSpanId).toBe(request.spanId);
    const steps = ours.filter(({ name }) => name.startsWith('step '));
    expect(new Set(steps.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([job.spanId]));
    for (const step of steps) {
      expect(BigInt(step.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(job.startTimeUnixNano));
      expect(BigInt(step.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(job.endTimeUnixNano));
    }
    expect(headers[0]).toBe('a b');
  });

  it('begins a trace where the caller names none, and exports nothing that the caller does not record', async () => {
    const own = (await service.client.job(await run())) as unknown as { trace_id: string };
    expect(own.trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(own.trace_id).not.toBe(traceId);
    const invalid = (await service.client.job(
      await run(`00-${'0'.repeat(32)}-${callerSpan}-01`),
    )) as unknown as {
      trace_id: string;
    };
    expect(invalid.trace_id).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
    const unrecorded = 'a'.repeat(32);
    const job = await service.client.job(await run(`00-${unrecorded}-${callerSpan}-00`));
    expect(job).toMatchObject({ status: 'C', trace_id: unrecorded });
    await eventually('later spans', async () =>
      spans.some((span) => span.traceId === own.trace_id && span.name === 'job xml2er') ? true : null,
    );
    expect(spans.filter((span) => span.traceId === unrecorded)).toEqual([]);
  });

  it('gives metrics of the installation', async () => {
    const text = await (await service.client.fetch('/actuator/prometheus')).text();
    expect(text).toMatch(/^svc_pool_connections\{pool="shared"\} [1-9]/m);
    expect(text).toMatch(/^svc_database_connections [1-9]/m);
    expect(text).toMatch(/^svc_database_max_connections [1-9]/m);
    expect(text).toMatch(/^svc_retention_lag_seconds 0$/m);
  });

  it('a worker answers health and metrics on a port of its own, and nothing else', async () => {
    const worker = spawn(process.execPath, ['scripts/guard.mjs', 'src/runtime/worker-main.ts'], {
      cwd: projectRoot,
      env: serviceEnvironment(home, {
        SVC_CMD_ENABLED: 'true',
        SVC_METADB_URL: await home.databaseUrl(),
        SVC_WORKER_PORT: '0',
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    trial.keep(worker, async (one) => void one.kill('SIGKILL'));
    let output = '';
    worker.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    worker.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const url = await eventually(
      'the port of the worker',
      async () => /^health and metrics on (http:\S+)$/m.exec(output)?.[1] ?? null,
    );
    for (const group of ['liveness', 'readiness'])
      expect((await fetch(`${url}/actuator/health/${group}`)).status, output).toBe(200);
    expect((await fetch(`${url}/actuator/prometheus`)).status).toBe(401);
    const keyed = { headers: { Authorization: `Bearer ${service.key}` } };
    expect(await (await fetch(`${url}/actuator/prometheus`, keyed)).text()).toContain(
      'svc_worker_running_jobs 0',
    );
    expect((await fetch(`${url}/v2/executions/all`, keyed)).status).toBe(404);
    const ended = new Promise((resolve) => worker.once('close', resolve));
    worker.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
