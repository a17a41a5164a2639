/**
 * A process of its own, left by a tool that started the embedded database by hand: stops it when nobody has been
 * connected for a while, or at once when its folder is moved or removed. Arguments: the folder, the idle time in
 * milliseconds, the server's process. Ends when a service takes over.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { isMovedServer } from './moved-server.ts';
import { embeddedUser, shutDown } from './process.ts';
import { openFolder, readOwner, readPostmaster, removeOwner, servesFolder, withFolderLock } from './state.ts';
import type { ClusterFolder } from './state.ts';

const folder = await openFolder(process.argv[2] ?? '');
const idleMs = Number(process.argv[3]);
const startedPid = Number(process.argv[4]);
const lookEveryMs = Math.min(1000, idleMs / 4);

// The tool writes us down as the owner right after it started us.
await delay(lookEveryMs);
let idleSince = performance.now();
let joined = await joinedAt(folder);
while (await isOwner(folder)) {
  const port = await runningPort(folder);
  if (port === null) break;
  const latest = await joinedAt(folder);
  if (latest !== joined || (await hasClients(folder, port))) {
    idleSince = performance.now();
    joined = latest;
  } else if (performance.now() - idleSince >= idleMs && (await stopIfStillIdle(folder, port))) {
    break;
  }
  await delay(lookEveryMs);
}
// at once: an orderly end would write to where its folder was
if (await isMovedServer(folder, startedPid)) process.kill(startedPid, 'SIGQUIT');

async function isOwner(folder: ClusterFolder): Promise<boolean> {
  const owner = await withFolderLock(folder, undefined, () => readOwner(folder));
  return owner?.pid === process.pid && owner.kind === 'watcher';
}

async function runningPort(folder: ClusterFolder): Promise<number | null> {
  const postmaster = await readPostmaster(folder);
  return postmaster !== null && (await servesFolder(folder, postmaster.pid)) ? postmaster.port : null;
}

/** Joining tools touch the owner file before they connect. */
async function joinedAt(folder: ClusterFolder): Promise<number> {
  return (await stat(join(folder.directory, 'owner.json')).catch(() => null))?.mtimeMs ?? 0;
}

/** A server that does not answer is busy starting or recovering: that counts as use. */
async function hasClients(folder: ClusterFolder, port: number): Promise<boolean> {
  const sql = postgres(`postgres://${embeddedUser}:${folder.password}@127.0.0.1:${port}/postgres`, {
    max: 1,
    fetch_types: false,
    connect_timeout: 5,
    connection: { application_name: 'idle-watcher' },
  });
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

async function stopIfStillIdle(folder: ClusterFolder, port: number): Promise<boolean> {
  return withFolderLock(folder, undefined, async () => {
    const owner = await readOwner(folder);
    if (owner?.pid !== process.pid || (await joinedAt(folder)) !== joined || (await hasClients(folder, port)))
      return false;
    await removeOwner(folder);
    const postmaster = await readPostmaster(folder);
    if (postmaster !== null && (await servesFolder(folder, postmaster.pid))) await shutDown(postmaster.pid);
    return true;
  });
}
