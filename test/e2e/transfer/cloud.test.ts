/** Packages in cloud storage: the real copy program and the built-in client against an emulator, and copies that break. */
import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { installAzcopy, startCloudStorage, type CloudStorage } from '../../support/servers/cloud-storage.ts';
import { makeRichSchema, type RichSchema } from '../../support/transfer/fixtures.ts';
import { dumpFamily } from '../../support/transfer/tables.ts';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import type { Answer } from '../../support/service/client.ts';
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

const scratch = await mkdtemp(join(tmpdir(), 'cloud-test-'));
const azcopy = await installAzcopy(scratch);

describe('a schema in cloud storage', { timeout: 120_000, ...needs('whole run') }, () => {
  let cloud: CloudStorage;
  /** takes two parts of a package, and cuts off every connection from then on */
  let breaking: Server;
  /** takes two parts of a package, and refuses the token from then on */
  let refusing: Server;
  /** speaks no TLS */
  let plain: Server;
  let withClient: RunningService;
  let withProgram: RunningService;
  const homes: ServiceHome[] = [];
  const sqls: Sql[] = [];
  let schema: RichSchema;

  beforeAll(async () => {
    cloud = await startCloudStorage();
    let requests = 0;
    breaking = createHttpServer((request, response) => {
      requests += 1;
      if (requests > 2) request.socket.destroy();
      else request.resume().on('end', () => response.writeHead(201).end());
    });
    let taken = 0;
    refusing = createHttpServer((request, response) => {
      taken += 1;
      request.resume().on('end', () => response.writeHead(taken > 2 ? 403 : 201).end());
    });
    plain = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    const servers = [await listen(breaking), await listen(refusing), await listen(plain)];
    const hosts = [cloud.address, ...servers].join();
    const start = async (binary: string): Promise<RunningService> => {
      const home = await createServiceHome({
        'svc.allow.hosts': hosts,
        'svc.migration.azcopy_binary': binary,
      });
      homes.push(home);
      const service = await startService(home, { TMPDIR: scratch });
      sqls.push(connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 1 }));
      return service;
    };
    withClient = await start('builtin');
    withProgram = await start(azcopy ?? join(scratch, 'not-there'));
    schema = await makeRichSchema(withClient);
  }, 120_000);

  afterAll(async () => {
    await Promise.all(sqls.map((sql) => sql.end({ timeout: 1 })));
    await Promise.all([withClient?.end('SIGTERM'), withProgram?.end('SIGTERM')]);
    await Promise.all(homes.map((home) => home.remove()));
    breaking?.close();
    refusing?.close();
    plain?.close();
    await cloud?.stop();
    await rm(scratch, { recursive: true, force: true });
  });

  it('is written by the built-in client, and its token stands in no command line', async () => {
    const to = await cloud.location('client/freight');
    const seen: string[] = [];
    const watch = setInterval(() => void commandLines().then((found) => seen.push(...found)), 5);
    const answer = await exportTo(withClient, schema.origins[1], to.url);
    clearInterval(watch);
    expect(answer).toEqual({ status: 200, body: { error: false, az_output_path: to.shown } });
    expect(await to.names()).toContain('manifest.json');
    expect(seen.some((line) => line.includes('export --request'))).toBe(true);
    expect(seen.filter((line) => line.includes(to.signature))).toEqual([]);
    expect(await traces(to.signature)).toEqual([]);
  });

  it('is read by the real program, from what the client wrote', async () => {
    const from = await cloud.location('client/freight');
    const answer = await importFrom(withProgram, from.url, 'from-client');
    expect(answer.body).toEqual({ error: false, origin_ids: '1, 2' });
    expect(await dumpFamily(sqls[1]!, 1)).toEqual(await dumpFamily(sqls[0]!, schema.origins[0]));
    expect(withProgram.output()).toContain(
      azcopy === null ? 'copying with the built-in client' : 'copying with azcopy',
    );
    // kept where the request said
    expect(await readdir(join(homes[1]!.directory, 'files/1/from-client'))).toContain('manifest.json');
    expect(await traces(from.signature)).toEqual([]);
  });

  it('is written by the real program, and read by the built-in client', async () => {
    const location = await cloud.location('program');
    const answer = await exportTo(withProgram, 2, location.url);
    expect(answer.body).toEqual({ error: false, az_output_path: location.shown });
    const back = await importFrom(withClient, location.url, 'from-program');
    expect(back.body.error).toBe(false);
    expect(await traces(location.signature)).toEqual([]);
  });

  it('is refused whole where a part was changed on its way', async () => {
    const location = await cloud.location('changed');
    await exportTo(withClient, schema.origins[0], location.url);
    await location.replace('origins.ndjson', '\\! touch /tmp/changed\n');
    for (const service of [withClient, withProgram]) {
      const before = await counts();
      const answer = await importFrom(service, location.url, 'changed');
      expect(answer).toEqual({ status: 200, body: { error: true, origin_ids: '' } });
      expect(await counts()).toEqual(before);
    }
    await location.replace('stranger.ndjson', '{}\n');
    expect((await importFrom(withClient, location.url, 'stranger')).body.error).toBe(true);
  });

  const failures = {
    'a wrong signature': async () => {
      const { url } = await cloud.location('refused');
      return url.replace(/([?&]sig=)[^&]*/, '$1c4naryc4naryc4naryc4naryc4naryc4naryc4nary%3D');
    },
    'a connection that breaks off': () =>
      Promise.resolve(`http://${addressOf(breaking)}/devstoreaccount1/packages/x/?sv=1&sig=c4naryc4nary`),
    'a token that is refused midway': () =>
      Promise.resolve(`http://${addressOf(refusing)}/devstoreaccount1/packages/x/?sv=1&sig=c4naryc4nary`),
    'a server without TLS': () =>
      Promise.resolve(`https://${addressOf(plain)}/packages/x/?sv=1&sig=c4naryc4nary`),
    'a server that is gone': () =>
      Promise.resolve(`https://${addressOf(plain)}/packages/x/?sv=1&sig=c4naryc4nary`),
  };
  it.each(Object.keys(failures) as (keyof typeof failures)[])(
    'fails at %s, and shows its token nowhere',
    async (name) => {
      if (name === 'a server that is gone') await new Promise((resolve) => plain.close(resolve));
      const url = await failures[name]();
      const signature = /sig=([^&]*)/.exec(url)![1]!;
      for (const service of [withClient, withProgram]) {
        const before = await counts();
        const exported = await exportTo(service, 1, url);
        expect([name, exported.status, exported.body]).toEqual([
          name,
          200,
          { error: true, az_output_path: url.slice(0, url.indexOf('?')) },
        ]);
        const imported = await importFrom(service, url, 'broken');
        expect([name, imported.status, imported.body]).toEqual([name, 200, { error: true, origin_ids: '' }]);
        expect(await counts()).toEqual(before);
      }
      expect(await traces(signature)).toEqual([]);
      const [record] = await sqls[0]!`select status, failure from svc.job order by id_job desc limit 1`;
      expect(record).toEqual({ status: 'F', failure: expect.stringMatching(/cloud/) });
    },
  );

  it('falls back to the client where the program is not there', async () => {
    const missing = join(scratch, 'cannot-run');
    await writeFile(missing, 'no program');
    await chmod(missing, 0o644);
    const { url, shown } = await cloud.location('fallback');
    const home = homes[0]!;
    const file = join(scratch, 'request.json');
    const request = { origin_id: String(schema.origins[0]), az_output_path: url, azcopy_binary: missing };
    await writeFile(file, JSON.stringify(request), { mode: 0o600 });
    const { code, stdout } = await runTool(home, 'migrate', ['export', '--request', file]);
    await rm(file);
    expect([code, stdout.trimEnd().split('\n').at(-1)]).toEqual([
      0,
      JSON.stringify({ error: false, az_output_path: shown }),
    ]);
    expect(stdout).toContain('copying with the built-in client');
  });

  /** origins and logical schemas of both installations */
  async function counts(): Promise<unknown> {
    return Promise.all(
      sqls.map(
        (sql) =>
          sql`select (select count(*) from svc.origin) as a, (select count(*) from svc.logical_schema) as b`,
      ),
    ).then((rows) => JSON.stringify(rows));
  }

  /** Where a secret shows: logs, files of the homes and of the scratch folder, every row of the service's tables. */
  async function traces(secret: string): Promise<string[]> {
    const wanted = [secret, decodeURIComponent(secret)];
    const holds = (text: string): boolean => wanted.some((each) => text.includes(each));
    const found: string[] = [];
    for (const service of [withClient, withProgram])
      if (holds(service.output())) found.push('output of the service');
    for (const folder of [...homes.map((home) => home.directory), scratch]) {
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        // the database's own files are read as tables below
        if (!entry.isFile() || /\/db\//.test(path) || path === azcopy) continue;
        if (holds(await readFile(path, 'latin1'))) found.push(path);
      }
    }
    for (const sql of sqls) {
      for (const { name } of await sql<{ name: string }[]>`
        select table_name as name from information_schema.tables where table_schema = 'svc' and table_type = 'BASE TABLE'`) {
        const rows = await sql.unsafe(`select to_jsonb(t)::text as row from svc.${name} t`);
        if (rows.some(({ row }) => holds(row as string))) found.push(`table ${name}`);
      }
    }
    return found;
  }
});

function exportTo(service: RunningService, idSch: number, url: string): Promise<Answer<Exported>> {
  return service.client.post('/v2/schema/export', { origin_id: String(idSch), az_output_path: url });
}

function importFrom(service: RunningService, url: string, folder: string): Promise<Answer<Imported>> {
  return service.client.post('/v2/schema/import', { az_input_path: url, input_path: folder });
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(addressOf(server)));
  });
}

const addresses = new WeakMap<Server, string>();
function addressOf(server: Server): string {
  const address = server.address() as AddressInfo | null;
  if (address !== null) addresses.set(server, `127.0.0.1:${address.port}`);
  return addresses.get(server)!;
}

async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) =>
      (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' '),
    ),
  );
}
