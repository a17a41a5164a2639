/** Ctrl-C and its kin for a tool that a person runs: the first ends the job in order, the second the process at once. */
import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Time within which a second Ctrl-C counts as the same one, because npm or a launcher may pass it on. */
const repeatMs = 500;

export interface Interruption {
  /** aborted by the first signal; children end with it */
  readonly signal: AbortSignal;
  /** Rejects with `Interrupted` at the first signal. */
  readonly whenInterrupted: Promise<never>;
  /** Interrupts the run, like a signal. */
  interrupt(why: string): void;
  /** reason of the interruption, and the exit code */
  readonly why: string;
  readonly exitCode: number;
  /** Signals end the process again as they do elsewhere. */
  release(): void;
}

export class Interrupted extends Error {}

export function watchSignals(): Interruption {
  const abort = new AbortController();
  const interrupted = Promise.withResolvers<never>();
  // a run that ends before anybody waits for it was not interrupted
  interrupted.promise.catch(() => undefined);
  let since = 0;
  let why = 'interrupted';
  let exitCode = 128 + constants.signals.SIGTERM;
  const interrupt = (reason: string): void => {
    if (abort.signal.aborted) return;
    why = reason;
    since = performance.now();
    abort.abort(new Interrupted(reason));
    interrupted.reject(new Interrupted(reason));
  };
  const take = (signal: NodeJS.Signals): void => {
    if (abort.signal.aborted && performance.now() - since > repeatMs)
      process.exit(128 + constants.signals[signal]);
    if (!abort.signal.aborted) exitCode = 128 + constants.signals[signal];
    interrupt('interrupted');
  };
  for (const signal of signals) process.on(signal, take);
  return {
    signal: abort.signal,
    whenInterrupted: interrupted.promise,
    interrupt,
    get why() {
      return why;
    },
    get exitCode() {
      return exitCode;
    },
    release: () => {
      for (const signal of signals) process.off(signal, take);
    },
  };
}
