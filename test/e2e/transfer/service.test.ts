/** Schemas between two installations, on PostgreSQL servers of two versions. */
import { access, cp, mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { makeRichSchema, type RichSchema } from '../../support/transfer/fixtures.ts';
import { dumpFamily, type TableDump } from '../../support/transfer/tables.ts';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { execution } from '../../support/service/client.ts';
import { startExternalPostgres, type ExternalPostgres } from '../../support/service/external-postgres.ts';
import { runTool } from '../../support/service/tools.ts';
import { needs } from '../../support/needs.ts';

interface Exported {
  readonly error: boolean;
  readonly az_output_path: string;
}
interface Imported {
  readonly error: boolean;
  readonly origin_ids: string;
}

describe('a schema that moves', { timeout: 120_000, ...needs('postgresql') }, () => {
  let scratch: string;
  let external: ExternalPostgres;
  let fromHome: ServiceHome;
  let toHome: ServiceHome;
  let from: RunningService;
  let to: RunningService;
  let fromSql: Sql;
  let toSql: Sql;
  let schema: RichSchema;
  let arrived: readonly number[];
  let original: TableDump;
  let exportFolder: string;
  let importFolder: string;

  beforeAll(async () => {
    external = await startExternalPostgres();
    await external.sql`create database other`;
    fromHome = await createServiceHome({ 'svc.allow.hosts': external.address });
    toHome = await createServiceHome({ 'metadb.url': external.url });
    scratch = await mkdtemp(join(tmpdir(), 'scratch-'));
    const environment = { TMPDIR: scratch };
    [from, to] = await Promise.all([startService(fromHome, environment), startService(toHome, environment)]);
    fromSql = connectPostgres(await fromHome.databaseUrl(), { applicationName: 'test', max: 2 });
    toSql = external.sql;
    schema = await makeRichSchema(from);
    original = await dumpFamily(fromSql, schema.origins[0]);
    exportFolder = join(fromHome.directory, 'files/1/out');
    importFolder = join(toHome.directory, 'files/1/in');
  }, 120_000);

  afterAll(async () => {
    await fromSql?.end({ timeout: 1 });
    await Promise.all([from?.end('SIGTERM'), to?.end('SIGTERM')]);
    await Promise.all([fromHome?.remove(), toHome?.remove()]);
    await external?.stop();
    await rm(scratch, { recursive: true, force: true });
  });

  it('has something of everything', () => {
    const tables = ['origin', 'origin_file', 'logical_schema', 'inactive_mapping'];
    for (const table of [...tables, 'job_statistics', 'natural_key', 'diagram', 'models'])
      expect.soft(original[table]?.length ?? 0, table).toBeGreaterThan(0);
    expect(original['origin']).toHaveLength(2);
    expect(original['models']?.[1]).toMatchObject([
      { name: 'common/packages.xsd', content: expect.stringContaining('<xs:schema') },
      { name: 'common/party.xsd' },
      { name: 'freight.xsd' },
    ]);
  });

  it('is exported into a folder: a manifest, and parts beside it', async () => {
    const answer = await from.client.post<Exported>('/v2/schema/export', {
      origin_id: String(schema.origins[0]),
      output_path: 'out',
    });
    expect(answer).toEqual({ status: 200, body: { error: false, az_output_path: '' } });
    const manifest = JSON.parse(await readFile(join(exportFolder, 'manifest.json'), 'utf8')) as {
      format_version: number;
      parts: { name: string; records: number; sha256: string }[];
    };
    expect(manifest.format_version).toBe(1);
    expect((await readdir(exportFolder)).toSorted()).toEqual(
      ['manifest.json', ...manifest.parts.map(({ name }) => name)].toSorted(),
    );
    for (const { name, records, sha256 } of manifest.parts) {
      const text = await readFile(join(exportFolder, name), 'utf8');
      expect([name, text.split('\n').length - 1]).toEqual([name, records]);
      expect(await sha256Of(text)).toBe(sha256);
      expect((await stat(join(exportFolder, name))).mode & 0o077).toBe(0);
    }
  });

  it('arrives whole under new ids, table by table', async () => {
    await mkdir(join(toHome.directory, 'files/1'), { recursive: true });
    await cp(exportFolder, importFolder, { recursive: true });
    const before = await toSql`select nextval('svc.origin_id_sch_seq') as id`;
    const answer = await to.client.post<Imported>('/v2/schema/import', { input_path: 'in' });
    expect(answer).toEqual({
      status: 200,
      body: { error: false, origin_ids: expect.stringMatching(/^\d+, \d+$/) },
    });
    arrived = answer.body.origin_ids.split(', ').map(Number);
    expect(arrived[0]).toBeGreaterThan(before[0]!['id'] as number);
    expect(await dumpFamily(toSql, arrived[0]!)).toEqual(original);
  });

  it('is used there as before: the same DDL, the same rows', async () => {
    for (const [at, idSch] of schema.origins.entries()) {
      const there = await to.client.fetch(`/v2/schema/ddl/${arrived[at]}`);
      const here = await from.client.fetch(`/v2/schema/ddl/${idSch}`);
      expect(await there.text()).toBe(await here.text());
    }
    const xml = await readFile(join(fromHome.directory, 'files/1', schema.xmlPath));
    const path = await to.client.upload('xml', 'manifests.zip', xml);
    const rows = [];
    for (const [service, idSch, file] of [
      [from, schema.origins[0], schema.xmlPath],
      [to, arrived[0]!, path],
    ] as const) {
      const { jobs } = await service.client.run([
        execution('xml2er', file, [['-o', 'metadb:again']], String(idSch)),
      ]);
      expect(await service.client.ended(jobs[0]!)).toMatchObject({ status: 'C', failure: null });
      rows.push(await rowsOf(service === from ? fromSql : toSql));
    }
    expect(rows[1]).toEqual(rows[0]);
    expect(Object.keys(rows[0]!).length).toBeGreaterThan(3);
  });

  it('takes another name where its own is taken, and leaves a job record on either side', async () => {
    const answer = await to.client.post<Imported>('/v2/schema/import', { input_path: 'in' });
    const [first, second] = answer.body.origin_ids.split(', ');
    expect(await to.client.get(`/v2/schema/${first}`)).toMatchObject({ name: 'freight-2', version: 1 });
    expect(await to.client.get(`/v2/schema/${second}`)).toMatchObject({ name: 'freight-2', version: 2 });
    const records = await toSql`
      select job_type, status, id_sch, failure, progress from svc.job where job_type = 'Import' order by id_job desc limit 1`;
    expect(records).toEqual([
      { job_type: 'Import', status: 'C', id_sch: Number(second), failure: null, progress: 1 },
    ]);
    const [exported] =
      await fromSql`select status, id_sch, output_path from svc.job where job_type = 'Export'`;
    expect(exported).toEqual({ status: 'C', id_sch: schema.origins[0], output_path: 'out' });
  });

  it('goes straight into another metadata database that the operator allows, and by hand', async () => {
    const metadb = {
      metadb_host: '127.0.0.1',
      metadb_port: String(external.port),
      metadb_user: 'owner',
      metadb_db: 'other',
      metadb_password: new URL(external.url).password,
    };
    const answer = await from.client.post<Imported>('/v2/schema/import', { input_path: 'out', ...metadb });
    expect(answer.body).toEqual({ error: false, origin_ids: '1, 2' });
    const back = await from.client.post<Exported>('/v2/schema/export', {
      origin_id: '2',
      output_path: 'back',
      ...metadb,
    });
    expect(back.body.error).toBe(false);
    const absent = await from.client.post('/v2/schema/export', {
      origin_id: '99',
      output_path: 'absent',
      ...metadb,
    });
    expect([absent.status, absent.body.code]).toEqual([404, 'not_found']);
    await expect(access(join(fromHome.directory, 'files/1/absent'))).rejects.toThrow('ENOENT');

    const folder = join(fromHome.directory, 'files/1/back');
    const byHand = await runTool(fromHome, 'migrate', ['import', '-i', folder]);
    expect([byHand.code, byHand.stderr]).toEqual([0, '']);
    const last = JSON.parse(byHand.stdout.trimEnd().split('\n').at(-1)!) as Imported;
    const [first] = last.origin_ids.split(', ').map(Number);
    const renamed = JSON.parse(
      JSON.stringify(await dumpFamily(fromSql, first!)).replaceAll('"freight-2"', '"freight"'),
    ) as unknown;
    expect(renamed).toEqual(original);
  });

  it('leaves no request file and no scratch folder behind', async () => {
    expect(await readdir(scratch)).toEqual([]);
    for (const { directory } of [fromHome, toHome]) expect(await readdir(join(directory, 'tmp'))).toEqual([]);
    expect(
      (await readdir(join(fromHome.directory, 'files/1'))).filter((name) => name.startsWith('.')),
    ).toEqual([]);
  });
});

async function rowsOf(sql: Sql): Promise<Record<string, unknown>> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'again' and table_name not like '\\_%'
     order by 1`;
  const rows: Record<string, unknown> = {};
  for (const { name } of tables)
    rows[name] = await sql`select * from ${sql('again')}.${sql(name)} order by 1`.then((found) => [...found]);
  return JSON.parse(JSON.stringify(rows)) as Record<string, unknown>;
}

async function sha256Of(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Buffer.from(digest).toString('hex');
}
