/** Whether a process ended for want of memory, and at which limit: its own word is lost with it. */
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

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

/** Ends a process that holds more than `limitBytes` (`property`), whatever made it; `over` says so in words, until then null. */
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
