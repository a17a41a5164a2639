/** POST /v2/schema/export and /import: what is refused before anything is started, and what the program is handed. */
import { describe, expect, it } from 'vitest';
import type { TransferProgram, TransferRequest, TransferRun } from '../../../../src/ports/processes.ts';
import { donutSourceModel } from '../../../support/models/donut.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';

const address = { host: 'db.example', port: 5433, sslMode: 'disable' };
const own = { ...address, user: 'svc', database: 'svc', password: 'own-c4nary' };
const token = 'sv=2024&se=2030&sig=c4nary%2Fsig%3D';
const location = `https://cloud.example/packages/x/?${token}`;

interface Call {
  readonly command: string;
  readonly request: TransferRequest;
}

async function createApp({
  settings = {},
  run = { code: 0, lastLine: '{"error":false,"az_output_path":"","origin_ids":"5, 6"}' },
  lines = [],
  environmentPassword = null,
  addresses = ['192.0.2.1'],
}: {
  settings?: Record<string, string>;
  run?: TransferRun;
  lines?: readonly string[];
  environmentPassword?: string | null;
  addresses?: readonly string[];
} = {}) {
  const calls: Call[] = [];
  const transfers: TransferProgram = {
    ownDatabase: own,
    environmentPassword,
    identity: { workerId: 'w', host: 'h/1', osUser: 'u', basePath: '/' },
    run: async (command, request, { onLine }) => {
      calls.push({ command, request });
      for (const line of lines) onLine(line);
      return run;
    },
  };
  const allowed = { 'svc.allow.hosts': 'cloud.example,other.example:6000', ...settings };
  const app = await createTestApp(allowed, { transfers, hosts: { resolve: async () => addresses } });
  const origin = { idParentSch: null, idJob: null, name: 'donuts', sourceType: 'xsd' as const, files: [] };
  const { catalog, files } = app.adapters;
  for (const idOrg of [1, 2]) files.put(idOrg, 'in/manifest.json', new Uint8Array(1));
  const { id_sch: idSch } = await catalog.createOrigin({ ...origin, idOrg: 1, model: donutSourceModel });
  const { id_sch: foreign } = await catalog.createOrigin({ ...origin, idOrg: 2, model: donutSourceModel });
  const post = async (operation: 'export' | 'import', body: unknown, key?: string) => {
    const response = await app.send(`/v2/schema/${operation}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'request-7' },
      body: JSON.stringify(body),
      ...(key === undefined ? {} : { key }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { ...app, calls, post, idSch, foreign };
}

describe('what is refused', () => {
  const wrongForms: readonly [string, 'export' | 'import', Record<string, unknown>][] = [
    ['nothing', 'export', {}],
    ['no place', 'export', { origin_id: '1' }],
    ['both places', 'export', { origin_id: '1', output_path: 'a', az_output_path: location }],
    ['empty places', 'export', { origin_id: '1', output_path: '', az_output_path: '' }],
    ['an id that is a number', 'export', { origin_id: 1, output_path: 'a' }],
    ['an id that is none', 'export', { origin_id: 'one', output_path: 'a' }],
    ['an unknown member', 'export', { origin_id: '1', output_path: 'a', binary: '/bin/sh' }],
    [
      'a location without TLS',
      'export',
      { origin_id: '1', az_output_path: `http://cloud.example/c/?${token}` },
    ],
    [
      'a location without a slash',
      'export',
      { origin_id: '1', az_output_path: `https://cloud.example/c?${token}` },
    ],
    ['a location without a token', 'export', { origin_id: '1', az_output_path: 'https://cloud.example/c/' }],
    [
      'a location with a user',
      'export',
      { origin_id: '1', az_output_path: `https://u:p@cloud.example/c/?${token}` },
    ],
    ...[
      'https:files.example/c/?sig=x',
      'https:///files.example/c/?sig=x',
      'https://files%2eexample/c/?sig=x',
      'https://\uff46iles.example/c/?sig=x',
      'http://2130706433/c/?sig=x',
      'https://files.example/c/%2e%2e/d/?sig=x',
    ].map((text): [string, 'export', Record<string, unknown>] => [
      'a location that others may read otherwise',
      'export',
      { origin_id: '1', az_output_path: text },
    ]),
    ['a location with a fragment', 'export', { origin_id: '1', az_output_path: `${location}#x` }],
    ['another scheme', 'export', { origin_id: '1', az_output_path: `file:///etc/?${token}` }],
    ['no path', 'import', { az_input_path: location }],
    ['an empty path', 'import', { input_path: '' }],
    ['a list of hosts', 'import', { input_path: 'a', metadb_host: 'a.example,b.example' }],
    ['a socket folder', 'import', { input_path: 'a', metadb_host: '/var/run/postgresql' }],
    ['a connection string', 'import', { input_path: 'a', metadb_host: 'host=a.example' }],
    ['a host with a port', 'import', { input_path: 'a', metadb_host: 'a.example:5432' }],
    ['port 0', 'import', { input_path: 'a', metadb_host: 'a.example', metadb_port: '0' }],
    ['port 65536', 'import', { input_path: 'a', metadb_host: 'a.example', metadb_port: '65536' }],
    ['a port that is a number', 'import', { input_path: 'a', metadb_port: 5432 }],
    ['two ports', 'import', { input_path: 'a', metadb_port: '5432,5433' }],
    ['a path outside', 'import', { input_path: '../2/secret' }],
  ];
  it.each(wrongForms)('%s: 400', async (_, operation, body) => {
    const { post, calls, adapters } = await createApp();
    const answer = await post(operation, body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).not.toContain('c4nary');
    expect(calls).toEqual([]);
    expect((await adapters.jobs.listJobs(1, 0, 10)).totalElements).toBe(0);
  });

  it('an origin that is absent, or of another organisation: 404, the same', async () => {
    const { post, calls, foreign } = await createApp();
    const absent = await post('export', { origin_id: '9007199254740993', output_path: 'a' });
    const hidden = await post('export', { origin_id: String(foreign), output_path: 'a' });
    expect([absent.status, hidden.status]).toEqual([404, 404]);
    expect(Object.keys(absent.body)).toEqual(Object.keys(hidden.body));
    expect(calls).toEqual([]);
  });

  const refusedHosts = [
    '127.0.0.1 2130706433 0x7f000001 017700000001 127.1 [::1] ::ffff:127.0.0.1',
    '169.254.169.254 [::ffff:a9fe:a9fe] 2852039166 localhost elsewhere.example db.example',
  ].flatMap((line) => line.split(' '));
  it.each(refusedHosts)('the host %s: 403, and nothing is started', async (host) => {
    const { post, calls, idSch } = await createApp();
    const asked = { origin_id: String(idSch), output_path: 'a', metadb_host: host };
    expect((await post('export', asked)).body).toMatchObject({ status: 403, code: 'host_not_allowed' });
    expect(calls).toEqual([]);
  });

  it('a name that leads to a loopback address, for the database and for cloud storage: 403', async () => {
    const { post, calls, idSch } = await createApp({ addresses: ['192.0.2.1', '127.0.0.1'] });
    const database = { metadb_host: 'other.example', metadb_port: '6000' };
    const asked = { origin_id: String(idSch), output_path: 'a', ...database };
    expect((await post('export', asked)).status).toBe(403);
    expect((await post('export', { origin_id: String(idSch), az_output_path: location })).status).toBe(403);
    expect((await post('import', { input_path: 'a', az_input_path: location })).status).toBe(403);
    expect(calls).toEqual([]);
  });

  it('a key without the scope: 403; no program to run: 501', async () => {
    const { post, newKey, idSch } = await createApp();
    const { key } = await newKey(1, ['schemas:write']);
    expect((await post('export', { origin_id: String(idSch), output_path: 'a' }, key)).status).toBe(403);
    const bare = await createTestApp({});
    const response = await bare.send('/v2/schema/import', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"input_path":"a"}',
    });
    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({ code: 'runtime_unsupported' });
  });
});

describe('what the program is handed', () => {
  it('the fields of the request, and the defaults filled in', async () => {
    const { post, calls, idSch } = await createApp();
    const answer = await post('export', { origin_id: String(idSch), output_path: 'out', metadb_host: '' });
    expect(answer).toEqual({ status: 200, body: { error: false, az_output_path: '' } });
    expect(calls).toEqual([
      {
        command: 'export',
        request: {
          origin_id: String(idSch),
          id_org: 1,
          id_job: 1,
          output_path: expect.stringMatching(/out$/),
          metadb_host: 'db.example',
          metadb_port: '5433',
          metadb_user: 'svc',
          metadb_db: 'svc',
          metadb_password: 'own-c4nary',
          metadb_sslmode: 'disable',
        },
      },
    ]);
  });

  it('a cloud location with its token and the addresses that were checked; the answer is without the token', async () => {
    const { post, calls, idSch } = await createApp({
      settings: { 'svc.migration.azcopy_binary': 'builtin' },
    });
    const answer = await post('export', { origin_id: String(idSch), az_output_path: location });
    expect(answer.body).toEqual({ error: false, az_output_path: 'https://cloud.example/packages/x/' });
    expect(calls[0]!.request).toMatchObject({
      az_output_path: location,
      az_addresses: ['192.0.2.1'],
      azcopy_binary: 'builtin',
    });
  });

  const passwords: readonly [
    string,
    Parameters<typeof createApp>[0],
    Record<string, string>,
    string | undefined,
    string?,
  ][] = [
    [
      'its own, by verified TLS, to a host named for it',
      { settings: { 'svc.migration.password_hosts': 'other.example:6000' } },
      { metadb_host: 'other.example', metadb_port: '6000' },
      'own-c4nary',
      'verify-full',
    ],
    [
      'its own, as it comes, where the operator lets it be read, too',
      {
        settings: {
          'svc.migration.password_hosts': 'other.example',
          'svc.allow.plain_passwords': 'other.example:6000',
        },
      },
      { metadb_host: 'other.example', metadb_port: '6000' },
      'own-c4nary',
    ],
    [
      'none, to a host that is only allowed',
      {},
      { metadb_host: 'other.example', metadb_port: '6000' },
      undefined,
    ],
    [
      'none, to a host that only * allows',
      { settings: { 'svc.allow.hosts': '*' } },
      { metadb_host: 'other.example' },
      undefined,
    ],
    [
      'PGPASSWORD, to a host named in full',
      { environmentPassword: 'pg' },
      { metadb_host: 'other.example', metadb_port: '6000' },
      'pg',
      'require',
    ],
    [
      'not even PGPASSWORD where only * allows',
      { environmentPassword: 'pg', settings: { 'svc.allow.hosts': '*' } },
      { metadb_host: 'x.example' },
      undefined,
    ],
    [
      'that of the request before all',
      { environmentPassword: 'pg', settings: { 'svc.allow.hosts': '*' } },
      { metadb_host: 'x.example', metadb_password: 'given' },
      'given',
    ],
    ['its own to itself', {}, {}, 'own-c4nary'],
    ['PGPASSWORD to itself', { environmentPassword: 'pg' }, {}, 'pg'],
    ['… and to another database of its server', { environmentPassword: 'pg' }, { metadb_db: 'other' }, 'pg'],
  ];
  it.each(passwords)('the password: %s', async (_, options, metadb, expected, sslMode = 'prefer') => {
    const { post, calls } = await createApp(options);
    expect((await post('import', { input_path: 'in', ...metadb })).status).toBe(200);
    expect(calls[0]!.request['metadb_password']).toBe(expected);
    if (metadb['metadb_host'] !== undefined) {
      expect(calls[0]!.request).toMatchObject({ metadb_addresses: ['192.0.2.1'], metadb_sslmode: sslMode });
      expect(calls[0]!.request).not.toHaveProperty('id_job');
    }
  });

  it('naming what is the service’s own changes nothing', async () => {
    const names = [
      {},
      { metadb_user: 'svc' },
      { metadb_db: 'svc' },
      { metadb_db: 'svc', metadb_user: 'svc' },
    ];
    for (const environmentPassword of [null, 'pg', 'own-c4nary']) {
      const { post, calls } = await createApp({ environmentPassword });
      for (const named of names)
        expect((await post('import', { input_path: 'in', ...named })).status).toBe(200);
      const requests = calls.map(({ request }) => ({ ...request, id_job: 0 }) as TransferRequest);
      expect(requests).toEqual(requests.map(() => requests[0]));
      // what the service gets in by, where PGPASSWORD is meant for another place
      expect(requests[0]!['metadb_own_password']).toBe(
        environmentPassword === 'pg' ? 'own-c4nary' : undefined,
      );
    }
  });

  it('never the own password for another database, where the organisation is not the first', async () => {
    const { post, calls, newKey } = await createApp({ settings: { 'svc.allow.hosts': 'other.example' } });
    const { key } = await newKey(2, ['migrate']);
    const asked = { input_path: 'in', metadb_host: 'other.example' };
    expect((await post('import', asked, key)).status).toBe(403);
    expect((await post('import', { input_path: 'in', metadb_db: 'more' }, key)).status).toBe(403);
    expect(calls).toEqual([]);
    expect((await post('import', { ...asked, metadb_password: 'theirs' }, key)).status).toBe(200);
    expect(calls[0]!.request).toMatchObject({ metadb_password: 'theirs', id_org: 2 });
  });
});

describe('how a run ends', () => {
  const failures: readonly [string, TransferRun][] = [
    ['an exit code', { code: 3, lastLine: '{"error":false,"origin_ids":"5"}' }],
    ['a signal', { code: null, lastLine: null }],
    ['no answer', { code: 0, lastLine: 'done' }],
    [
      'an answer that says so',
      { code: 1, lastLine: `{"error":true,"failure":"refused ${location} own-c4nary"}` },
    ],
    ['ids that are none', { code: 0, lastLine: '{"error":false,"origin_ids":"<script>"}' }],
  ];
  it.each(failures)('%s: 200 with error true, and a job that says why', async (name, run) => {
    const { post, adapters } = await createApp({ run, lines: [`copying to ${location}`] });
    const answer = await post('import', { input_path: 'in', az_input_path: location });
    expect(answer).toEqual({ status: 200, body: { error: true, origin_ids: '' } });
    const record = (await adapters.jobs.findJob(1, 1))!;
    expect(record).toMatchObject({
      job_type: 'Import',
      parm_path_input: 'https://cloud.example/packages/x/',
    });
    if (name !== 'ids that are none') {
      expect(record.status).toBe('failed');
      expect(record.failure).toMatch(/./);
      expect(adapters.logLines.find(({ message }) => message === 'migration failed')).toMatchObject({
        level: 'warn',
        fields: { request_id: 'request-7', job: 1 },
      });
    }
    expect(
      adapters.logLines.some(({ fields }) => String(fields['line']).startsWith('copying to https')),
    ).toBe(true);
    expect(JSON.stringify([adapters.logLines, record])).not.toContain('c4nary');
  });

  it('with all that was asked for in its record, no password among it', async () => {
    const { post, adapters } = await createApp();
    const database = { metadb_host: 'other.example', metadb_port: '6000', metadb_db: "d'b" };
    const asked = { input_path: 'in', ...database, metadb_user: '', metadb_password: 'given-c4nary' };
    expect((await post('import', asked)).body['error']).toBe(false);
    const record = (await adapters.jobs.findJob(1, 1))!;
    expect(record.params).toBe(
      `import -i in --metadb-host other.example --metadb-port 6000 --metadb-db 'd'\\''b' --metadb-password '***'`,
    );
    expect(JSON.parse(record.params_json).action).toEqual({
      command: 'import',
      in: 'in',
      input_path: 'in',
      ...database,
      metadb_password: '***',
    });
  });

  it('not_found of another database: 404', async () => {
    const { post } = await createApp({ run: { code: 1, lastLine: '{"error":true,"code":"not_found"}' } });
    const asked = { origin_id: '77', output_path: 'a', metadb_host: 'other.example', metadb_port: '6000' };
    expect((await post('export', asked)).status).toBe(404);
  });

  it('and is no job to be rerun: 409', async () => {
    const { post, send } = await createApp({ settings: { 'cmd.enabled': 'true' } });
    await post('import', { input_path: 'in' });
    expect((await send('/v2/run/rerun/1')).status).toBe(409);
  });

  it('with a record of its type, its schema and its place', async () => {
    const { post, adapters, idSch } = await createApp();
    await post('export', { origin_id: String(idSch), az_output_path: location });
    expect(await adapters.jobs.findJob(1, 1)).toMatchObject({
      job_type: 'Export',
      status: 'completed',
      id_sch: idSch,
      params: `export -x ${idSch} --az-output-path 'https://cloud.example/packages/x/?***'`,
      params_json: JSON.stringify({
        spark: { master: 'local[*]' },
        action: {
          command: 'export',
          out: 'https://cloud.example/packages/x/',
          origin_id: String(idSch),
          az_output_path: 'https://cloud.example/packages/x/?***',
        },
      }),
      parm_path_output: 'https://cloud.example/packages/x/',
      progress: 1,
      failure: null,
    });
  });
});
