/** What the processors spent on processes, by the kernel's own count. */
import { readdirSync, readFileSync } from 'node:fs';

/** the kernel counts in hundredths of a second on every Linux that Node runs on */
const ticksPerSecond = 100;

/** Seconds that a process had a processor, by the operating system; null where it does not tell. */
export function cpuSecondsOf(pid: number): number | null {
  try {
    // the name of the process, in brackets, may hold spaces
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return null;
  }
}

/** Of a process and all that it started and that still runs. */
export function cpuSecondsOfTree(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid);
  return [pid, ...children.map(Number)].reduce((sum, one) => sum + (cpuSecondsOf(one) ?? 0), 0);
}

function parentOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1]);
  } catch {
    return 0;
  }
}
