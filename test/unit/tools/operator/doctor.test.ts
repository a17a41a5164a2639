/** `conversion-job-service doctor`: each fault of a machine or its settings is found, and comes with a remedy. */
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examine, findingsAsText, type Finding } from '../../../../src/tools/operator/doctor.ts';

let folder: string;
const servers: Server[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
});
afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  const { port } = server.address() as AddressInfo;
  await new Promise((settle) => server.close(settle));
  return port;
}

/** Returns the port of a server that answers every request with `body`. */
async function serve(body: string): Promise<number> {
  const server = createHttpServer((_, answer) => answer.end(body));
  servers.push(server);
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  return (server.address() as AddressInfo).port;
}

async function examined(
  environment: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Finding>> {
  const findings = await examine({ PORT: String(await freePort()), ...environment });
  return new Map(findings.map((finding) => [finding.check, finding]));
}

describe('a machine on which all is well', () => {
  it('has no fault, and nothing is created', async () => {
    const home = join(folder, 'new', 'home');
    const findings = await examine({ SVC_HOME: home, PORT: String(await freePort()) });
    expect(findings.filter(({ state }) => state === 'failed')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual([
      'versions',
      'home',
      'disk',
      'temporary disk',
      'settings',
      'open files',
      'port',
      'database',
    ]);
    expect(await readdir(folder)).not.toContain('new');
    expect(findingsAsText(findings)).toMatch(/checks? passed|with a warning/);
  });

  it('may already run the service', async () => {
    const port = await serve('{"status":"UP"}');
    const found = await examined({ SVC_HOME: join(folder, 'running'), PORT: String(port) });
    expect(found.get('port')).toMatchObject({ state: 'ok', found: expect.stringContaining('runs on') });
  });
});

describe('a fault', () => {
  it('of the home: a file, or a folder that others read', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect((await examined({ SVC_HOME: file })).get('home')).toMatchObject({ state: 'failed' });
    const open = join(folder, 'open');
    await mkdir(open);
    await chmod(open, 0o755);
    expect((await examined({ SVC_HOME: open })).get('home')).toMatchObject({
      state: 'warning',
      remedy: expect.stringContaining(`chmod 700 ${open}`),
    });
  });

  it('of the port: another program has it, or it is no port', async () => {
    const port = await serve('hello');
    expect((await examined({ SVC_HOME: join(folder, 'a'), PORT: String(port) })).get('port')).toMatchObject({
      state: 'failed',
      remedy: expect.stringContaining('PORT='),
    });
    expect((await examined({ SVC_HOME: join(folder, 'a'), PORT: '80a' })).get('port')).toMatchObject({
      state: 'failed',
    });
    expect((await examined({ SVC_HOME: join(folder, 'a'), HOST: '192.0.2.1' })).get('port')).toMatchObject({
      state: 'failed',
      remedy: expect.stringContaining('HOST'),
    });
  });

  it('of the database: no answer, without its password in the finding', async () => {
    const url = `postgresql://loader:s3cretword@127.0.0.1:${await freePort()}/x`;
    const finding = (await examined({ SVC_HOME: join(folder, 'a'), SVC_METADB_URL: url })).get('database')!;
    expect(finding).toMatchObject({ state: 'failed', found: expect.stringContaining('ECONNREFUSED') });
    expect(JSON.stringify(finding)).not.toContain('s3cretword');
  });

  it('of the settings: a value that is wrong, and a name that is misspelt', async () => {
    const wrong = await examined({ SVC_HOME: join(folder, 'a'), SVC_LIMITS_UPLOAD: 'much' });
    expect(wrong.get('settings')).toMatchObject({
      state: 'failed',
      found: expect.stringContaining('upload'),
    });
    expect(wrong.has('database')).toBe(false);
    const misspelt = await examined({ SVC_HOME: join(folder, 'a'), SVC_LIMITS_UPLAOD: '1' });
    expect(misspelt.get('settings')).toMatchObject({
      state: 'warning',
      found: expect.stringContaining('SVC_LIMITS_UPLAOD'),
    });
  });

  it('of a host that the settings name, and of a folder', async () => {
    const found = await examined({
      SVC_HOME: join(folder, 'a'),
      SVC_FILES_ROOTS: join(folder, 'gone'),
      SVC_OPENLINEAGE_URL: `http://127.0.0.1:${await freePort()}/`,
    });
    expect(found.get('files')).toMatchObject({ state: 'failed', found: expect.stringContaining('ENOENT') });
    expect(found.get('OpenLineage')).toMatchObject({ state: 'failed' });
  });
});
