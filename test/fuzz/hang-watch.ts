/** Ends the process when one step takes far too long: what is busy cannot say so itself. */
import { Worker } from 'node:worker_threads';

export interface HangWatch {
  /** told before each step */
  onStep(step: number): void;
  close(): Promise<unknown>;
}

const watching = `
const { parentPort, workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const { steps, ms, advice } = workerData;
let last = -1;
let since = performance.now();
setInterval(() => {
  const step = Atomics.load(steps, 0);
  if (step !== last) {
    last = step;
    since = performance.now();
  } else if (performance.now() - since > ms) {
    writeSync(1, 'step ' + step + ' takes more than ' + ms + ' ms; again: ' + advice + step + '\\n');
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2000);
  }
}, 1000);
`;

/** `advice`: the command that repeats a step, up to its number. */
export function createHangWatch(ms: number, advice: string): HangWatch {
  const steps = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(watching, { eval: true, workerData: { steps, ms, advice } });
  worker.unref();
  return { onStep: (step) => void Atomics.store(steps, 0, step), close: () => worker.terminate() };
}
