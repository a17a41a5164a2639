/** Long lists are worked through in order, and others have their turn meanwhile. */
import { expect, it } from 'vitest';
import { atOnce, inSlices, mapInSlices, type Steps } from '../../../src/engine/in-slices.ts';

it('maps as a list does', async () => {
  expect(await mapInSlices([], (item) => item)).toEqual([]);
  const items = Array.from({ length: 300 }, (_, at) => `${at}`);
  expect(await mapInSlices(new Set(items), (item, at) => [item, at])).toEqual(
    items.map((item, at) => [item, at]),
  );
  const broken = mapInSlices(items, (item) => {
    throw new Error(item);
  });
  await expect(broken).rejects.toThrow('0');
});

it('lets what waits run before a long list ends', async () => {
  let others = 0;
  const timer = setInterval(() => (others += 1), 1);
  const seen = await mapInSlices(Array.from({ length: 1000 }), () => {
    for (const end = performance.now() + 1; performance.now() < end;);
    return others;
  });
  clearInterval(timer);
  expect(seen[0]).toBe(0);
  expect(new Set(seen).size).toBeGreaterThan(3);
});

function* counted(steps: number, step: () => void): Steps<number> {
  for (let at = 0; at < steps; at += 1) {
    step();
    yield;
  }
  return steps;
}

it('does steps with pauses, or without', async () => {
  let done = 0;
  const step = (): void => {
    done += 1;
    for (const end = performance.now() + 1; performance.now() < end;);
  };
  let others = 0;
  const timer = setInterval(() => (others += 1), 1);
  expect(atOnce(counted(100, step))).toBe(100);
  expect(others).toBe(0);
  expect(await inSlices(counted(200, step))).toBe(200);
  clearInterval(timer);
  expect(done).toBe(300);
  expect(others).toBeGreaterThan(3);
  const broken = inSlices(
    counted(1, () => {
      throw new Error('a step');
    }),
  );
  await expect(broken).rejects.toThrow('a step');
});
