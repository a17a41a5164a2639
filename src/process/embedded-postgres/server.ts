/**
 * A PostgreSQL server of the project's own, stored in one folder. It survives the death of the process that started it: the next start
 * adopts it. Its owner (`owner.json`) stops it: a live service, or the idle watcher that a tool leaves behind. A service takes over
 * from a watcher or a dead owner; a process that merely joined never stops it.
 */
import { processTable } from '../running.ts';
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { launcher } from '../../installation.ts';
import { AppError } from '../../errors.ts';
import type { Logger } from '../../ports/environment.ts';
import {
  connectToServer,
  findMovedServer,
  embeddedUser,
  initialise,
  launch,
  shutDown,
  findPostgresBinaries,
  disownPid,
  liveOwner,
  openFolder,
  readOwner,
  readPostmaster,
  removeOwner,
  servesFolder,
  touchOwner,
  withFolderLock,
  writeOwner,
  type ClusterFolder,
  type Owner,
} from './process.ts';
import { baseEnvironment } from '../tool-runner.ts';

export interface EmbeddedPostgresOptions {
  /** made when missing; holds the data, the password (0600), the server's log and who owns it */
  readonly directory: string;
  readonly logger?: Logger;
  /** ends waiting for the start */
  readonly signal?: AbortSignal;
}

export interface EmbeddedPostgres {
  /** `postgresql://user:password@127.0.0.1:port/postgres` */
  readonly url: string;
  /** folder of its Unix socket, which only our user may enter; null: it has none */
  readonly socketFolder: string | null;
  /** true: the server ran already */
  readonly adopted: boolean;
  /** Stops the server if this start owns it; idempotent. */
  stop(): Promise<void>;
}

interface RunningServer {
  readonly pid: number;
  readonly port: number;
  readonly socketFolder: string | null;
}

const superviseEveryMs = 1000;

/**
 * Starts the server, or adopts the running one, and supervises it: if it dies, it is restarted at the same address. AppError
 * `service_unavailable` if no embedded database can run.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const folder = await openFolder(options.directory);
  const { server, adopted, owner } = await withFolderLock(folder, options.signal, async () => {
    const entered = await enter(folder, options.signal, true);
    const current = await liveOwner(folder);
    const owner = current?.kind === 'service' ? null : await writeOwner(folder, 'service', process.pid);
    return { ...entered, owner };
  });
  options.logger?.info('embedded database', { port: server.port, adopted, owner: owner !== null });
  const supervision = supervise(folder, server, owner, options.logger);
  return {
    url: addressOf(folder, server),
    socketFolder: server.socketFolder,
    adopted,
    stop: async () => {
      const owned = await supervision.end();
      if (owned === null) return;
      await withFolderLock(folder, undefined, async () => {
        if ((await readOwner(folder))?.token === owned.token) await stopServer(folder);
      });
    },
  };
}

/**
 * Joins the running server, for tools. If none runs, starts one with a small watcher that stops it after `idleMs` (60 s) without
 * connections, unless a service has taken over.
 */
export async function joinEmbeddedPostgres(
  options: EmbeddedPostgresOptions & { readonly idleMs?: number },
): Promise<Pick<EmbeddedPostgres, 'url' | 'socketFolder' | 'adopted'>> {
  const folder = await openFolder(options.directory);
  return withFolderLock(folder, options.signal, async () => {
    const owner = await liveOwner(folder);
    // A live owner has seen the server answer: the caller's own connection is test enough.
    const { server, adopted } = await enter(folder, options.signal, owner === null);
    if (owner === null) await leaveWatcher(folder, options.idleMs ?? 60_000, server.pid);
    else await touchOwner(folder);
    return { url: addressOf(folder, server), socketFolder: server.socketFolder, adopted };
  });
}

/** Stops the server of this folder, regardless of its owner. */
export async function stopEmbeddedPostgres(directory: string): Promise<void> {
  const folder = await openFolder(directory);
  await withFolderLock(folder, undefined, () => stopServer(folder));
}

/** The running server, or a new one; the folder's lock must be held. */
async function enter(
  folder: ClusterFolder,
  signal: AbortSignal | undefined,
  check: boolean,
): Promise<{ readonly server: RunningServer; readonly adopted: boolean }> {
  let running = await findRunning(folder, signal);
  // A server that just dies or shuts down still looks alive for a moment: it is looked at again before it is given up.
  for (let attempt = 0; running !== null; attempt++) {
    const refusal = check ? await refusalOf(folder, running) : null;
    if (refusal === null) return { server: running, adopted: true };
    if (attempt >= 20) {
      throw new AppError(
        'service_unavailable',
        `process ${running.pid} serves the embedded database in ${folder.directory} but refuses the connection at port ${running.port}: ${refusal}`,
      );
    }
    await delay(250);
    running = await findRunning(folder, signal);
  }
  const moved = await findMovedServer(folder);
  if (moved !== null) throw movedAway(folder, moved);
  const binaries = await findPostgresBinaries();
  await initialise(folder, binaries);
  const port = await launch(folder, binaries, signal);
  const postmaster = await readPostmaster(folder);
  if (postmaster === null)
    throw new AppError('service_unavailable', 'the embedded database stopped right after its start');
  return { server: { pid: postmaster.pid, port, socketFolder: postmaster.socketFolder }, adopted: false };
}

function movedAway({ data }: ClusterFolder, pid: number): AppError {
  return new AppError(
    'service_unavailable',
    `process ${pid} serves an embedded database whose folder ${data} was moved or removed while it ran, and would write into a new database there: end it (kill -QUIT ${pid}) and start again`,
  );
}

/** The server that works on this folder, once it is past starting or stopping; null when there is none. */
async function findRunning(
  folder: ClusterFolder,
  signal: AbortSignal | undefined,
): Promise<RunningServer | null> {
  for (;;) {
    const postmaster = await readPostmaster(folder);
    if (postmaster === null) return null;
    if (!(await servesFolder(folder, postmaster.pid))) {
      await disownPid(folder);
      return null;
    }
    if (postmaster.status === 'ready') return postmaster;
    signal?.throwIfAborted();
    await delay(20);
  }
}

/** Returns why the server cannot be used, or null if it answers and serves this folder. */
async function refusalOf(folder: ClusterFolder, server: RunningServer): Promise<string | null> {
  const sql = connectToServer(folder, server, 'adopt');
  try {
    const [row] = await sql`select current_setting('data_directory') as data`;
    return row?.data === folder.data ? null : `it serves ${String(row?.data)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function stopServer(folder: ClusterFolder): Promise<void> {
  await removeOwner(folder);
  const postmaster = await readPostmaster(folder);
  if (postmaster !== null && (await servesFolder(folder, postmaster.pid))) await shutDown(postmaster.pid);
}

function addressOf(folder: ClusterFolder, server: RunningServer): string {
  return `postgresql://${embeddedUser}:${folder.password}@127.0.0.1:${server.port}/postgres`;
}

/** Looks every second whether the server lives; starts it again when not, and owns it from then on. */
function supervise(
  folder: ClusterFolder,
  first: RunningServer,
  firstOwner: Owner | null,
  logger: Logger | undefined,
): { end(): Promise<Owner | null> } {
  let { pid } = first;
  let owner = firstOwner;
  const ending = new AbortController();
  const revive = (): Promise<void> =>
    withFolderLock(folder, ending.signal, async () => {
      const { server, adopted } = await enter(folder, ending.signal, true);
      pid = server.pid;
      if (!adopted || (await liveOwner(folder)) === null)
        owner = await writeOwner(folder, 'service', process.pid);
      logger?.warn('the embedded database ended and was started again', { port: server.port, adopted });
    });
  const watch = async (): Promise<void> => {
    let pauseMs = superviseEveryMs;
    while (!ending.signal.aborted) {
      // aborted as the server is to end, which the next line sees
      await delay(pauseMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      if (ending.signal.aborted || (await processTable.startOf(pid)) !== null) continue;
      try {
        await revive();
        pauseMs = superviseEveryMs;
      } catch (error) {
        if (ending.signal.aborted) return;
        pauseMs = Math.min(pauseMs * 2, 30_000);
        logger?.error('the embedded database ended and could not be restarted', {
          reason: error instanceof Error ? error.message : String(error),
        });
      }
    }
  };
  const watching = watch();
  return {
    end: async () => {
      ending.abort();
      await watching;
      const owned = owner;
      owner = null;
      return owned;
    },
  };
}

async function leaveWatcher(folder: ClusterFolder, idleMs: number, serverPid: number): Promise<void> {
  const words = ['tools/idle-watcher', folder.directory, String(idleMs), String(serverPid)];
  const child = spawn(process.execPath, [launcher, ...words], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    // it outlives the process that started it, whose environment may hold secrets
    env: baseEnvironment(),
  });
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  child.unref();
  await writeOwner(folder, 'watcher', child.pid ?? 0);
}
