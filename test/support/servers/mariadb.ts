/** A MariaDB server for tests, on a socket of its own: no port is opened, no user is checked. */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programOf, type Part } from '../needs.ts';

export const mariadbParts: readonly Part[] = ['mariadbd', 'mariadb'];

export interface TestMariadb {
  /** Feeds the script to the client, run inside `cwd`; answers what it prints: rows as COPY text has them, a header first. */
  run(script: string, cwd?: string, database?: string): Promise<string>;
  /** of its socket */
  readonly socket: string;
  stop(): Promise<void>;
}

export async function startMariadb(): Promise<TestMariadb> {
  const home = await mkdtemp(join(tmpdir(), 'mariadb-'));
  await mkdir(join(home, 'data'));
  for (const path of [home, join(home, 'data')]) await chmod(path, 0o777);
  const socket = join(home, 'sock');
  const root = process.getuid?.() === 0;
  const child = spawn(
    programOf('mariadbd')!,
    [
      '--no-defaults',
      '--skip-grant-tables',
      '--skip-networking',
      `--socket=${socket}`,
      `--datadir=${join(home, 'data')}`,
      `--tmpdir=${home}`,
      `--pid-file=${join(home, 'pid')}`,
      '--local-infile=1',
      '--innodb-stats-persistent=0',
      '--innodb-buffer-pool-size=32M',
      '--innodb-log-file-size=4M',
      '--innodb-flush-log-at-trx-commit=0',
    ],
    { stdio: 'ignore', ...(root ? { uid: 65534, gid: 65534 } : {}) },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(home, { recursive: true, force: true });
  };
  const run: TestMariadb['run'] = (script, cwd = home, database = '') => {
    const argv = ['--no-defaults', `--socket=${socket}`, '--local-infile=1', '--batch'];
    return collected(
      spawn(programOf('mariadb')!, [...argv, ...(database === '' ? [] : [database])], { cwd }),
      script,
    );
  };
  for (let tries = 0; ; tries += 1) {
    try {
      await run('SELECT 1;');
      return { run, socket, stop };
    } catch (error) {
      if (tries >= 200 || child.exitCode !== null) {
        await stop();
        throw error;
      }
      await sleep(100);
    }
  }
}

async function collected(child: ChildProcess, input: string): Promise<string> {
  child.stdin!.on('error', () => undefined);
  child.stdin!.end(input);
  let output = '';
  let errors = '';
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => (output += piece));
  child.stderr!.setEncoding('utf8').on('data', (piece: string) => (errors += piece));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(errors.trim());
  return output;
}
