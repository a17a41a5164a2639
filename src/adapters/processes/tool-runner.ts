/** Tools as child processes of Node: an argument vector, a process group of their own, a log file, and an end together with their parent. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { LogAppender } from '../../ports/files/log-appender.ts';
import type { ProcessRunner, ToolProcess } from '../../ports/processes/runner.ts';
import { endGroup, signalGroup } from './process-group.ts';
import { createProcessGuard, markVariable } from './process-guard.ts';
import type { ProcessGuard } from './process-guard.ts';
import { copyToLog } from './log-pump.ts';
import type { LogMask } from './log-pump.ts';
import { limitMemory, watchMemory, type MemoryWatch } from './out-of-memory.ts';

export interface ProcessRunnerOptions {
  /** absolute path of the module that is a tool's entry */
  readonly entryOf: (tool: string) => string;
  /** where the output of an attempt goes */
  readonly openLog: (idJob: number, epoch: number) => Promise<LogAppender>;
  readonly workingDirectory: string;
  /** what every tool gets beside PATH, HOME, LANG and TZ of this process */
  readonly environment: Readonly<Record<string, string>>;
  /** memory for a tool's objects of JavaScript; null: as Node has it */
  readonly heapBytes?: number | null;
  /** what a tool may hold altogether, beside `heapBytes`; absent: no limit */
  readonly memoryBytes?: number;
  /** what takes the secrets of a job out of its log; a rejection keeps the tool from starting */
  readonly maskOf?: (idJob: number) => Promise<LogMask>;
}

/**
 * What is young has room from the start, in MB, which it would grow to anyway: where it begins with 1 MB, what a start makes outlives
 * several collections, and all that is old is then marked, which is a tenth of a small job.
 */
const youngSpace = '--min-semi-space-size=4';
/** How long the rest of a killed group may take to disappear before it is no longer waited for. */
const disappearMs = 5000;
/** How long output may still come once every process is gone. */
const lastOutputMs = 2000;

/** One pipe for both streams: what is written first stands first. The arguments are the tool's, no shell reads them. */
const bothStreams = ['/bin/sh', '-c', 'exec "$0" "$@" 2>&1'];

export function createProcessRunner(options: ProcessRunnerOptions): ProcessRunner {
  let tieProbe: Promise<readonly string[]> | null = null;
  const guard = createProcessGuard();
  const heapBytes = options.heapBytes ?? null;
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
    start: async ({ tool, argv, environment, idJob, epoch }) => {
      const entry = options.entryOf(tool);
      tieProbe ??= findTie();
      const command = [...bothStreams, ...(await tieProbe), process.execPath, ...nodeOptions, entry, ...argv];
      const mask = (await options.maskOf?.(idJob)) ?? ((text: string) => text);
      const memory = await watchMemory(heapBytes);
      const log = await options.openLog(idJob, epoch);
      const mark = randomBytes(16).toString('hex');
      try {
        const child = spawn(command[0]!, command.slice(1), {
          cwd: options.workingDirectory,
          env: { ...baseEnvironment(), ...options.environment, ...environment, [markVariable]: mark },
          // The open pipe to stdin closes when this process dies, however it dies.
          stdio: ['pipe', 'pipe', 'ignore'],
          detached: true,
          shell: false,
        });
        await spawned(child);
        guard.watch(child.pid!, mark);
        const memoryBytes = (options.memoryBytes ?? Infinity) + (heapBytes ?? 0);
        return watch(child, { guard, mark, log, mask, memory, memoryBytes });
      } catch (error) {
        // why the process did not start is the fault to tell
        await log.close().catch(() => undefined);
        throw error;
      }
    },
  };
}

/** What every child process gets of this one's environment. */
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

interface Watched {
  readonly guard: ProcessGuard;
  readonly mark: string;
  readonly log: LogAppender;
  readonly mask: LogMask;
  readonly memory: MemoryWatch;
  readonly memoryBytes: number;
}

function watch(child: ChildProcess, { guard, mark, log, mask, memory, memoryBytes }: Watched): ToolProcess {
  const groupId = child.pid!;
  let exited = false;
  let killed = false;
  let killTimer: NodeJS.Timeout | null = null;
  // A child that has closed its stdin is no fault of ours
  child.stdin?.on('error', () => undefined);
  child.on('error', () => undefined);
  const stop = (graceMs: number): void => {
    // After the exit the number may belong to someone else
    if (exited) return;
    if (graceMs <= 0) {
      killed = true;
      signalGroup(groupId, 'SIGKILL');
    } else if (killTimer === null) {
      signalGroup(groupId, 'SIGTERM');
      killTimer = setTimeout(() => {
        if (!exited) stop(0);
      }, graceMs);
    }
  };
  const limit = limitMemory(groupId, memoryBytes, () => stop(0));
  const output = child.stdout!;
  const seen: LogMask = (text) => {
    memory.see(text);
    return mask(text);
  };
  const logged = copyToLog(output, log, seen, () => stop(0));
  const gone = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('exit', (code, signal) => {
      exited = true;
      limit.stop();
      if (killTimer !== null) clearTimeout(killTimer);
      child.stdin?.destroy();
      endGroup(groupId, mark, disappearMs).then(() => resolve({ code, signal }), reject);
    });
  });
  const ended = gone.then(async (end) => {
    guard.release(groupId);
    // Whoever still holds the pipe is none of ours
    const late = setTimeout(() => output.destroy(), lastOutputMs);
    const logFault = await logged;
    clearTimeout(late);
    const outOfMemory = killed ? null : await memory.cause(end);
    return { ...end, logFault, outOfMemory, overLimit: limit.over() };
  });
  return { ended, stop };
}

/** `setpriv --pdeathsig KILL`, where it is there and can do that: the kernel then ends the tool with this process, kill -9 included. */
export async function findTie(): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  const tie = ['setpriv', '--pdeathsig', 'KILL', '--'];
  const [program = '', ...args] = tie;
  return promisify(execFile)(program, [...args, 'true'], { env: baseEnvironment() }).then(
    () => tie,
    () => [],
  );
}
