/** Tables and files in a container of Azure's storage (its emulator), by hand and as jobs of the service. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs, programOf } from '../../support/needs.ts';
import {
  startCloudStorage,
  type CloudFolder,
  type CloudStorage,
} from '../../support/servers/cloud-storage.ts';
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

describe('tables in a container', { timeout: 180_000 }, () => {
  const trial = useTrial();
  let cloud: CloudStorage;
  let lake: CloudFolder;
  let home: ServiceHome;
  let client: ServiceClient;

  beforeAll(async () => {
    cloud = await startCloudStorage();
    lake = await cloud.location('lake');
    const source = (name: string, more: Record<string, string>): Record<string, string> =>
      Object.fromEntries(
        Object.entries({
          location: `az://packages/${name}`,
          endpoint: `http://${cloud.address}/${cloud.account}`,
          access_key: cloud.account,
          ...more,
        }).map(([member, value]) => [`svc.sources.${name}.${member}`, value]),
      );
    home = await trial.home({
      'cmd.enabled': 'true',
      ...source('lake', { secret_key: cloud.key, writable: 'true' }),
      // a signature of the operator's own in place of the key
      ...source('signed', { token: new URL(lake.url).search, writable: 'true' }),
      ...source('inbox', { secret_key: cloud.key }),
    });
    const service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
  });
  afterAll(() => cloud.stop());

  it('are filled by hand and by a job, one after the other, read back, and documents go again', async () => {
    const target = 'az://packages/lake/tables';
    const first = await convert(home, 'xml2er', document, '-o', target, '-f', 'delta,iceberg');
    const path = await client.upload('xml', 'second.xml', new Uint8Array(await readFile(document)));
    const ran = await client.run([
      execution('xml2er', path, [
        ['-l', String(first.logical)],
        ['-o', target],
        ['-f', 'delta,iceberg'],
      ]),
    ]);
    const job = await client.ended(ran.jobs[0]!);
    expect(job, await client.log(job.id_job)).toMatchObject({ status: 'C' });
    const back = await trial.folder('container-back-');
    await convert(home, 'er2xml', '-i', target, '-o', back);
    expect((await readdir(back)).toSorted()).toEqual(['manifest-1.xml', 'second.xml']);
    await convert(home, 'unload', '-l', String(first.logical), '-i', target, '-D', 'second.xml');
    const left = await trial.folder('container-left-');
    await convert(home, 'er2xml', '-i', target, '-o', left);
    expect(await readdir(left)).toEqual(['manifest-1.xml']);
    const names = await lake.names();
    expect(names.filter((name) => name.includes('.svc-') && !name.includes('.svc-steps/'))).toEqual([]);
    const metadata = names.filter((name) => /tables\/shipment\/metadata\/.*metadata\.json$/.test(name));
    expect(metadata).not.toEqual([]);
  });

  it.each(['csv', 'parquet'])(
    'files of %s lie there, too, with the scripts of what reads them',
    async (format) => {
      const target = `az://packages/signed/${format}`;
      for (const _ of [1, 2]) await convert(home, 'xml2er', document, '-o', target, '-f', format);
      const names = await (await cloud.location(`signed/${format}`)).names();
      expect(names.filter((name) => name.startsWith('load.')).toSorted()).toEqual(
        format === 'csv' ? ['load.sql'] : ['load.databricks.sql', 'load.snowflake.sql', 'load.sql'],
      );
      const back = await trial.folder('container-files-');
      await convert(home, 'er2xml', '-i', target, '-o', back);
      expect(await readdir(back)).toHaveLength(2);
    },
  );

  it.each([
    ['a source that is only read', 'az://packages/inbox/tables', 'writable'],
    ['no source', 'az://packages/elsewhere', 'no source'],
    ['no container', 'az://Not_One/tables', 'az://CONTAINER/PREFIX'],
  ])('are refused to jobs at their request: %s', async (_, target, why) => {
    const { status, body } = await client.post<Problem>('/v2/run/cmd', {
      executions: [
        execution('xml2er', 'uploads/a.xml', [
          ['-o', target],
          ['-f', 'delta'],
        ]),
      ],
    });
    const text = JSON.stringify(body);
    expect([400, 403]).toContain(status);
    expect(text).toContain(why);
    expect(text).not.toContain(cloud.key);
  });

  it('need credentials by hand, which may be those of other programs', async () => {
    const argv = [document, '-o', 'az://packages/elsewhere', '-f', 'delta'];
    const { code, stdout } = await runTool(home, 'xml2er', argv);
    expect([code, stdout]).toEqual([1, expect.stringContaining('AZURE_STORAGE_ACCOUNT')]);
    const given = {
      AZURE_STORAGE_ACCOUNT: cloud.account,
      AZURE_STORAGE_SERVICE_ENDPOINT: `http://${cloud.address}/${cloud.account}`,
    };
    const wrong = await runTool(home, 'xml2er', argv, '', { ...given, AZURE_STORAGE_KEY: 'no base64' });
    expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining('base64')]);
    const ran = await runTool(home, 'xml2er', argv, '', { ...given, AZURE_STORAGE_KEY: cloud.key });
    expect(ran.code, ran.stdout).toBe(0);
  });

  it('are read by the library of delta-rs', needs('deltalake'), async () => {
    const script = `
import os, sys
from deltalake import DeltaTable
t = DeltaTable(sys.argv[1], storage_options={"AZURE_STORAGE_ACCOUNT_NAME": sys.argv[3], "AZURE_STORAGE_ACCOUNT_KEY": sys.argv[4],
    "AZURE_ENDPOINT": sys.argv[2], "AZURE_ALLOW_HTTP": "true"})
print(t.to_pyarrow_table().num_rows, flush=True)
# its threads may outlive what they use, at an orderly end
os._exit(0)`;
    const { stdout } = await promisify(execFile)(programOf('deltalake')!, [
      '-c',
      script,
      'az://packages/lake/tables/shipment',
      `http://${cloud.address}/${cloud.account}`,
      cloud.account,
      cloud.key,
    ]);
    expect(stdout.trim()).toBe('2');
  });
});
