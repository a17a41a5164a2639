/** Documents that are read with a credential: of an organisation, by hand, by the operator's profile; and where its secrets must not be. */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import { secretForms } from '../../../src/service/jobs/mask-secrets.ts';
import type { Sql } from '../../../src/postgres/connect.ts';
import { needs } from '../../support/needs.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import {
  createServiceClient,
  execution,
  type Problem,
  type ServiceClient,
} from '../../support/service/client.ts';
import { freightDocumentFolder } from '../../support/service/fixtures.ts';
import {
  projectRoot,
  serviceEnvironment,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const path = '/v2/admin/credentials';
const canary = 'c4n&ry "password" é/+';
const profileToken = 'c4nary-of-the-operator';
const secrets = [canary, profileToken, 'test-secret-key'];

function found(text: string): string[] {
  return secrets.flatMap(secretForms).filter((form) => form.length > 5 && text.includes(form));
}

const s3 = await startS3Server();
afterAll(() => s3?.end());

describe('documents read with a credential', { timeout: 120_000 }, () => {
  const trial = useTrial();
  const answers: string[] = [];
  const processes = new Set<string>();
  let watch: NodeJS.Timeout;
  let web: Server;
  let origin: string;
  let home: ServiceHome;
  let service: RunningService;
  let client: ServiceClient;
  let other: ServiceClient;
  let sql: Sql;

  beforeAll(async () => {
    const basic = `Basic ${Buffer.from(`ann:${canary}`).toString('base64')}`;
    web = createServer((request, response) => {
      const { authorization } = request.headers;
      if (authorization !== basic && authorization !== `Bearer ${profileToken}`)
        response.writeHead(401).end();
      else createReadStream(join(freightDocumentFolder, 'manifest-1.xml')).pipe(response);
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const { host } = new URL(origin);
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': [host, ...(s3 === null ? [] : [new URL(s3.settings.endpoint).host])].join(','),
      'svc.sources.press.kind': 'https',
      'svc.sources.press.host': host,
      'svc.sources.press.token': profileToken,
    });
    service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
    sql = await trial.metadb(home);
    const org = (await client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'second' })).body;
    const { key } = (
      await client.post<{ key: string }>('/v2/admin/keys', {
        name: 'second',
        scopes: ['jobs:run', 'jobs:read', 'admin'],
        id_org: org.id_org,
      })
    ).body;
    other = createServiceClient(service.url, key);
    watch = setInterval(() => void readProcesses().then((text) => processes.add(text)), 50);
  });
  afterAll(async () => {
    clearInterval(watch);
    await new Promise((resolve) => web.close(resolve));
  });

  const run = async (
    who: ServiceClient,
    address: string,
    ...options: [string, string][]
  ): Promise<{ status: number; text: string; job: number }> => {
    const { status, body } = await who.post<{ jobs?: number[] } & Partial<Problem>>('/v2/run/cmd', {
      executions: [execution('xml2er', address, options)],
    });
    const text = JSON.stringify(body);
    answers.push(text);
    return { status, text, job: body.jobs?.[0] ?? 0 };
  };
  const ended = async (job: number) => {
    const record = await client.ended(job);
    answers.push(JSON.stringify(record));
    return record;
  };

  it('of the organisation: a job loads what nobody reads without it', async () => {
    const { host } = new URL(origin);
    const made = await client.post(path, {
      name: 'feed',
      kind: 'https',
      host,
      user: 'ann',
      password: canary,
    });
    answers.push(JSON.stringify(made.body));
    expect([made.status, made.body]).toEqual([201, expect.objectContaining({ name: 'feed', kind: 'https' })]);
    const { job } = await run(client, `${origin}/a.xml`, ['--credential', 'feed'], ['-o', 'metadb:feed']);
    const record = await ended(job);
    expect(record).toMatchObject({ status: 'C', failure: null });
    expect(record.params).toContain('--credential feed');
    expect((await sql`select count(*)::int as n from feed._documents`)[0]!['n']).toBe(1);
    const { job: without } = await run(client, `${origin}/a.xml`, ['-o', 'metadb:none']);
    expect(await ended(without)).toMatchObject({ status: 'F' });
    answers.push(await client.log(without), await client.log(job));
  });

  it('of the operator: by its name alone, where the organisation may', async () => {
    const { job } = await run(client, `${origin}/a.xml`, ['--credential', 'press'], ['-o', 'metadb:press']);
    expect(await ended(job)).toMatchObject({ status: 'C', failure: null });
    for (const name of ['press', 'feed', 'none']) {
      const refused = await run(other, `${origin}/a.xml`, ['--credential', name], ['-o', 'metadb:other']);
      expect([refused.status, refused.text]).toEqual([
        400,
        expect.stringContaining(`there is no credential ${name}`),
      ]);
      expect(refused.text).toContain('/executions/0/target/generation/0/value');
    }
    expect(await (await other.fetch(path)).json()).toEqual([]);
  });

  it('by hand: both, and a password that is no word of a command', async () => {
    const members = JSON.stringify({
      kind: 'https',
      host: new URL(origin).host,
      user: 'ann',
      password: canary,
    });
    const added = await operate(['credentials', 'add', 'by-hand'], members);
    expect([added.code, added.output]).toEqual([0, 'credential by-hand was stored\n']);
    expect((await operate(['credentials', 'list'], '')).output).toMatch(/^by-hand +https +\d{4}/m);
    for (const name of ['by-hand', 'press'])
      expect(
        (await convert(home, 'xml2er', `${origin}/a.xml`, '--credential', name, '-o', 'metadb:hand'))
          .documents,
      ).toBe(1);
    const wrong = await operate(['credentials', 'add', 'x'], `{"kind":"https","pasword":"${profileToken}"}`);
    answers.push(added.output, wrong.output);
    expect([wrong.code, wrong.output]).toEqual([2, expect.stringContaining('there is no member pasword')]);
    expect((await operate(['credentials', 'remove', 'by-hand'], '')).code).toBe(0);
    expect((await operate(['credentials', 'remove', 'by-hand'], '')).code).toBe(1);
    const none = await runTool(home, 'xml2er', [`${origin}/a.xml`, '--credential', 'by-hand', '-o', 'out']);
    expect([none.code, none.stdout]).toEqual([1, expect.stringContaining('there is no credential by-hand')]);
  });

  it.each([
    ['https://elsewhere.example/a.xml', 'feed', 400, 'is for another host'],
    ['s3://bucket/a.xml', 'feed', 400, 'is for https:// addresses'],
    ['uploads/a.xml', 'feed', 400, '--credential is for inputs by address'],
    ['https://elsewhere.example/a.xml', 'away', 403, 'jobs may not reach elsewhere.example:443'],
    ['s3://bucket/a.xml', 'store', 403, 'jobs may not reach store.example:443'],
  ])('is not for %s with %s', async (address, name, status, why) => {
    await client.post(path, { name: 'away', kind: 'https', host: 'elsewhere.example', token: profileToken });
    await client.post(path, {
      name: 'store',
      kind: 's3',
      endpoint: 'https://store.example',
      access_key: 'K',
      secret_key: canary,
    });
    const refused = await run(client, address, ['--credential', name], ['-o', 'metadb:other']);
    expect([refused.status, refused.text]).toEqual([status, expect.stringContaining(why)]);
  });

  it('of a store: objects, prefixes and schemas', needs('s3 server', s3 !== null), async () => {
    const { endpoint, bucket, region, accessKeyId, secretAccessKey } = s3!.settings;
    const store = createS3ObjectStore(s3!.settings);
    for (const name of ['a', 'b'])
      await store.write(`in/${name}.xml`, new TextEncoder().encode(`<${name}/>`));
    const made = await client.post(path, {
      name: 'bucket',
      kind: 's3',
      endpoint,
      region,
      access_key: accessKeyId,
      secret_key: secretAccessKey,
    });
    answers.push(JSON.stringify(made.body));
    const { job } = await run(
      client,
      `s3://${bucket}/in/`,
      ['--credential', 'bucket'],
      ['-o', 'metadb:bucket'],
    );
    expect(await ended(job)).toMatchObject({ status: 'C', failure: null });
    expect((await sql`select count(*)::int as n from bucket._documents`)[0]!['n']).toBe(2);
    answers.push(await client.log(job));
  });

  it('leaves no secret in answers, logs, records, packages, /doc, files and the list of processes', async () => {
    const { body } = await client.post<{ name: string }[]>('/v2/schema/export', {
      origin_id: '1',
      output_path: 'moved',
    });
    answers.push(JSON.stringify(body));
    const asked = ['/doc', '/v2/admin/audit?size=500', '/v2/executions/all?size=500', path, '/actuator/env'];
    for (const one of asked)
      answers.push(await (await client.fetch(one, { headers: { Accept: 'application/json' } })).text());
    const rows = await sql`select c::text from svc.credential c union all select j::text from svc.job j`;
    const names = await readdir(home.directory, { recursive: true });
    const open = names.filter((name) => !/^(db|conf|admin\.key|secret\.key|metadb\.url)(\/|$)/.test(name));
    expect(open.filter((name) => name.includes('moved/')).length).toBeGreaterThan(1);
    const files = await Promise.all(
      open.map((name) => readFile(join(home.directory, name), 'utf8').catch(() => '')),
    );
    for (const [where, text] of Object.entries({
      answers: answers.join('\n'),
      rows: JSON.stringify(rows),
      files: files.join('\n'),
      output: service.output(),
      processes: [...processes].join('\n'),
    })) {
      expect([where, text.length > 50]).toEqual([where, true]);
      expect([where, found(text)]).toEqual([where, []]);
    }
  });

  function operate(
    words: readonly string[],
    input: string,
  ): Promise<{ code: number | null; output: string }> {
    const bin = join(projectRoot, 'bin/conversion-job-service.mjs');
    const child = spawn(process.execPath, [bin, ...words], { env: serviceEnvironment(home) });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
  }
});

/** Arguments of every process, this one's own children among them. */
async function readProcesses(): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const texts = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}
