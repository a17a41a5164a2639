/** The processes that a child started, ended and watched as one: its group, and processes that left it but carry its mark. */
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { markVariable } from './successive-runs.ts';
import { totalmem } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { spawn, type ChildProcess } from 'node:child_process';
import { isMainThread } from 'node:worker_threads';

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

// Detects that a process ended because memory was short, and at which limit. A process that ends like this cannot report it.

export interface MemoryWatch {
  /** output of the process, as it comes */
  see(text: string): void;
  /** Returns one line with the exceeded limit, or null if memory was not the cause, as far as is known. */
  cause(end: { readonly code: number | null; readonly signal: string | null }): Promise<string | null>;
}

/** V8's last words, after which it aborts (SIGABRT, or SIGTRAP if it is not about objects). */
const lastWords = ['heap out of memory', 'process out of memory'];

/** Interval between two measurements of a process's memory. */
const lookEveryMs = 250;

/**
 * Ends a process that uses more memory than `limitBytes`, the value of `property`. `over` is then a message that says so; before, it is
 * null.
 */
export function limitMemory(
  pid: number,
  limitBytes: number,
  end: () => void,
  property = 'svc.limits.tool_memory',
): { readonly over: () => string | null; readonly stop: () => void } {
  let over: string | null = null;
  const timer = setInterval(() => {
    void residentBytes(pid).then((bytes) => {
      if (bytes <= limitBytes || over !== null) return;
      over = `it held ${megabytes(bytes)} of memory, more than the ${megabytes(limitBytes)} of ${property}`;
      clearInterval(timer);
      end();
    });
  }, lookEveryMs);
  timer.unref();
  return { over: () => over, stop: () => clearInterval(timer) };
}

/**
 * Returns the memory that the process itself has filled, without mapped files, which the system can drop. Returns 0 once the process is
 * gone.
 */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** `heapBytes`: the limit for JavaScript objects in the process; null: Node's default. */
export async function watchMemory(heapBytes: number | null): Promise<MemoryWatch> {
  const killedBefore = await processesKilled();
  let said = false;
  return {
    see: (text) => {
      said ||= lastWords.some((words) => text.includes(words));
    },
    cause: async ({ code, signal }) => {
      const aborted = signal === 'SIGABRT' || signal === 'SIGTRAP' || code === 134 || code === 133;
      if (aborted && said) {
        const limit = heapBytes ?? getHeapStatistics().heap_size_limit;
        return `its JavaScript needed more than ${megabytes(limit)} (svc.worker.memory)`;
      }
      if (signal !== 'SIGKILL' && code !== 137) return null;
      const killed = await processesKilled();
      if (killedBefore === null || killed === null || killed <= killedBefore) return null;
      return `the system, which has ${megabytes(memoryOfAll())} for all processes here, ended it`;
    },
  };
}

/** Returns how often the kernel has ended a process for lack of memory, in control groups or the whole machine, or null if unknown. */
async function processesKilled(): Promise<number | null> {
  const counters = await readFile('/proc/vmstat', 'latin1').catch(() => '');
  const count = /^oom_kill (\d+)$/m.exec(counters)?.[1];
  return count === undefined ? null : Number(count);
}

/** Returns the limit of this process's control group if it is below the machine's memory, otherwise the latter. */
function memoryOfAll(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem();
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

/** Ends this run of a tool at once, with all that it has started as far as that is known: its process group, its process or its thread. */
export function endWithChildren(): void {
  // a thread shares its process with others
  if (!isMainThread) process.exit(1);
  // false: the process leads no group
  if (!signalGroup(process.pid, 'SIGKILL')) process.kill(process.pid, 'SIGKILL');
}

// Tunes how soon a process returns unused memory.

/** number of tables of a model above which garbage from decoding it exceeds the rest of a job's memory */
const manyTables = 1000;

/**
 * Tunes the heap of a process that has such a model: the old generation is collected when it has grown by half (V8 otherwise waits
 * until it has grown up to fourfold), and the size of the young generation stays as it is.
 */
export function keepHeapSmall(tableCount: number): void {
  // the flags are those of the whole process
  if (tableCount < manyTables || !isMainThread) return;
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--semi-space-growth-factor=1');
}

// Ends the processes that a killed worker leaves behind. A small shell process in a session of its own holds the reading end of a pipe and
// a list of process groups. When the pipe closes, however its writer ended, it kills the groups. The kernel's tie (`setpriv --pdeathsig`)
// ends a tool itself; the guard also ends the processes that the tool has started.

export interface ProcessGuard {
  watch(groupId: number, mark: string): void;
  release(groupId: number): void;
}

// `grep -z` reads an environment as the kernel shows it; if it cannot, the groups are ended all the same.
const script = `
trap '' HUP INT TERM
groups=
while read -r sign group mark; do
  kept=
  for one in $groups; do case $one in "$group":*) ;; *) kept="$kept $one" ;; esac; done
  groups=$kept
  if [ "$sign" = + ]; then groups="$groups $group:$mark"; fi
done
set --
for one in $groups; do
  kill -9 -- "-\${one%%:*}" 2>/dev/null
  set -- "$@" -e "${markVariable}=\${one#*:}"
done
if [ $# -gt 0 ]; then
  for file in $(grep -lszxF "$@" /proc/[0-9]*/environ 2>/dev/null); do
    file=\${file#/proc/}
    kill -9 "\${file%/environ}" 2>/dev/null
  done
fi`;

export function createProcessGuard(): ProcessGuard {
  const watched = new Map<number, string>();
  let guard: ChildProcess | null = null;

  function start(): ChildProcess {
    const child = spawn('/bin/sh', ['-c', script], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      cwd: '/',
      detached: true,
    });
    const gone = (): void => {
      if (guard === child) guard = null;
    };
    child.once('exit', gone);
    child.once('error', gone);
    child.stdin?.on('error', gone);
    // Neither keeps this process running
    child.unref();
    (child.stdin as { unref?: () => void } | null)?.unref?.();
    return child;
  }

  /** A guard that was ended itself is replaced, and gets all groups again. */
  function tell(line: string): void {
    if (guard !== null) {
      guard.stdin?.write(line);
      return;
    }
    if (watched.size === 0) return;
    guard = start();
    guard.stdin?.write([...watched].map(([groupId, mark]) => `+ ${groupId} ${mark}\n`).join(''));
  }

  return {
    watch(groupId, mark) {
      watched.set(groupId, mark);
      tell(`+ ${groupId} ${mark}\n`);
    },
    release(groupId) {
      watched.delete(groupId);
      tell(`- ${groupId}\n`);
      if (watched.size > 0) return;
      // nothing is left to guard, and the program that this worker is a part of may go on without it
      guard?.stdin?.end();
      guard = null;
    },
  };
}
