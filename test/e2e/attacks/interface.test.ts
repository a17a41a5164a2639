/** Attacks on the interface, sent over HTTP to a running service; the numbers are those of the threat list. */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import {
  createServiceClient,
  execution,
  type Problem,
  type SchemaAnswer,
} from '../../support/service/client.ts';
import { useTrial } from '../../support/service/trial.ts';
import { needs } from '../../support/needs.ts';

const utf8 = new TextEncoder();
const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a" type="xs:string"/></xs:schema>`;

const problemOf = async (response: Response): Promise<Problem> => {
  expect(response.headers.get('Content-Type')).toMatch(/^application\/problem\+json/);
  return (await response.json()) as Problem;
};

const deep = (open: string, close: string, n: number): string => open.repeat(n) + close.repeat(n);

describe('attacks on the interface', { timeout: 60_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let input: string;
  let schema: SchemaAnswer;
  let idJob: number;

  beforeAll(async () => {
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.limits.upload': '1000',
      'svc.limits.json_body': '4000',
    });
    service = await trial.service(home);
    sql = await trial.metadb(home);
    input = await service.client.upload('xml', 'a.xml', utf8.encode('<a>1</a>'));
    const path = await service.client.upload('xsd', 'a.xsd', utf8.encode(xsd));
    schema = (await service.client.post<SchemaAnswer>('/v2/schema/create', { name: 'a', xsd: [path] })).body;
    idJob = (await service.client.run([execution('xml2er', input)])).jobs[0]!;
    await service.client.ended(idJob);
  });

  const counts = async () =>
    (
      await sql`select (select count(*)::int from svc.job) as jobs, (select count(*)::int from svc.workflow) as workflows,
      (select count(*)::int from svc.logical_schema) as schemas, (select count(*)::int from svc.upload_token where spent is null) as tokens`
    )[0];
  const postText = (path: string, body: BodyInit, type = 'application/json') =>
    service.client.fetch(path, { method: 'POST', headers: { 'Content-Type': type }, body });
  const authorization = () => ({ Authorization: `Bearer ${service.key}` });

  const status = async (path: string) => (await service.client.fetch(path)).status;
  const issue = async (more: object) =>
    (
      await service.client.post<{ key: string; id_key: string }>('/v2/admin/keys', {
        name: 'k',
        scopes: ['jobs:read', 'schemas:read'],
        ...more,
      })
    ).body;

  /** Sends bytes as they are and answers everything that came back until the other side closed or was silent. */
  const raw = (bytes: string, silentMs = 3000): Promise<string> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.setTimeout(silentMs, () => socket.destroy());
      socket.on('data', (chunk) => (text += chunk.toString('latin1')));
      // cut off is an answer too
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
      socket.write(bytes);
    });

  it('1: HEAD on a GET that changes something, also with odd methods and overrides: 405, and nothing runs', async () => {
    const before = await counts();
    for (const path of [
      `/v2/run/rerun/${idJob}`,
      `/v2/schema/generate/${schema.id_sch}`,
      `/v2/schema/generate/${schema.id_sch}/30`,
    ]) {
      for (const method of ['HEAD', 'PUT', 'DELETE', 'PATCH', 'POST']) {
        const answer = await service.client.fetch(path, { method });
        expect([path, method, answer.status, answer.headers.get('Allow')]).toEqual([
          path,
          method,
          405,
          'GET',
        ]);
      }
      for (const name of ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method'])
        expect(
          (await service.client.fetch(path, { method: 'HEAD', headers: { [name]: 'GET' } })).status,
        ).toBe(405);
    }
    expect(await counts()).toEqual(before);
  });

  it('2: a literal path is never taken for its {id} sibling, whatever stands around it', async () => {
    expect(await status(`/v2/executions/get/${idJob}`)).toBe(200);
    expect(await status('/v2/executions/get/x')).toBe(400);
    expect(await status('/v2/mapping/compare/1/1')).toBe(200);
    expect(await status('/v2/schema/all')).toBe(200);
    for (const path of [
      '/v2/executions/GET/1',
      '/v2//executions/all',
      '/v2/executions/all/',
      '/v2/schema/%61ll',
      '/V2/schema/all',
    ])
      expect([path, [200, 400, 404].includes(await status(path))]).toEqual([path, true]);
    expect(await status('/v2/executions/get/9223372036854775807')).toBe(404);
    expect(await status('/v2/executions/get/9223372036854775808')).toBe(400);
    for (const id of [
      '%31',
      '1e0',
      '+1',
      '-1',
      '0x1',
      '1.0',
      ' 1',
      '١',
      '1%00',
      '1;x',
      '99999999999999999999999',
    ])
      expect([id, [400, 404].includes(await status(`/v2/executions/get/${id}`)) || id === '%31']).toEqual([
        id,
        true,
      ]);
  });

  it('3: bodies that are no JSON, deep, marked, doubled or poisoned: 400, never 500', async () => {
    const wrong: Record<string, BodyInit> = {
      malformed: '{"executions":[',
      empty: ' ',
      'a byte order mark': '\u{FEFF}{"executions":[]}',
      'UTF-16': new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]),
      'not UTF-8': new Uint8Array([0x7b, 0xff, 0x7d]),
      'nested arrays': deep('[', ']', 1900),
      'nested objects': `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`,
      'a number too long': `{"executions":${'9'.repeat(500)}}`,
      'a prototype': '{"__proto__":{"executions":[]}}',
      'a constructor': '{"constructor":{"prototype":{"x":1}},"executions":[]}',
      'a comment': '{/**/}',
      'a lone surrogate': '{"name":"\\ud800","executions":[]}',
      null: 'null',
      text: '"x"',
      two: '{}{}',
      NaN: '{"executions":NaN}',
    };
    const before = await counts();
    for (const path of [
      '/v2/run/cmd',
      '/v2/schema/create',
      '/v2/admin/keys',
      '/v2/file/upload/token',
      '/v2/mapping/activate',
    ])
      for (const [name, body] of Object.entries(wrong)) {
        const answer = await postText(path, body);
        expect([path, name, answer.status]).toEqual([path, name, 400]);
        await problemOf(answer);
      }
    expect(({} as { executions?: unknown }).executions).toBeUndefined();
    expect(await counts()).toEqual(before);
  });

  it('3: JSON nested 100,000 deep, where bodies may be that long: 400', needs('whole run'), async () => {
    await service.end('SIGTERM');
    service = await trial.service(home, { SVC_LIMITS_JSON_BODY: '10 MiB' });
    for (const body of [
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      '{"a":'.repeat(100_000),
      `{"executions":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ]) {
      const answer = await postText('/v2/run/cmd', body);
      expect(answer.status).toBe(400);
      await problemOf(answer);
    }
    await service.end('SIGTERM');
    service = await trial.service(home);
  });

  it('5: a value with shell syntax is one literal argument; NUL is refused', needs('whole run'), async () => {
    const names = [
      'a;b',
      '$(touch pwned)',
      '`id`',
      '-x',
      '--',
      '%s%n',
      '${HOME}',
      '"\'',
      '&& reboot',
      '| tee x',
      '> x',
    ];
    const submitted = await Promise.all(
      names.map((name) => service.client.run([execution('xml2er', input, [['--name', name]])])),
    );
    for (const [at, { jobs }] of submitted.entries()) {
      const job = await service.client.ended(jobs[0]!);
      expect([names[at], job.status]).toEqual([names[at], 'C']);
      expect((await service.client.get<SchemaAnswer>(`/v2/schema/${job.id_sch}`)).name).toBe(names[at]);
    }
    const before = await counts();
    for (const value of ['a\0b', '\0'])
      expect(
        (
          await service.client.post('/v2/run/cmd', {
            executions: [execution('xml2er', input, [['--name', value]])],
          })
        ).status,
      ).toBe(400);
    expect(await counts()).toEqual(before);
    expect((await readdir(home.directory)).filter((name) => name.includes('pwned'))).toEqual([]);
  });

  it('8: keys that are none, expired, revoked or of another organisation', async () => {
    const paths = ['/v2/executions/all', `/v2/executions/get/${idJob}`, `/v2/schema/${schema.id_sch}`];
    const statuses = async (key: string) =>
      await Promise.all(
        paths.map(
          async (path) => (await fetch(service.url + path, { headers: { Authorization: key } })).status,
        ),
      );
    const revoked = await issue({ scopes: ['jobs:read', 'schemas:read', 'files:upload'] });
    expect(await statuses(`Bearer ${revoked.key}`)).toEqual([200, 200, 200]);
    const uploader = createServiceClient(service.url, revoked.key);
    const { body: token } = await uploader.post<{ token: string }>('/v2/file/upload/token', { kind: 'xml' });
    await service.client.fetch(`/v2/admin/keys/${revoked.id_key}`, { method: 'DELETE' });
    // what it had asked for ends with it
    const late = `${service.url}/v2/file/upload/xml?token=${token.token}`;
    expect((await fetch(late, { method: 'POST', body: '<a/>' })).status).toBe(401);
    const expired = await issue({ expires_at: Date.now() + 400 });
    await new Promise((resolve) => setTimeout(resolve, 600));
    const good = service.key;
    for (const key of [
      '',
      `Bearer ${revoked.key}`,
      `Bearer ${expired.key}`,
      `Bearer ${good}x`,
      `Bearer ${good.slice(0, -1)}`,
      `bearer`,
      `Basic ${btoa(good)}`,
      good,
      `Bearer ${good.toUpperCase()}`,
      `Bearer svk_%27_x`,
      `Bearer ${good}, Bearer ${good}`,
    ])
      expect([key, await statuses(key)]).toEqual([key, [401, 401, 401]]);

    const { body: org } = await service.client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'other' });
    const { key } = (
      await service.client.post<{ key: string }>('/v2/admin/keys', {
        name: 'k',
        id_org: org.id_org,
        scopes: ['jobs:read', 'jobs:run', 'schemas:read', 'schemas:write', 'files:upload', 'admin'],
      })
    ).body;
    const other = createServiceClient(service.url, key);
    const shown = async (path: string, id: number, init: RequestInit = {}) => {
      const answer = await other.fetch(path, {
        ...init,
        headers: { ...init.headers, 'X-Request-Id': 'same' },
      });
      const text = (await answer.text()).replaceAll(String(id), 'ID').replaceAll(/"timestamp":"[^"]*"/g, '');
      const ofEachAnswer = ['date', 'content-length', 'ratelimit'];
      const headers = [...answer.headers].filter(([name]) => !ofEachAnswer.includes(name));
      return { status: answer.status, text, headers };
    };
    const asked: [string, RequestInit?][] = [
      ['/v2/executions/get/ID'],
      ['/v2/executions/log/ID'],
      ['/v2/run/rerun/ID'],
      ['/v2/executions/kill/ID', { method: 'POST' }],
      ['/v2/executions/ID', { method: 'DELETE' }],
      ['/v2/schema/ID'],
      ['/v2/schema/ddl/ID'],
      ['/v2/schema/family/ID'],
      ['/v2/schema/generate/ID'],
      ['/v2/schema/get/max/length/ID'],
      ['/v2/mapping/ID'],
      ['/v2/mapping/download/ID'],
      ['/v2/mapping/stats/ID'],
      ['/v2/diagram/get/ID'],
      ['/v2/schema/ID', { method: 'DELETE' }],
    ];
    for (const [path, init] of asked) {
      const own = /executions|run/.test(path) ? idJob : schema.id_sch;
      const theirs = await shown(path.replace('ID', String(own)), own, init);
      const absent = await shown(path.replace('ID', '424242'), 424242, init);
      expect(theirs, path).toEqual(absent);
      expect([path, theirs.status]).toEqual([path, 404]);
    }
    expect((await service.client.job(idJob)).status).toBe('C');
    const run = await other.post('/v2/run/cmd', { executions: [execution('xml2er', input)] });
    expect([run.status, run.body.code]).toEqual([400, 'input_not_found']);
    expect(
      (await other.post('/v2/run/cmd', { executions: [execution('xml2er', `../1/${input}`)] })).body.code,
    ).toBe('path_not_allowed');
    expect(
      (await other.fetch(`/v2/file?path=${encodeURIComponent(`../1/${input}`)}`, { method: 'DELETE' }))
        .status,
    ).toBeGreaterThanOrEqual(400);
    expect((await other.get<{ content: unknown[] }>('/v2/executions/all')).content).toEqual([]);
    expect(await other.get<unknown[]>('/v2/admin/keys')).toHaveLength(1);
    expect((await other.post('/v2/admin/orgs', { name: 'x' })).status).toBe(403);
    expect((await other.post('/v2/admin/keys', { name: 'x', scopes: ['admin'], id_org: 1 })).status).toBe(
      404,
    );
  });

  it('9: other origins are told nothing, and forms cannot post', async () => {
    for (const path of ['/v2/run/cmd', '/v2/executions/all', '/actuator/health', '/doc']) {
      const preflight = await fetch(service.url + path, {
        method: 'OPTIONS',
        headers: {
          Origin: 'https://evil.example',
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'authorization',
          'Access-Control-Request-Private-Network': 'true',
        },
      });
      const plain = await fetch(service.url + path, { headers: { Origin: 'null', ...authorization() } });
      for (const answer of [preflight, plain]) {
        expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
        expect(answer.headers.get('set-cookie')).toBeNull();
        expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
        expect(answer.headers.get('Content-Security-Policy')).toMatch(
          /default-src 'none'|default-src 'self'/,
        );
      }
    }
    const before = await counts();
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'text/plain; a=application/json',
      'application/jsonp',
    ])
      expect([
        type,
        (await postText('/v2/run/cmd', JSON.stringify({ executions: [execution('xml2er', input)] }), type))
          .status,
      ]).toEqual([type, 415]);
    expect(await counts()).toEqual(before);
  });

  it('an unexpected path, method or header says nothing of the host', async () => {
    for (const path of [
      '/.env',
      '/..%2f..%2fetc/passwd',
      '/%00',
      '/doc/..%2f..%2fpackage.json',
      '/doc/%2e%2e/package.json',
      '/doc/....//x',
      '/%ff',
      '/v2/schema/ddl/1?dialect=../../x',
      '/error?x=<script>',
    ]) {
      const text = await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect([path, /^HTTP\/1\.1 (200|400|401|404) /.test(text)]).toEqual([path, true]);
      expect(text).not.toMatch(/node_modules|\.ts:\d+|at \w+ \(|root:|"dependencies"|<script>/);
    }
    const huge = await raw(
      `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(100_000)}\r\nConnection: close\r\n\r\n`,
    );
    expect(huge).toMatch(/^HTTP\/1\.1 431 /);
    const id = createHash('sha256').update('x').digest('hex');
    expect(
      (await fetch(`${service.url}/actuator/info`, { headers: { 'X-Request-Id': id } })).headers.get(
        'X-Request-Id',
      ),
    ).toBe(id);
    expect(
      (
        await fetch(`${service.url}/actuator/info`, { headers: { 'X-Request-Id': 'a b<script>' } })
      ).headers.get('X-Request-Id'),
    ).not.toContain('<');
  });
});
