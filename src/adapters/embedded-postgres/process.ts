/** Starts and stops the processes of an embedded database: `initdb` once, then the server. */
import { randomBytes } from 'node:crypto';
import { lchownSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../errors.ts';
import type { PostgresBinaries } from './binaries.ts';
import { chooseInitLauncher, chooseLauncher, start } from './launcher.ts';
import type { Launcher } from './launcher.ts';
import { lastPort, processStart, readPostmaster, readText, rememberPort } from './state.ts';
import type { ClusterFolder } from './state.ts';

/** The superuser, the only role at first. Its name is not `svc`, because a schema with its user's name would be in its search path. */
export const embeddedUser = 'postgres';

/** Beyond this the log of the server is put aside at the next start. */
const maxLogBytes = 16 * 1024 * 1024;

/**
 * Settings for a server of one machine's jobs: durable, no replication, and modest in memory (shared buffers included): service, tool
 * and server take less than 500 MB together while 1 GB is loaded. A job makes indexes and checks keys of several tables at once, each
 * on a connection of its own, which has `maintenance_work_mem` for each sort. Rows are stored in the order of their keys, so more
 * memory does not speed up sorts, and workers beside those connections only take memory.
 */
const settings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_permissions: '0700',
  max_connections: '100',
  // Publishing a job locks every table it touches; the shared lock table holds connections × this many.
  max_locks_per_transaction: '512',
  shared_buffers: '96MB',
  work_mem: '16MB',
  maintenance_work_mem: '16MB',
  max_parallel_maintenance_workers: '0',
  fsync: 'on',
  // Without replication, rows loaded in the transaction that made their table need no second copy in the WAL.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
  logging_collector: 'off',
  cluster_name: 'conversion-job-service',
};

/**
 * Creates the data folder if it does not exist. A failed attempt leaves nothing that could be mistaken for data. AppError
 * `service_unavailable` if the folder contains something else, as after an incomplete removal.
 */
export async function initialise(folder: ClusterFolder, binaries: PostgresBinaries): Promise<void> {
  for (const name of await readdir(folder.directory)) {
    if (name.startsWith('new-')) await rm(join(folder.directory, name), { recursive: true });
  }
  if (
    await stat(join(folder.data, 'PG_VERSION')).then(
      () => true,
      () => false,
    )
  )
    return;
  const left = await readdir(folder.data).catch(() => []);
  if (left.length > 0)
    throw new AppError(
      'service_unavailable',
      `${folder.data} has no PG_VERSION, so that it is no database, but it is not empty (${left.slice(0, 3).join(', ')}): put a backup of it back, or remove the folder to begin with an empty database`,
    );
  const launcher = chooseInitLauncher(folder, binaries);
  const draft = join(folder.directory, `new-${randomBytes(6).toString('hex')}`);
  const data = join(draft, 'data');
  const passwordFile = join(draft, 'password');
  await mkdir(data, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, folder.password, { mode: 0o600 });
  for (const path of [draft, data, passwordFile]) await chown(path, launcher.dataOwner, launcher.dataOwner);
  const common = ['-D', data];
  await runToEnd(launcher, binaries.initdb, [
    ...common,
    '-U',
    embeddedUser,
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--locale=C.UTF-8',
    '--no-instructions',
    '--no-sync',
  ]);
  await runToEnd(launcher, binaries.initdb, [...common, '--sync-only']);
  await rename(data, folder.data);
  await rm(draft, { recursive: true });
  const directory = await open(folder.directory);
  await directory.sync();
  await directory.close();
}

async function runToEnd(launcher: Launcher, program: string, args: readonly string[]): Promise<void> {
  const child = start(launcher, program, args, 'pipe');
  let output = '';
  const collect = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-4000));
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0)
    throw new AppError('service_unavailable', `the embedded database could not be made: ${output.trim()}`);
}

/** Starts the server and waits until it accepts connections; returns its port. The folder's lock must be held. */
export async function launch(
  folder: ClusterFolder,
  binaries: PostgresBinaries,
  signal: AbortSignal | undefined,
): Promise<number> {
  const launcher = chooseLauncher(folder, binaries);
  giveTo(folder.data, launcher.dataOwner);
  let port = (await oldPort(folder)) ?? (await freePort());
  const logPath = join(folder.directory, 'postgres.log');
  if (((await stat(logPath).catch(() => null))?.size ?? 0) > maxLogBytes)
    await rename(logPath, `${logPath}.1`);
  let sockets = await openSocketFolder(folder, launcher);
  // Processes of a server that was killed hold its memory until they notice: that is waited for.
  for (let attempt = 0; ; attempt++) {
    const before = (await stat(logPath).catch(() => null))?.size ?? 0;
    if (await launchOnce(folder, binaries, launcher, { port, sockets }, logPath, signal)) {
      await rememberPort(folder, port);
      return port;
    }
    const reason = ((await readText(logPath)) ?? '').slice(before).trim();
    // a file system may have no sockets
    if (sockets !== '' && /Unix.socket|Unix-domain socket/.test(reason)) {
      sockets = '';
      continue;
    }
    if (attempt >= 40 || !/shared memory block|could not bind|could not create any TCP/.test(reason)) {
      throw new AppError(
        'service_unavailable',
        `the embedded database did not start: ${reason.slice(-2000)}`,
      );
    }
    if (/could not bind|could not create any TCP/.test(reason)) port = await freePort();
    else await delay(250);
  }
}

async function launchOnce(
  folder: ClusterFolder,
  binaries: PostgresBinaries,
  launcher: Launcher,
  { port, sockets }: { readonly port: number; readonly sockets: string },
  logPath: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const given = { ...settings, port: String(port), unix_socket_directories: sockets };
  const options = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = await open(logPath, 'a', 0o600);
  const child = start(launcher, binaries.postgres, ['-D', folder.data, ...options], log.fd);
  const ended = new AbortController();
  child.once('exit', () => ended.abort()).once('error', () => ended.abort());
  child.unref();
  await log.close();
  while (!ended.signal.aborted) {
    if (signal?.aborted === true) {
      child.kill('SIGINT');
      signal.throwIfAborted();
    }
    const postmaster = await readPostmaster(folder);
    if (postmaster !== null && postmaster.pid === child.pid && postmaster.status === 'ready') return true;
    await delay(10);
  }
  return false;
}

/** Bytes in the address of a Unix socket, including the socket's name in its folder and a NUL. */
const longestSocketAddress = 107;

/**
 * Returns the folder for the server's socket, which only its owner may enter, or '' if its path is too long for a socket. Removes the
 * leftovers of a killed server: otherwise the next one considers its lock held while a process with that number exists, even a dead one
 * that nobody has reaped.
 */
async function openSocketFolder(folder: ClusterFolder, launcher: Launcher): Promise<string> {
  const { sockets } = folder;
  // a list of folders is separated by commas
  if (Buffer.byteLength(`${sockets}/.s.PGSQL.65535`) > longestSocketAddress || /[,"]/.test(sockets))
    return '';
  await mkdir(sockets, { recursive: true, mode: 0o700 });
  await chmod(sockets, 0o700);
  for (const name of await readdir(sockets))
    if (name.startsWith('.s.PGSQL.')) await rm(join(sockets, name), { force: true });
  if (process.getuid?.() === 0) await chown(sockets, launcher.dataOwner, launcher.dataOwner);
  return sockets;
}

/** Fast shutdown: open transactions are rolled back, the data is checkpointed. Resolves when the server is gone. */
export async function shutDown(pid: number): Promise<void> {
  const alive = async (): Promise<boolean> => (await processStart(pid)) !== null;
  for (const [signal, patienceMs] of [
    ['SIGINT', 60_000],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 10_000],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (let waited = 0; waited < patienceMs; waited += 10) {
      if (!(await alive())) return;
      await delay(10);
    }
  }
}

/** The way the server is started may differ from last time (another folder mode, another user): the files follow. */
function giveTo(path: string, owner: number): void {
  if (statSync(path).uid === owner || process.getuid?.() !== 0) return;
  const queue = [path];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    // The top folder is last to change, so that a broken attempt is seen and repeated.
    if (at !== path) lchownSync(at, owner, owner);
    if (lstatSync(at).isDirectory()) queue.push(...readdirSync(at).map((name) => join(at, name)));
  }
  lchownSync(path, owner, owner);
}

/** Returns the port of the last start if it is free: clients of a restarted server find it at the same address. */
async function oldPort(folder: ClusterFolder): Promise<number | null> {
  const port = await lastPort(folder);
  if (port === null) return null;
  // After a crash the server's processes keep the port until they notice that their parent is gone.
  const crashed = (await readPostmaster(folder)) !== null;
  for (let attempt = 0; (await listenOn(port)) === null; attempt++) {
    if (!crashed || attempt >= 100) return null;
    await delay(50);
  }
  return port;
}

async function freePort(): Promise<number> {
  const port = await listenOn(0);
  if (port === null) throw new AppError('service_unavailable', 'no port is free on 127.0.0.1');
  return port;
}

function listenOn(port: number): Promise<number | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : null));
    });
  });
}
