/** The processes that a child started, ended and watched as one group. */
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Sends a signal to every process of the group; false when there is none. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Kills what is left of a group and waits until it is gone; gives up after `timeoutMs` (a process in an unkillable state). */
export async function endGroup(groupId: number, timeoutMs: number): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 100)) {
    if (!signalGroup(groupId, 'SIGKILL') || !(await hasLiveMember(groupId))) return true;
    if (performance.now() > until) return false;
    await delay(waitMs);
  }
}

/** A dead process that its parent has not collected still counts for the kernel, where init collects nothing for ever. */
async function hasLiveMember(groupId: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const entries = await readdir('/proc');
  for (const entry of entries) {
    if (!/^\d+$/.test(entry)) continue;
    const status = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    // "pid (name) state ppid pgrp …"; a name may hold blanks and brackets
    const [state, , group] = status.slice(status.lastIndexOf(')') + 2).split(' ');
    if (Number(group) === groupId && state !== 'Z' && state !== 'X') return true;
  }
  return false;
}
