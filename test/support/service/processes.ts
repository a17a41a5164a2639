/** Processes that a service has started, as the kernel shows them. */
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
  const found = await Promise.all(pids.map((pid) => readProcess(Number(pid))));
  return found.filter(
    (process) =>
      process !== null &&
      called.test(process.commandLine) &&
      process.environment.includes(`SVC_HOME=${home.directory}`),
  ) as ToolProcess[];
}

async function readProcess(
  pid: number,
): Promise<(ToolProcess & { readonly environment: readonly string[] }) | null> {
  try {
    const [command, environment, stat] = await Promise.all(
      ['cmdline', 'environ', 'stat'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
    );
    const state = stat!.slice(stat!.lastIndexOf(')') + 2)[0];
    if (state === 'Z' || state === 'X') return null;
    return {
      pid,
      commandLine: command!.replaceAll('\0', ' ').trim(),
      environment: environment!.split('\0'),
    };
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
