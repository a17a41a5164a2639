/** Tunes how soon a process returns unused memory. */
import { setFlagsFromString } from 'node:v8';

/** number of tables of a model above which garbage from decoding it exceeds the rest of a job's memory */
const manyTables = 1000;

/**
 * Tunes the heap of a process that has such a model: the old generation is collected when it has grown by half (V8 otherwise waits
 * until it has grown up to fourfold), and the size of the young generation stays as it is.
 */
export function keepHeapSmall(tableCount: number): void {
  if (tableCount < manyTables) return;
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--semi-space-growth-factor=1');
}
