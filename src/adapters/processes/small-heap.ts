/** How soon memory is given back that a job has done with. */
import { setFlagsFromString } from 'node:v8';

/** tables of a model from which on what was decoded of it, and is done with, is more than all else that a job holds */
const manyTables = 1000;

/**
 * For a process that has such a model from now on: what is old is collected when it is half as much again as it was (V8 waits until it is up
 * to four times as much), and the room for what is young stays as it is.
 */
export function keepHeapSmall(tableCount: number): void {
  if (tableCount < manyTables) return;
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--semi-space-growth-factor=1');
}
