/** Reports of a run to its job record: those in quick succession are written together, as each write waits for a disk. */
import type { JobProgress } from '../../ports/stores/jobs.ts';

/** Longest delay of a run's record. */
const delayMs = 250;

export interface JobReports {
  /** Adds progress, which is written soon, together with later progress until then. */
  add(progress: JobProgress): void;
  /** Resolves when the record holds all reported progress; throws the fault of any write since the last call. */
  flush(): Promise<void>;
}

export function createJobReports(write: (progress: JobProgress) => Promise<unknown>): JobReports {
  let pending: JobProgress | null = null;
  let timer: NodeJS.Timeout | undefined;
  let written: Promise<unknown> = Promise.resolve();

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    if (pending === null) return;
    const progress = pending;
    pending = null;
    written = written.then(() => write(progress));
    // flush reports the fault
    written.catch(() => undefined);
  }

  return {
    add(progress) {
      pending = { ...pending, ...progress };
      timer ??= setTimeout(send, delayMs).unref();
    },
    async flush() {
      send();
      const all = written;
      written = Promise.resolve();
      await all;
    },
  };
}
