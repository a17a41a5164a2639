/** Documents and schemas that lie in a bucket of a real S3 server and on a web server, by hand and as jobs of the service. */
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import type { Sql } from '../../../src/postgres/connect.ts';
import { needs } from '../../support/needs.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import { zipped } from '../../support/service/archives.ts';
import {
  createServiceClient,
  execution,
  type Problem,
  type ServiceClient,
} from '../../support/service/client.ts';
import { filesBelow, freightDocumentFolder, freightXsdFolder } from '../../support/service/fixtures.ts';
import {
  projectRoot,
  serviceEnvironment,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

const run = promisify(execFile);
const secret = 'test-secret-key';

async function rowsOf(sql: Sql, sqlSchema: string): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = ${sqlSchema} and tablename not like '\\_%' order by 1`;
  const counts = tables.map(async ({ name }) => {
    const [row] = await sql`select count(*)::int as n from ${sql(sqlSchema)}.${sql(name)}`;
    return [name, row!['n'] as number] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

const namesOf = async (sql: Sql, sqlSchema: string): Promise<string[]> =>
  (await sql`select name from ${sql(sqlSchema)}._documents order by 1`).map((row) => row['name'] as string);

describe('documents on a web server', () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let client: ServiceClient;
  let web: Server;
  let origin: string;

  beforeAll(async () => {
    web = createServer((request, response) => {
      const path = decodeURIComponent(new URL(request.url!, 'http://web').pathname);
      if (path === '/away') response.writeHead(302, { Location: 'http://169.254.169.254/a.xml' }).end();
      else if (path === '/locked/a.xml' && request.headers.authorization !== 'Bearer for-the-press')
        response.writeHead(401).end();
      else
        createReadStream(
          join(freightDocumentFolder, path.split('/').at(-1)!.replace('a.xml', 'manifest-1.xml')),
        )
          .on('error', () => response.writeHead(404).end())
          .pipe(response);
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    home = await trial.home({ 'cmd.enabled': 'true', 'svc.allow.hosts': new URL(origin).host });
    service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
  });
  afterAll(() => new Promise((resolve) => web.close(resolve)));

  it('are loaded by hand and by a job, under the names that they have there', async () => {
    const address = `${origin}/2026/manifest-1.xml`;
    const byHand = await convert(home, 'xml2er', address, '-o', 'metadb:by_hand');
    expect(byHand.documents).toBe(1);
    const { jobs } = await client.run([execution('xml2er', address, [['-o', 'metadb:by_job']])]);
    expect(await client.ended(jobs[0]!)).toMatchObject({ status: 'C', failure: null });
    expect(await client.log(jobs[0]!)).toContain(`${address}: 1 file, `);
    const sql = await trial.metadb(home);
    expect(await namesOf(sql, 'by_job')).toEqual(['manifest-1.xml']);
    expect(await rowsOf(sql, 'by_job')).toEqual(await rowsOf(sql, 'by_hand'));
    await eventually('the end of what was fetched', async () => {
      const left = await readdir(join(home.directory, 'tmp'), { recursive: true });
      return left.some((name) => name.includes('manifest')) ? null : true;
    });
  });

  it.each([
    ['https://elsewhere.example/a.xml', 'host_not_allowed'],
    ['http://elsewhere.example/a.xml', 'invalid_option'],
    ['https://user:canary@127.0.0.1/a.xml', 'invalid_option'],
    ['https://127.0.0.1/a.xml?X-Amz-Signature=0123', 'invalid_option'],
    ['s3://anywhere/a.xml', 'path_not_allowed'],
    ['ftp://127.0.0.1/a.xml', 'invalid_option'],
  ])('are refused before a job begins: %s', async (address, code) => {
    const { status, body } = await client.post<Problem>('/v2/run/cmd', {
      executions: [execution('xml2er', address, [['-o', 'metadb:refused']])],
    });
    expect([400, 403]).toContain(status);
    const text = JSON.stringify(body);
    expect(text).toContain('/executions/0/source/file');
    expect([code, text]).toEqual([code, expect.stringContaining(code)]);
    expect(text).not.toMatch(/canary|0123/);
  });

  it('that lead where no job may go load nothing', async () => {
    const { jobs } = await client.run([execution('xml2er', `${origin}/away`, [['-o', 'metadb:away']])]);
    expect(await client.ended(jobs[0]!)).toMatchObject({ status: 'F' });
    expect(await client.log(jobs[0]!)).toContain('169.254.169.254:80, which may not be reached');
  });

  it('that are not there, or locked, say so', async () => {
    const absent = await runTool(home, 'xml2er', [`${origin}/none.xml`, '-o', 'metadb:none']);
    expect([absent.code, absent.stdout]).toEqual([
      1,
      expect.stringContaining('there is no such file (status 404)'),
    ]);
    const locked = await runTool(home, 'xml2er', [`${origin}/locked/a.xml`, '-o', 'metadb:none']);
    expect(locked.stdout).toContain('svc.sources.NAME');
  });
});

const s3 = await startS3Server();
const place = (): string => `s3://${s3!.settings.bucket}`;

function note(number: number): Uint8Array {
  return new TextEncoder().encode(`<note><number>${number}</number></note>`);
}

describe('documents in a bucket', { timeout: 120_000, ...needs('s3 server', s3 !== null) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let client: ServiceClient;
  let sql: Sql;

  beforeAll(async () => {
    const { endpoint, bucket, accessKeyId, secretAccessKey } = s3!.settings;
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.sources.inbox.location': `s3://${bucket}/inbox`,
      'svc.sources.inbox.endpoint': endpoint,
      'svc.sources.inbox.access_key': accessKeyId,
      'svc.sources.inbox.secret_key': secretAccessKey,
      'svc.sources.other.location': `s3://${bucket}/other/`,
      'svc.sources.other.endpoint': endpoint,
      'svc.sources.other.access_key': accessKeyId,
      'svc.sources.other.secret_key': secretAccessKey,
      'svc.sources.other.organisations': '2,3',
    });
    const store = createS3ObjectStore(s3!.settings);
    const put = async (key: string, bytes: Uint8Array): Promise<void> => {
      await store.write(key, bytes);
    };
    for (const { name, bytes } of filesBelow(freightDocumentFolder)) {
      await put(`inbox/documents/${name}`, bytes);
      await put(`inbox/packed/${name}.gz`, gzipSync(bytes));
    }
    await put('inbox/documents/notes.txt', new TextEncoder().encode('no document'));
    await put('inbox/documents/deep/', new Uint8Array(0));
    await put('inbox/archives/all.zip', zipped(filesBelow(freightDocumentFolder)));
    for (const { name, bytes } of filesBelow(freightXsdFolder)) await put(`inbox/xsd/${name}`, bytes);
    await put('other/a.xml', new TextEncoder().encode('<a/>'));
    const many = Array.from({ length: 1200 }, (_, at) => at);
    for (let at = 0; at < many.length; at += 50)
      await Promise.all(
        many.slice(at, at + 50).map((one) => put(`inbox/many/${one % 7}/note ${one}.xml`, note(one))),
      );
    const service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
    sql = await trial.metadb(home);
  });
  afterAll(() => s3?.end());

  it('give the rows that they give from a disk, by the XSD that lies beside them', async () => {
    const local = await convert(
      home,
      'xml2er',
      freightDocumentFolder,
      '--xsd',
      freightXsdFolder,
      '-o',
      'metadb:disk',
    );
    const remote = await convert(
      home,
      'xml2er',
      `${place()}/inbox/documents/`,
      '--xsd',
      `${place()}/inbox/xsd`,
      '-o',
      'metadb:bucket',
    );
    expect([remote.documents, remote.rows]).toEqual([local.documents, local.rows]);
    expect(await rowsOf(sql, 'bucket')).toEqual(await rowsOf(sql, 'disk'));
    expect(await namesOf(sql, 'bucket')).toEqual(await namesOf(sql, 'disk'));
  });

  it.each([
    ['a prefix of packed ones', '/inbox/packed'],
    ['an archive', '/inbox/archives/all.zip'],
    ['a pattern', '/inbox/doc*/manifest-*.xml'],
  ])('are told by %s', async (_, path) => {
    const name = `told_${path.length}`;
    const { jobs } = await client.run([execution('xml2er', `${place()}${path}`, [['-o', `metadb:${name}`]])]);
    expect(await client.ended(jobs[0]!)).toMatchObject({ status: 'C', failure: null });
    const documents = (await namesOf(sql, name)).filter((one) => one.startsWith('manifest-'));
    expect(documents).toEqual((await namesOf(sql, 'disk')).filter((one) => one.startsWith('manifest-')));
  });

  it('are all there, more than a page of a listing has', async () => {
    await convert(home, 'xml2er', `${place()}/inbox/many/**/note *.xml`, '-o', 'metadb:many');
    const [row] = await sql`select count(*)::int as n, count(distinct number)::int as numbers from many.note`;
    expect({ ...row }).toEqual({ n: 1200, numbers: 1200 });
  });

  it('make an origin of their schema', async () => {
    const { jobs } = await client.run([execution('xsd2er', `${place()}/inbox/xsd/`)]);
    expect(await client.ended(jobs[0]!)).toMatchObject({ status: 'C', failure: null });
  });

  it('of another organisation are as if they were not there, and its keys are nowhere', async () => {
    const { status, body } = await client.post<Problem>('/v2/run/cmd', {
      executions: [execution('xml2er', `${place()}/other/a.xml`, [['-o', 'metadb:other']])],
    });
    expect([status, JSON.stringify(body)]).toEqual([
      400,
      expect.stringContaining('the operator has set no source'),
    ]);
    const nothing = await runTool(home, 'xml2er', [`${place()}/inbox/none.xml`, '-o', 'metadb:none']);
    expect(nothing.stdout).toContain('there is no such file or object');
    const records = await sql`select * from svc.job`;
    const logs = await Promise.all(
      (await readdir(join(home.directory, 'logs'))).map(async (name) =>
        new Response(createReadStream(join(home.directory, 'logs', name)) as never).text(),
      ),
    );
    expect(JSON.stringify(records)).not.toContain(secret);
    expect(logs.join('')).not.toContain(secret);
  });

  it('are fetched with the variables of other programs, by hand', async () => {
    const { endpoint, accessKeyId, secretAccessKey } = s3!.settings;
    const other = await trial.home();
    const tool = join(projectRoot, 'bin/xml2er.mjs');
    const { stdout } = await run(
      process.execPath,
      [tool, `${place()}/inbox/documents/manifest-1.xml`, '-o', 'metadb:one'],
      {
        env: serviceEnvironment(other, {
          AWS_ENDPOINT_URL_S3: endpoint,
          AWS_ACCESS_KEY_ID: accessKeyId,
          AWS_SECRET_ACCESS_KEY: secretAccessKey,
        }),
      },
    );
    expect(stdout).toContain('1 document loaded');
  });
});
