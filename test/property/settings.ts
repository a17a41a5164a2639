/**
 * How often a property is tried, and with which seed: always the same ones unless PROPERTY_SEED and PROPERTY_RUNS say else. A
 * failure prints the seed, the path that leads back to it, and the smallest case that was found.
 */
import fc from 'fast-check';

const seed = Number(process.env['PROPERTY_SEED'] ?? 20_260_101);
const runs = process.env['PROPERTY_RUNS'];

export interface PropertyOptions {
  /** without PROPERTY_RUNS */
  readonly runs: number;
  /** the share of PROPERTY_RUNS that is worth its time (1) */
  readonly share?: number;
}

export async function holds<Case>(
  cases: fc.Arbitrary<Case>,
  check: (value: Case) => void | Promise<void>,
  options: PropertyOptions,
): Promise<void> {
  const numRuns = runs === undefined ? options.runs : Math.ceil(Number(runs) * (options.share ?? 1));
  const property = fc.asyncProperty(cases, async (value) => {
    await check(value);
  });
  // shrinking stops with what it has rather than outlast the test
  const interruptAfterTimeLimit = runs === undefined ? 45_000 : undefined;
  await fc.assert(property, { seed, numRuns, interruptAfterTimeLimit, markInterruptAsFailure: true });
}

/** Long runs take longer than tests usually may. */
export const propertyTimeoutMs = runs === undefined ? 60_000 : 24 * 3_600_000;
