/** A short run of each fuzzer with a seed of its own; `npm run fuzz` runs them for as long as wanted. */
import { describe, expect, it } from 'vitest';
import { fuzz, Finding } from './fuzzer.ts';
import { mutate } from './mutate.ts';
import { createRandom } from './random.ts';
import { fuzzTargets } from './targets.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 2);
const seed = Number(process.env['FUZZ_SEED'] ?? 1);

describe('fuzzers', { timeout: seconds * 1000 + 120_000 }, () => {
  it.each(Object.entries(fuzzTargets))('%s: nothing is found', async (_, create) => {
    const target = await create();
    try {
      const { steps, findings } = await fuzz(target, { seconds, seed, keep: null });
      expect(
        findings.map(
          ({ step, finding }) =>
            `step ${step}: ${finding.message}\n${Buffer.from(finding.input).toString('base64')}`,
        ),
      ).toEqual([]);
      expect(steps).toBeGreaterThan(10);
    } finally {
      await target.close();
    }
  });

  it('make the same inputs from the same seed, and tell each kind of finding once', async () => {
    const seeds = [new Uint8Array([1, 2, 3, 4, 5])];
    const make = (at: number) => mutate(createRandom(at), seeds, seeds);
    expect(make(7)).toEqual(make(7));
    expect(new Set(Array.from({ length: 50 }, (_, at) => make(at).join())).size).toBeGreaterThan(25);
    const target = {
      name: 'x',
      step: () => {
        throw new Finding(`bad ${performance.now()}`, 'x');
      },
      close: () => Promise.resolve(),
    };
    const options = { seconds: 0.05, seed: 1, keep: null };
    expect((await fuzz(target, options)).steps).toBe(0);
    expect((await fuzz(target, { ...options, goOn: true })).findings).toHaveLength(1);
  });
});
