/**
 * How often a property is tried, and with which seed: always the same ones unless PROPERTY_SEED, PROPERTY_RUNS and PROPERTY_SECONDS
 * say else. A failure prints the seed, the path that leads back to it, and the smallest case that was found.
 *
 * The long form: `PROPERTY_RUNS=2500 PROPERTY_SECONDS=600 npx vitest run test/property`. Each property ends after so many runs or
 * seconds, whatever comes first, and tells on standard error how far it is, which case took longest, and a failure as soon as it is
 * met: making it smaller takes longer than finding it.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { isHere } from '../../support/needs.ts';

const seed = Number(process.env['PROPERTY_SEED'] ?? 20_260_101);
const runs = process.env['PROPERTY_RUNS'];
const seconds = Number(process.env['PROPERTY_SECONDS'] ?? 0);
const toldEveryMs = 15_000;

export interface PropertyOptions {
  /** without PROPERTY_RUNS; an eighth of it where not all tests are run */
  readonly runs: number;
  /** the share of PROPERTY_RUNS that is worth its time (1) */
  readonly share?: number;
}

export async function holds<Case>(
  cases: fc.Arbitrary<Case>,
  check: (value: Case) => void | Promise<void>,
  options: PropertyOptions,
): Promise<void> {
  const few = isHere('whole run') ? options.runs : Math.ceil(options.runs / 8);
  const numRuns = runs === undefined ? few : Math.ceil(Number(runs) * (options.share ?? 1));
  const watched = runs === undefined ? check : watch(check, numRuns);
  const property = fc.asyncProperty(cases, async (value) => {
    await watched(value);
  });
  // shrinking stops with what it has rather than outlast the test
  const limit = runs === undefined ? 45_000 : seconds * 1000;
  await fc.assert(property, {
    seed,
    numRuns,
    ...(limit === 0 ? {} : { interruptAfterTimeLimit: limit }),
    // a long form that runs out of time has shown what it has shown
    markInterruptAsFailure: runs === undefined,
  });
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Tells of the runs of one property while they go on. */
function watch<Case>(
  check: (value: Case) => void | Promise<void>,
  numRuns: number,
): (value: Case) => Promise<void> {
  const name = expect.getState().currentTestName ?? 'property';
  const started = performance.now();
  let [done, told, slowestMs] = [0, started, 0];
  let failed = false;
  const tell = (text: string): void => void process.stderr.write(`${name}: ${text}\n`);
  return async (value) => {
    const began = performance.now();
    try {
      await check(value);
    } catch (error) {
      if (!failed) tell(`fails in run ${done + 1} (seed ${seed}): ${String(error)}\n${fc.stringify(value)}`);
      failed = true;
      throw error;
    } finally {
      const now = performance.now();
      done += 1;
      slowestMs = Math.max(slowestMs, now - began);
      if (now - told >= toldEveryMs) {
        told = now;
        const what = failed ? 'making the case smaller, ' : '';
        tell(
          `${what}${done} of ${numRuns} runs in ${inSeconds(now - started)}, the slowest ${inSeconds(slowestMs)}`,
        );
      }
    }
  };
}

/** Long runs take longer than tests usually may. */
export const propertyTimeoutMs = runs === undefined ? 60_000 : 24 * 3_600_000;
