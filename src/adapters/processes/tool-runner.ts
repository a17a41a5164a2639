/**
 * Tools as child processes of Node: an argument vector, a process group of their own, a log file, and an end together with their
 * parent.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { LogAppender } from '../../ports/files.ts';
import type { ProcessRunner, ToolProcess } from '../../ports/processes.ts';
import { createProcessGuard } from './process-guard.ts';
import { type LogMask, watchTool, type RunWatch, type RunningTool } from './tool-process.ts';
import { watchMemory } from './process-group.ts';
import { markVariable, waitsVariable } from './successive-runs.ts';

export interface ProcessRunnerOptions {
  /** absolute path of the module that is a tool's entry */
  readonly entryOf: (tool: string) => string;
  /** opens the log for the output of an attempt */
  readonly openLog: (idJob: number, epoch: number) => Promise<LogAppender>;
  readonly workingDirectory: string;
  /** variables for every tool beside PATH, HOME, LANG and TZ of this process */
  readonly environment: Readonly<Record<string, string>>;
  /** memory for a tool's objects of JavaScript; null: as Node has it */
  readonly heapBytes?: number | null;
  /** memory that a tool may use altogether, beside `heapBytes`; absent: no limit */
  readonly memoryBytes?: number;
  /** processes that wait for a further run, at most, and how long each does; absent: none */
  readonly waiting?: { readonly most: number; readonly waitMs: number };
  /** returns the mask that removes the secrets of a job from its log; a rejection keeps the tool from starting */
  readonly maskOf?: (idJob: number) => Promise<LogMask>;
}

/**
 * Initial size of the young generation, in MB, which it would reach anyway. If it begins with 1 MB, objects made at the start outlive
 * several collections, and the whole old generation is then marked, which takes a tenth of the time of a small job.
 */
const youngSpace = '--min-semi-space-size=4';
/** Joins both streams in one pipe to keep the order of writing. The arguments are the tool's; no shell interprets them. */
const bothStreams = ['/bin/sh', '-c', 'exec "$0" "$@" 2>&1'];

export function createProcessRunner(options: ProcessRunnerOptions): ProcessRunner {
  let tieProbe: Promise<readonly string[]> | null = null;
  const guard = createProcessGuard();
  const { most = 0, waitMs = 0 } = options.waiting ?? {};
  const waiting = createWaitingTools(most, waitMs);
  let running = 0;
  const counted = (run: ToolProcess): ToolProcess => {
    running += 1;
    const end = (): void => void (running -= 1);
    run.ended.then(end, end);
    return run;
  };
  const heapBytes = options.heapBytes ?? null;
  const memoryBytes = (options.memoryBytes ?? Infinity) + (heapBytes ?? 0);
  const nodeOptions = [youngSpace];
  if (heapBytes !== null)
    nodeOptions.push(`--max-old-space-size=${Math.max(1, Math.floor(heapBytes / 1024 ** 2))}`);

  return {
    note: async ({ idJob, epoch }, line) => {
      const log = await options.openLog(idJob, epoch);
      try {
        await log.append(new TextEncoder().encode(`${line}\n`));
      } finally {
        await log.close();
      }
    },
    start: async ({ tool, argv, environment, idJob, epoch, idOrg }) => {
      const mask = (await options.maskOf?.(idJob)) ?? ((text: string) => text);
      const memory = await watchMemory(heapBytes);
      tieProbe ??= findTie();
      const tie = await tieProbe;
      const log = await options.openLog(idJob, epoch);
      const watch: RunWatch = { log, mask, memory, memoryBytes };
      // a process is never reused for another organisation, because it may hold data of the first one
      const kind = idOrg === undefined ? null : `${idOrg} ${tool}`;
      const ready = kind === null ? null : waiting.take(kind);
      if (ready !== null) return counted(ready.next({ argv, environment }, watch));
      waiting.makeRoom(running);
      const command = [
        ...bothStreams,
        ...tie,
        process.execPath,
        ...nodeOptions,
        options.entryOf(tool),
        ...argv,
      ];
      const mark = randomBytes(16).toString('hex');
      const mayWait = kind !== null && most > 0 ? { [waitsVariable]: '1' } : {};
      try {
        const child = spawn(command[0]!, command.slice(1), {
          cwd: options.workingDirectory,
          env: {
            ...baseEnvironment(),
            ...options.environment,
            ...environment,
            ...mayWait,
            [markVariable]: mark,
          },
          // The open pipe to stdin closes when this process dies, however it dies.
          stdio: ['pipe', 'pipe', 'ignore'],
          detached: true,
          shell: false,
        });
        await spawned(child);
        const tool = watchTool(child, {
          guard,
          mark,
          onWaiting: (waits) => kind !== null && waiting.offer(kind, waits),
          onGone: waiting.forget,
        });
        return counted(tool.first(watch));
      } catch (error) {
        // report why the process did not start
        await log.close().catch(() => undefined);
        throw error;
      }
    },
    close: () => waiting.close(),
  };
}

/** Returns the part of this process's environment that every child process gets. */
export function baseEnvironment(): Record<string, string> {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', HOME = '/', LANG = 'C.UTF-8', TZ } = process.env;
  return TZ === undefined ? { PATH, HOME, LANG } : { PATH, HOME, LANG, TZ };
}

function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

/**
 * Returns the command `setpriv --pdeathsig KILL` if it is installed and supports that: the kernel then ends the tool with this process,
 * even after kill -9.
 */
export async function findTie(): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  const tie = ['setpriv', '--pdeathsig', 'KILL', '--'];
  const [program = '', ...args] = tie;
  return promisify(execFile)(program, [...args, 'true'], { env: baseEnvironment() }).then(
    () => tie,
    () => [],
  );
}

// Processes that have completed a run and wait for another of the same kind.

interface WaitingTools {
  /** Takes the process that came last, whose caches are fresh; null: none of that kind waits. */
  take(kind: string): RunningTool | null;
  /** False: it is to leave. */
  offer(kind: string, tool: RunningTool): boolean;
  forget(tool: RunningTool): void;
  /**
   * Makes room before another process starts beside `running` ones: waiting ones, the oldest first, leave until the total is within the
   * limit.
   */
  makeRoom(running: number): void;
  /** None waits from now on. Resolves when those that did are gone. */
  close(): Promise<void>;
}

/** `most` at a time, each no longer than `waitMs`. */
function createWaitingTools(most: number, waitMs: number): WaitingTools {
  const waiting: { readonly kind: string; readonly tool: RunningTool; readonly timer: NodeJS.Timeout }[] = [];
  let isClosed = false;

  function remove(at: number): RunningTool | null {
    const [found] = at === -1 ? [] : waiting.splice(at, 1);
    if (found === undefined) return null;
    clearTimeout(found.timer);
    return found.tool;
  }
  const indexOf = (tool: RunningTool): number => waiting.findIndex((other) => other.tool === tool);

  return {
    take: (kind) => remove(waiting.findLastIndex((other) => other.kind === kind)),
    offer(kind, tool) {
      if (isClosed || most === 0) return false;
      const timer = setTimeout(() => void remove(indexOf(tool))?.leave(), waitMs);
      timer.unref();
      waiting.push({ kind, tool, timer });
      if (waiting.length > most) void remove(0)?.leave();
      return true;
    },
    forget: (tool) => void remove(indexOf(tool)),
    makeRoom(running) {
      while (waiting.length > 0 && waiting.length + running >= most) void remove(0)!.leave();
    },
    async close() {
      isClosed = true;
      const left: Promise<void>[] = [];
      while (waiting.length > 0) left.push(remove(0)!.leave());
      await Promise.all(left);
    },
  };
}
