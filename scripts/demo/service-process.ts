/** The service as a child process with a home folder of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ServiceProcess {
  readonly baseUrl: string;
  readonly pid: number;
  readonly home: string;
  /** first line of `admin.key` */
  readonly key: string;
  /** address of the metadata database, from `metadb.url` */
  readonly databaseUrl: string;
  /** SIGTERM, then waits for the end; idempotent */
  stop(): Promise<void>;
  /** resolves when the service ends by itself */
  readonly ended: Promise<void>;
}

const entry = fileURLToPath(new URL('../../src/runtime/service-main.ts', import.meta.url));
const host = '127.0.0.1';
const startMs = 60_000;
const stopMs = 20_000;

/** Where the demo keeps its home between runs: the first of these that can be made. */
export async function chooseHomeFolder(wanted: string | null): Promise<string> {
  const name = 'conversion-job-service-demo';
  const places =
    wanted === null
      ? [
          process.getuid?.() === 0
            ? join('/var/cache', name)
            : join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), name),
          join(tmpdir(), `${name}-${userInfo().username}`),
        ]
      : [wanted];
  const faults: string[] = [];
  for (const place of places) {
    try {
      await mkdir(place, { recursive: true });
      return place;
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  throw new Error(`no folder for the demo's home: ${faults.join('; ')}`);
}

/** The wanted port of the loopback address, or 0 (any free one) where something listens there already. */
export async function freePort(wanted: number): Promise<number> {
  const probe = createServer();
  const free = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(wanted, host, () => resolve(true));
  });
  if (free) await new Promise((closed) => probe.close(closed));
  return free ? wanted : 0;
}

/** Starts it on a port (0: any free one) of the loopback address, on the embedded database, with commands on. */
export async function startService(
  home: string,
  port: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const { DATABASE_URL: _ignored, ...environment } = process.env;
  const child = spawn(process.execPath, [entry], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Out of the terminal's process group: it ends by our SIGTERM alone, and drains.
    detached: true,
    env: {
      ...environment,
      ...settings,
      SVC_HOME: home,
      SVC_CMD_ENABLED: 'true',
      HOST: host,
      PORT: String(port),
    },
  });
  let output = '';
  const ended = once(child, 'exit').then(() => undefined);
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
    await ended;
    clearTimeout(timer);
  };
  // One signal, however often it is asked for: at the second one the service would end without closing its database.
  let ending: Promise<void> | null = null;
  const stop = (): Promise<void> => (ending ??= end());

  const baseUrl = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`the service did not start within ${startMs / 1000} s:\n${output}`));
    }, startMs);
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-20_000);
      const address = /listening on (http:\/\/[^\s"]+)/.exec(output)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('exit', () => {
      clearTimeout(timer);
      reject(new Error(`the service did not start:\n${output}`));
    });
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });

  return {
    baseUrl,
    pid: child.pid!,
    home,
    key: (await readFile(join(home, 'admin.key'), 'utf8')).trim(),
    databaseUrl: (await readFile(join(home, 'metadb.url'), 'utf8')).trim(),
    stop,
    ended,
  };
}
