/** A PgBouncer before a PostgreSQL, as an operator would set it up. */
import { spawn } from 'node:child_process';
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
  stop(): Promise<void>;
}

export async function startPgBouncer(
  server: ExternalPostgres,
  settings: { readonly pool_mode: string; readonly default_pool_size?: number },
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
  const pooler = spawn(programOf('pgbouncer')!, ['-q', join(folder, 'pgbouncer.ini')], {
    ...owner,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => pooler.once('exit', resolve));
  const url = server.url.replace(`:${server.port}/`, `:${port}/`);
  await eventually('PgBouncer', async () => {
    if (pooler.exitCode !== null) throw new Error(`PgBouncer ended with ${pooler.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    return once(socket, 'connect').then(
      () => socket.destroy(),
      () => null,
    );
  });
  return {
    url,
    async stop() {
      pooler.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
