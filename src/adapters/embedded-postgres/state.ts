/** The state files in the folder of an embedded database: password, owner, lock, and the running server. */
import { createHash, randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { link, mkdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeNewFile } from '../file-staging/durable-file.ts';

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
 * Runs `work` while no other process does so for this folder. The lock is an abstract socket: the kernel frees it
 * with its process, so it is never stale; its name cannot be guessed without the password.
 */
export async function withFolderLock<T>(
  folder: ClusterFolder,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const name = `\0embedded-postgres-${createHash('sha256').update(folder.directory).update(folder.password).digest('hex').slice(0, 40)}`;
  signal?.throwIfAborted();
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

/** Returns state and start of a process, from procfs, or null if there is none, or only a zombie. */
export async function processStart(pid: number): Promise<number | null> {
  const text = await readText(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name in brackets may hold anything, so count from its end: state is the first field, start the 20th.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : Number(fields[19]);
}

/** True when `pid` is a live process that serves this folder's data, and not one of another user's that looks like it. */
export async function servesFolder(folder: ClusterFolder, pid: number): Promise<boolean> {
  if ((await processStart(pid)) === null) return false;
  const [owner, data] = await Promise.all([stat(`/proc/${pid}`), stat(folder.data)].map(ownerOf));
  // the kernel gives processes with capabilities to root
  if (owner !== 0 && owner !== data && owner !== process.getuid?.()) return false;
  const commandLine = await readText(`/proc/${pid}/cmdline`);
  return commandLine !== null && commandLine.split('\0').includes(folder.data);
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
  return owner !== null && (await processStart(owner.pid)) === owner.startTicks ? owner : null;
}

export async function writeOwner(folder: ClusterFolder, kind: Owner['kind'], pid: number): Promise<Owner> {
  const owner: Owner = {
    kind,
    pid,
    startTicks: (await processStart(pid)) ?? 0,
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
export async function lastPort(folder: ClusterFolder): Promise<number | null> {
  const port = Number(await readText(join(folder.directory, 'port')));
  return Number.isInteger(port) && port > 0 ? port : null;
}

export async function rememberPort(folder: ClusterFolder, port: number): Promise<void> {
  await writeFile(join(folder.directory, 'port'), `${port}\n`);
}

/** Returns null if there is no such file, or its process ended while it was read. */
export async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'ENOTDIR') return null;
    throw error;
  }
}
