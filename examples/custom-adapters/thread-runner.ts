/**
 * A runner that starts each tool in a thread of this process. It spares the start of a process; a tool that needs too much memory ends
 * alone (`resourceLimits`), but one that crashes in native code ends the host with it.
 */
import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { ProcessRunner, ToolEnd, ToolRun } from 'conversion-job-service';

export interface ThreadRunnerOptions {
  /** memory for the JavaScript objects of each tool */
  readonly maxOldGenerationSizeMb?: number;
}

export function createThreadRunner(options: ThreadRunnerOptions = {}): ProcessRunner {
  const running = new Set<Worker>();
  return {
    async start(run) {
      const thread = new Worker(run.entry, {
        argv: [...run.argv],
        env: variablesOf(run),
        stdout: true,
        stderr: true,
        resourceLimits: options,
      });
      running.add(thread);
      let isStopped = false;
      const streams = [thread.stdout, thread.stderr].map((stream) => handOn(stream, run.output));
      const ended = endOf(thread).then(async ({ code, error }): Promise<ToolEnd> => {
        running.delete(thread);
        await Promise.all(streams);
        if (isStopped) return { code: null, signal: 'SIGKILL' };
        if (error === null) return { code };
        const isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        await run.output.append(new TextEncoder().encode(`${error.stack ?? error.message}\n`));
        return { code, outOfMemory: isOutOfMemory ? error.message : null };
      });
      return {
        ended,
        stop() {
          isStopped ||= running.has(thread);
          void thread.terminate();
        },
      };
    },

    async close() {
      await Promise.all([...running].map((thread) => thread.terminate()));
    },
  };
}

/** Returns the variables that a tool gets: those of the run, and a few of this process. */
function variablesOf({ environment }: ToolRun): Record<string, string> {
  const { PATH = '', HOME = '/', LANG = 'C.UTF-8', TZ } = process.env;
  return { PATH, HOME, LANG, ...(TZ === undefined ? {} : { TZ }), ...environment };
}

/** Reads no more of the output before the service has taken what was read. */
async function handOn(stream: Readable, output: ToolRun['output']): Promise<void> {
  let isKept = true;
  for await (const chunk of stream as AsyncIterable<Uint8Array>)
    // the service stops a run whose output it cannot keep
    if (isKept) await output.append(chunk).catch(() => (isKept = false));
}

/** `error`: the exception that ended the thread; null: none did. */
function endOf(
  thread: Worker,
): Promise<{ readonly code: number; readonly error: NodeJS.ErrnoException | null }> {
  let error: NodeJS.ErrnoException | null = null;
  return new Promise((resolve) => {
    thread.on('error', (thrown: NodeJS.ErrnoException) => (error = thrown));
    thread.on('exit', (code) => resolve({ code, error }));
  });
}
