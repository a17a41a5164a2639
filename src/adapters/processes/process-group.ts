/** The processes that a child started, ended and watched as one: its group, and those that left it but carry its mark. */
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { markVariable } from './successive-runs.ts';

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

/** Kills the rest of a group and waits until it is gone; gives up after `timeoutMs` (a process in an unkillable state). */
export async function endGroup(groupId: number, mark: string, timeoutMs: number): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 100)) {
    const group = signalGroup(groupId, 'SIGKILL') && (await hasLiveMember(groupId));
    const others = await marked(mark);
    for (const pid of others) killOne(pid);
    if (!group && others.length === 0) return true;
    if (performance.now() > until) return false;
    await delay(waitMs);
  }
}

/** Whether the leader of a group has started something that still runs, in the group or out of it. */
export async function hasCompany(leaderId: number, mark: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return [...(await marked(mark)), ...(await liveMembers(leaderId))].some((pid) => pid !== leaderId);
}

/** Returns whether a group has a live member. The kernel still counts a zombie, which stays for ever if init collects none. */
async function hasLiveMember(groupId: number): Promise<boolean> {
  return process.platform !== 'linux' || (await liveMembers(groupId)).length > 0;
}

async function liveMembers(groupId: number): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await processIds()) {
    const { state, group } = await stateOf(pid);
    if (group === groupId && state !== 'Z' && state !== 'X') found.push(pid);
  }
  return found;
}

/** Live processes whose environment holds the mark: sessions of their own, daemons. */
async function marked(mark: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const wanted = `${markVariable}=${mark}`;
  const found: number[] = [];
  for (const pid of await processIds()) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    if (!environment.split('\0').includes(wanted)) continue;
    const { state } = await stateOf(pid);
    if (state !== undefined && state !== 'Z' && state !== 'X') found.push(pid);
  }
  return found;
}

async function processIds(): Promise<number[]> {
  return (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
}

async function stateOf(pid: number): Promise<{ readonly state: string | undefined; readonly group: number }> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // "pid (name) state ppid pgrp …"; a name may hold blanks and brackets
  const [state, , group] = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return { state: state === '' ? undefined : state, group: Number(group) };
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone meanwhile
  }
}
