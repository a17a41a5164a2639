/** /v2/admin/credentials: what is kept, what is refused, and what never comes back. */
import { describe, expect, it } from 'vitest';
import { findCredential } from '../../../../src/service/files/credentials.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';

const path = '/v2/admin/credentials';
const s3 = { name: 'inbox', kind: 's3', access_key: 'AK', secret_key: 'canary-key' };

async function createWithPost() {
  const app = await createTestApp();
  const post = async (body: unknown, key = app.key): Promise<{ status: number; text: string }> => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await app.send(path, { method: 'POST', key, body: JSON.stringify(body), headers });
    return { status: answer.status, text: await answer.text() };
  };
  const list = async (key = app.key): Promise<unknown> => (await app.send(path, { key })).json();
  return { ...app, post, list };
}

describe('credentials', () => {
  it('are made, listed by name and kind, opened by their organisation, and removed', async () => {
    const { adapters, post, list, send } = await createWithPost();
    const made = await post({ ...s3, region: 'eu-west-1' });
    expect([made.status, JSON.parse(made.text)]).toEqual([
      201,
      { name: 'inbox', kind: 's3', created: adapters.time.nowMs },
    ]);
    expect(await list()).toEqual([{ name: 'inbox', kind: 's3', created: adapters.time.nowMs }]);
    expect(await findCredential(adapters, [], 1, 'inbox')).toEqual({
      name: 'inbox',
      location: null,
      by: 'request',
      access: {
        kind: 's3',
        endpoint: 'https://s3.eu-west-1.amazonaws.com',
        region: 'eu-west-1',
        accessKeyId: 'AK',
        secretAccessKey: 'canary-key',
      },
    });
    expect((await adapters.credentials.find(1, 'inbox'))!.sealed).not.toContain('canary');
    expect((await send(`${path}/inbox`, { method: 'DELETE' })).status).toBe(204);
    expect((await send(`${path}/inbox`, { method: 'DELETE' })).status).toBe(404);
    expect(await list()).toEqual([]);
    const audit = await (await send('/v2/admin/audit')).text();
    expect(audit).toContain('credential inbox (s3)');
    expect(audit).not.toContain('canary');
  });

  it('of another organisation are not there, not even for organisation 1', async () => {
    const { adapters, newKey, post, list, send } = await createWithPost();
    const { key: second } = await newKey(2, ['admin']);
    expect((await post(s3, second)).status).toBe(201);
    expect([await list(), await list(second)]).toEqual([[], [expect.objectContaining({ name: 'inbox' })]]);
    expect((await send(`${path}/inbox`, { method: 'DELETE' })).status).toBe(404);
    expect(await findCredential(adapters, [], 1, 'inbox')).toBeNull();
    expect((await post(s3)).status).toBe(201);
    expect((await post(s3)).status).toBe(409);
  });

  it('are for keys with the scope admin', async () => {
    const { newKey, post, send } = await createWithPost();
    const { key } = await newKey(1, ['jobs:run', 'jobs:read']);
    expect((await post(s3, key)).status).toBe(403);
    expect((await send(path, { key })).status).toBe(403);
    expect((await send(`${path}/inbox`, { method: 'DELETE', key })).status).toBe(403);
  });

  it.each([
    [{ ...s3, name: '' }, '/name'],
    [{ ...s3, name: '../a' }, '/name'],
    [{ ...s3, kind: 'gopher' }, '/kind'],
    [{ name: 'inbox', kind: 's3', secret_key: 'canary-key' }, '/access_key'],
    [{ ...s3, password: 'canary-key' }, '/password'],
    [{ ...s3, endpoint: 'canary-key' }, '/endpoint'],
    [{ ...s3, endpoint: 'https://ann:canary-key@host/' }, '/endpoint'],
    [{ ...s3, key_file: '/etc/shadow' }, '/key_file'],
    [{ ...s3, location: 's3://bucket' }, '/location'],
    [{ name: 'web', kind: 'https', token: 'canary-key' }, '/host'],
    [{ name: 'web', kind: 'https', host: 'h' }, '/token'],
    [{ name: 'web', kind: 'https', host: 'h', token: 'canary key' }, '/token'],
    [{ name: 'web', kind: 'https', host: 'h', token: 'canary-key', user: 'u', password: 'p' }, '/token'],
  ])('that are wrong are refused without a word of what is secret: %j', async (body, pointer) => {
    const { post, list } = await createWithPost();
    const { status, text } = await post(body);
    expect([status, (JSON.parse(text) as { errors: { pointer: string }[] }).errors[0]!.pointer]).toEqual([
      400,
      pointer,
    ]);
    expect(text).not.toContain('canary');
    expect(await list()).toEqual([]);
  });
});
