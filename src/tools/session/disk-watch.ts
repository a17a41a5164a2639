/** A job that writes files into its organisation's folder ends where they take more of the disk than they may. */
import type { DiskSpace } from '../../files/disk-space.ts';
import { AppError } from '../../errors.ts';

/** between two looks at the disk while the job runs */
const everyMs = 10_000;

export interface DiskWatch {
  /** Before a file is written there. AppError `payload_too_large` where no room is left. */
  begin(): Promise<void>;
  /** To be called now and then: throws what a look at the disk has found; the next look is begun. */
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
