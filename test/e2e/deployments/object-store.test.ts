/** Two machines and a store between them: a service that runs no jobs, and a worker with a home of its own, share a database and S3. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createObjectFileStore } from '../../../src/storage/object-store/file-store.ts';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { eventually } from '../../support/service/waiting.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import {
  createServiceHome,
  projectRoot,
  serviceEnvironment,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { execution } from '../../support/service/client.ts';
import { freightDocumentFolder, freightXsdFolder, filesBelow } from '../../support/service/fixtures.ts';
import { zipped } from '../../support/service/archives.ts';
import { needs } from '../../support/needs.ts';

const s3 = await startS3Server();

const storedBytes = async (path: string): Promise<Uint8Array> => {
  const objects = createS3ObjectStore(s3!.settings);
  const files = createObjectFileStore({ objects, prefix: 'jobs/', roots: null });
  return new Uint8Array(
    await new Response(await files.read(await files.resolve(1, path, true))).arrayBuffer(),
  );
};
const stored = async (path: string): Promise<string> => new TextDecoder().decode(await storedBytes(path));
const withoutInput = (tool: string, options: readonly (readonly [string, string?])[]): unknown => {
  const { source: _, ...rest } = execution(tool, '', options) as { source: unknown };
  return { ...rest, source: {} };
};

const manifest = async (folder: string) =>
  JSON.parse(await stored(`${folder}/manifest.json`)) as {
    jobs: { job: number }[];
    tables: { name: string; rows: number; files: { name: string; rows: number }[] }[];
  };
describe('files and logs on S3', { timeout: 120_000, ...needs('s3 server', s3 !== null) }, () => {
  let database: TestDatabase;
  let homes: readonly [ServiceHome, ServiceHome];
  let service: RunningService;
  let worker: ReturnType<typeof spawn>;
  let origin: number;

  beforeAll(async () => {
    database = await createTestDatabase();
    const { endpoint, bucket, accessKeyId, secretAccessKey } = s3!.settings;
    const shared = {
      'metadb.url': database.url,
      'svc.secret.key': Buffer.alloc(32, 7).toString('base64'),
      'svc.files.store': `s3://${bucket}/jobs`,
      'svc.files.s3_endpoint': endpoint,
      'svc.files.s3_access_key': accessKeyId,
      'svc.files.s3_secret_key': secretAccessKey,
    };
    homes = [await createServiceHome(shared), await createServiceHome(shared)];
    service = await startService(homes[0], { SVC_WORKER_CONCURRENCY: '0' });
    worker = spawn(process.execPath, ['scripts/guard.mjs', 'src/runtime/worker-main.ts'], {
      cwd: projectRoot,
      env: serviceEnvironment(homes[1]),
      stdio: 'ignore',
    });
  });

  afterAll(async () => {
    worker?.kill('SIGTERM');
    if (worker !== undefined) await once(worker, 'exit');
    await service?.end('SIGTERM');
    for (const home of homes ?? []) await home.remove();
    await database?.drop();
    await s3?.end();
  });

  const convert = async (
    tool: string,
    input: string | null,
    options: readonly (readonly [string, string?])[],
    from?: number,
  ) => {
    const run = await service.client.run([
      input === null ? withoutInput(tool, options) : execution(tool, input, options, from?.toString()),
    ]);
    const job = await service.client.ended(run.jobs[0]!);
    expect(job, `${job.failure}\n${await service.client.log(job.id_job)}`).toMatchObject({ status: 'C' });
    return job;
  };

  it('an uploaded XSD set becomes an origin on the other machine, and its log is read here', async () => {
    const path = await service.client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
    const job = await convert('xsd2er', path, [['-g', '1']]);
    origin = job.id_sch!;
    expect(job.base_path).toBe(homes[1].directory);
    const log = await service.client.log(job.id_job);
    expect(log).toContain('xsd2er started');
    expect(log).toContain(`job ${job.id_job}: C`);
  });

  it('documents become rows of the database, and files of a folder in the store', async () => {
    const bytes = new Uint8Array(await readFile(join(freightDocumentFolder, 'manifest-1.xml')));
    const path = await service.client.upload('xml', 'manifest-1.xml', bytes);
    await convert('xml2er', path, [['-o', 'metadb:from_store']], origin);
    const [count] = await database.sql`select count(*)::int as n from from_store.shipment`;
    expect(count).toEqual({ n: 2 });

    const first = await convert('xml2er', path, [['-o', 'out/csv']], origin);
    const one = await manifest('out/csv');
    const shipments = one.tables.find(({ name }) => name === 'shipment')!;
    expect(shipments.rows).toBe(2);
    expect((await stored(`out/csv/${shipments.files[0]!.name}`)).trimEnd().split('\n')).toHaveLength(3);
    expect(await stored('out/csv/load.sql')).toContain('shipment');

    const second = await convert('xml2er', path, [['-o', 'out/csv']], origin);
    const both = await manifest('out/csv');
    expect(both.jobs.map(({ job }) => job)).toEqual([first.id_job, second.id_job]);
    expect(both.tables.find(({ name }) => name === 'shipment')!.rows).toBe(4);

    await convert(
      'xml2er',
      path,
      [
        ['-o', 'out/csv'],
        ['-S', 'o'],
      ],
      origin,
    );
    const over = await manifest('out/csv');
    expect(over.tables.find(({ name }) => name === 'shipment')!.rows).toBe(2);
    await expect(stored(`out/csv/${shipments.files[0]!.name}`)).rejects.toMatchObject({
      code: 'input_not_found',
    });
  });

  it('documents become Delta and Iceberg tables of the store, and documents again', async () => {
    const bytes = new Uint8Array(await readFile(join(freightDocumentFolder, 'manifest-1.xml')));
    const path = await service.client.upload('xml', 'manifest-1.xml', bytes);
    const options = [
      ['-o', 'out/tables'],
      ['-f', 'delta,iceberg'],
    ] as const;
    for (const version of [0, 1]) {
      const job = await convert('xml2er', path, options, origin);
      const digits = String(version).padStart(20, '0');
      expect(await stored(`out/tables/shipment/_delta_log/${digits}.json`)).toContain(
        `"svc.job":${job.id_job}`,
      );
    }
    expect(await stored('out/tables/shipment/metadata/version-hint.text')).toBe('2');
    await convert('er2xml', null, [
      ['-l', String(origin)],
      ['-i', 'out/tables'],
      ['-D', 'manifest-1.xml'],
      ['-o', 'out/back'],
    ]);
    expect(await stored('out/back/manifest-1.xml')).toContain('<');
  });

  it('a folder of the store is loaded by the logical schema that made it', async () => {
    const bytes = new Uint8Array(await readFile(join(freightDocumentFolder, 'manifest-1.xml')));
    const path = await service.client.upload('xml', 'manifest-1.xml', bytes);
    const into = (folder: string, ...more: [string, string][]) =>
      convert('xml2er', path, [['-o', folder], ...more], origin);
    const shaped = await into('out/shaped', ['-r', 's_']);
    const again = await into('out/shaped');
    expect(again.id_lschma).toBe(shaped.id_lschma);
    const { tables } = await manifest('out/shaped');
    expect(tables.find(({ name }) => name === 's_shipment')!.rows).toBe(4);
    expect((await into('out/fresh')).id_lschma).not.toBe(shaped.id_lschma);
  });

  it('a glob names files of the store, and documents are written back to it', async () => {
    const job = await convert('xml2er', 'uploads/*/*.xml', [['-o', 'metadb:globbed']], origin);
    expect(job.msg_proc_qty).toBeGreaterThan(0);
    await convert('er2xml', null, [
      ['-i', 'metadb:globbed'],
      ['-o', 'out/back'],
      ['-l', String(job.id_lschma)],
    ]);
    expect(await stored('out/back/manifest-1.xml')).toContain('<');
  });

  it('a SQLite file of the store grows with each job, also of jobs at the same time', async () => {
    const bytes = new Uint8Array(await readFile(join(freightDocumentFolder, 'manifest-1.xml')));
    const path = await service.client.upload('xml', 'manifest-1.xml', bytes);
    const load = () => convert('xml2er', path, [['-o', 'sqlite:out/rows.sqlite']], origin);
    await load();
    await Promise.all([load(), load()]);
    const copy = join(homes[0].directory, 'copy.sqlite');
    await writeFile(copy, await storedBytes('out/rows.sqlite'));
    const database = new DatabaseSync(copy);
    expect(database.prepare('select count(*) as n from shipment').get()).toEqual({ n: 6 });
    expect(database.prepare('select count(distinct job_uuid) as n from _loads').get()).toEqual({ n: 3 });
    database.close();
  });

  it('an input that is not there is refused', async () => {
    const absent = await service.client.post('/v2/run/cmd', {
      executions: [execution('xml2er', 'uploads/none.xml')],
    });
    expect(absent.status).toBe(400);
  });

  it('health tells of the store, and that it is gone', async () => {
    const part = (): Promise<Response> => service.client.fetch('/actuator/health/objectStore');
    const up = await part();
    expect([up.status, await up.json()]).toEqual([
      200,
      { status: 'UP', details: { location: `s3://${s3!.settings.bucket}/jobs/` } },
    ]);
    await s3!.end();
    const down = await eventually('the store known to be gone', async () => {
      const answer = await part();
      return answer.status === 503 ? answer : null;
    });
    expect(await down.json()).toMatchObject({ status: 'DOWN' });
    const whole = await service.client.fetch('/actuator/health');
    expect([whole.status, await whole.json()]).toMatchObject([503, { status: 'DOWN' }]);
    for (const group of ['liveness', 'readiness'])
      expect((await fetch(`${service.url}/actuator/health/${group}`)).status).toBe(200);
  });
});
