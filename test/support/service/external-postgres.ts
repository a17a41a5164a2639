/** A PostgreSQL server of the machine's own packages, beside the embedded one: what a data warehouse would be. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { programsNamed } from '../needs.ts';
import { eventually } from './waiting.ts';

export interface ExternalPostgres {
  readonly version: number;
  readonly port: number;
  /** `127.0.0.1:PORT` */
  readonly address: string;
  /** of its superuser */
  readonly url: string;
  readonly sql: Sql;
  /** of the postmaster */
  pid(): number;
  /** Ends it as a crash does, and starts it again; answers when it takes connections. */
  restart(signal?: 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Ends it as a crash does, until `resume`. */
  halt(): Promise<void>;
  /** Starts it again; resolves when it takes connections. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Version 15 where it is there, else the newest. */
function binariesFolder(): string {
  const folders = programsNamed('initdb').map((path) => dirname(realpathSync(path)));
  const [newest] = folders.toSorted((a, b) => versionOf(b) - versionOf(a));
  return folders.find((folder) => versionOf(folder) === 15) ?? newest!;
}

function versionOf(folder: string): number {
  return Number(/postgresql\/(\d+)/.exec(folder)?.[1] ?? 0);
}

/** PostgreSQL refuses to run as root: it gets the user `nobody` there. */
const nobody = 65_534;

/** `binaries`: the folder of `initdb` and `postgres`, which everybody may read. */
export async function startExternalPostgres(binaries = binariesFolder()): Promise<ExternalPostgres> {
  const isRoot = process.getuid?.() === 0;
  const owner = isRoot ? { uid: nobody, gid: nobody } : {};
  const folder = await mkdtemp(join(tmpdir(), 'external-postgres-'));
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password);
  await chmod(folder, 0o755);
  if (isRoot) for (const path of [folder, passwordFile]) await chown(path, nobody, nobody);
  const data = join(folder, 'data');
  const initialise = ['-D', data, '-U', 'owner', '-A', 'scram-sha-256', '-E', 'UTF8', '--no-sync'];
  await promisify(execFile)(join(binaries, 'initdb'), [...initialise, `--pwfile=${passwordFile}`], {
    ...owner,
    cwd: folder,
    env: { PATH: process.env['PATH'], LANG: 'C.UTF-8' },
  });
  const port = await freePort();
  const start = (): ChildProcess =>
    spawn(
      join(binaries, 'postgres'),
      ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-c', 'fsync=off'],
      { ...owner, cwd: folder, env: { LANG: 'C.UTF-8' }, stdio: 'ignore' },
    );
  let server = start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  const url = `postgresql://owner:${password}@127.0.0.1:${port}/postgres`;
  const sql = connectPostgres(url, { applicationName: 'test', max: 2 });
  const untilReady = (): Promise<unknown> =>
    eventually('the external PostgreSQL', async () => {
      if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`);
      return await sql`select 1`.catch(() => null);
    });
  const resume = async (): Promise<void> => {
    await eventually(
      'a new PostgreSQL on the same data',
      async () => {
        // a postmaster ends at once while processes of a killed one still use the shared memory
        if (server.exitCode !== null || server.signalCode !== null) server = start();
        return await sql`select 1`.catch(() => null);
      },
      100,
    );
  };
  await untilReady();
  const [told] = await sql<
    { version: number }[]
  >`select current_setting('server_version_num')::int / 10000 as version`;
  return {
    version: told!.version,
    port,
    address: `127.0.0.1:${port}`,
    url,
    sql,
    pid: () => server.pid!,
    async restart(signal = 'SIGQUIT') {
      await end(signal);
      await resume();
    },
    halt: () => end('SIGQUIT'),
    resume,
    async stop() {
      await sql.end({ timeout: 1 });
      await end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
