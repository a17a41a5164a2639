/**
 * Finds servers whose data were moved or removed while they ran. Such a server continues, and writes its control file to the path that
 * it was started with, whatever is there now.
 */
import { readdir, stat } from 'node:fs/promises';
import { readText, servesFolder, type ClusterFolder } from './state.ts';

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
