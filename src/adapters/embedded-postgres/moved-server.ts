/**
 * Servers whose data was moved away, or removed, under them. Such a server goes on, and writes its control file by the path that it was
 * started with: into whatever lies there by then.
 */
import { readdir, stat } from 'node:fs/promises';
import { readText, servesFolder, type ClusterFolder } from './state.ts';

/** A process that was started for data in this folder and works in another place by now; null: there is none, or the system does not tell. */
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
  // a server works in its data folder, whatever that is called by now
  const works = await stat(`/proc/${pid}/cwd`).catch(() => null);
  if (works === null) return false;
  const lies = await stat(folder.data).catch(() => null);
  return lies === null || lies.ino !== works.ino || lies.dev !== works.dev;
}
