/** /v2/admin: keys, organisations, the audit log. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../../support/memory/adapters.ts';
import { submitJobs } from '../../../support/memory/job-records.ts';

async function createWithKeys() {
  const app = await createTestApp();
  const { key: second, idKey: idSecond } = await app.newKey(2, ['admin']);
  const post = async (path: string, body: unknown, key = app.key) =>
    await app.send(path, {
      method: 'POST',
      key,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  const keys = async (key = app.key) =>
    (await (await app.send('/v2/admin/keys', { key })).json()) as {
      id_key: string;
      id_org: number;
      name: string;
      revoked_at: number | null;
    }[];
  return { ...app, second, idSecond, post, keys };
}

describe('API keys', () => {
  it('are made, work, are listed without their secret, and end at once', async () => {
    const { post, send, keys, adapters } = await createWithKeys();
    const made = await post('/v2/admin/keys', {
      name: 'nightly',
      scopes: ['jobs:read', 'jobs:read'],
      expires_at: adapters.time.nowMs + 1000,
    });
    expect(made.status).toBe(201);
    const { id_key: idKey, key } = (await made.json()) as { id_key: string; key: string };
    expect((await send('/v2/executions/all', { key })).status).toBe(200);
    expect((await send('/v2/schema/all', { key })).status).toBe(403);
    expect((await send('/v2/admin/keys', { key })).status).toBe(403);
    const listed = (await keys()).find((one) => one.id_key === idKey);
    expect(listed).toEqual({
      id_key: idKey,
      id_org: 1,
      name: 'nightly',
      scopes: ['jobs:read'],
      created: adapters.time.nowMs,
      expires_at: adapters.time.nowMs + 1000,
      revoked_at: null,
    });
    expect(JSON.stringify(await keys())).not.toContain(key.slice(-20));
    expect((await send(`/v2/admin/keys/${idKey}`, { method: 'DELETE' })).status).toBe(204);
    expect((await send('/v2/executions/all', { key })).status).toBe(401);
    expect((await send(`/v2/admin/keys/${idKey}`, { method: 'DELETE' })).status).toBe(204);
    expect((await keys()).find((one) => one.id_key === idKey)!.revoked_at).toBe(adapters.time.nowMs);
  });

  it('of another organisation are out of reach, but for organisation 1', async () => {
    const { post, send, keys, key, second, idSecond } = await createWithKeys();
    expect((await keys(second)).map(({ id_org }) => id_org)).toEqual([2]);
    expect(new Set((await keys()).map(({ id_org }) => id_org))).toEqual(new Set([1, 2]));
    expect((await post('/v2/admin/keys', { name: 'x', scopes: ['admin'], id_org: 1 }, second)).status).toBe(
      404,
    );
    expect((await post('/v2/admin/keys', { name: 'x', scopes: ['admin'], id_org: 2 })).status).toBe(201);
    expect((await post('/v2/admin/keys', { name: 'x', scopes: ['admin'], id_org: 99 })).status).toBe(404);
    const own = key.split('_')[1]!;
    expect((await send(`/v2/admin/keys/${own}`, { method: 'DELETE', key: second })).status).toBe(404);
    expect((await send(`/v2/admin/keys/${own}`, { method: 'DELETE' })).status).toBe(409);
    expect((await send(`/v2/admin/keys/none`, { method: 'DELETE' })).status).toBe(404);
    expect((await send(`/v2/admin/keys/${idSecond}`, { method: 'DELETE' })).status).toBe(204);
  });

  it('are refused when they make no sense', async () => {
    const { post } = await createWithKeys();
    for (const body of [
      {},
      { name: '', scopes: ['admin'] },
      { name: 'x', scopes: [] },
      { name: 'x', scopes: ['everything'] },
      { name: 'x', scopes: ['admin'], expires_at: 5 },
      { name: 'x', scopes: ['admin'], more: 1 },
    ])
      expect([body, (await post('/v2/admin/keys', body)).status]).toEqual([body, 400]);
  });
});

describe('organisations', () => {
  it('are made and listed by organisation 1; others see their own', async () => {
    const { post, send, second } = await createWithKeys();
    const made = await post('/v2/admin/orgs', { name: 'research', description: 'Laboratory' });
    expect([made.status, await made.json()]).toEqual([
      201,
      {
        id_org: 3,
        name: 'research',
        description: 'Laboratory',
        created: 1_790_000_000_000,
        schema_count: 0,
        job_count: 0,
      },
    ]);
    expect((await post('/v2/admin/orgs', { name: 'research' })).status).toBe(409);
    expect((await post('/v2/admin/orgs', {})).status).toBe(400);
    expect((await post('/v2/admin/orgs', { name: 'mine' }, second)).status).toBe(403);
    const names = async (key?: string) =>
      (
        (await (await send('/v2/admin/orgs', key === undefined ? {} : { key })).json()) as { name: string }[]
      ).map(({ name }) => name);
    expect(await names()).toEqual(['default', 'other', 'research']);
    expect(await names(second)).toEqual(['other']);
  });
});

describe('GET /actuator/prometheus', () => {
  it('gives metrics to a key, and none of jobs or organisations by name', async () => {
    const { send, adapters, newKey } = await createWithKeys();
    await submitJobs(adapters.jobs, 1, 2);
    await send('/v2/executions/all');
    await send('/v2/nothing');
    const { key } = await newKey(1, ['metrics:read']);
    const answer = await send('/actuator/prometheus', { key });
    expect(answer.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await answer.text();
    expect(text).toContain('svc_jobs{status="Q"} 2\n');
    expect(text).toContain('svc_jobs{status="C"} 0\n');
    expect(text).toContain('svc_http_requests_total{method="GET",route="none",status="4xx"} 1\n');
    expect(text).toContain(
      'svc_http_request_duration_seconds_bucket{method="GET",route="/v2/executions/all",le="+Inf"} 1\n',
    );
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(
        /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [\d.e+-]+)$/,
      );
    const samples = new Set(
      [...text.matchAll(/^([a-z_]+?)(?:_bucket|_sum|_count)?[{ ]/gm)].map(([, name]) => name),
    );
    for (const name of samples) if (name !== '#') expect(text).toContain(`# TYPE ${name} `);
    expect((await send('/actuator/prometheus', { key: null })).status).toBe(401);
  });
});

describe('the audit log', () => {
  it('tells who changed what, and who was refused for want of a scope; reading leaves no line', async () => {
    const { post, send, newKey, adapters } = await createWithKeys();
    const made = await post('/v2/admin/keys', { name: 'nightly', scopes: ['jobs:read'] });
    const { id_key: idKey } = (await made.json()) as { id_key: string };
    await send('/v2/executions/all');
    await post('/v2/admin/keys', { name: '', scopes: [] });
    const { key, idKey: idReader } = await newKey(2, ['jobs:read']);
    expect((await send('/v2/schema/all?secret=1', { key })).status).toBe(403);
    const { content, total_elements: total } = (await (await send('/v2/admin/audit')).json()) as {
      content: Record<string, unknown>[];
      total_elements: number;
    };
    expect(total).toBe(2);
    expect(content).toMatchObject([
      {
        id_org: 2,
        actor: `key ${idReader}`,
        action: 'GET /v2/schema/all',
        subject: '/v2/schema/all',
        status: 403,
      },
      {
        id_org: 1,
        action: 'POST /v2/admin/keys',
        subject: `key ${idKey} of organisation 1: jobs:read`,
        status: 201,
      },
    ]);
    expect(content[1]!['request_id']).toBe(made.headers.get('X-Request-Id'));
    expect((await adapters.access.listAudit(null, 0, 10)).totalElements).toBe(2);
  });

  it('shows an organisation its own lines, page by page', async () => {
    const { post, send, second } = await createWithKeys();
    await post('/v2/admin/orgs', { name: 'research' });
    await post('/v2/admin/keys', { name: 'a', scopes: ['jobs:read'] }, second);
    const page = async (path: string, key?: string) =>
      (await (await send(path, key === undefined ? {} : { key })).json()) as {
        content: { action: string }[];
      };
    expect((await page('/v2/admin/audit', second)).content).toMatchObject([
      { action: 'POST /v2/admin/keys' },
    ]);
    expect((await page('/v2/admin/audit/1?size=1')).content).toMatchObject([
      { action: 'POST /v2/admin/orgs' },
    ]);
    expect((await page('/v2/admin/audit/7')).content).toEqual([]);
  });

  it('does not stop an answer when it cannot be written, and tells the log of the service', async () => {
    const { adapters, newKey, app } = await createTestApp();
    const { key } = await newKey(1, ['admin']);
    adapters.access.recordAudit = () => Promise.reject(new Error('full'));
    const answer = await app.request('/v2/admin/orgs', {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: '{"name":"x"}',
    });
    expect(answer.status).toBe(201);
    expect(adapters.logLines).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'the audit entry could not be written' }),
    );
  });
});
