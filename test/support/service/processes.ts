/** Processes that a service has started, as the kernel shows them. */
import { readFileSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import type { ServiceHome } from './start.ts';

export interface ToolProcess {
  readonly pid: number;
  readonly commandLine: string;
}

/** Tools that run a job of this home now; those that only wait to be collected do not count. */
export function toolProcesses(home: ServiceHome, idJob?: number): Promise<ToolProcess[]> {
  return processesOf(home, idJob === undefined ? / -j \d+$/ : new RegExp(` -j ${idJob}$`));
}

/** Those that have done a job of this home, and wait for another. */
export function waitingTools(home: ServiceHome): Promise<ToolProcess[]> {
  return processesOf(home, /^\w+ waits$/);
}

/** How many files and connections a process has open. */
export async function openFiles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

async function processesOf(home: ServiceHome, called: RegExp): Promise<ToolProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => readProcess(Number(pid), home, called) ?? []);
}

/** Returns null if the process has ended, belongs to another home, or is called otherwise. Reads of `/proc` never wait, so they are synchronous. */
function readProcess(pid: number, home: ServiceHome, called: RegExp): ToolProcess | null {
  const read = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8');
  try {
    const commandLine = read('cmdline').replaceAll('\0', ' ').trim();
    if (!called.test(commandLine)) return null;
    if (!read('environ').split('\0').includes(`SVC_HOME=${home.directory}`)) return null;
    const stat = read('stat');
    const state = stat.slice(stat.lastIndexOf(')') + 2)[0];
    return state === 'Z' || state === 'X' ? null : { pid, commandLine };
  } catch {
    // gone meanwhile, or another user's
    return null;
  }
}

/** Most memory a process has had so far, in bytes; null when it is gone. */
export async function peakMemory(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}
