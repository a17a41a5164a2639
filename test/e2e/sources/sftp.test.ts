/** Documents on a server of SFTP: as inputs by hand and of jobs, and as the place of a watch. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import { startSshd, type TestSshd } from '../../support/servers/sshd.ts';
import {
  createServiceClient,
  execution,
  type Problem,
  type ServiceClient,
} from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { watchClient } from '../../support/service/watches.ts';

describe('documents on a server of SFTP', { timeout: 180_000, ...needs('sshd') }, () => {
  const trial = useTrial();
  const answers: string[] = [];
  let server: TestSshd;
  let files: string;
  let place: string;
  let key: string;
  let home: ServiceHome;
  let service: RunningService;
  let client: ServiceClient;
  let other: ServiceClient;

  beforeAll(async () => {
    server = await startSshd();
    key = await readFile(server.keyFile, 'utf8');
    files = await trial.folder('sftp-files-');
    await mkdir(join(files, 'in', 'below'), { recursive: true });
    await writeFile(join(files, 'in', 'a.xml'), '<order no="a"/>');
    await writeFile(join(files, 'in', 'notes.txt'), 'no document');
    await writeFile(join(files, 'in', 'below', 'b.xml.gz'), gzipSync('<order no="b"/>'));
    await writeFile(join(files, 'in', 'below', 'c.xml'), '<order no="c"/>');
    await promisify(execFile)('tar', [
      '-cf',
      join(files, 'in', 'd.tar'),
      '-C',
      join(files, 'in', 'below'),
      'c.xml',
    ]);
    place = `sftp://${server.user}@127.0.0.1:${server.port}${files}`;
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': `127.0.0.1:${server.port}`,
      'svc.sources.inbox.location': `${place}/in`,
      'svc.sources.inbox.key_file': server.keyFile,
      'svc.sources.inbox.host_key': server.hostKey,
    });
    service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
    const org = (await client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'second' })).body;
    const made = await client.post<{ key: string }>('/v2/admin/keys', {
      name: 'second',
      scopes: ['jobs:run', 'jobs:read', 'admin'],
      id_org: org.id_org,
    });
    other = createServiceClient(service.url, made.body.key);
  });
  afterAll(() => server?.stop());

  it.each([
    ['in/a.xml', 1],
    ['in/', 4],
    ['in', 4],
    ['in/*.xml', 1],
    ['in/**/*.xml', 2],
    ['in/**/*.gz', 1],
    ['in/bel*', 2],
    ['in/d.tar', 1],
  ])('are loaded by hand: %s', async (path, documents) => {
    const summary = await convert(home, 'xml2er', `${place}/${path}`, '-o', 'metadb:hand', '-S', 'o');
    expect(summary.documents).toBe(documents);
  });

  it('are refused where no source knows the server, and nobody there its key', async () => {
    const { code, stdout } = await runTool(home, 'xml2er', [`${place}/elsewhere.xml`, '-o', 'metadb:hand']);
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('the host key of the server is unknown or differs'),
    ]);
  });

  const run = async (who: ServiceClient, path: string, ...options: [string, string][]) => {
    const { status, body } = await who.post<{ jobs?: number[] } & Partial<Problem>>('/v2/run/cmd', {
      executions: [execution('xml2er', path, options)],
    });
    answers.push(JSON.stringify(body));
    return { status, text: JSON.stringify(body), job: body.jobs?.[0] ?? 0 };
  };

  it('are loaded by jobs, with the operator’s source or a credential of their organisation', async () => {
    const { job } = await run(client, `${place}/in/`, ['-o', 'metadb:job']);
    expect(await client.ended(job)).toMatchObject({ status: 'C', failure: null });
    const refused = await run(other, `${place}/in/`, ['-o', 'metadb:other']);
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('the operator has set no source'),
    ]);
    const members = { name: 'own', kind: 'sftp', host: `127.0.0.1:${server.port}`, user: server.user };
    const keyed = await other.post('/v2/admin/credentials', {
      ...members,
      secret_key: key,
      host_key: server.hostKey,
    });
    expect(keyed.status).toBe(201);
    const own = await run(
      other,
      `sftp://127.0.0.1:${server.port}${files}/in/*.xml`,
      ['--credential', 'own'],
      ['-o', 'metadb:other'],
    );
    const record = await other.ended(own.job);
    expect(record).toMatchObject({ status: 'C', failure: null });
    answers.push(await other.log(own.job), JSON.stringify(record));
    // a file of the operator's machine is nobody else's
    const foreign = await other.post<Problem>('/v2/admin/credentials', {
      ...members,
      name: 'foreign',
      key_file: server.keyFile,
    });
    expect(foreign.status).toBe(400);
  });

  it.each([
    ['sftp://ann@elsewhere.example/a.xml', 400, 'is for another host'],
    ['sftp://ann:c4nary@127.0.0.1/a.xml', 400, 'a password in an address'],
    ['sftp://ann@127.0.0.1/../a.xml', 400, '.. is not allowed in the path'],
    ['sftp://-oProxyCommand=x@127.0.0.1/a.xml', 400, 'must be sftp://USER@HOST/PATH'],
  ])('are refused to jobs: %s', async (path, status, why) => {
    const refused = await run(other, path, ['--credential', 'own'], ['-o', 'metadb:refused']);
    expect([refused.status, refused.text]).toEqual([status, expect.stringContaining(why)]);
    expect(refused.text).not.toContain('c4nary');
  });

  it('are refused at hosts that jobs may not reach', async () => {
    await other.post('/v2/admin/credentials', {
      name: 'away',
      kind: 'sftp',
      host: '169.254.169.254',
      user: 'a',
      password: 'c4nary-word',
    });
    const refused = await run(
      other,
      'sftp://a@169.254.169.254/a.xml',
      ['--credential', 'away'],
      ['-o', 'metadb:refused'],
    );
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining('jobs may not reach 169.254.169.254:22'),
    ]);
  });

  it('are loaded by a watch, each once, and changed ones again', async () => {
    const watches = watchClient(service.client);
    const { id_watch: id } = await watches.create({
      name: 'server',
      location: `${place}/in/`,
      target: 'metadb:watched',
      every: '1s',
      settle: '0s',
    });
    const first = await watches.settled(id, 4);
    expect(first.map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ['a.xml', 'loaded'],
      ['below/b.xml.gz', 'loaded'],
      ['below/c.xml', 'loaded'],
      ['d.tar', 'loaded'],
    ]);
    await copyFile(join(files, 'in', 'a.xml'), join(files, 'in', 'e.xml'));
    expect((await watches.settled(id, 5)).filter(({ status }) => status === 'loaded')).toHaveLength(5);
  });

  it('leave no key in answers, logs and files', async () => {
    const names = (await readdir(home.directory, { recursive: true })).filter((name) =>
      /^(?:logs|files|jobs|tmp)\//.test(name),
    );
    const texts = await Promise.all(
      names.map((name) => readFile(join(home.directory, name), 'utf8').catch(() => '')),
    );
    const found = [...answers, service.output(), ...texts].join('\n');
    for (const line of key.split('\n').filter((one) => one.length > 16 && !one.startsWith('-----')))
      expect(found).not.toContain(line);
    expect(found).not.toContain('c4nary-word');
  });
});
