/** Ends a job that writes files into its organisation's folder if they take more of the disk than allowed. */
import type { DiskSpace } from '../../files/disk-space.ts';
import { AppError } from '../../errors.ts';

/** between two looks at the disk while the job runs */
const everyMs = 10_000;

export interface DiskWatch {
  /** Called before a file is written there. AppError `payload_too_large` if no room is left. */
  begin(): Promise<void>;
  /** Called now and then: throws the result of the last check of the disk, and begins the next check. */
  goOn(): void;
}

export function watchDisk(space: Pick<DiskSpace, 'check'>, idOrg: number): DiskWatch {
  let lookedMs: number | null = null;
  let full: AppError | null = null;

  async function look(): Promise<void> {
    lookedMs = performance.now();
    await space.check(idOrg, 0);
  }

  return {
    begin: look,
    goOn() {
      if (full !== null) throw full;
      if (lookedMs === null || performance.now() - lookedMs < everyMs) return;
      look().catch((error: unknown) => {
        if (error instanceof AppError) full = error;
      });
    },
  };
}
