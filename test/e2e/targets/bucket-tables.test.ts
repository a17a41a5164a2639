/** Tables in a bucket of a real S3 server, by hand and as jobs of the service, which the operator lets write there. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import { needs, programOf } from '../../support/needs.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
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

const s3 = await startS3Server();
const place = (path: string): string => `s3://${s3!.settings.bucket}/${path}`;
const document = join(freightDocumentFolder, 'manifest-1.xml');

async function keysBelow(path: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of createS3ObjectStore(s3!.settings).listObjects(path)) keys.push(key);
  return keys;
}

describe('tables in a bucket', { timeout: 180_000, ...needs('s3 server', s3 !== null) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let client: ServiceClient;

  beforeAll(async () => {
    const { endpoint, bucket, accessKeyId, secretAccessKey } = s3!.settings;
    const source = (name: string, more: Record<string, string>): Record<string, string> =>
      Object.fromEntries(
        Object.entries({
          location: `s3://${bucket}/${name}`,
          endpoint,
          access_key: accessKeyId,
          secret_key: secretAccessKey,
          ...more,
        }).map(([member, value]) => [`svc.sources.${name}.${member}`, value]),
      );
    home = await trial.home({
      'cmd.enabled': 'true',
      ...source('lake', { writable: 'true' }),
      ...source('inbox', {}),
      ...source('other', { writable: 'true', organisations: '2' }),
    });
    const service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
  });
  afterAll(() => s3?.end());

  it('are filled by hand and by a job, one after the other, and read back', async () => {
    const target = place('lake/tables');
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
    const back = await trial.folder('bucket-back-');
    await convert(home, 'er2xml', '-i', target, '-o', back);
    expect((await readdir(back)).toSorted()).toEqual(['manifest-1.xml', 'second.xml']);
    const earlier = await trial.folder('bucket-earlier-');
    await convert(home, 'er2xml', '-i', target, '--version', '0', '-o', earlier);
    expect(await readdir(earlier)).toEqual(['manifest-1.xml']);
    await convert(home, 'unload', '-l', String(first.logical), '-i', target, '-D', 'second.xml');
    const left = await trial.folder('bucket-left-');
    await convert(home, 'er2xml', '-i', target, '-o', left);
    expect(await readdir(left)).toEqual(['manifest-1.xml']);
    expect((await keysBelow('lake/tables/.svc-')).filter((key) => !key.includes('.svc-steps/'))).toEqual([]);
  });

  it.each(['csv', 'parquet'])('files of %s lie there, too', async (format) => {
    const target = place(`lake/${format}`);
    for (const _ of [1, 2]) await convert(home, 'xml2er', document, '-o', target, '-f', format);
    expect(await keysBelow(`lake/${format}/`)).toEqual(
      expect.arrayContaining([`lake/${format}/load.sql`, `lake/${format}/manifest.json`]),
    );
    const back = await trial.folder('bucket-files-');
    await convert(home, 'er2xml', '-i', target, '-o', back);
    expect(await readdir(back)).toHaveLength(2);
  });

  it.each([
    ['a source that is only read', 'inbox/tables', 'writable'],
    ['a source of another organisation', 'other/tables', 'no source'],
    ['no source', 'elsewhere', 'no source'],
  ])('are refused to jobs at their request: %s', async (_, path, why) => {
    const { status, body } = await client.post<Problem>('/v2/run/cmd', {
      executions: [
        execution('xml2er', 'uploads/a.xml', [
          ['-o', place(path)],
          ['-f', 'delta'],
        ]),
      ],
    });
    const text = JSON.stringify(body);
    expect([400, 403]).toContain(status);
    expect(text).toContain(why);
    expect(text).not.toContain(s3!.settings.secretAccessKey);
  });

  it('need credentials by hand, and say which', async () => {
    const { code, stdout } = await runTool(home, 'xml2er', [
      document,
      '-o',
      place('elsewhere'),
      '-f',
      'delta',
    ]);
    expect([code, stdout]).toEqual([1, expect.stringContaining('AWS_ACCESS_KEY_ID')]);
  });

  it('are read by the library of delta-rs', needs('deltalake'), async () => {
    const script = `
import os, sys
from deltalake import DeltaTable
t = DeltaTable(sys.argv[1], storage_options={"AWS_ENDPOINT_URL": sys.argv[2], "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": sys.argv[3], "AWS_SECRET_ACCESS_KEY": sys.argv[4]})
print(t.to_pyarrow_table().num_rows, flush=True)
# its threads may outlive what they use, at an orderly end
os._exit(0)`;
    const { endpoint, accessKeyId, secretAccessKey } = s3!.settings;
    const { stdout } = await promisify(execFile)(programOf('deltalake')!, [
      '-c',
      script,
      place('lake/tables/shipment'),
      endpoint,
      accessKeyId,
      secretAccessKey,
    ]);
    expect(stdout.trim()).toBe('2');
  });
});
