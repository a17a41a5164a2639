/** Tables of a catalogue, filled by hand and by jobs of the service: who may, with what, and what is read nowhere. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startIcebergCatalogue, type IcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import {
  createServiceClient,
  execution,
  type Problem,
  type ServiceClient,
} from '../../support/service/client.ts';
import { freightDocumentFolder } from '../../support/service/fixtures.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const document = join(freightDocumentFolder, 'manifest-1.xml');
const client = { id: 'loader', secret: 'secret-of-the-loader' };

describe('tables of a catalogue', { timeout: 180_000 }, () => {
  const trial = useTrial();
  let store: ObjectServer;
  let catalogue: IcebergCatalogue;
  let home: ServiceHome;
  let service: ServiceClient;
  let target: string;
  let logical: number | null;
  const login = ['-u', client.id, '-p', client.secret] as const;

  beforeAll(async () => {
    store = await startObjectServer();
    const { endpoint, accessKeyId, secretAccessKey } = store.settings;
    catalogue = await startIcebergCatalogue(store, {
      client,
      storeConfig: () => ({
        's3.endpoint': endpoint,
        's3.access-key-id': accessKeyId,
        's3.secret-access-key': secretAccessKey,
      }),
    });
    const hosts = [catalogue.address, endpoint].map((address) => new URL(address).host);
    home = await trial.home({ 'cmd.enabled': 'true', 'svc.allow.hosts': hosts.join(',') });
    const running = await trial.service(home);
    service = createServiceClient(running.url, running.key);
    target = `iceberg:${catalogue.address}?warehouse=lake&namespace=freight`;
  });
  afterAll(async () => {
    await catalogue.end();
    await store.end();
  });

  it('are filled by hand and by a job, read back as they were at any job, and compacted', async () => {
    const first = await convert(home, 'xml2er', document, '-o', target, ...login);
    ({ logical } = first);
    const path = await service.upload('xml', 'second.xml', new Uint8Array(await readFile(document)));
    const ran = await service.run([
      execution('xml2er', path, [
        ['-l', String(logical)],
        ['-o', target],
        ['-u', client.id],
        ['-p', client.secret],
      ]),
    ]);
    const job = await service.ended(ran.jobs[0]!);
    const log = await service.log(job.id_job);
    expect(job, log).toMatchObject({ status: 'C' });
    for (const text of [JSON.stringify(job), log]) {
      expect(text).toContain('namespace=freight');
      expect(text).not.toMatch(/secret-of-the-loader|token-[0-9a-f]/);
    }
    const documentsAt = async (...more: readonly string[]): Promise<string[]> => {
      const back = await trial.folder('catalogue-back-');
      await convert(home, 'er2xml', '-i', target, '-o', back, ...login, ...more);
      return (await readdir(back)).toSorted();
    };
    expect(await documentsAt()).toEqual(['manifest-1.xml', 'second.xml']);
    expect(await documentsAt('--version', '1')).toEqual(['manifest-1.xml']);
    await convert(home, 'unload', '-l', String(logical), '-i', target, '-D', 'second.xml', ...login);
    expect(await documentsAt()).toEqual(['manifest-1.xml']);
    expect(catalogue.tables.get('_loads')!.snapshots).toHaveLength(3);
    expect([...store.objects.keys()].filter((key) => /svc-(?:lock|staging)/.test(key))).toEqual([]);
  });

  it('are reached with a credential of the organisation', async () => {
    const { host } = new URL(catalogue.address);
    const made = await service.post('/v2/admin/credentials', {
      name: 'lake',
      kind: 'https',
      host,
      user: client.id,
      password: client.secret,
    });
    expect(made.status).toBe(201);
    const path = await service.upload('xml', 'third.xml', new Uint8Array(await readFile(document)));
    const ran = await service.run([
      execution('xml2er', path, [
        ['-l', String(logical)],
        ['-o', target],
        ['--credential', 'lake'],
      ]),
    ]);
    const job = await service.ended(ran.jobs[0]!);
    expect(job, await service.log(job.id_job)).toMatchObject({ status: 'C' });
    expect(catalogue.tables.get('_loads')!.snapshots).toHaveLength(4);
  });

  it.each([
    ['a host that is not allowed', 'iceberg:https://elsewhere.example?namespace=n', [], 'svc.allow.hosts'],
    ['a credential of another host', null, [['--credential', 'other']], 'another host'],
    ['a user without a secret', null, [['-u', 'loader']], '-p'],
    [
      'a password in the address',
      'iceberg:https://loader:c4n4ry@h?namespace=n',
      [],
      'give user and password by',
    ],
  ] as const)('are refused at the request: %s', async (_, place, options, why) => {
    await service.post('/v2/admin/credentials', {
      name: 'other',
      kind: 'https',
      host: 'other.example',
      token: 'c4n4ry-of-another',
    });
    const { status, body } = await service.post<Problem>('/v2/run/cmd', {
      executions: [
        execution('xml2er', 'uploads/a.xml', [
          ['-o', place ?? target],
          ...options.map(([name, value]) => [name, value] as [string, string]),
        ]),
      ],
    });
    const text = JSON.stringify(body);
    expect([400, 403]).toContain(status);
    expect(text).toContain(why);
    expect(text).not.toContain('c4n4ry');
  });

  it('say what is wrong with a secret, and do not repeat it', async () => {
    const wrong = await runTool(home, 'xml2er', [
      document,
      '-o',
      target,
      '-u',
      client.id,
      '-p',
      'wr0ng-secret',
    ]);
    expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining('invalid_client')]);
    expect(wrong.stdout + wrong.stderr).not.toContain('wr0ng-secret');
    const other = await runTool(home, 'xml2er', [document, '-o', target, '-f', 'delta', ...login]);
    expect([other.code, other.stdout]).toEqual([1, expect.stringContaining('omit -f')]);
  });

  it('lie in stores that the catalogue names, if jobs may reach these', async () => {
    const elsewhere = await startIcebergCatalogue(store, {
      storeConfig: () => ({
        's3.endpoint': 'https://store.example',
        's3.access-key-id': 'a',
        's3.secret-access-key': 'c4n4ry-of-the-store',
      }),
    });
    const free = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': new URL(elsewhere.address).host,
    });
    const running = await trial.service(free);
    const other = createServiceClient(running.url, running.key);
    const path = await other.upload('xml', 'a.xml', new Uint8Array(await readFile(document)));
    const ran = await other.run([
      execution('xml2er', path, [['-o', `iceberg:${elsewhere.address}?namespace=freight`]]),
    ]);
    const job = await other.ended(ran.jobs[0]!);
    const log = await other.log(job.id_job);
    expect(job).toMatchObject({ status: 'F' });
    expect(log).toContain('store.example:443 may not be reached');
    expect(log + JSON.stringify(job)).not.toContain('c4n4ry');
    await elsewhere.end();
  });
});
