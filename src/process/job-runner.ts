/** Runs the tools of jobs by a `ProcessRunner`: gives each run its module and variables, and writes its output to the log of its job. */
import type { LogAppender, LogStore } from '../ports/files.ts';
import type { JobRunner, ProcessEnd, ProcessRunner, ToolOutput, ToolProcess } from '../ports/processes.ts';

/** Takes secrets out of a text whose characters are the bytes of the log (ISO-8859-1), so that all other bytes stay as they are. */
export type LogMask = (text: string) => string;

/** The objects that one run needs, made before it starts. */
export interface PreparedRun {
  /** removes the secrets of the job from its log; absent: there are none */
  readonly mask?: LogMask;
  /** variables beside those of the command */
  readonly environment?: Readonly<Record<string, string>>;
  /** called when the run has ended, or could not be started */
  readonly release?: () => Promise<void>;
}

export interface JobRunnerOptions {
  readonly runner: ProcessRunner;
  /** absolute path of the module that is a tool */
  readonly entryOf: (tool: string) => string;
  readonly openLog: LogStore['openLog'];
  /** variables for every tool */
  readonly environment: Readonly<Record<string, string>>;
  /** A rejection keeps the tool from starting. */
  readonly prepare?: (attempt: { readonly idJob: number; readonly epoch: number }) => Promise<PreparedRun>;
}

export function createJobRunner({
  runner,
  entryOf,
  openLog,
  environment,
  prepare,
}: JobRunnerOptions): JobRunner {
  const started = async (
    command: Parameters<JobRunner['start']>[0],
    prepared: PreparedRun,
  ): Promise<ToolProcess<ProcessEnd>> => {
    const log = await openLog(command.idJob, command.epoch);
    const output = createMaskedOutput(log, prepared.mask ?? ((text) => text));
    let process: ToolProcess;
    try {
      process = await runner.start({
        ...command,
        entry: entryOf(command.tool),
        environment: { ...environment, ...command.environment, ...prepared.environment },
        output,
      });
    } catch (error) {
      // report why the process did not start
      await output.close();
      throw error;
    }
    void output.whenFailed.then(() => process.stop(0));
    const ended = process.ended.then(
      async ({ code, signal = null, outOfMemory = null, overLimit = null }) => ({
        code,
        signal,
        outOfMemory,
        overLimit,
        logFault: await output.close(),
      }),
      async (error: unknown) => {
        await output.close();
        throw error;
      },
    );
    return { ended, stop: (graceMs) => process.stop(graceMs) };
  };

  return {
    async start(command) {
      const prepared = (await prepare?.(command)) ?? {};
      const release = async (): Promise<void> => prepared.release?.();
      try {
        const { ended, stop } = await started(command, prepared);
        return { ended: ended.finally(release), stop };
      } catch (error) {
        await release();
        throw error;
      }
    },
    async note({ idJob, epoch }, line) {
      const log = await openLog(idJob, epoch);
      try {
        await log.append(new TextEncoder().encode(`${line}\n`));
      } finally {
        await log.close();
      }
    },
    close: () => runner.close(),
  };
}

interface MaskedOutput extends ToolOutput {
  /** Writes the rest, and closes the log. Returns the error code of the first write that failed; null: all was written. */
  close(): Promise<string | null>;
  /** Resolves when a write fails, never otherwise. */
  readonly whenFailed: Promise<void>;
}

/** A line is held back until it ends, so that no secret slips through in two writes; longer ones are cut at a blank. */
const longestLineBytes = 256 * 1024;

function createMaskedOutput(log: LogAppender, mask: LogMask): MaskedOutput {
  const failed = Promise.withResolvers<void>();
  let rest: Buffer = Buffer.alloc(0);
  let fault: unknown = null;
  let isClosed = false;
  // a runner need not wait for a write before the next one
  let writing: Promise<void> = Promise.resolve();

  const write = async (bytes: Buffer): Promise<void> => {
    if (fault !== null) throw fault;
    if (bytes.length === 0) return;
    try {
      await log.append(Buffer.from(mask(bytes.toString('latin1')), 'latin1'));
    } catch (error) {
      fault = error;
      failed.resolve();
      throw error;
    }
  };
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const result = writing.then(work);
    // the caller of this write gets its fault; the next write waits all the same
    writing = result.catch(() => undefined);
    return result;
  };

  return {
    whenFailed: failed.promise,
    append(chunk) {
      // output after the end is nobody's
      if (isClosed) return Promise.resolve();
      const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
      const end = lineEnd(bytes);
      rest = bytes.subarray(end);
      return inTurn(() => write(bytes.subarray(0, end)));
    },
    async close() {
      isClosed = true;
      // the fault is the result
      await inTurn(() => write(rest)).catch(() => undefined);
      await log.close().catch((error: unknown) => void (fault ??= error));
      return fault === null ? null : faultOf(fault);
    },
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
