/** One contestant, one process: its time by its own clock, its memory by the operating system's. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpuSecondsOf } from './processor-time.ts';

/** Last line of what a contestant prints, as JSON; `xmllint` and its like print none. */
export interface Printed {
  /** the work alone, without the start of the process */
  readonly seconds?: number;
  /** what the processors spent on it, all threads together */
  readonly cpuSeconds?: number;
  readonly elements?: number;
  readonly attributes?: number;
  readonly rows?: number;
  /** highest resident set of the program that a contestant has started for the work */
  readonly peakBytes?: number | null;
  readonly [other: string]: unknown;
}

export interface Measured {
  /** the work by the contestant's own clock, where it has one; else the process from start to exit */
  readonly seconds: number;
  /** the process from start to exit */
  readonly wallSeconds: number;
  /** what the processors spent on the process, as far as the last look at it; null where the operating system does not tell */
  readonly processCpuSeconds: number | null;
  /** highest resident set; null where the operating system does not tell */
  readonly peakBytes: number | null;
  readonly printed: Printed;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `cpu`: of contestants that tell, the time they had a processor: for machines that others use at the same time. */
export type Clock = 'wall' | 'cpu';

const pollEveryMs = 10;
/** characters; the last line of a tool names every table it filled */
const keptOutput = 4_000_000;

/** Fails with what the process wrote to stderr when it ends with anything but 0. */
export async function measure(command: Command, clock: Clock = 'wall'): Promise<Measured> {
  const started = performance.now();
  const child = spawn(command.file, command.args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...command.env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout = (stdout + chunk.toString()).slice(-keptOutput)));
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-20_000)));
  let peakBytes: number | null = null;
  let processCpuSeconds: number | null = null;
  const poll = setInterval(() => {
    peakBytes = residentPeak(child.pid!) ?? peakBytes;
    processCpuSeconds = cpuSecondsOf(child.pid!) ?? processCpuSeconds;
  }, pollEveryMs);
  const code = await new Promise<number | null>((settle, fail) => {
    child.once('error', fail);
    child.once('close', settle);
  }).finally(() => clearInterval(poll));
  const wallSeconds = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(`${command.file} ended with ${code}: ${stderr || stdout}`);
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  const printed = last.startsWith('{') ? (JSON.parse(last) as Printed) : {};
  const own = clock === 'cpu' ? (printed.cpuSeconds ?? printed.seconds) : printed.seconds;
  return {
    seconds: own ?? wallSeconds,
    wallSeconds,
    processCpuSeconds,
    peakBytes: printed.peakBytes ?? peakBytes,
    printed,
  };
}

/** The kernel keeps the highest value itself: the last look before the end is enough. */
function residentPeak(pid: number): number | null {
  try {
    const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line === null ? null : Number(line[1]) * 1024;
  } catch {
    return null;
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
