/** Another local user listens on the port of the embedded database while it is down. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { stopEmbeddedPostgres } from '../../../src/process/embedded-postgres/server.ts';
import { needs } from '../../support/needs.ts';
import { message } from '../../support/servers/hostile-postgres.ts';
import { execution } from '../../support/service/client.ts';
import { projectRoot, serviceEnvironment, type ServiceHome } from '../../support/service/start.ts';
import { blockIn, readBlocks } from '../readme/blocks.ts';
import { runShell } from '../readme/shell.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

const trial = useTrial();
const authentication = (type: number): Buffer => {
  const body = Buffer.alloc(4);
  body.writeUInt32BE(type);
  return message('R', body);
};
const greetings: Readonly<Record<string, (socket: Socket) => void>> = {
  'asks for the password as text': (socket) => void socket.write(authentication(3)),
  'lets everybody in': (socket) => void socket.write(Buffer.concat([authentication(0), message('Z', 'I')])),
  'hangs up': (socket) => void socket.end(),
};

/** `conversion-job-service status`, by hand. */
function statusOf(home: ServiceHome): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const child = spawn(process.execPath, ['bin/conversion-job-service.mjs', 'status'], {
    cwd: projectRoot,
    env: serviceEnvironment(home),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}

let squatter: Server | undefined;
let heard: Buffer[] = [];
let connections = 0;

/** Listens where the database did. */
async function squat(port: number, greet: (socket: Socket) => void): Promise<number> {
  heard = [];
  connections = 0;
  squatter = createServer((socket) => {
    connections += 1;
    let greeted = false;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      heard.push(Buffer.from(bytes));
      if (!greeted) greet(socket);
      else if (greet === greetings['asks for the password as text']) socket.destroy();
      greeted = true;
    });
  });
  await new Promise<void>((resolve, reject) => {
    squatter!.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return (squatter.address() as AddressInfo).port;
}

afterEach(async () => {
  const server = squatter;
  squatter = undefined;
  if (server !== undefined) await new Promise((resolve) => server.close(resolve));
});

async function homeWithStoppedDatabase(): Promise<{ home: ServiceHome; port: number; password: string }> {
  const home = await trial.home();
  expect((await statusOf(home)).code).toBe(0);
  await stopEmbeddedPostgres(join(home.directory, 'db'));
  const { port, password } = new URL(await home.databaseUrl());
  return { home, port: Number(port), password };
}

describe('a stranger at the port of the embedded database', { timeout: 240_000 }, () => {
  it('has no part in a connection: there is a socket in a private folder', async () => {
    const home = await trial.home();
    await statusOf(home);
    const { port } = new URL(await home.databaseUrl());
    const folder = await stat(join(home.directory, 'db', 'socket'));
    expect((folder.mode & 0o777).toString(8)).toBe('700');
    const socket = await stat(join(home.directory, 'db', 'socket', `.s.PGSQL.${port}`));
    expect(socket.isSocket()).toBe(true);
    const [, , , , folderOfServer] = (
      await readFile(join(home.directory, 'db', 'data', 'postmaster.pid'), 'utf8')
    ).split('\n');
    expect(folderOfServer).toBe(join(home.directory, 'db', 'socket'));
  });

  it('is no danger to psql, as docs/how-to/operate.md has it', needs('psql'), async () => {
    const home = await trial.home();
    await statusOf(home);
    const page = readBlocks(await readFile(join(projectRoot, 'docs/how-to/operate.md'), 'utf8'));
    const script = blockIn(page, 'Connect to the embedded database', 'sh', 0).trimEnd();
    const { code, output } = await runShell(`${script} -c '\\conninfo'`, { SVC_HOME: home.directory });
    expect(code, output).toBe(0);
    expect(output).toContain(`via socket in "${join(home.directory, 'db', 'socket')}"`);
  });

  it.each(Object.entries(greetings))('who %s gets no password, and stops no tool', async (_, greet) => {
    const { home, port, password } = await homeWithStoppedDatabase();
    await squat(port, greet);
    const status = await statusOf(home);
    expect(status).toMatchObject({ code: 0 });
    const text = Buffer.concat(heard).toString('latin1');
    expect(text).not.toContain(password);
    expect(text).not.toMatch(/select/i);
    expect(connections).toBeLessThan(20);
  });

  it('who takes the port while a service has its database down leaves the service at work', async () => {
    const home = await trial.home({ 'cmd.enabled': 'true' });
    const service = await trial.service(home);
    const { port } = new URL(await home.databaseUrl());
    const pidFile = join(home.directory, 'db', 'data', 'postmaster.pid');
    const endServer = async (): Promise<void> => {
      const [pid] = (await readFile(pidFile, 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGKILL');
    };
    await eventually('the port', async () => {
      // again if the service was quicker: between two of its servers there may be none
      await endServer().catch(() => undefined);
      return squat(Number(port), greetings['hangs up']!).catch(() => null);
    });
    const run = async (): Promise<number> => {
      const upload = await service.client.upload('xml', 'a.xml', Buffer.from('<a><b>1</b></a>'));
      const { jobs } = await service.client.run([execution('xml2er', upload, [['-o', 'metadb:after']])]);
      return jobs[0]!;
    };
    const idJob = await eventually('a job', () => run().catch(() => null));
    expect(await service.client.ended(idJob)).toMatchObject({ status: 'C', attempt: 1 });
  });

  it('who hangs up at another database ends a tool with a reason, within seconds', async () => {
    const port = await squat(0, greetings['hangs up']!);
    const home = await trial.home({ 'metadb.url': `postgresql://svc:secret@127.0.0.1:${port}/svc` });
    const began = performance.now();
    const status = await statusOf(home);
    expect(status.code).toBe(1);
    expect(status.stderr).toContain('closed the connection before the login was complete');
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(connections).toBeLessThan(20);
  });

  it('who says nothing does not keep a tool from ending on its first SIGTERM', async () => {
    const port = await squat(0, () => undefined);
    const home = await trial.home({ 'metadb.url': `postgresql://svc:secret@127.0.0.1:${port}/svc` });
    const folder = await mkdtemp(join(tmpdir(), 'squatter-'));
    await writeFile(join(folder, 'a.xml'), '<a/>');
    const tool = spawn(process.execPath, ['bin/xml2er.mjs', join(folder, 'a.xml'), '-o', 'metadb:x'], {
      cwd: projectRoot,
      env: serviceEnvironment(home),
      stdio: 'ignore',
    });
    const ended = new Promise<number | null>((resolve) => tool.once('exit', resolve));
    await eventually('a connection', () => (connections > 0 ? true : null));
    const since = performance.now();
    tool.kill('SIGTERM');
    expect(await ended).toBe(143);
    expect(performance.now() - since).toBeLessThan(2000);
    await rm(folder, { recursive: true });
  });
});
