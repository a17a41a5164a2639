/** What an operator watches and turns, in the shapes that clients of Spring Boot's actuator read. */
import { describe, expect, it } from 'vitest';
import { byteRange } from '../../../src/http/download.ts';
import { failureReason } from '../../../src/service/jobs/record.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import type { Scope } from '../../../src/ports/stores/access.ts';
import { submitJobs } from '../../support/memory/job-records.ts';

const v3 = 'application/vnd.spring-boot.actuator.v3+json';
const paths = ['metrics', 'metrics/svc.jobs', 'env', 'env/cmd.enabled', 'loggers', 'loggers/ROOT', 'logfile'];
const worker = { workerId: 'w1', host: 'etl-1/10.0.0.5', osUser: 'svc', basePath: '/' };

function setLevel(configuredLevel: unknown, type = 'application/json'): RequestInit {
  return { method: 'POST', headers: { 'Content-Type': type }, body: JSON.stringify({ configuredLevel }) };
}

const never = (): Promise<never> => new Promise(() => undefined);

type Json = Record<string, unknown>;
const jsonOf = async (answer: Response | Promise<Response>): Promise<Json> =>
  (await (await answer).json()) as Json;

describe('the operator’s endpoints', () => {
  it.each([...paths, 'prometheus'])(
    '/actuator/%s is for keys of organisation 1 with metrics:read or admin',
    async (path) => {
      const { send, newKey } = await createTestApp();
      const asked = async (idOrg: number, scopes: readonly Scope[]): Promise<number> => {
        const { key } = await newKey(idOrg, scopes);
        return (await send(`/actuator/${path}`, { key })).status;
      };
      expect((await send(`/actuator/${path}`, { key: null })).status).toBe(401);
      expect(await asked(1, ['jobs:read', 'jobs:run', 'schemas:read'])).toBe(403);
      expect(await asked(2, ['metrics:read'])).toBe(403);
      expect(await asked(2, ['admin'])).toBe(403);
      expect(await asked(1, ['metrics:read'])).toBe(200);
      expect(await asked(1, ['admin'])).toBe(200);
    },
  );

  it('the level of the log is for keys of organisation 1 with admin', async () => {
    const { send, newKey } = await createTestApp();
    const set = async (idOrg: number, scope: Scope): Promise<number> => {
      const { key } = await newKey(idOrg, [scope]);
      return (await send('/actuator/loggers/ROOT', { ...setLevel('INFO'), key })).status;
    };
    expect(await set(2, 'admin')).toBe(403);
    expect(await set(1, 'metrics:read')).toBe(403);
    expect(await set(1, 'admin')).toBe(204);
  });

  it('health has details for the same keys', async () => {
    const { send, newKey } = await createTestApp();
    for (const [idOrg, scope, shown] of [
      [1, 'metrics:read', true],
      [1, 'admin', true],
      [1, 'jobs:read', false],
      [2, 'admin', false],
    ] as const) {
      const { key } = await newKey(idOrg, [scope]);
      const health = await jsonOf(send('/actuator/health', { key }));
      expect([idOrg, scope, 'components' in health]).toEqual([idOrg, scope, shown]);
      expect((await send('/actuator/health/diskSpace', { key })).status).toBe(shown ? 200 : 404);
    }
  });
});

describe('metrics while the database is down', () => {
  const token = 'scrape-0123456789abcdef';

  async function deafService() {
    const test = await createTestApp({ 'svc.metrics.token': token });
    const { adapters } = test;
    Object.assign(adapters.jobs, { countByStatus: never, listEnded: never, queueAgeMs: never });
    Object.assign(adapters.access, { findKey: never });
    Object.assign(adapters.health, { db: never });
    return test;
  }

  it('answer svc.metrics.token within a second, with what the process knows', async () => {
    const { send } = await deafService();
    const began = performance.now();
    for (let time = 0; time < 6; time += 1) {
      const answer = await send('/actuator/prometheus', { key: token });
      expect(answer.status).toBe(200);
      const text = await answer.text();
      expect(text).toContain('svc_component_up{component="db"} 0\n');
      expect(text).toContain('svc_component_up{component="diskSpace"} 1\n');
      expect(text).toContain('svc_component_up{component="worker"} 1\n');
      expect(text).toContain('# TYPE svc_http_requests_total counter\n');
      expect(text).not.toContain('svc_jobs');
    }
    expect(performance.now() - began).toBeLessThan(6000);
  });

  it('take that token nowhere else, and no other one', async () => {
    const { send } = await createTestApp({ 'svc.metrics.token': token });
    for (const path of ['/actuator/metrics', '/actuator/env', '/actuator/logfile', '/v2/executions/all'])
      expect([path, (await send(path, { key: token })).status]).toEqual([path, 401]);
    expect(await jsonOf(send('/actuator/health', { key: token }))).not.toHaveProperty('components');
    expect((await send('/actuator/prometheus', { key: `${token}0` })).status).toBe(401);
    expect((await (await createTestApp()).send('/actuator/prometheus', { key: token })).status).toBe(401);
    const text = await (await send('/actuator/prometheus', { key: token })).text();
    expect(text).toContain('svc_component_up{component="db"} 1\n');
    expect(text).toContain('svc_jobs{status="Q"} 0\n');
  });
});

describe('/actuator/metrics', () => {
  it('names the metrics, and tells each with its tags', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 1, 2);
    await send('/v2/executions/all');
    await send('/v2/executions/get/99');
    const { names } = await jsonOf(send('/actuator/metrics'));
    expect(names).toEqual(
      expect.arrayContaining(['svc.http.request.duration', 'svc.http.requests', 'svc.jobs', 'svc.queue.age']),
    );
    expect(await jsonOf(send('/actuator/metrics/svc.jobs?tag=status:Q'))).toEqual({
      name: 'svc.jobs',
      description: 'Jobs on record, by state.',
      measurements: [{ statistic: 'VALUE', value: 2 }],
      availableTags: [],
    });
    const requests = await jsonOf(
      send('/actuator/metrics/svc.http.requests?tag=route:/v2/executions/get/{id}'),
    );
    expect(requests).toMatchObject({
      measurements: [{ statistic: 'COUNT', value: 1 }],
      availableTags: [
        { tag: 'method', values: ['GET'] },
        { tag: 'status', values: ['4xx'] },
      ],
    });
    const durations = await jsonOf(send('/actuator/metrics/svc.http.request.duration'));
    expect(durations).toMatchObject({ baseUnit: 'seconds' });
    expect((durations['measurements'] as Json[]).map(({ statistic }) => statistic)).toEqual([
      'COUNT',
      'TOTAL_TIME',
    ]);
  });

  it.each([
    ['svc.nothing', 404],
    ['svc.jobs?tag=status:X', 404],
    ['svc.jobs?tag=colour:Q', 404],
    ['svc.jobs?tag=status', 400],
    ['svc.jobs?tag=status:Q&tag=status:C', 404],
  ])('%s is %i', async (path, status) => {
    const { send } = await createTestApp();
    expect((await send(`/actuator/metrics/${path}`)).status).toBe(status);
  });

  it('counts jobs that ended since the start once each: time, rows, bytes, and why they failed', async () => {
    const { send, adapters } = await createTestApp();
    const { jobs, time } = adapters;
    await submitJobs(jobs, 1, 1);
    await submitJobs(jobs, 2, 1);
    await submitJobs(jobs, 2, 1);
    time.nowMs += 4000;
    const done = (await jobs.claimJob(worker, 30_000))!;
    const failed = (await jobs.claimJob(worker, 30_000))!;
    time.nowMs += 2000;
    await jobs.report(done, { summary: { rows: 50, bytes: 7000, documents: 3 } });
    await jobs.finish(done, 'completed', null);
    await jobs.finish(failed, 'failed', 'a.xml: line 3, column 7: the end tag does not match');
    const read = async (): Promise<string> => (await send('/actuator/prometheus')).text();
    for (let time = 0; time < 3; time += 1) {
      const text = await read();
      expect(text).toContain('svc_jobs_ended_total{type="Parse",status="C"} 1\n');
      expect(text).toContain('svc_job_failures_total{type="Parse",reason="input"} 1\n');
      expect(text).toContain('svc_job_rows_total{type="Parse"} 50\n');
      expect(text).toContain('svc_job_bytes_total{type="Parse"} 7000\n');
      expect(text).toContain('svc_job_documents_total{type="Parse"} 3\n');
      expect(text).toContain('svc_job_duration_seconds_bucket{type="Parse",status="C",le="2.5"} 1\n');
      expect(text).toContain('svc_job_duration_seconds_sum{type="Parse",status="C"} 2\n');
      expect(text).toContain('svc_queue_age_seconds 6\n');
    }
    time.nowMs += 3_600_000;
    await jobs.requestKill(2, 3);
    const text = await read();
    expect(text).toContain('svc_job_failures_total{type="Parse",reason="killed"} 1\n');
    expect(text).toContain('svc_jobs_ended_total{type="Parse",status="C"} 1\n');
    expect(text).not.toMatch(/org="|donut/);
  });

  it('names requests by the template of their route', async () => {
    const { send } = await createTestApp();
    await send('/v2/executions/get/7', { key: null });
    await send('/v2/schema/all', { method: 'PUT' });
    await send('/secret/place');
    const text = await (await send('/actuator/prometheus')).text();
    expect(text).toContain(
      'svc_http_requests_total{method="GET",route="/v2/executions/get/{id}",status="4xx"} 1\n',
    );
    expect(text).toContain('svc_http_requests_total{method="PUT",route="/v2/schema/all",status="4xx"} 1\n');
    expect(text).toContain('svc_http_requests_total{method="GET",route="none",status="4xx"} 1\n');
    expect(text).not.toContain('secret');
  });
});

it.each([
  ['completed', null, null],
  ['killed', 'killed on request; its worker had died', 'killed'],
  ['killed', 'not run: job 4 of this workflow ended F', 'predecessor'],
  ['expired', 'its deadline passed', 'deadline'],
  ['lost', 'its attempts are spent', 'lost'],
  ['failed', 'the job ran out of memory (svc.worker.memory)', 'memory'],
  ['failed', 'the target dwh:5432 does not answer', 'unreachable'],
  ['failed', 'something else', 'other'],
  ['failed', null, 'other'],
] as const)('a job that ended %s with %j failed for %j', (status, failure, reason) => {
  expect(failureReason(status, failure)).toBe(reason);
});

describe('/actuator/env', () => {
  it('tells who gave each setting, and the value of defaults alone', async () => {
    const { send } = await createTestApp();
    expect(await jsonOf(send('/actuator/env', { headers: { Accept: v3 } }))).toEqual({
      activeProfiles: [],
      propertySources: [
        { name: 'systemEnvironment', properties: { 'cmd.enabled': { value: '******' } } },
        { name: 'backend.properties', properties: { 'metadb.url': { value: '******' } } },
        { name: 'default', properties: { 'svc.oidc.scope_claim': { value: 'scope' } } },
      ],
    });
    expect(await jsonOf(send('/actuator/env/metadb.url'))).toEqual({
      property: { source: 'backend.properties', value: '******' },
      activeProfiles: [],
      propertySources: [
        { name: 'systemEnvironment' },
        { name: 'backend.properties', property: { value: '******' } },
        { name: 'default' },
      ],
    });
    expect((await send('/actuator/env/PATH')).status).toBe(404);
  });
});

describe('/actuator/loggers', () => {
  it('reads and sets the level, which may be taken back', async () => {
    const { send } = await createTestApp();
    const read = () => jsonOf(send('/actuator/loggers/ROOT'));
    expect(await read()).toEqual({ effectiveLevel: 'INFO' });
    for (const type of ['application/json', v3]) {
      expect((await send('/actuator/loggers/ROOT', setLevel('ERROR', type))).status).toBe(204);
      expect(await read()).toEqual({ configuredLevel: 'ERROR', effectiveLevel: 'ERROR' });
      expect(await jsonOf(send('/actuator/loggers'))).toEqual({
        levels: ['OFF', 'ERROR', 'WARN', 'INFO'],
        loggers: { ROOT: { configuredLevel: 'ERROR', effectiveLevel: 'ERROR' } },
        groups: {},
      });
      expect((await send('/actuator/loggers/ROOT', setLevel(null, type))).status).toBe(204);
      expect(await read()).toEqual({ effectiveLevel: 'INFO' });
    }
  });

  it.each([
    ['ROOT', setLevel('LOUD'), 400],
    ['ROOT', setLevel('LOUD', v3), 400],
    ['ROOT', setLevel('INFO', 'text/plain'), 415],
    ['org.hibernate', setLevel('INFO'), 404],
  ])('%s refuses %j with %i', async (name, init, status) => {
    const { send } = await createTestApp();
    expect((await send(`/actuator/loggers/${name}`, init)).status).toBe(status);
  });
});

describe('/actuator/logfile', () => {
  it('gives what was written last, whole or a range of it', async () => {
    const { send, adapters } = await createTestApp();
    for (let line = 0; line < 10; line += 1) adapters.serviceLog.write(`{"n":${line}}\n`);
    const read = async (range?: string) => {
      const answer = await send('/actuator/logfile', {
        headers: range === undefined ? {} : { Range: range },
      });
      return [answer.status, answer.headers.get('Content-Range'), await answer.text()] as const;
    };
    expect(await read()).toEqual([200, null, Array.from({ length: 10 }, (_, n) => `{"n":${n}}\n`).join('')]);
    expect(await read('bytes=-8')).toEqual([206, 'bytes 72-79/80', '{"n":9}\n']);
    expect(await read('bytes=8-15')).toEqual([206, 'bytes 8-15/80', '{"n":1}\n']);
    expect((await read('bytes=80-')).slice(0, 2)).toEqual([416, 'bytes */80']);
    for (let line = 0; line < 40; line += 1) adapters.serviceLog.write(`${'x'.repeat(49_999)}\n`);
    const [status, range, text] = await read('bytes=0-');
    expect([status, text.length]).toEqual([206, 1_000_000]);
    expect(range).toBe('bytes 1000080-2000079/2000080');
  });

  it.each([
    [undefined, null],
    ['bytes=0-0', 'none'],
    ['lines=1-2', null],
    ['bytes=5-2', null],
    ['bytes=1-2,4-5', null],
    ['bytes=-', null],
    ['bytes=-0', 'none'],
    ['bytes=100-', 'none'],
    ['bytes=99-4000', { start: 99, end: 100 }],
    ['bytes=-4000', { start: 50, end: 100 }],
    ['bytes=40-60', { start: 50, end: 61 }],
  ])('of 50 to 100, %s is %j', (header, span) => {
    expect(byteRange(header, 50, 100)).toEqual(span);
  });
});
