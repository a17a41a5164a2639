/** The service as people start it: `npm start`'s own entry as a child process, with a home folder and a database of its own. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopEmbeddedPostgres } from '../../../src/process/embedded-postgres/server.ts';
import { copyCluster } from './cluster-template.ts';
import { createServiceClient, type ServiceClient } from './client.ts';

export const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));

/** A folder that a service, and tools started by hand, have their settings, files and database in. */
export interface ServiceHome {
  readonly directory: string;
  /** Writes `conf/backend.properties` anew; read at the next start. */
  configure(properties: Readonly<Record<string, string>>): Promise<void>;
  /** Address of the metadata database. */
  databaseUrl(): Promise<string>;
  /** Stops the database and removes the folder. */
  remove(): Promise<void>;
}

export interface ServiceEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningService {
  readonly url: string;
  readonly pid: number;
  /** the first API key */
  readonly key: string;
  readonly client: ServiceClient;
  readonly ended: Promise<ServiceEnd>;
  /** stdout and stderr so far */
  output(): string;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<ServiceEnd>;
}

const homes = 'service-test-';

export async function createServiceHome(
  properties: Readonly<Record<string, string>> = {},
): Promise<ServiceHome> {
  const directory = await mkdtemp(join(tmpdir(), homes));
  await copyCluster(directory);
  const home: ServiceHome = {
    directory,
    async configure(settings) {
      const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
      await mkdir(join(directory, 'conf'), { recursive: true });
      await writeFile(join(directory, 'conf', 'backend.properties'), lines.join(''));
    },
    databaseUrl: async () => (await readFile(join(directory, 'metadb.url'), 'utf8')).trim(),
    async remove() {
      await stopEmbeddedPostgres(join(directory, 'db')).catch(() => undefined);
      await rm(directory, { recursive: true, force: true });
    },
  };
  if (Object.keys(properties).length > 0) await home.configure(properties);
  return home;
}

/** What the tests' own environment holds must not reach the service. `--workers` begins threads however small the inputs of a test are. */
export function serviceEnvironment(
  home: ServiceHome,
  extra: Readonly<Record<string, string | undefined>> = {},
): NodeJS.ProcessEnv {
  const { PATH = '', LANG = 'C.UTF-8' } = process.env;
  const { directory } = home;
  const SVC_WORKER_THREADS_FROM = '1 B';
  return {
    PATH,
    LANG,
    TMPDIR: tmpdir(),
    HOME: directory,
    SVC_HOME: directory,
    SVC_WORKER_THREADS_FROM,
    ...extra,
  };
}

/**
 * Commands are on and the port is any free one, unless `environment` says otherwise; undefined leaves a variable out. `program`: arguments of Node that
 * start the service.
 */
export async function startService(
  home: ServiceHome,
  environment: Readonly<Record<string, string | undefined>> = {},
  program: readonly string[] = ['scripts/guard.mjs', 'src/runtime/service-main.ts'],
): Promise<RunningService> {
  const child = spawn(process.execPath, program, {
    cwd: projectRoot,
    env: serviceEnvironment(home, { SVC_CMD_ENABLED: 'true', PORT: '0', ...environment }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = new Promise<ServiceEnd>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const address = /^listening on (http:\S+)$/m.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`the service did not start:\n${output}`)));
  });
  const key = (await readFile(join(home.directory, 'admin.key'), 'utf8')).trim();
  return {
    url,
    pid: child.pid!,
    key,
    client: createServiceClient(url, key),
    ended,
    output: () => output,
    async end(signal) {
      child.kill(signal);
      return await ended;
    },
  };
}
