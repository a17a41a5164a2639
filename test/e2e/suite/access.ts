/** Who may do what in one deployment: keys, scopes, organisations, upload tokens, the audit log. */
import { describe, expect, it } from 'vitest';
import { createServiceClient } from '../../support/service/client.ts';
import type { Session } from './session.ts';

export function accessSuite(session: () => Session): void {
  describe('a credential', () => {
    it('is made, listed by name and kind, and removed; its secrets are told to nobody', async () => {
      const { client, stranger } = session();
      const path = '/v2/admin/credentials';
      const secret = 's3cret-of-the-inbox';
      const made = await client.post(path, {
        name: 'inbox',
        kind: 's3',
        access_key: 'AKEXAMPLE',
        secret_key: secret,
      });
      expect([made.status, JSON.stringify(made.body).includes(secret)]).toEqual([201, false]);
      const listed = await (await client.fetch(path)).text();
      expect(listed).toContain('"inbox"');
      expect(listed).not.toContain(secret);
      expect(await (await stranger.fetch(path)).text()).not.toContain('"inbox"');
      expect((await stranger.fetch(`${path}/inbox`, { method: 'DELETE' })).status).toBe(404);
      expect((await client.fetch(`${path}/inbox`, { method: 'DELETE' })).status).toBe(204);
      expect((await client.fetch(`${path}/inbox`, { method: 'DELETE' })).status).toBe(404);
    });
  });

  describe('a key', () => {
    it('is asked for, and a wrong one is told from none', async () => {
      const { send, url } = session();
      const without = await send(`${url}/v2/executions/all`);
      expect([without.status, without.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer realm="api"']);
      expect(await without.json()).toMatchObject({ code: 'unauthorized', status: 401 });
      for (const wrong of ['svk_x', 'svk_0000000000_aaaa', `${session().key}x`]) {
        const response = await send(`${url}/v2/executions/all`, asked(wrong));
        expect(response.status).toBe(401);
        expect(response.headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
      }
    });

    it('is made with scopes, which bind it, is listed without its text, and ends with the next request', async () => {
      const { client, send, url } = session();
      const { status, body } = await client.post<{ id_key: string; key: string }>('/v2/admin/keys', {
        name: 'reader',
        scopes: ['jobs:read'],
      });
      expect(status).toBe(201);
      const read = (path: string, init: RequestInit = {}): Promise<Response> =>
        send(url + path, { ...init, ...asked(body.key) });
      expect((await read('/v2/executions/all')).status).toBe(200);
      const refused = await read('/v2/schema/all');
      expect(refused.status).toBe(403);
      expect(refused.headers.get('WWW-Authenticate')).toContain('scope="schemas:read"');
      expect((await read('/v2/admin/keys')).status).toBe(403);
      expect((await read('/v2/about/org')).status).toBe(200);
      const listed = await (await client.fetch('/v2/admin/keys')).text();
      expect(listed).toContain(body.id_key);
      expect(listed).not.toContain(body.key.slice(`svk_${body.id_key}_`.length));
      expect((await client.fetch(`/v2/admin/keys/${body.id_key}`, { method: 'DELETE' })).status).toBe(204);
      expect((await read('/v2/executions/all')).status).toBe(401);
    });

    it('that has expired is none', async () => {
      const { client, send, url } = session();
      const { body } = await client.post<{ key: string }>('/v2/admin/keys', {
        name: 'brief',
        scopes: ['jobs:read'],
        expires_at: 1,
      });
      expect((await send(`${url}/v2/executions/all`, asked(body.key))).status).toBe(401);
    });
  });

  describe('a token of the identity provider', () => {
    it('does what its scopes say, for the organisation that it names; a forged one does nothing', async () => {
      const { provider, send, url, idOrg, client } = session();
      const read = async (path: string, token: string): Promise<Response> => send(url + path, asked(token));
      const token = await provider.sign({ org: idOrg, scope: 'openid jobs:read' });
      const [first, second] = await Promise.all([
        read('/v2/executions/all', token),
        read('/v2/executions/all', token),
      ]);
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(await first.json()).toEqual(await client.get('/v2/executions/all'));
      expect((await read('/v2/schema/all', token)).status).toBe(403);
      const forged = await provider.sign({ org: idOrg, scope: 'jobs:read' }, true);
      expect((await read('/v2/executions/all', forged)).status).toBe(401);
      const elsewhere = await provider.sign({ org: idOrg, scope: 'jobs:read', aud: 'another' });
      expect((await read('/v2/executions/all', elsewhere)).status).toBe(401);
    });
  });

  describe('an organisation', () => {
    it('sees itself, and the administrator sees it', async () => {
      const { client, admin, idOrg, deployment } = session();
      expect(await client.get('/v2/about/org')).toMatchObject({
        id_org: idOrg,
        name: `of ${deployment.name}`,
        schema_count: expect.any(Number),
      });
      const all = await (await admin.fetch('/v2/admin/orgs')).json();
      expect(JSON.stringify(all)).toContain(`"id_org":${idOrg}`);
      expect(await client.get('/v2/extensions/list')).toMatchObject({
        extensions: [{ name: 'cil', enabled: true }],
        action_params: { commands: true },
      });
    });

    it('does not have what is another’s: the answer is that for what is not there', async () => {
      const { client, stranger, conversion } = session();
      const { idSch, idWorkflow, loaded, name } = conversion;
      const own = readsOf(idSch, idWorkflow, loaded.id_job, name);
      const absent = readsOf(8_999_999, 8_999_999, 8_999_999, 'no-such-feed');
      for (const [at, path] of own.entries()) {
        expect((await client.fetch(path)).status).toBe(200);
        const [other, none] = [await stranger.fetch(path), await stranger.fetch(absent[at]!)];
        expect([path, other.status, none.status]).toEqual([path, 404, 404]);
        expect(await plain(other)).toBe(await plain(none));
      }
    });

    it('has each change in its audit log, under the id of the request', async () => {
      const { client } = session();
      const change = await client.fetch('/v2/file/upload/token', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'suite-audit-1' },
        body: '{"kind":"xml"}',
      });
      expect([change.status, change.headers.get('X-Request-Id')]).toEqual([201, 'suite-audit-1']);
      for (const path of ['/v2/admin/audit?size=500', '/v2/admin/audit/0?size=500']) {
        const { content } = await client.get<{ content: { request_id: string; action: string }[] }>(path);
        expect(
          content.filter((line) => line.request_id === 'suite-audit-1').map(({ action }) => action),
        ).toEqual(['POST /v2/file/upload/token']);
      }
    });
  });

  describe('an upload', () => {
    it('is taken once for a token of its kind, and removed', async () => {
      const { client } = session();
      const once = await tokenFor(session(), 'xml');
      const stored = await upload(session(), 'xml', once, '<a/>');
      expect(stored.status).toBe(200);
      const path = (await stored.json()) as string;
      expect(path).toMatch(/^uploads\/[0-9a-f]+\/a\.xml$/);
      expect((await upload(session(), 'xml', once, '<a/>')).status).toBe(401);
      expect((await upload(session(), 'xsd', await tokenFor(session(), 'xml'), '<a/>', 'a.xsd')).status).toBe(
        401,
      );
      expect((await upload(session(), 'xml', 'none', '<a/>')).status).toBe(401);
      const remove = (): Promise<Response> =>
        client.fetch(`/v2/file?path=${encodeURIComponent(path)}`, { method: 'DELETE' });
      expect((await remove()).status).toBe(204);
      expect((await remove()).status).toBe(404);
    });

    it('of one byte too many is refused, whether its length is told or not', async () => {
      expect((await upload(session(), 'xml', await tokenFor(session(), 'xml', 4), '<a/>')).status).toBe(200);
      expect((await upload(session(), 'xml', await tokenFor(session(), 'xml', 4), '<ab/>')).status).toBe(413);
      const chunks = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const part of ['<a', 'b/>']) controller.enqueue(new TextEncoder().encode(part));
          controller.close();
        },
      });
      expect((await upload(session(), 'xml', await tokenFor(session(), 'xml', 4), chunks)).status).toBe(413);
    });

    it('streams, and comes back byte for byte as the input of a job', async () => {
      const { client, conversion } = session();
      const noise = crypto.getRandomValues(new Uint8Array(48_000));
      const text = Array.from(noise, (byte) => byte.toString(36)).join('');
      const document = new TextEncoder().encode(`<big>${text.repeat(80)}</big>`);
      expect(document.byteLength).toBeGreaterThan(5 * 1024 * 1024);
      const path = await client.upload('xml', 'big.xml', document);
      const { jobs } = await client.run([
        {
          app_name: 'xml2er',
          source: { file: { command: path } },
          target: { path: { command: '-o', enabled: true, value: `metadb:big_${conversion.sqlSchema}` } },
        },
      ]);
      expect(await client.ended(jobs[0]!)).toMatchObject({ status: 'C', failure: null });
      const [row] = await session().sql.unsafe(`select sha256 from big_${conversion.sqlSchema}._documents`);
      const digest = Buffer.from(await crypto.subtle.digest('SHA-256', document)).toString('hex');
      expect(JSON.stringify(row)).toContain(digest);
    });
  });

  describe('an answer that one may not have', () => {
    it('is the same for a key of another organisation in a body', async () => {
      const { conversion, stranger } = session();
      const { idSch } = conversion;
      for (const path of ['activate', 'deactivate'])
        expect(
          (await stranger.post(`/v2/mapping/${path}`, { id_sch: idSch, xpaths: ['/manifest'] })).status,
        ).toBe(404);
      const cil = createServiceClient(session().url, session().strangerKey, session().send);
      expect(
        (
          await cil.post('/v2/extensions/cil/keys/update', {
            cfxml: conversion.name,
            keys: [{ table_name: 'shipment', column_name: 'ref', key_type: 'NK' }],
          })
        ).status,
      ).toBe(404);
    });
  });
}

function asked(key: string): RequestInit {
  return { headers: { Authorization: `Bearer ${key}` } };
}

/** Reads of what an organisation has. */
function readsOf(id: number, workflow: number, job: number, feed: string): string[] {
  return [
    `/v2/schema/${id}`,
    `/v2/schema/ddl/${id}`,
    `/v2/schema/views/${id}`,
    `/v2/schema/dictionary/${id}?format=md`,
    `/v2/schema/export_as/${id}?format=dbml`,
    `/v2/schema/family/${id}`,
    `/v2/mapping/get/${id}`,
    `/v2/mapping/download/${id}`,
    `/v2/diagram/get/${id}`,
    `/v2/workflow/${workflow}`,
    `/v2/executions/get/${job}`,
    `/v2/executions/log/${job}`,
    `/v2/extensions/cil/job/${feed}`,
  ];
}

/** A problem without what is different in every one. */
async function plain(response: Response): Promise<string> {
  return (await response.text())
    .replaceAll(/\/(?:\d+|[\w-]*(?:freight|feed)[\w-]*)"/g, '/…"')
    .replace(/"timestamp":"[^"]*"/, '')
    .replace(/"request_id":"[^"]*"/, '');
}

async function tokenFor({ client }: Session, kind: 'xml' | 'xsd', maxBytes = 100): Promise<string> {
  const { body } = await client.post<{ token: string }>('/v2/file/upload/token', {
    kind,
    max_bytes: maxBytes,
  });
  return body.token;
}

function upload(
  { send, url }: Session,
  kind: string,
  token: string,
  body: string | ReadableStream<Uint8Array>,
  name = 'a.xml',
): Promise<Response> {
  return send(`${url}/v2/file/upload/${kind}?token=${token}&name=${name}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body,
    ...(typeof body === 'string' ? {} : { duplex: 'half' as const }),
  });
}
