/**
 * A process of its own, left by a tool that started the embedded database by hand: stops it when nobody has been
 * connected for a while, or at once when its folder is moved or removed. Arguments: the folder, the idle time in
 * milliseconds, the server's process. Ends when a service takes over.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  isMovedServer,
  connectToServer,
  shutDown,
  findFolder,
  folderAt,
  readOwner,
  readPostmaster,
  removeOwner,
  servesFolder,
  withFolderLock,
  type ClusterFolder,
  type Postmaster,
} from './process.ts';

const idleMs = Number(process.argv[3]);
const startedPid = Number(process.argv[4]);
const lookEveryMs = Math.min(1000, idleMs / 4);
let joined: number;

void watch();

async function watch(): Promise<void> {
  const directory = process.argv[2] ?? '';
  const folder = await findFolder(directory);
  if (folder !== null) await watchFolder(folder);
  // immediately: an orderly shutdown would write to the former place of its folder
  if (await isMovedServer(folder ?? folderAt(directory, ''), startedPid)) process.kill(startedPid, 'SIGQUIT');
}

/** Returns when the server is stopped, has another owner, or has lost its folder. */
async function watchFolder(folder: ClusterFolder): Promise<void> {
  // The tool writes us down as the owner right after it started us.
  await delay(lookEveryMs);
  let idleSince = performance.now();
  joined = await joinedAt(folder);
  while (await isOwner(folder)) {
    const server = await findServer(folder);
    if (server === null) break;
    const latest = await joinedAt(folder);
    if (latest !== joined || (await hasClients(folder, server))) {
      idleSince = performance.now();
      joined = latest;
    } else if (performance.now() - idleSince >= idleMs && (await stopIfStillIdle(folder, server))) {
      break;
    }
    await delay(lookEveryMs);
  }
}

async function isOwner(folder: ClusterFolder): Promise<boolean> {
  const owner = await withFolderLock(folder, undefined, () => readOwner(folder));
  return owner?.pid === process.pid && owner.kind === 'watcher';
}

async function findServer(folder: ClusterFolder): Promise<Postmaster | null> {
  const postmaster = await readPostmaster(folder);
  return postmaster !== null && (await servesFolder(folder, postmaster.pid)) ? postmaster : null;
}

/** Joining tools touch the owner file before they connect. */
async function joinedAt(folder: ClusterFolder): Promise<number> {
  return (await stat(join(folder.directory, 'owner.json')).catch(() => null))?.mtimeMs ?? 0;
}

/** A server that does not answer is busy starting or recovering: that counts as use. */
async function hasClients(folder: ClusterFolder, server: Postmaster): Promise<boolean> {
  const sql = connectToServer(folder, server, 'idle-watcher');
  try {
    const [row] = await sql`
      select exists (
        select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
      ) as found`;
    return row?.found !== false;
  } catch {
    return true;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function stopIfStillIdle(folder: ClusterFolder, server: Postmaster): Promise<boolean> {
  return withFolderLock(folder, undefined, async () => {
    const owner = await readOwner(folder);
    if (
      owner?.pid !== process.pid ||
      (await joinedAt(folder)) !== joined ||
      (await hasClients(folder, server))
    )
      return false;
    await removeOwner(folder);
    const postmaster = await readPostmaster(folder);
    if (postmaster !== null && (await servesFolder(folder, postmaster.pid))) await shutDown(postmaster.pid);
    return true;
  });
}
