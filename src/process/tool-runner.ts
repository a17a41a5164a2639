/** Tools as child processes of Node: an argument vector, a process group of their own, and an end together with their parent. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessRunner, ToolEnd, ToolOutput, ToolProcess } from '../ports/processes.ts';
import {
  limitMemory,
  residentBytes,
  type MemoryWatch,
  endGroup,
  hasCompany,
  signalGroup,
  type ProcessGuard,
  createProcessGuard,
  watchMemory,
} from './group.ts';
import { waitingLine, type NextRun, markVariable, waitsVariable } from './successive-runs.ts';
import { PassThrough, type Readable } from 'node:stream';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

// A process of a tool. It does one run, and further ones if it may wait; each run has an output and an end.

/** Time for the rest of a killed group to disappear, after which it is no longer awaited. */
const disappearMs = 5000;
/** Time for which output may still arrive after every process is gone. */
const lastOutputMs = 2000;
/** Time for a process without further runs to end by itself. */
const leaveMs = 1000;
/** Share of a run's memory that earlier runs may have left filled. With more, the run would be ended for memory that is not its own. */
const maxLeft = 1 / 4;

/** The objects that take and observe the output of one run. */
interface RunWatch {
  readonly output: ToolOutput;
  readonly memory: MemoryWatch;
  readonly memoryBytes: number;
}

interface RunningTool {
  /** The run that the process begins with. */
  first(watch: RunWatch): ToolProcess;
  /** A further one, of a process that waits. */
  next(run: NextRun, watch: RunWatch): ToolProcess;
  /** Ends the process with all processes that it started. Resolves when it is gone. */
  leave(): Promise<void>;
}

interface RunningToolOptions {
  readonly guard: ProcessGuard;
  readonly mark: string;
  /** a run has completed, and the process would do another; false: it is to leave */
  readonly onWaiting: (tool: RunningTool) => boolean;
  /** called when it has ended and accepts no further run */
  readonly onGone: (tool: RunningTool) => void;
}

interface Run {
  readonly watch: RunWatch;
  /** the process has done others before */
  readonly follows: boolean;
  readonly flow: OutputFlow;
  /** resolves when all output was handed on; false: some of it could not be kept */
  readonly copied: Promise<boolean>;
  readonly limit: ReturnType<typeof limitMemory>;
  readonly settled: PromiseWithResolvers<ToolEnd>;
  /** asked to end, or killed for exceeding a limit */
  stopped: 'no' | 'asked' | 'killed';
  killTimer: NodeJS.Timeout | null;
}

/** `child`: leads a process group of its own. */
function watchTool(child: ChildProcess, options: RunningToolOptions): RunningTool {
  const { guard, mark } = options;
  const groupId = child.pid!;
  const stdout = child.stdout!;
  const stdin = child.stdin!;
  let exited = false;
  let current: Run | null = null;
  guard.watch(groupId, mark);
  // A child that has closed its stdin is no fault of ours
  stdin.on('error', () => undefined);
  child.on('error', () => undefined);

  const output = splitOutput(stdout, Buffer.from(waitingLine(mark)), () => {
    const run = current;
    if (run === null) return;
    current = null;
    endWatch(run);
    completed(run).then(run.settled.resolve, run.settled.reject);
  });

  const gone = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('exit', (code, signal) => {
      exited = true;
      options.onGone(tool);
      if (current !== null) endWatch(current);
      stdin.destroy();
      endGroup(groupId, mark, disappearMs).then(() => resolve({ code, signal }), reject);
    });
  });
  const buried = gone.then(
    (end) => {
      guard.release(groupId);
      const run = current;
      current = null;
      if (run !== null) lastEnd(run, end).then(run.settled.resolve, run.settled.reject);
    },
    (error: unknown) => current?.settled.reject(error as Error),
  );

  function endWatch(run: Run): void {
    run.limit.stop();
    if (run.killTimer !== null) clearTimeout(run.killTimer);
  }

  /** The process is there, and waits. */
  async function completed(run: Run): Promise<ToolEnd> {
    const isKept = await run.copied;
    const mayWait =
      run.stopped === 'no' &&
      isKept &&
      !exited &&
      (await residentBytes(groupId)) <= run.watch.memoryBytes * maxLeft &&
      !(await hasCompany(groupId, mark)) &&
      !exited;
    if (!mayWait || !options.onWaiting(tool)) await tool.leave();
    return { code: 0 };
  }

  async function lastEnd(
    run: Run,
    end: { readonly code: number | null; readonly signal: string | null },
  ): Promise<ToolEnd> {
    // if no more output comes, only a foreign process can still hold the pipe; a slow log may have more to take
    const late = setInterval(() => {
      if (!run.flow.moves()) stdout.destroy();
    }, lastOutputMs);
    await run.copied;
    clearInterval(late);
    const over = run.limit.over();
    // earlier runs may have left part of it: in a process of its own the run may have enough memory
    if (over !== null && run.follows) return { ...end, outOfMemory: over };
    const outOfMemory = run.stopped === 'killed' ? null : await run.watch.memory.cause(end);
    return { ...end, outOfMemory, overLimit: over };
  }

  function begin(watch: RunWatch, follows: boolean): ToolProcess {
    const stop = (graceMs: number): void => {
      // after its end the process may do another run, and after its exit the number may belong to another process
      if (exited || current !== run) return;
      if (graceMs <= 0) {
        run.stopped = 'killed';
        signalGroup(groupId, 'SIGKILL');
      } else if (run.stopped === 'no') {
        run.stopped = 'asked';
        signalGroup(groupId, 'SIGTERM');
        run.killTimer = setTimeout(() => stop(0), graceMs);
      }
    };
    const flow = createOutputFlow();
    const run: Run = {
      watch,
      flow,
      follows,
      copied: copyOutput(output.begin(), watch, flow),
      limit: limitMemory(groupId, watch.memoryBytes, () => stop(0)),
      settled: Promise.withResolvers(),
      stopped: 'no',
      killTimer: null,
    };
    current = run;
    return { ended: run.settled.promise, stop };
  }

  const tool: RunningTool = {
    first: (watch) => begin(watch, false),
    next(run, watch) {
      const begun = begin(watch, true);
      stdin.write(`${JSON.stringify(run)}\n`);
      return begun;
    },
    async leave() {
      stdin.end();
      await Promise.race([buried, delay(leaveMs, undefined, { ref: false })]);
      if (!exited) signalGroup(groupId, 'SIGKILL');
      await buried;
    },
  };
  return tool;
}

// The output of a process that does one run after the other, each run's apart.

interface RunOutput {
  /** Starts a run: output from now on, until the process waits or ends, belongs to it. */
  begin(): Readable;
}

/** `ending`: the text that ends a run, not part of its output; then `onEnd` is called. Output between two runs is discarded. */
export function splitOutput(output: Readable, ending: Buffer, onEnd: () => void): RunOutput {
  let current: PassThrough | null = null;
  let rest: Buffer = Buffer.alloc(0);
  const write = (bytes: Buffer): void => {
    if (bytes.length === 0 || current === null || current.write(bytes)) return;
    output.pause();
    current.once('drain', () => output.resume());
  };
  const end = (): void => {
    current?.end();
    current = null;
    // a finished run never signals that there is room, and the next run must not wait for it
    output.resume();
  };
  output.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const at = bytes.indexOf(ending);
    if (at !== -1) {
      write(bytes.subarray(0, at));
      rest = Buffer.alloc(0);
      end();
      onEnd();
      return;
    }
    const kept = beginningAtEnd(bytes, ending);
    write(bytes.subarray(0, bytes.length - kept));
    rest = bytes.subarray(bytes.length - kept);
  });
  const close = (): void => {
    write(rest);
    rest = Buffer.alloc(0);
    end();
  };
  output.on('end', close).on('close', close).on('error', close);
  return {
    begin() {
      const begun = new PassThrough();
      current = begun;
      if (output.destroyed || output.readableEnded) end();
      return begun;
    },
  };
}

/** Returns how many of the last bytes may be the beginning of the ending. */
function beginningAtEnd(bytes: Buffer, ending: Buffer): number {
  for (let length = Math.min(ending.length - 1, bytes.length); length > 0; length -= 1)
    if (ending.subarray(0, length).equals(bytes.subarray(bytes.length - length))) return length;
  return 0;
}

/** Characters that a message about memory may have in the piece before the current one. */
const seenBefore = 200;

/** The output of a run on its way. */
interface OutputFlow {
  /** Called with each piece; resolves when it was taken. */
  pass(taken: Promise<void>): Promise<void>;
  /** Whether a piece is being taken, or was since the last call. */
  moves(): boolean;
}

function createOutputFlow(): OutputFlow {
  let underWay = 0;
  let hasMoved = false;
  return {
    async pass(taken) {
      underWay += 1;
      hasMoved = true;
      try {
        await taken;
      } finally {
        underWay -= 1;
      }
    },
    moves() {
      const moved = hasMoved || underWay > 0;
      hasMoved = false;
      return moved;
    },
  };
}

/** Hands the output of a run on. Resolves at its end; false if some of it could not be kept, after which the rest is discarded. */
async function copyOutput(
  output: Readable,
  { output: to, memory }: RunWatch,
  flow: OutputFlow,
): Promise<boolean> {
  let before = '';
  let isKept = true;
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      const text = before + chunk.toString('latin1');
      memory.see(text);
      before = text.slice(-seenBefore);
      if (isKept) await flow.pass(to.append(chunk)).catch(() => void (isKept = false));
    }
  } catch {
    // given up: only the output so far is handed on
  }
  return isKept;
}

// The runner.

export interface ProcessRunnerOptions {
  readonly workingDirectory: string;
  /** memory for a tool's objects of JavaScript; null: as Node has it */
  readonly heapBytes?: number | null;
  /** memory that a tool may use altogether, beside `heapBytes`; absent: no limit */
  readonly memoryBytes?: number;
  /** processes that wait for a further run, at most, and how long each does; absent: none */
  readonly waiting?: { readonly most: number; readonly waitMs: number };
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
  let runningCount = 0;
  const counted = (run: ToolProcess): ToolProcess => {
    runningCount += 1;
    const end = (): void => void (runningCount -= 1);
    run.ended.then(end, end);
    return run;
  };
  const heapBytes = options.heapBytes ?? null;
  const memoryBytes = (options.memoryBytes ?? Infinity) + (heapBytes ?? 0);
  const nodeOptions = [youngSpace];
  if (heapBytes !== null)
    nodeOptions.push(`--max-old-space-size=${Math.max(1, Math.floor(heapBytes / 1024 ** 2))}`);

  return {
    start: async ({ tool, entry, argv, environment, idOrg, output }) => {
      const memory = await watchMemory(heapBytes);
      tieProbe ??= findTie();
      const tie = await tieProbe;
      const watch: RunWatch = { output, memory, memoryBytes };
      // a process is never reused for another organisation, because it may hold data of the first one
      const kind = idOrg === undefined ? null : `${idOrg} ${tool}`;
      const ready = kind === null ? null : waiting.take(kind);
      if (ready !== null) return counted(ready.next({ argv, environment }, watch));
      waiting.makeRoom(runningCount);
      const command = [...bothStreams, ...tie, process.execPath, ...nodeOptions, entry, ...argv];
      const mark = randomBytes(16).toString('hex');
      const mayWait = kind !== null && most > 0 ? { [waitsVariable]: '1' } : {};
      const child = spawn(command[0]!, command.slice(1), {
        cwd: options.workingDirectory,
        env: { ...baseEnvironment(), ...environment, ...mayWait, [markVariable]: mark },
        // The open pipe to stdin closes when this process dies, however it dies.
        stdio: ['pipe', 'pipe', 'ignore'],
        detached: true,
        shell: false,
      });
      await spawned(child);
      const running = watchTool(child, {
        guard,
        mark,
        onWaiting: (waits) => kind !== null && waiting.offer(kind, waits),
        onGone: waiting.forget,
      });
      return counted(running.first(watch));
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
  /** Stops keeping idle processes. Resolves when the waiting ones have ended. */
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
