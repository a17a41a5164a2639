/** One writer per folder or file: a lock file that names its holder, refreshed while it is held. */
import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../errors.ts';

export const lockName = '.svc-lock';
const refreshMs = 5_000;
/** a holder on another host that has not refreshed for so long is dead */
const staleMs = 60_000;
const pollMs = 100;

export interface FileLock {
  /** false when another writer took it for dead and took over */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

interface Holder {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  /** start time of the process, in the kernel's ticks; detects a reused process id */
  readonly started: string | null;
}

/** Waits until the folder is free; AppError `service_unavailable` after `timeoutMs`. `label`: name for messages. */
export function lockFolder(directory: string, timeoutMs: number, label = directory): Promise<FileLock> {
  return lockFile(join(directory, lockName), timeoutMs, label);
}

/** `path`: path of the lock file; `target`: name for messages of the locked object. */
export async function lockFile(path: string, timeoutMs: number, target: string): Promise<FileLock> {
  const holder: Holder = {
    token: randomUUID(),
    host: hostname(),
    pid: process.pid,
    started: await startOfProcess(process.pid),
  };
  const draft = `${path}-${holder.token}`;
  const content = JSON.stringify(holder);
  // kept open: the handle stays on our file when another writer takes over its name
  const own = await open(draft, 'wx');
  let taken = false;
  try {
    await own.writeFile(content);
    const deadline = Date.now() + timeoutMs;
    while (!(await takes(draft, path))) {
      if (await isDeadLock(path)) await removeDead(path);
      else if (Date.now() > deadline) {
        throw new AppError('service_unavailable', `Another job has been writing into ${target} for long.`);
      } else await sleep(pollMs);
    }
    taken = true;
  } finally {
    await rm(draft, { force: true });
    if (!taken) await own.close();
  }
  const timer = setInterval(() => {
    // written, not touched: the time is then that of the file system, whatever this machine's clock says
    // a lock that cannot be refreshed grows old, and `isHeld` says so before anything is published
    own.write(content, 0).catch(() => undefined);
  }, refreshMs);
  timer.unref();
  const isHeld = async (): Promise<boolean> => (await readHolder(path))?.token === holder.token;
  return {
    isHeld,
    release: async () => {
      clearInterval(timer);
      // the file is removed next, whether or not it can be closed
      await own.close().catch(() => undefined);
      if (await isHeld()) await rm(path, { force: true });
    },
  };
}

async function takes(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Returns whether the process that holds the lock is gone; false if there is no lock. */
export async function isDeadLock(path: string): Promise<boolean> {
  const holder = await readHolder(path);
  if (holder === null) return false;
  if (holder.host !== hostname()) {
    const found = await stat(path).catch(() => null);
    return found !== null && (await timeOf(path)) - found.mtimeMs > staleMs;
  }
  return isGoneProcess(holder.pid, holder.started);
}

/** Returns whether a process of this machine is gone: no process with that id started at that time (kernel ticks; null: unknown). */
export async function isGoneProcess(pid: number, started: string | null): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  return started !== null && (await startOfProcess(pid)) !== started;
}

/** Returns the current time of the file system, which several machines with clocks of their own may share. */
async function timeOf(path: string): Promise<number> {
  const probe = `${path}-${randomUUID()}`;
  await writeFile(probe, '', { flag: 'wx' });
  try {
    return (await stat(probe)).mtimeMs;
  } finally {
    await rm(probe, { force: true });
  }
}

/** Two may find the lock dead at once: who moves a living one away by mistake puts it back. */
async function removeDead(path: string): Promise<void> {
  const aside = `${path}-${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  // another process has taken the lock meanwhile
  if (!(await isDeadLock(aside))) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

async function readHolder(path: string): Promise<Holder | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch {
    return null;
  }
}

/** Returns the start time of a process in ticks of the kernel, or null if unknown. */
export async function startOfProcess(pid: number): Promise<string | null> {
  try {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8');
    // the name of the program, in parentheses, may hold anything
    return status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
