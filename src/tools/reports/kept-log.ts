/** The log of a job that a person runs: written beside the terminal to the place where the service reads logs of jobs. */
import type { LogAppender } from '../../ports/files.ts';

export interface KeptLog {
  /** The line is written soon, behind those before it. */
  write(line: string): void;
  /** Resolves when all lines are written. The first fault is passed to `onFault`, and ends the log. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function keepLog(open: () => Promise<LogAppender>, onFault: (error: unknown) => void): KeptLog {
  const encoder = new TextEncoder();
  let log: LogAppender | null = null;
  let failed = false;
  let waiting: string[] = [];
  let writing: Promise<void> = Promise.resolve();
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    if (failed) return;
    try {
      await work();
    } catch (error) {
      failed = true;
      onFault(error);
    }
  };
  const write = async (): Promise<void> => {
    const lines = waiting;
    waiting = [];
    if (lines.length === 0) return;
    log ??= await open();
    await log.append(encoder.encode(lines.map((line) => `${line}\n`).join('')));
  };
  return {
    write(line) {
      waiting.push(line);
      if (waiting.length === 1) writing = writing.then(() => guarded(write));
    },
    flush: () => writing,
    async close() {
      await writing;
      await guarded(async () => log?.close());
    },
  };
}
