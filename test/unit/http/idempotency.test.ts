/** `Idempotency-Key` on operations that create something. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../support/memory/adapters.ts';
import { operationsOf, type OpenApiDocument } from '../../support/openapi-document.ts';

const post = (body: unknown, key?: string) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...(key === undefined ? {} : { 'Idempotency-Key': key }) },
  body: JSON.stringify(body),
});

const replayed = (answer: Response): string | null => answer.headers.get('Idempotency-Replayed');

const watch = { name: 'orders', location: 'inbox/orders', target: 'metadb:orders', every: '5m' };

/** Requests that create something, and the list that shows it. */
const creations = [
  ['/v2/admin/keys', { name: 'nightly', scopes: ['jobs:read'] }, '/v2/admin/keys'],
  ['/v2/admin/orgs', { name: 'research' }, '/v2/admin/orgs'],
  [
    '/v2/admin/credentials',
    { name: 'inbox', kind: 's3', access_key: 'a', secret_key: 'b', region: 'eu-central-1' },
    '/v2/admin/credentials',
  ],
  ['/v2/watches', watch, '/v2/watches'],
  ['/v2/file/upload/token', { kind: 'xml' }, null],
] as const;

describe('Idempotency-Key', () => {
  it.each(creations)('on POST %s gives the first answer again', async (path, body, list) => {
    const { send } = await createTestApp();
    const listed = async () => (list === null ? null : await (await send(list)).text());
    const first = await send(path, post(body, 'k1'));
    expect([first.status, replayed(first)]).toEqual([201, null]);
    const text = await first.text();
    const after = await listed();

    const again = await send(path, post(body, 'k1'));
    expect([again.status, replayed(again), await again.text()]).toEqual([201, 'true', text]);
    for (const name of ['Content-Type', 'Location'])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(await listed()).toBe(after);

    const other = await send(path, post({ ...body, name: 'another' }, 'k1'));
    expect(other.status).toBe('name' in body ? 422 : 400);
    if ('name' in body) expect(await other.json()).toMatchObject({ code: 'idempotency_key_reused' });
    expect(await listed()).toBe(after);
  });

  it('is one of its organisation, for all operations', async () => {
    const { send, newKey } = await createTestApp();
    const body = { kind: 'xml' };
    expect((await send('/v2/file/upload/token', post(body, 'k'))).status).toBe(201);
    const { key } = await newKey(2, ['files:upload']);
    const elsewhere = await send('/v2/file/upload/token', { ...post(body, 'k'), key });
    expect([elsewhere.status, replayed(elsewhere)]).toEqual([201, null]);
    expect((await send('/v2/admin/orgs', post({ name: 'x' }, 'k'))).status).toBe(422);
  });

  it('does not keep refusals: the request may be corrected', async () => {
    const { send, adapters } = await createTestApp();
    expect((await send('/v2/admin/keys', post({ name: 'x', scopes: [], id_org: 1 }, 'k'))).status).toBe(400);
    const late = { name: 'x', scopes: ['jobs:read'], expires_at: 1 };
    expect((await send('/v2/admin/keys', post(late, 'k'))).status).toBe(400);
    expect(adapters.idempotency.keys.size).toBe(0);
    const made = await send('/v2/admin/keys', post({ name: 'x', scopes: ['jobs:read'] }, 'k'));
    expect([made.status, replayed(made)]).toEqual([201, null]);
  });

  it('is refused with 409 while the first request is being processed, and free once its process died', async () => {
    const { send, adapters } = await createTestApp();
    const gate = Promise.withResolvers<void>();
    const { createOrg } = adapters.access;
    adapters.access.createOrg = async (org) => {
      await gate.promise;
      return createOrg(org);
    };
    const body = { name: 'research' };
    const first = send('/v2/admin/orgs', post(body, 'k'));
    await expect.poll(() => adapters.idempotency.keys.size).toBe(1);
    const second = await send('/v2/admin/orgs', post(body, 'k'));
    expect([second.status, second.headers.get('Retry-After')]).toEqual([409, '1']);
    const holder = () => adapters.idempotency.keys.get('1 k')!.holder;
    const before = holder();
    adapters.time.nowMs += 31_000;
    const third = send('/v2/admin/orgs', post(body, 'k'));
    await expect.poll(holder).not.toBe(before);
    gate.resolve();
    // the request is made again, and its name is taken by then
    expect([(await first).status, (await third).status].toSorted()).toEqual([201, 409]);
    expect([replayed(await first), replayed(await third)]).toEqual([null, null]);
  });

  it('keeps answers sealed', async () => {
    const { send, adapters } = await createTestApp();
    const made = await send('/v2/admin/keys', post({ name: 'x', scopes: ['jobs:read'] }, 'k'));
    const { key } = (await made.json()) as { key: string };
    expect(JSON.stringify([...adapters.idempotency.keys])).not.toContain(key);
    const { content } = (await (await send('/v2/admin/audit?size=1')).json()) as {
      content: { subject: string }[];
    };
    expect(content[0]!.subject).toContain('of organisation 1');
    await send('/v2/admin/keys', post({ name: 'x', scopes: ['jobs:read'] }, 'k'));
    const after = (await (await send('/v2/admin/audit?size=1')).json()) as typeof content;
    expect(after).toMatchObject({ content: [{ subject: 'repeated request, answered as before' }] });
  });

  it('must be printable ASCII', async () => {
    const { send } = await createTestApp();
    for (const key of ['', 'a b', 'x'.repeat(256)])
      expect(await (await send('/v2/admin/orgs', post({ name: 'x' }, key))).json()).toMatchObject({
        status: 400,
        errors: [{ pointer: '/header/idempotency-key' }],
      });
  });

  it('is declared with its answers, by every operation that creates something', async () => {
    const { app } = await createTestApp();
    const document = (await (await app.request('/doc')).json()) as OpenApiDocument;
    const taking = operationsOf(document).filter(({ parameters = [] }) =>
      parameters.some(({ name }) => name === 'Idempotency-Key'),
    );
    expect(taking.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      'POST /v2/admin/credentials',
      'POST /v2/admin/keys',
      'POST /v2/admin/orgs',
      'POST /v2/file/upload/token',
      'POST /v2/run/cmd',
      'POST /v2/schema/create',
      'POST /v2/schema/export',
      'POST /v2/schema/import',
      'POST /v2/watches',
    ]);
    for (const { responses } of taking) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '409', '422']));
      const sent = Object.values(responses).find(
        ({ content }) => content?.['application/json'] !== undefined,
      );
      expect(sent).toHaveProperty(['headers', 'Idempotency-Replayed']);
    }
  });
});
