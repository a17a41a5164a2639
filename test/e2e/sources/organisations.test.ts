/** Sources that the operator has opened to one organisation, asked for by another: by watches, jobs and schemas, by ways around their folder, by what a bucket lists, and by links. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { grantableScopes } from '../../../src/service/access/keys.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import {
  createServiceClient,
  execution,
  type Problem,
  type ServiceClient,
} from '../../support/service/client.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient } from '../../support/service/watches.ts';

const secretText = '<order><id>merganser</id></order>';
/** nobody answers there: what is let pass is seen by that */
const web = 'https://press.example';
const often = { every: '1s', settle: '0s' };

describe('sources of another organisation', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let store: ObjectServer;
  let bucket: string;
  let operator: ServiceClient;
  let heron: ServiceClient;
  let otter: ServiceClient;

  beforeAll(async () => {
    store = trial.keep(await startObjectServer(), (one) => one.end());
    const { endpoint, accessKeyId, secretAccessKey } = store.settings;
    bucket = `s3://${store.settings.bucket}`;
    const sourceOf = (name: string, idOrg: number): Record<string, string> => ({
      [`svc.sources.${name}.location`]: `${bucket}/${name}`,
      [`svc.sources.${name}.organisations`]: String(idOrg),
      [`svc.sources.${name}.endpoint`]: endpoint,
      [`svc.sources.${name}.access_key`]: accessKeyId,
      [`svc.sources.${name}.secret_key`]: secretAccessKey,
      [`svc.sources.${name}-feed.location`]: `${web}/${name}`,
      [`svc.sources.${name}-feed.organisations`]: String(idOrg),
      [`svc.sources.${name}-feed.token`]: 'of-the-operator',
    });
    home = await trial.home({
      'cmd.enabled': 'true',
      // hundreds of requests come at once
      'svc.limits.requests_per_second': '100000',
      ...sourceOf('heron', 2),
      ...sourceOf('otter', 3),
    });
    const service = await trial.service(home);
    operator = service.client;
    const organisation = async (name: string): Promise<ServiceClient> => {
      const { body: org } = await operator.post<{ id_org: number }>('/v2/admin/orgs', { name });
      const { body } = await operator.post<{ key: string }>('/v2/admin/keys', {
        name,
        scopes: grantableScopes,
        id_org: org.id_org,
      });
      return createServiceClient(service.url, body.key);
    };
    heron = await organisation('heron');
    otter = await organisation('otter');
    store.put('heron/a.xml', secretText);
    store.put('otter/b.xml', '<order><id>1</id></order>');
  });

  it('are read by their own', async () => {
    for (const [client, name] of [
      [heron, 'heron'],
      [otter, 'otter'],
    ] as const) {
      const watches = watchClient(client);
      const { id_watch: id } = await watches.create({
        ...watchOf(`${bucket}/${name}/`, often),
        target: `metadb:${name}_own`,
      });
      expect((await watches.settled(id, 1)).map(({ status }) => status)).toEqual(['loaded']);
      const feed = await watches.create({ ...watchOf(`${web}/${name}/a.xml`), paused: true });
      expect(feed.location).toBe(`${web}/${name}/a.xml`);
    }
  });

  it('are refused to others in the words for what is not there, by every way', async () => {
    const own = await watchClient(otter).create({
      ...watchOf(`${bucket}/otter/`),
      name: 'own',
      paused: true,
    });
    const answers = async (name: string): Promise<string[]> => {
      const told: string[] = [];
      for (const location of placesOf(bucket, name))
        for (const credential of [null, name, `${name}-feed`]) {
          const given = credential === null ? {} : { credential };
          const options: [string, string][] = [['-o', 'metadb:taken']];
          if (credential !== null) options.push(['--credential', credential]);
          for (const [method, path, body] of [
            ['POST', '/v2/watches', watchOf(location, given)],
            ['PATCH', `/v2/watches/${own.id_watch}`, { location, ...given }],
            ['POST', '/v2/run/cmd', { executions: [execution('xml2er', location, options)] }],
            ['POST', '/v2/schema/create', { name: 'taken', xml: [location], ...given }],
          ] as const) {
            const headers = { 'Content-Type': 'application/json' };
            const answer = await otter.fetch(path, { method, headers, body: JSON.stringify(body) });
            const { detail, code, errors } = (await answer.json()) as Problem;
            const pointers = (errors ?? []).map(({ pointer }) => pointer).join();
            told.push(
              `${method} ${path} ${JSON.stringify(location)} ${answer.status} ${code} ${pointers} ${detail}`,
            );
          }
        }
      return told.map((text) => text.replaceAll(name, '…'));
    };
    const told = await answers('heron');
    expect(told).toEqual(await answers('nobdy'));
    expect(told.filter((text) => !/ 40[03] \w+ \/[\w/,]+ /.test(text))).toEqual([]);
  });

  it('are not led to by what a bucket lists, nor by links of a folder', async () => {
    store.put('otter/../heron/a.xml', '');
    store.put('otter/./../heron/a.xml', '');
    const watches = watchClient(otter);
    const { id_watch: listed } = await watches.create({
      ...watchOf(`${bucket}/otter/`, { ...often, pattern: '**' }),
      name: 'listed',
    });
    const found = await watches.settled(listed, 1);
    expect(Object.fromEntries(found.map(({ name, status }) => [name, status]))).toEqual({
      'b.xml': 'loaded',
    });
    const { jobs } = await otter.run([
      execution('xml2er', `${bucket}/otter/`, [['-o', 'metadb:taken_by_job']]),
    ]);
    const job = await otter.ended(jobs[0]!);
    expect([job.status, job.failure]).toEqual(['F', expect.stringContaining('not a valid file name')]);

    const folders = join(home.directory, 'files');
    await mkdir(join(folders, '2', 'inbox'), { recursive: true });
    await writeFile(join(folders, '2', 'inbox', 'a.xml'), secretText);
    await mkdir(join(folders, '3', 'inbox'), { recursive: true });
    await writeFile(join(folders, '3', 'inbox', 'own.xml'), '<order><id>2</id></order>');
    await symlink(join(folders, '2', 'inbox', 'a.xml'), join(folders, '3', 'inbox', 'link.xml'));
    await symlink(join(folders, '2', 'inbox'), join(folders, '3', 'inbox', 'folder'));
    const { id_watch: linked } = await watches.create({
      ...watchOf('inbox', { ...often, pattern: '**' }),
      name: 'linked',
    });
    await eventually('own.xml loaded', async () =>
      (await watches.files(linked)).some(({ name, status }) => name === 'own.xml' && status === 'loaded')
        ? true
        : null,
    );
    const others = (await watches.files(linked)).filter(({ name }) => name !== 'own.xml');
    expect(
      others.map(({ status, sha256 }) => [status, sha256]).filter(([status]) => status !== 'rejected'),
    ).toEqual([]);
    expect(others.map(({ sha256 }) => sha256).filter((one) => one !== null)).toEqual([]);
  });

  it('are in nothing that others read', async () => {
    const { content: watches } = await otter.get<{ content: { id_watch: number }[] }>('/v2/watches?size=500');
    const { content: jobs } = await otter.get<{ content: { id_job: number }[] }>(
      '/v2/executions/all?size=500',
    );
    const texts = [JSON.stringify([watches, jobs])];
    for (const { id_watch: id } of watches)
      texts.push(JSON.stringify(await watchClient(otter).files(id)).replaceAll(/\.\/heron\/a\.xml/g, ''));
    for (const { id_job: idJob } of jobs) texts.push(await otter.log(idJob));
    texts.push(await (await otter.fetch('/v2/admin/credentials')).text());
    expect(jobs.length).toBeGreaterThan(3);
    expect(
      texts.filter((text) => /heron|merganser/.test(text.replaceAll('otter/../heron/a.xml', ''))),
    ).toEqual([]);
  });
});

function watchOf(location: string, more: Readonly<Record<string, unknown>> = {}) {
  return { name: `of ${location}`.slice(0, 200), location, target: 'metadb:taken', every: '1d', ...more };
}

/** What another organisation has, and the ways there that begin at one's own. */
function placesOf(bucket: string, name: string): string[] {
  return [
    `${bucket}/${name}/`,
    `${bucket}/${name}/a.xml`,
    `${bucket.toUpperCase().replace('S3', 's3')}/${name}/a.xml`,
    `${bucket}/otter/../${name}/`,
    `${bucket}/otter/../${name}/a.xml`,
    `${bucket}/otter*/`,
    `${bucket}/`,
    bucket,
    `${web}/${name}/a.xml`,
    `${web}/otter/../${name}/a.xml`,
    `${web}/otter/%2e%2e/${name}/a.xml`,
    `${web}/otter/.\t./${name}/a.xml`,
    `${web}/otter\\..\\${name}/a.xml`,
    `${web}/otter/x%2F..%2F..%2F${name}/a.xml`,
    `${web}/otter/..`,
  ];
}
