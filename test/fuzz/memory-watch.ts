/** Memory of this process between steps: what one input takes, and what stays after many. */
import { collectGarbage } from '../support/garbage.ts';

const megabyte = 1024 * 1024;
/** what may stay: caches of compiled code, buffers that are used again */
const maxKept = 512 * megabyte;

export interface MemoryWatch {
  /** What the step that has just ended took too much of; null when it is fine. */
  complaint(): string | null;
}

/** `maxPerStep`: far more than any input of a fuzzer may take. */
export function createMemoryWatch(maxPerStep: number = 768 * megabyte): MemoryWatch {
  let before = process.memoryUsage.rss();
  return {
    complaint() {
      const now = process.memoryUsage.rss();
      const taken = now - before;
      before = now;
      if (taken > maxPerStep) return `one input takes ${Math.round(taken / megabyte)} MB`;
      if (now < 2 * maxKept) return null;
      collectGarbage();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      before = process.memoryUsage.rss();
      const kept = heapUsed + arrayBuffers;
      return kept > maxKept ? `${Math.round(kept / megabyte)} MB are kept after the inputs so far` : null;
    },
  };
}
