/** Long lists are worked through in order, and others have their turn meanwhile. */
import { expect, it } from 'vitest';
import { mapInSlices } from '../../../src/engine/in-slices.ts';

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
