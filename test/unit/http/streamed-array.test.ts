/** Long arrays of records, streamed: the same bytes as at once. */
import { expect, test } from 'vitest';
import { streamedArray } from '../../../src/http/streamed-array.ts';

const records = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, name: `Zürich ${id}`, none: null }));

test.each([0, 1, 500, 501, 1000, 1001, 20_000])('%i records', async (count) => {
  const body = streamedArray(records(count));
  expect(typeof body).toBe(count <= 500 ? 'string' : 'object');
  expect(await new Response(body).text()).toBe(JSON.stringify(records(count)));
});
