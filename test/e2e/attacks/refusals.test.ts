/** What the service refuses, and that a refusal leaves nothing behind. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import {
  execution,
  type JobAnswer,
  type Options,
  type Problem,
  type RunAnswer,
} from '../../support/service/client.ts';
import { freightDocuments } from '../../support/service/fixtures.ts';
import { useTrial } from '../../support/service/trial.ts';
import { needs } from '../../support/needs.ts';

function places({ errors }: Problem): string[] {
  return errors.map(({ pointer }) => pointer);
}

describe('refusals', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let root: string;
  let outside: string;
  let service: RunningService;
  let sql: Sql;
  let input: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'refusals-'));
    outside = await mkdtemp(join(tmpdir(), 'outside-'));
    await writeFile(join(root, 'inside.xml'), freightDocuments[0]!.text);
    await writeFile(join(outside, 'secret.xml'), '<secret/>');
    await symlink(join(outside, 'secret.xml'), join(root, 'link.xml'));
    await symlink(outside, join(root, 'folder'));
    home = await trial.home({ 'svc.files.roots': root, 'cmd.enabled': 'true' });
    service = await trial.service(home);
    sql = await trial.metadb(home);
    input = await service.client.upload('xml', 'a.xml', new TextEncoder().encode(freightDocuments[0]!.text));
  });

  afterAll(async () => {
    for (const folder of [root, outside]) await rm(folder, { recursive: true, force: true });
  });

  const countRows = async (): Promise<unknown> => {
    const [counts] =
      await sql`select (select count(*)::int from svc.job) as jobs, (select count(*)::int from svc.workflow) as workflows,
      (select count(*)::int from svc.idempotency) as keys`;
    return counts;
  };

  /** Sends a request that must be refused without a trace. */
  async function refused(executions: readonly unknown[], status = 400): Promise<Problem> {
    const before = await countRows();
    const answer = await service.client.post('/v2/run/cmd', { executions });
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(await countRows()).toEqual(before);
    return answer.body;
  }

  it.each([
    '/etc/passwd',
    '../../../etc/passwd',
    'uploads/../../../../etc/passwd',
    '..',
    './../2/uploads',
    '/proc/self/environ',
    '//etc/passwd',
    'file:///etc/passwd',
    '%2e%2e/%2e%2e/etc/passwd',
  ])('the input path %s', async (path) => {
    const problem = await refused([execution('xml2er', path)]);
    expect(['path_not_allowed', 'input_not_found']).toContain(problem.code);
    expect(places(problem)).toEqual(['/executions/0/source/file/command']);
  });

  it.each([
    ['uploads/*/+(+(a|aa)|+(a))x', '[(]'],
    ['{1..20000000}', '[{]'],
    ['{..,a}/1/uploads/*/S*', '[{]'],
    ['uploads/*/../../../*/uploads/*', '..'],
    [`**/${'*a'.repeat(600)}`, '1024'],
  ])('the pattern %s, with what to write instead', async (path, hint) => {
    const problem = await refused([execution('xml2er', path)]);
    expect(problem).toMatchObject({
      status: 400,
      code: expect.stringMatching(/^(invalid_option|path_not_allowed)$/),
    });
    expect(problem.detail).toContain(hint === '..' ? '' : hint);
    expect(places(problem)).toEqual(['/executions/0/source/file/command']);
  });

  it('paths of the home folder itself, links that leave a root, and globs over them', async () => {
    const paths = ['admin.key', 'secret.key', 'metadb.url', 'conf/backend.properties', 'logs', 'db/data'];
    for (const path of paths) {
      const problem = await refused([execution('xml2er', join(home.directory, path))]);
      expect(problem.code, path).toBe('path_not_allowed');
    }
    for (const path of ['link.xml', 'folder', 'folder/secret.xml', 'folder/*.xml', 'folder/../inside.xml']) {
      const problem = await refused([execution('xml2er', `${root}/${path}`)]);
      expect(problem.code, path).toBe('path_not_allowed');
    }
    const outputs = ['/tmp', '../out', join(root, 'folder/out'), join(home.directory, 'conf')];
    for (const out of outputs) {
      const problem = await refused([execution('xml2er', input, [['-o', out]])]);
      expect(places(problem), out).toEqual(['/executions/0/target/generation/0/value']);
    }
  });

  async function load(path: string): Promise<JobAnswer> {
    const { jobs } = await service.client.run([execution('xml2er', path, [['-o', 'metadb:links']])]);
    return service.client.ended(jobs[0]!);
  }

  it('links that appear after the submission are not followed when the job runs', async () => {
    const folder = join(root, 'later');
    await mkdir(folder);
    await writeFile(join(folder, 'good.xml'), '<good>1</good>');
    await writeFile(join(folder, 'better.xml'), '<good>2</good>');
    expect(await load(join(folder, '*.xml'))).toMatchObject({ status: 'C', msg_proc_qty: 2 });
    await symlink(join(outside, 'secret.xml'), join(folder, 'leak.xml'));
    const globbed = await load(join(folder, '*.xml'));
    expect(globbed).toMatchObject({ status: 'F', failure: expect.stringContaining('outside') });
    await refused([execution('xml2er', `${folder}/l*/../../../*/*.xml`)]);
    expect(await load(folder)).toMatchObject({ status: 'C', msg_proc_qty: 2 });
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'links' and table_name not like ${'\\_%'}`;
    expect(tables).toEqual([{ name: 'good' }]);
  });

  it('unknown options, values where none belong, and missing ones, each with its pointer', async () => {
    const wrong: Options = [
      ['-g', '3'],
      ['--no-such-option', 'x'],
      ['-g', '7'],
      ['--on-error', 'ignore'],
      ['--prune', 'yes'],
      ['-j', '1'],
      ['--json'],
      ['-o'],
      ['--spark-conf', 'spark.driver.extraJavaOptions=-Dx'],
      ['-R', 'c:blob NOW'],
    ];
    const problem = await refused([execution('xml2er', input), execution('xml2er', input, wrong)]);
    const group = '/executions/1/target/generation';
    const found = places(problem);
    for (let index = 1; index < wrong.length; index += 1)
      expect(
        found.some((pointer) => pointer.startsWith(`${group}/${index}`)),
        `${index} of ${found}`,
      ).toBe(true);
    expect(found.some((pointer) => pointer.startsWith(`${group}/0`))).toBe(false);
  });

  it('targets that are reserved, not allowed or not understood, and a host that is not allowed', async () => {
    for (const target of [
      'metadb:svc',
      'metadb:public',
      'metadb:pg_catalog',
      'metadb:information_schema',
      'metadb:',
      'postgresql://127.0.0.1,10.0.0.1/x',
      'postgresql://127.0.0.1/x?options=-csearch_path%3Dsvc',
      'postgresql:///x?host=/var/run',
      'http://127.0.0.1/',
    ]) {
      const problem = await refused([execution('xml2er', input, [['-o', target]])]);
      expect(problem.code, target).toBe('target_not_allowed');
      expect(places(problem)).toEqual(['/executions/0/target/generation/0/value']);
    }
    const own = new URL(await home.databaseUrl());
    for (const host of ['127.0.0.1', `127.0.0.1:${own.port}`, '2130706433', '[::1]', 'localhost']) {
      const problem = await refused([execution('xml2er', input, [['-o', `postgresql://${host}/x`]])], 403);
      expect(problem.code, host).toBe('host_not_allowed');
    }
  });

  it('forward references, unknown tools and members, NUL, and bodies that are none', async () => {
    expect(places(await refused([execution('xml2er', input, [], '$0')]))).toEqual([
      '/executions/0/source/origin_id/value',
    ]);
    expect(places(await refused([execution('xml2er', input, [], '$1'), execution('xml2er', input)]))[0]).toBe(
      '/executions/0/source/origin_id/value',
    );
    expect(places(await refused([execution('xml2er', input, [], '424242')]))).toEqual([
      '/executions/0/source/origin_id/value',
    ]);
    expect(places(await refused([execution('rm', input)]))).toEqual(['/executions/0/app_name']);
    expect(places(await refused([execution('xml2er', `${input}\0`)]))).toEqual([
      '/executions/0/source/file/command',
    ]);
    const extra = await refused([{ ...(execution('xml2er', input) as object), shell: true }]);
    expect(extra.errors[0]!.detail + extra.errors[0]!.pointer).toContain('shell');
    const before = await countRows();
    for (const [body, type, status] of [
      ['{', 'application/json', 400],
      ['', 'application/json', 400],
      ['{}', 'application/json', 400],
      ['{"executions":[]}', 'application/json', 400],
      ['{"executions":[]}', 'text/plain', 415],
    ] as const) {
      const headers = { 'Content-Type': type };
      const answer = await service.client.fetch('/v2/run/cmd', { method: 'POST', headers, body });
      expect(answer.status, body).toBe(status);
      expect(answer.headers.get('Content-Type')).toMatch(/^application\/problem\+json/);
    }
    expect(await countRows()).toEqual(before);
  });

  it('shell syntax in a value is one literal argument', async () => {
    const name = 'x; touch pwned `id` $(id) \'"';
    const { jobs } = await service.client.run([execution('xml2er', input, [['--name', name]])]);
    const job = await service.client.ended(jobs[0]!);
    expect(job).toMatchObject({ status: 'C' });
    expect(job.params).not.toContain('\n');
    const schema = await service.client.get<{ name: string }>(`/v2/schema/${job.id_sch}`);
    expect(schema.name).toBe(name);
  });

  it('without a key, with a wrong one, and uploads without their token', async () => {
    const none = { headers: { Authorization: '' } };
    for (const path of ['/v2/executions/all', '/v2/executions/get/1', '/v2/schema/all', '/v2/no/such/path']) {
      const answer = await fetch(service.url + path);
      expect(answer.status, path).toBe(path.includes('such') ? 404 : 401);
      if (answer.status === 401) expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer/);
    }
    expect((await service.client.fetch('/v2/executions/all', none)).status).toBe(401);
    const wrong = { headers: { Authorization: `Bearer ${service.key.slice(0, -1)}x` } };
    expect((await service.client.fetch('/v2/executions/all', wrong)).status).toBe(401);
    for (const query of ['', '?token=', '?token=abc']) {
      const answer = await fetch(`${service.url}/v2/file/upload/xml${query}`, {
        method: 'POST',
        body: '<a/>',
      });
      expect(answer.status, query).toBe(401);
    }
    const { body } = await service.client.post<{ token: string }>('/v2/file/upload/token', {
      kind: 'xml',
      max_bytes: 4,
    });
    const send = (kind: string, bytes: string): Promise<Response> =>
      fetch(`${service.url}/v2/file/upload/${kind}?token=${body.token}`, { method: 'POST', body: bytes });
    expect((await send('xsd', '<a/>')).status).toBe(401);
    expect((await send('xml', '<abc/>')).status).toBe(413);
    expect((await send('xml', '<a/>')).status).toBe(401);
  });

  // last: the service is started anew
  it('commands, until cmd.enabled is true at a start: 403, and no row', needs('whole run'), async () => {
    const body = { executions: [execution('xml2er', input)] };
    const first = await service.client.post<RunAnswer>('/v2/run/cmd', body);
    const idJob = first.body.jobs[0]!;
    await service.client.ended(idJob);
    await sql.end({ timeout: 1 });
    await service.end('SIGTERM');

    await home.configure({ 'svc.files.roots': root, 'cmd.enabled': 'false' });
    service = await trial.service(home, { SVC_CMD_ENABLED: undefined });
    sql = await trial.metadb(home);
    const before = await countRows();
    const run = await service.client.post('/v2/run/cmd', body);
    expect(run).toMatchObject({ status: 403, body: { code: 'commands_disabled', status: 403 } });
    const rerun = await service.client.fetch(`/v2/run/rerun/${idJob}`);
    expect([rerun.status, ((await rerun.json()) as Problem).code]).toEqual([403, 'commands_disabled']);
    // read at the start alone
    await home.configure({ 'svc.files.roots': root, 'cmd.enabled': 'true' });
    expect((await service.client.post('/v2/run/cmd', body)).status).toBe(403);
    expect(await countRows()).toEqual(before);

    await service.end('SIGTERM');
    service = await trial.service(home, { SVC_CMD_ENABLED: undefined });
    expect((await service.client.fetch(`/v2/run/rerun/${idJob}`)).status).toBe(200);
    const again = await service.client.run(body.executions);
    expect((await service.client.ended(again.jobs[0]!)).status).toBe('C');
  });
});
