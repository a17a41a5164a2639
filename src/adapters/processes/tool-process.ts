/** A process of a tool: it does a run, and further ones if it may wait; each has a log and an end. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { LogAppender } from '../../ports/files.ts';
import type { ProcessEnd, ToolProcess } from '../../ports/processes.ts';
import {
  limitMemory,
  residentBytes,
  type MemoryWatch,
  endGroup,
  hasCompany,
  signalGroup,
} from './process-group.ts';
import type { ProcessGuard } from './process-guard.ts';
import { waitingLine, type NextRun } from './successive-runs.ts';
import { PassThrough, type Readable } from 'node:stream';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { logName } from '../local-files/file-store.ts';

/** Time for the rest of a killed group to disappear, after which it is no longer awaited. */
const disappearMs = 5000;
/** Time for which output may still arrive after every process is gone. */
const lastOutputMs = 2000;
/** Time for a process without further runs to end by itself. */
const leaveMs = 1000;
/** Share of a run's memory that earlier runs may have left filled. With more, the run would be ended for memory that is not its own. */
const mostLeft = 1 / 4;

/** The objects that observe one run. */
export interface RunWatch {
  readonly log: LogAppender;
  readonly mask: LogMask;
  readonly memory: MemoryWatch;
  readonly memoryBytes: number;
}

export interface RunningTool {
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
  readonly logged: Promise<string | null>;
  readonly limit: ReturnType<typeof limitMemory>;
  readonly settled: PromiseWithResolvers<ProcessEnd>;
  /** asked to end, or killed for exceeding a limit */
  stopped: 'no' | 'asked' | 'killed';
  killTimer: NodeJS.Timeout | null;
}

/** `child`: leads a process group of its own. */
export function watchTool(child: ChildProcess, options: RunningToolOptions): RunningTool {
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
  async function completed(run: Run): Promise<ProcessEnd> {
    const logFault = await run.logged;
    const mayWait =
      run.stopped === 'no' &&
      logFault === null &&
      !exited &&
      (await residentBytes(groupId)) <= run.watch.memoryBytes * mostLeft &&
      !(await hasCompany(groupId, mark)) &&
      !exited;
    if (!mayWait || !options.onWaiting(tool)) await tool.leave();
    return { code: 0, signal: null, logFault, outOfMemory: null, overLimit: null };
  }

  async function lastEnd(
    run: Run,
    end: { readonly code: number | null; readonly signal: string | null },
  ): Promise<ProcessEnd> {
    // only a foreign process can still hold the pipe
    const late = setTimeout(() => stdout.destroy(), lastOutputMs);
    const logFault = await run.logged;
    clearTimeout(late);
    const over = run.limit.over();
    // earlier runs may have left part of it: in a process of its own the run may have enough memory
    if (over !== null && run.follows) return { ...end, logFault, outOfMemory: over, overLimit: null };
    const outOfMemory = run.stopped === 'killed' ? null : await run.watch.memory.cause(end);
    return { ...end, logFault, outOfMemory, overLimit: over };
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
    const seen: LogMask = (text) => {
      watch.memory.see(text);
      return watch.mask(text);
    };
    const run: Run = {
      watch,
      follows,
      logged: copyToLog(output.begin(), watch.log, seen, () => stop(0)),
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

// Copies a process's output to its job's log: whole lines, masked, in the order of writing.

/** Takes secrets out of a text whose characters are the bytes of the log (ISO-8859-1), so that all other bytes stay as they are. */
export type LogMask = (text: string) => string;

/** A line is held back until it ends, so that no secret slips through in two writes; longer ones are cut at a blank. */
const longestLineBytes = 256 * 1024;

/** Resolves at the end of the output; returns the error code if the log could not be written, after calling `onFault`. */
async function copyToLog(
  output: Readable,
  log: LogAppender,
  mask: LogMask,
  onFault: () => void,
): Promise<string | null> {
  let rest: Buffer = Buffer.alloc(0);
  let fault: string | null = null;
  const write = async (bytes: Buffer): Promise<void> => {
    if (bytes.length === 0 || fault !== null) return;
    try {
      await log.append(Buffer.from(mask(bytes.toString('latin1')), 'latin1'));
    } catch (error) {
      fault = faultOf(error);
      onFault();
    }
  };
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = lineEnd(bytes);
      rest = bytes.subarray(end);
      await write(bytes.subarray(0, end));
    }
  } catch {
    // given up: only the output so far is written
  }
  await write(rest);
  try {
    await log.close();
  } catch (error) {
    fault ??= faultOf(error);
  }
  return fault;
}

/** `job-<id>.log` in a folder, made when missing; for its owner alone, and never a link. */
export async function openLocalLog(logsDirectory: string, idJob: number): Promise<LogAppender> {
  await mkdir(logsDirectory, { recursive: true, mode: 0o700 });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  const file = await open(join(logsDirectory, logName(idJob)), flags, 0o600);
  return {
    append: (bytes) => file.appendFile(bytes),
    close: () => file.close(),
  };
}

function faultOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : String(error);
}

function lineEnd(bytes: Buffer): number {
  const end = Math.max(bytes.lastIndexOf(0x0a), bytes.lastIndexOf(0x0d)) + 1;
  if (bytes.length - end < longestLineBytes) return end;
  const blank = bytes.lastIndexOf(0x20) + 1;
  return blank > end ? blank : bytes.length;
}
