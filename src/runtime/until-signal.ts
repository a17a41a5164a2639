/** Runs a process that serves until it is asked to end. */
import { AppError } from '../errors.ts';
import { ConfigError } from '../config/wrong-settings.ts';

const repeatMs = 1000;

/**
 * Starts, waits for SIGTERM or SIGINT, closes, exits 0; a second signal, a second or more later, exits at once. Exits 1, with the
 * reason in one line each, when it cannot start.
 */
export async function runUntilSignal(start: () => Promise<{ close(): Promise<void> }>): Promise<void> {
  const signalled = new Promise<void>((resolve) => {
    let first: number | null = null;
    const onSignal = (): void => {
      const now = performance.now();
      // a terminal's Ctrl-C reaches us twice if npm forwards it: both count as one
      if (first !== null && now - first > repeatMs) process.exit(1);
      first ??= now;
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
  try {
    const started = await start();
    await signalled;
    await started.close();
    process.exit(0);
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof AppError;
    process.stderr.write(`${known ? error.message : String((error as Error).stack ?? error)}\n`);
    process.exit(1);
  }
}
