/** Adapters of a host: those of examples/custom-adapters by their contracts, and whole conversions through them. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHost } from '../../../examples/custom-adapters/host.ts';
import { createMemoryStore } from '../../../examples/custom-adapters/memory-store.ts';
import { createThreadRunner } from '../../../examples/custom-adapters/thread-runner.ts';
import type { FileStore } from '../../../src/ports/files.ts';
import { openService, type OpenedService } from '../../../src/runtime/node.ts';
import { fileStoreContract, processRunnerContract } from '../../../src/testing.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { createServiceClient, execution, type ServiceClient } from '../../support/service/client.ts';
import { createServiceHome, type ServiceHome } from '../../support/service/start.ts';
import { freightDocumentFolder, freightXsdFolder, filesBelow } from '../../support/service/fixtures.ts';
import { zipped } from '../../support/service/archives.ts';

describe('the store of the example', () => {
  for (const { name, run } of fileStoreContract(async () => createMemoryStore())) it(name, run);
});

describe('the runner of the example', () => {
  for (const { name, run } of processRunnerContract(async () => createThreadRunner())) it(name, run);
});

/** A service in this process, with its client. */
interface Host {
  readonly home: ServiceHome;
  readonly service: OpenedService;
  readonly files: FileStore;
  readonly client: ServiceClient;
}

async function clientOf(home: ServiceHome, service: OpenedService): Promise<ServiceClient> {
  const key = (await readFile(join(home.directory, 'admin.key'), 'utf8')).trim();
  return createServiceClient('http://host', key, async (address, init) => service.app.request(address, init));
}

async function bytesAt(files: FileStore, path: string): Promise<Uint8Array> {
  const body = await files.read(await files.resolve(1, path, true));
  return new Uint8Array(await new Response(body).arrayBuffer());
}
const textAt = async (files: FileStore, path: string): Promise<string> =>
  new TextDecoder().decode(await bytesAt(files, path));

async function namesIn(files: FileStore, folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of files.listFiles(await files.resolve(1, folder, false))) names.push(name);
  return names;
}

const document = 'manifest-1.xml';
const documentBytes = async (): Promise<Uint8Array> =>
  new Uint8Array(await readFile(join(freightDocumentFolder, document)));

async function convert(
  { client }: Pick<Host, 'client'>,
  tool: string,
  input: string | null,
  options: readonly (readonly [string, string?])[],
  origin?: number,
) {
  const whole = execution(tool, input ?? '', options, origin?.toString()) as { source: object };
  const run = await client.run([input === null ? { ...whole, source: {} } : whole]);
  const job = await client.ended(run.jobs[0]!);
  expect(job, `${job.failure}\n${await client.log(job.id_job)}`).toMatchObject({ status: 'C' });
  return job;
}

describe.each([
  ['tools in threads', (home: string) => openHost(home, () => undefined)],
  [
    'tools in processes',
    async (home: string) => {
      const files = createMemoryStore();
      const service = await openService({
        environment: { SVC_HOME: home, SVC_CMD_ENABLED: 'true' },
        adapters: { files },
        write: () => undefined,
      });
      await service.start();
      return { service, files };
    },
  ],
])('a store in memory, and %s', { timeout: 120_000 }, (_, open) => {
  let database: TestDatabase;
  let host: Host;
  let origin: number;

  beforeAll(async () => {
    database = await createTestDatabase();
    const home = await createServiceHome({ 'metadb.url': database.url });
    const { service, files } = await open(home.directory);
    host = { home, service, files, client: await clientOf(home, service) };
  }, 120_000);

  afterAll(async () => {
    await host?.service.close();
    // nothing is left of the copies of jobs, and of the way to the store
    expect(await readdir(join(host.home.directory, 'tmp')).catch(() => [])).toEqual([]);
    // no file has come into the folder that would be the store without the host's
    expect(await readdir(host.home.directory + '/files', { recursive: true })).toEqual([]);
    await host?.home.remove();
    await database?.drop();
  });

  it('an uploaded XSD set becomes a schema, in the request itself', async () => {
    const path = await host.client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
    expect(await namesIn(host.files, 'uploads')).toEqual([path.slice('uploads/'.length)]);
    const made = await host.client.post<{ id_sch: number }>('/v2/schema/create', {
      name: 'freight',
      xsd: [path],
    });
    expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 });
    origin = made.body.id_sch;
  });

  it('documents become rows of the database, read from the store', async () => {
    const path = await host.client.upload('xml', document, await documentBytes());
    await convert(host, 'xml2er', path, [['-o', 'metadb:from_memory']], origin);
    const [count] = await database.sql`select count(*)::int as n from from_memory.shipment`;
    expect(count).toEqual({ n: 2 });
  });

  it('a folder target is files of the store, complete under their names', async () => {
    const path = await host.client.upload('xml', document, await documentBytes());
    const rows = async (): Promise<string[]> => {
      const manifest = JSON.parse(await textAt(host.files, 'out/csv/manifest.json')) as {
        tables: { name: string; files: { name: string }[] }[];
      };
      const { files } = manifest.tables.find(({ name }) => name === 'shipment')!;
      const texts = await Promise.all(files.map(({ name }) => textAt(host.files, `out/csv/${name}`)));
      return texts.flatMap((text) => text.trimEnd().split('\n').slice(1));
    };
    await convert(host, 'xml2er', path, [['-o', 'out/csv']], origin);
    expect(await rows()).toHaveLength(2);
    await convert(host, 'xml2er', path, [['-o', 'out/csv']], origin);
    expect(await rows()).toHaveLength(4);
    expect((await namesIn(host.files, 'out/csv')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('a workbook is a file of the store', async () => {
    const path = await host.client.upload('xml', document, await documentBytes());
    await convert(
      host,
      'xml2er',
      path,
      [
        ['-o', 'out/book'],
        ['-f', 'xlsx'],
      ],
      origin,
    );
    const [book] = (await namesIn(host.files, 'out/book')).filter((name) => name.endsWith('.xlsx'));
    expect(Buffer.from((await bytesAt(host.files, `out/book/${book}`)).subarray(0, 2)).toString()).toBe('PK');
  });

  it('Delta tables are in the store, as it can create files', async () => {
    const path = await host.client.upload('xml', document, await documentBytes());
    const job = await convert(
      host,
      'xml2er',
      path,
      [
        ['-o', 'out/tables'],
        ['-f', 'delta'],
      ],
      origin,
    );
    expect(await textAt(host.files, `out/tables/shipment/_delta_log/${'0'.repeat(20)}.json`)).toContain(
      `"svc.job":${job.id_job}`,
    );
  });

  it.each(['sqlite', 'duckdb'])('a %s file is in the store, and grows with each job', async (kind) => {
    const path = await host.client.upload('xml', document, await documentBytes());
    const target = `${kind}:out/rows.${kind}`;
    for (const rows of [2, 4]) {
      await convert(host, 'xml2er', path, [['-o', target]], origin);
      const file = join(host.home.directory, `copy.${kind}`);
      await writeFile(file, await bytesAt(host.files, `out/rows.${kind}`));
      if (kind === 'sqlite') {
        const copy = new DatabaseSync(file);
        expect(copy.prepare('select count(*) as n from shipment').get()).toEqual({ n: rows });
        copy.close();
      }
    }
    await convert(host, 'er2xml', null, [
      ['-l', String(origin)],
      ['-i', target],
      ['-S', 'o'],
      ['-o', `out/back-${kind}`],
    ]);
    expect(await textAt(host.files, `out/back-${kind}/${document}`)).toContain('<');
    await convert(host, 'unload', null, [
      ['-l', String(origin)],
      ['-i', target],
      ['-D', document],
    ]);
    if (kind !== 'sqlite') return;
    const file = join(host.home.directory, 'unloaded.sqlite');
    await writeFile(file, await bytesAt(host.files, 'out/rows.sqlite'));
    const copy = new DatabaseSync(file);
    expect(copy.prepare('select count(*) as n from shipment').get()).toEqual({ n: 0 });
    copy.close();
  });

  it('a schema is exported into the store, and imported from there', async () => {
    const { client, files } = host;
    const exported = await client.post('/v2/schema/export', {
      origin_id: String(origin),
      output_path: 'out/package',
    });
    expect(exported).toMatchObject({ status: 200, body: { error: false } });
    expect(await namesIn(files, 'out/package')).toContain('manifest.json');
    const imported = await client.post<{ origin_ids: string }>('/v2/schema/import', {
      input_path: 'out/package',
    });
    expect(imported, JSON.stringify(imported.body)).toMatchObject({ status: 200, body: { error: false } });
    const among = await client.post('/v2/schema/export', {
      origin_id: String(origin),
      output_path: 'out/csv',
    });
    expect(among.body).toMatchObject({ error: true });
    expect(await namesIn(files, 'out/csv')).toContain('load.sql');
  });

  it('an input that is not there is refused, and so is a path that leads out', async () => {
    for (const input of ['uploads/none.xml', '../2/a.xml', '/etc/passwd']) {
      const answer = await host.client.post('/v2/run/cmd', { executions: [execution('xml2er', input)] });
      expect(answer.status, input).toBeGreaterThanOrEqual(400);
    }
  });
});

describe('a store that fails while a job publishes', { timeout: 120_000 }, () => {
  let database: TestDatabase;
  let host: Host;
  let origin: number;
  /** what happens to the next write whose location ends so */
  const faults = new Map<string, 'refused' | 'answer lost'>();

  beforeAll(async () => {
    database = await createTestDatabase();
    const home = await createServiceHome({ 'metadb.url': database.url });
    const files = createMemoryStore();
    const failing: FileStore = {
      ...files,
      async write(location, body) {
        const [end, fault] = [...faults].find(([one]) => location.endsWith(one)) ?? [];
        if (end === undefined) return files.write(location, body);
        faults.delete(end);
        if (fault === 'answer lost') await files.write(location, body);
        throw new Error('the connection to the bucket was lost');
      },
    };
    const service = await openService({
      environment: { SVC_HOME: home.directory, SVC_CMD_ENABLED: 'true' },
      adapters: { files: failing },
      write: () => undefined,
    });
    await service.start();
    host = { home, service, files, client: await clientOf(home, service) };
    const path = await host.client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
    const made = await host.client.post<{ id_sch: number }>('/v2/schema/create', {
      name: 'freight',
      xsd: [path],
    });
    origin = made.body.id_sch;
  }, 120_000);

  afterAll(async () => {
    await host?.service.close();
    await host?.home.remove();
    await database?.drop();
  });

  const load = async (out: string) => {
    const path = await host.client.upload('xml', document, await documentBytes());
    return convert(host, 'xml2er', path, [['-o', out]], origin);
  };
  const shipments = async (name: string): Promise<unknown> => {
    const file = join(host.home.directory, 'copy.sqlite');
    await writeFile(file, await bytesAt(host.files, name));
    const copy = new DatabaseSync(file);
    try {
      return copy.prepare('select count(*) as n from shipment').get()!['n'];
    } finally {
      copy.close();
    }
  };
  const tablesOf = async (folder: string) => {
    const manifest = JSON.parse(await textAt(host.files, `${folder}/manifest.json`)) as {
      tables: { name: string; rows: number; files: { name: string }[] }[];
    };
    return manifest.tables;
  };

  it.each(['refused', 'answer lost'] as const)(
    'a manifest: %s. The rows are there once, and no file of the lost attempt is left',
    async (fault) => {
      const folder = `out/${fault.replace(' ', '-')}`;
      faults.set('/manifest.json', fault);
      const job = await load(folder);
      expect(faults.size).toBe(0);
      expect(job.attempt).toBe(fault === 'refused' ? 2 : 1);
      const tables = await tablesOf(folder);
      expect(tables.find(({ name }) => name === 'shipment')!.rows).toBe(2);
      const files = (await namesIn(host.files, folder)).filter((name) => name.endsWith('.csv'));
      expect(files.toSorted()).toEqual(
        tables.flatMap((table) => table.files.map(({ name }) => name)).toSorted(),
      );
    },
  );

  it.each(['refused', 'answer lost'] as const)(
    'a SQLite file: %s. The rows are there once',
    async (fault) => {
      const name = `out/${fault.replace(' ', '-')}.sqlite`;
      await load(`sqlite:${name}`);
      faults.set('.sqlite', fault);
      const job = await load(`sqlite:${name}`);
      expect(faults.size).toBe(0);
      expect(job.attempt).toBe(fault === 'refused' ? 2 : 1);
      expect(await shipments(name)).toBe(4);
    },
  );
});
