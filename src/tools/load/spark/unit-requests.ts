/**
 * Receives units from an executor, one after the other: a request is a line on stdin, the number of a unit, and the answer a line on
 * stdout, JSON (scripts/spark/xml2er_engine.py). The process ends with its stdin, at once, whatever it does.
 */
import { createInterface } from 'node:readline';

/** Number of units after which a process is replaced, because it may keep some state of each unit. */
const mostUnits = 500;
/** Containers have room for about as much beside Java, for each core. */
const mostBytes = 300 * 2 ** 20;

/** An answer to a request. */
interface UnitDone {
  readonly unit: number;
  /** no other unit is accepted: the process ends */
  readonly last: boolean;
}

/**
 * `attempt` returns whether another unit may follow in this process; there are never two at once. An error that it throws ends the
 * process, and is written to stderr: an Error of class `fault` as its message alone.
 */
export function serveUnits(
  attempt: (unit: number) => Promise<boolean>,
  fault: new (...words: never[]) => Error,
): void {
  let units = 0;
  let isBusy = false;
  process.stdin.once('end', () => {
    if (isBusy) process.kill(process.pid, 'SIGKILL');
    process.exit(0);
  });
  const answer = async (unit: number): Promise<void> => {
    isBusy = true;
    units += 1;
    const stays = await attempt(unit);
    const last = !stays || units >= mostUnits || process.memoryUsage.rss() > mostBytes;
    isBusy = false;
    process.stdout.write(`${JSON.stringify({ unit, last } satisfies UnitDone)}\n`, () => {
      if (last) process.exit(0);
    });
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    answer(Number(line)).catch((error: unknown) => {
      process.stderr.write(error instanceof fault ? error.message : `${(error as Error).stack}\n`, () =>
        process.exit(1),
      );
    });
  });
}
