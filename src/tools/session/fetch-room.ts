/**
 * The room that the inputs of a job may take on this machine while they are fetched: a server may send for ever, and all organisations
 * share the disk.
 */
import { statfsSync } from 'node:fs';
import { AppError } from '../../errors.ts';

/** bytes between two looks at the disk */
const everyBytes = 64 * 1024 * 1024;
/** Space that stays free: the metadata database may be on the same disk. */
const leastFree = 1024 ** 3;
const leastFreePart = 0.05;

export interface FetchRoom {
  /** folder on the file system that files are fetched to */
  readonly directory: string;
  /** `svc.limits.disk`; `Number.MAX_SAFE_INTEGER`: no limit */
  readonly mostBytes: number;
  /** bytes of the file system that are free, and that it has */
  readonly room?: (directory: string) => { readonly free: number; readonly all: number };
}

/**
 * Returns a function to call with the number of received bytes. It throws AppErrors: `unprocessable_input` past the limit,
 * `service_unavailable` if the disk is nearly full.
 */
export function createFetchRoom({ directory, mostBytes, room = roomOf }: FetchRoom): (count: number) => void {
  let bytes = 0;
  let next = everyBytes;
  return (count) => {
    bytes += count;
    if (bytes > mostBytes)
      throw new AppError(
        'unprocessable_input',
        `the inputs that lie elsewhere have more than ${mostBytes} bytes (svc.limits.disk): load them in several jobs`,
      );
    if (bytes < next) return;
    next = bytes + everyBytes;
    const { free, all } = room(directory);
    const least = Math.max(leastFree, all * leastFreePart);
    if (free < least)
      throw new AppError(
        'service_unavailable',
        `after ${bytes} bytes of inputs that lie elsewhere, the disk of the service has only ${free} bytes left, and ${Math.round(least)} stay free: load them in several jobs, or make room`,
      );
  };
}

function roomOf(directory: string): { readonly free: number; readonly all: number } {
  const { bavail, blocks, bsize } = statfsSync(directory);
  return { free: bavail * bsize, all: blocks * bsize };
}
