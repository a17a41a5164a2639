/** The program of the WebAssembly validator's thread: answers each document with its Validity. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSet, type Libxml2Opened } from '../../process/libxml2.ts';
import type { StandaloneXsdSet } from '../../engine/xsd/read/standalone-set.ts';
import type { Validity } from '../../ports/processes.ts';

function post(message: Libxml2Opened | Validity): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort!.postMessage(message);
}

void openSet(workerData as StandaloneXsdSet).then((opened) => {
  if ('faults' in opened) return post(opened);
  parentPort!.on('message', (bytes: Uint8Array) => post(opened.check(bytes)));
  post({ opened: true });
});
