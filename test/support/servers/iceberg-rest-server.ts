/**
 * A catalogue of Iceberg tables that is not ours: the REST server that the Apache Iceberg project tests its own clients with (`iceberg-open-api`, one
 * jar of its Maven repository). It was taken as it needs nothing but Java and a file of SQLite, starts within seconds, and has the whole interface, changes
 * of several tables among it.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Settings } from '../../../src/storage/object-store/s3-requests.ts';
import { freePort } from '../service/external-postgres.ts';

export interface IcebergRestServer {
  readonly address: string;
  end(): Promise<void>;
}

/** Its tables lie below `warehouse/` of the bucket, and it gives no keys for them. Needs the part `iceberg catalogue`. */
export async function startIcebergRestServer(store: S3Settings): Promise<IcebergRestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'iceberg-rest-'));
  const port = await freePort();
  const child = spawn(
    'java',
    [
      '-Xmx256m',
      '-XX:TieredStopAtLevel=1',
      '-cp',
      process.env['ICEBERG_CATALOGUE']!,
      'org.apache.iceberg.rest.RESTCatalogServer',
    ],
    {
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        AWS_ACCESS_KEY_ID: store.accessKeyId,
        AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
        AWS_REGION: store.region,
        CATALOG_REST_PORT: String(port),
        CATALOG_URI: `jdbc:sqlite:${join(folder, 'catalogue.db')}`,
        CATALOG_WAREHOUSE: `s3://${store.bucket}/warehouse`,
        CATALOG_IO__IMPL: 'org.apache.iceberg.aws.s3.S3FileIO',
        CATALOG_S3_ENDPOINT: store.endpoint,
        CATALOG_S3_PATH__STYLE__ACCESS: 'true',
      },
    },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const address = `http://127.0.0.1:${port}`;
  const isUp = (): Promise<boolean> =>
    fetch(`${address}/v1/config`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`the catalogue ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    address,
    async end() {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
