/** Names of `metadb:NAME`: whose they are, from when on, and until when; on a running service with two organisations. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, type RunningService, type ServiceHome } from '../../support/service/start.ts';
import { createServiceClient, execution, type ServiceClient } from '../../support/service/client.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const load = async (
  client: ServiceClient,
  name: string,
  xml = '<a><b>1</b></a>',
  more: [string, string?][] = [],
) => {
  const path = await client.upload('xml', 'a.xml', new TextEncoder().encode(xml));
  const { jobs } = await client.run([execution('xml2er', path, [['-o', `metadb:${name}`], ...more])]);
  return await client.ended(jobs[0]!);
};
const status = async (client: ServiceClient, name: string): Promise<number> => {
  const path = await client.upload('xml', 'a.xml', new TextEncoder().encode('<a/>'));
  const { status: answered } = await client.post('/v2/run/cmd', {
    executions: [execution('xml2er', path, [['-s'], ['-o', `metadb:${name}`]])],
  });
  return answered;
};
const remove = async (client: ServiceClient, name: string): Promise<number> =>
  (await client.fetch(`/v2/target?name=${encodeURIComponent(name)}`, { method: 'DELETE' })).status;

describe('names of targets', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let own: ServiceClient;
  let other: ServiceClient;
  let otherOrg: number;

  beforeAll(async () => {
    home = await trial.home({ 'cmd.enabled': 'true', 'svc.limits.target_names': '3' });
    service = await trial.service(home);
    own = service.client;
    const { body: org } = await own.post<{ id_org: number }>('/v2/admin/orgs', { name: 'neighbour' });
    otherOrg = org.id_org;
    const { body } = await own.post<{ key: string }>('/v2/admin/keys', {
      name: 'k',
      id_org: org.id_org,
      scopes: ['jobs:read', 'jobs:run', 'schemas:read', 'schemas:write', 'files:upload'],
    });
    other = createServiceClient(service.url, body.key);
  });

  it(
    'are taken by jobs that load, not by inputs, dry runs and loads that fail',
    needs('whole run'),
    async () => {
      const done = await load(own, 'mine');
      expect(done).toMatchObject({ status: 'C', failure: null });
      const logical = String(done.id_lschma);
      const read = await own.run([
        {
          app_name: 'er2xml',
          source: {},
          target: {
            generation: [
              ['-l', logical],
              ['-i', 'metadb:wanted'],
              ['-o', 'x'],
            ].map(([command, value]) => ({ command, value, enabled: 'true' })),
          },
        },
      ]);
      expect((await own.ended(read.jobs[0]!)).failure).toContain('nothing has been loaded there');
      expect(await load(own, 'wanted', '<a/>', [['-s']])).toMatchObject({ status: 'C' });
      expect(await load(own, 'wanted', '<a>')).toMatchObject({ status: 'F' });
      expect(await load(own, 'wanted', '<a/>', [['-S', 'p']])).toMatchObject({ status: 'C' });
      expect(await load(other, 'wanted')).toMatchObject({ status: 'C', failure: null });
      expect([
        await status(own, 'wanted'),
        await status(other, 'mine'),
        await status(other, 'wanted'),
      ]).toEqual([403, 403, 200]);
    },
  );

  it(
    'are so many, and given back: by a request, and where the SQL schema is dropped',
    needs('whole run'),
    async () => {
      expect((await load(own, 'second')).status).toBe('C');
      expect((await load(own, 'third')).status).toBe('C');
      const refused = await load(own, 'fourth');
      expect([refused.status, refused.failure]).toEqual([
        'F',
        expect.stringContaining('svc.limits.target_names'),
      ]);
      expect([await remove(other, 'second'), await remove(own, 'nothing'), await remove(own, '')]).toEqual([
        404, 404, 400,
      ]);
      expect(await remove(own, 'second')).toBe(204);
      expect(await remove(own, 'second')).toBe(404);
      expect(await load(other, 'second')).toMatchObject({ status: 'C', failure: null });
      const run = promisify(execFile);
      const command = async (...words: string[]) =>
        (
          await run(process.execPath, [join(projectRoot, 'bin/conversion-job-service.mjs'), ...words], {
            env: { ...process.env, SVC_HOME: home.directory },
          })
        ).stdout;
      expect(await command('targets', 'list', '--org', String(otherOrg))).toMatch(/second[^]*wanted/);
      await command('targets', 'remove', 'wanted', '--org', String(otherOrg));
      expect((await load(own, 'wanted')).status).toBe('C');
    },
  );
});
