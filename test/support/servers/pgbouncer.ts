/** A PgBouncer before a PostgreSQL, as an operator would set it up. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programOf } from '../needs.ts';
import { freePort, type ExternalPostgres } from '../service/external-postgres.ts';
import { eventually } from '../service/waiting.ts';

export interface TestPgBouncer {
  /** of the server's owner, by way of the pooler */
  readonly url: string;
  pid(): number;
  /** Kills it and starts it again on the same port; returns when it accepts connections. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPgBouncer(
  server: ExternalPostgres,
  settings: {
    readonly pool_mode: string;
    readonly default_pool_size?: number;
    readonly server_login_retry?: number;
  },
): Promise<TestPgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  await chmod(folder, 0o755);
  const { username, password } = new URL(server.url);
  await writeFile(join(folder, 'users.txt'), `"${username}" "${password}"\n`);
  const port = await freePort();
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users.txt'),
    ...settings,
  };
  const ini = Object.entries(lines).map(([name, value]) => `${name} = ${value}`);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]\npostgres = host=127.0.0.1 port=${server.port}\n[pgbouncer]\n${ini.join('\n')}\n`,
  );
  // it refuses to run as root
  const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const start = (): { readonly pooler: ChildProcess; readonly ended: Promise<unknown> } => {
    const pooler = spawn(programOf('pgbouncer')!, ['-q', join(folder, 'pgbouncer.ini')], {
      ...owner,
      stdio: 'ignore',
    });
    return { pooler, ended: new Promise((resolve) => pooler.once('exit', resolve)) };
  };
  let running = start();
  const kill = async (): Promise<void> => {
    running.pooler.kill('SIGKILL');
    await running.ended;
  };
  const accepts = (): Promise<unknown> =>
    eventually('PgBouncer', async () => {
      const { exitCode } = running.pooler;
      if (exitCode !== null) throw new Error(`PgBouncer ended with ${exitCode}`);
      const socket = connect(port, '127.0.0.1');
      return once(socket, 'connect').then(
        () => socket.destroy(),
        () => null,
      );
    });
  await accepts();
  return {
    url: server.url.replace(`:${server.port}/`, `:${port}/`),
    pid: () => running.pooler.pid!,
    async restart() {
      await kill();
      running = start();
      await accepts();
    },
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
