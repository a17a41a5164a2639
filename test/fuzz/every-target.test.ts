/** A short run of each fuzzer with a seed of its own; `npm run fuzz` runs them for as long as wanted. */
import { describe, expect, it } from 'vitest';
import { fuzz, Finding, type Trial } from './fuzzer.ts';
import { createMemoryWatch } from './memory-watch.ts';
import { mutate } from './mutate.ts';
import { createRandom, type Random } from './random.ts';
import { fuzzTargets } from './targets/all.ts';
import { isHere, some } from '../support/needs.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? (isHere('whole run') ? 2 : 1));
const seed = Number(process.env['FUZZ_SEED'] ?? 1);

describe('fuzzers', { timeout: seconds * 1000 + 120_000 }, () => {
  it.each(some(Object.entries(fuzzTargets), 5))('%s: nothing is found', async (_, create) => {
    const target = await create();
    try {
      const { steps, findings } = await fuzz(target, { seconds, seed, keep: null });
      expect(
        findings.map(
          ({ step, finding }) =>
            `step ${step}: ${finding.message}\n${Buffer.from(finding.input).toString('base64')}`,
        ),
      ).toEqual([]);
      // a step of a running service is a sequence of requests
      expect(steps).toBeGreaterThan(2);
    } finally {
      await target.close();
    }
  });

  it('make the same inputs from the same seed, and tell each kind of finding once', async () => {
    const seeds = [new Uint8Array([1, 2, 3, 4, 5])];
    const make = (at: number) => mutate(createRandom(at), seeds, seeds);
    expect(make(7)).toEqual(make(7));
    expect(new Set(Array.from({ length: 50 }, (_, at) => make(at).join())).size).toBeGreaterThan(25);
    let steps = 0;
    const target = {
      name: 'x',
      step: () => {
        steps += 1;
        throw new Finding(`bad ${steps}, after ${steps / 4} s`, 'x');
      },
      close: () => Promise.resolve(),
    };
    const options = { seconds: 0.05, seed: 1, keep: null };
    expect((await fuzz(target, options)).steps).toBe(0);
    expect((await fuzz(target, { ...options, goOn: true })).findings).toHaveLength(1);
  });

  it('make what they find smaller, and name the step that shows it again', async () => {
    const target = {
      name: 'x',
      step: (random: Random): Trial => ({
        input: Uint8Array.from({ length: 500 }, () => random.below(256)),
        check(input) {
          const [high, low] = [input.findIndex((byte) => byte > 250), input.lastIndexOf(7)];
          if (high >= 0 && high < low) throw new Finding(`bad at ${high}`, input);
        },
      }),
      close: () => Promise.resolve(),
    };
    const options = { seconds: 5, seed: 3, keep: null };
    const [found] = (await fuzz(target, options)).findings;
    expect([...found!.finding.input]).toEqual([expect.any(Number), 7]);
    const [again] = (await fuzz(target, { ...options, step: found!.step })).findings;
    expect(again).toMatchObject({ step: found!.step, finding: { input: found!.finding.input } });
  });

  it('tell of steps that take more memory than they may', () => {
    const watch = createMemoryWatch(40 * 1024 * 1024);
    expect(watch.complaint()).toBeNull();
    const taken = new Uint8Array(100 * 1024 * 1024).fill(1);
    expect(watch.complaint()).toMatch(/^one input takes \d+ MB$/);
    expect(taken.length).toBeGreaterThan(0);
    expect(watch.complaint()).toBeNull();
  });
});
