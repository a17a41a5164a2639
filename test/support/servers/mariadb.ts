/** A MariaDB server for tests, on a socket of its own: no port is opened unless one is wanted, no user is checked. */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
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
  pid(): number;
  /** Ends the server and starts it again over the same data. */
  restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Ends the server as a crash does, until `resume`. */
  halt(): Promise<void>;
  /** Starts it again over the same data. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export interface MariadbOptions {
  /** of 127.0.0.1, opened beside the socket */
  readonly port?: number;
  /** of the server; absent: little memory, and a commit that outlives the server alone */
  readonly settings?: readonly string[];
}

const smallSettings = [
  '--innodb-buffer-pool-size=32M',
  '--innodb-log-file-size=4M',
  '--innodb-flush-log-at-trx-commit=0',
];

export async function startMariadb({
  port,
  settings = smallSettings,
}: MariadbOptions = {}): Promise<TestMariadb> {
  const home = await mkdtemp(join(tmpdir(), 'mariadb-'));
  await mkdir(join(home, 'data'));
  for (const path of [home, join(home, 'data')]) await chmod(path, 0o777);
  const socket = join(home, 'sock');
  const log = join(home, 'log.err');
  const root = process.getuid?.() === 0;
  const start = (): { readonly child: ChildProcess; readonly ended: Promise<void> } => {
    const child = spawn(
      programOf('mariadbd')!,
      [
        '--no-defaults',
        '--skip-grant-tables',
        ...(port === undefined ? ['--skip-networking'] : ['--bind-address=127.0.0.1', `--port=${port}`]),
        `--socket=${socket}`,
        `--datadir=${join(home, 'data')}`,
        `--tmpdir=${home}`,
        `--pid-file=${join(home, 'pid')}`,
        `--log-error=${log}`,
        '--local-infile=1',
        '--innodb-stats-persistent=0',
        // Only a crash of the machine loses what was not synced. Tests kill the server alone.
        '--debug-no-sync',
        '--innodb-flush-method=nosync',
        ...settings,
      ],
      { stdio: 'ignore', ...(root ? { uid: 65534, gid: 65534 } : {}) },
    );
    return { child, ended: new Promise<void>((resolve) => child.once('close', () => resolve())) };
  };
  let server = start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    server.child.kill(signal);
    await server.ended;
  };
  const stop = async (): Promise<void> => {
    await end('SIGKILL');
    await rm(home, { recursive: true, force: true });
  };
  const run: TestMariadb['run'] = (script, cwd = home, database = '') => {
    const argv = ['--no-defaults', `--socket=${socket}`, '--local-infile=1', '--batch'];
    return collected(
      spawn(programOf('mariadb')!, [...argv, ...(database === '' ? [] : [database])], { cwd }),
      script,
    );
  };
  const answers = async (): Promise<void> => {
    for (let tries = 0; ; tries += 1)
      try {
        await run('SELECT 1;');
        return;
      } catch (error) {
        if (tries >= 200 || server.child.exitCode !== null) {
          const said = await readFile(log, 'utf8').catch(() => '');
          await stop();
          throw new Error(`MariaDB does not start: ${said.slice(-2000)}`, { cause: error });
        }
        await sleep(100);
      }
  };
  const resume = async (): Promise<void> => {
    server = start();
    await answers();
  };
  await answers();
  return {
    run,
    socket,
    pid: () => server.child.pid!,
    restart: async (signal) => {
      await end(signal);
      await resume();
    },
    halt: () => end('SIGKILL'),
    resume,
    stop,
  };
}

/** One that can be killed at any time: a commit outlives it, as it does by default, and little memory has it write pages meanwhile. */
export async function startDurableMariadb(port?: number): Promise<TestMariadb> {
  const settings = ['--innodb-buffer-pool-size=32M', '--innodb-log-file-size=4M'];
  const server = await startMariadb({ settings, ...(port === undefined ? {} : { port }) });
  // it does not recover before its first pages are on the disk
  await server.restart('SIGTERM');
  return server;
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
