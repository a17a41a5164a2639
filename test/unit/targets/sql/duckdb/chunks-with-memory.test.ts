/** A query that lacks memory is asked again with more, and goes on where it was. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { chunksWithMemory, type Chunks } from '../../../../../src/targets/sql/duckdb/row-chunks.ts';

const lacking = new Error(
  'Out of Memory Error: failed to allocate data of size 64.0 MiB (178.8 MiB/216.0 MiB used)',
);

/** Chunks of so many rows each; the one at `faultAt` fails. */
function chunksUpTo(
  rowCounts: readonly number[],
  faultAt: number,
  error: Error,
  closed: () => void = () => undefined,
): Chunks {
  let next = 0;
  return {
    next: async () => {
      if (next === faultAt) throw error;
      const rowCount = rowCounts[next++];
      return rowCount === undefined ? null : ({ rowCount } as DuckDBDataChunk);
    },
    close: async () => closed(),
  };
}

function failingWith(error: Error): () => Promise<Chunks> {
  return async () => chunksUpTo([2048, 2048], 1, error);
}

async function rowCountsOf(chunks: Chunks): Promise<number[]> {
  const counts: number[] = [];
  for (let chunk = await chunks.next(); chunk !== null; chunk = await chunks.next())
    counts.push(chunk.rowCount);
  return counts;
}

describe('chunks of a query', () => {
  it.each([
    ['before the first', [0, 0, Infinity]],
    ['in the middle, twice at one place', [2, 2, 3, Infinity]],
    ['at the end', [4, Infinity]],
  ])('come once each where memory lacks %s', async (_, faults) => {
    let opened = 0;
    const open = async (): Promise<Chunks> => chunksUpTo([2048, 2048, 2048, 7], faults[opened++]!, lacking);
    const chunks = await chunksWithMemory(open, async () => true);
    expect(await rowCountsOf(chunks)).toEqual([2048, 2048, 2048, 7]);
    expect(opened).toBe(faults.length);
  });

  it('are closed each time, also where memory lacks for those that are passed over', async () => {
    const faults = [3, 1, 1, Infinity];
    let [opened, closed] = [0, 0];
    const open = async (): Promise<Chunks> => {
      // what an earlier one has in memory is not there for this one
      expect(closed).toBe(opened);
      return chunksUpTo([2048, 2048, 2048, 7], faults[opened++]!, lacking, () => (closed += 1));
    };
    const chunks = await chunksWithMemory(open, async () => true);
    expect(await rowCountsOf(chunks)).toEqual([2048, 2048, 2048, 7]);
    expect(opened).toBe(faults.length);
  });

  it('are not asked again once nobody waits for them', async () => {
    let opened = 0;
    const open = async (): Promise<Chunks> => (opened++, chunksUpTo([2048, 2048], 1, lacking));
    const chunks = await chunksWithMemory(open, async () => opened < 3);
    await chunks.next();
    await chunks.close();
    await expect(chunks.next()).rejects.toBe(lacking);
    expect(opened).toBe(1);
  });

  it('end with the fault where there is no more memory, or it is another one', async () => {
    let raised = 0;
    const chunks = await chunksWithMemory(failingWith(lacking), async () => (raised += 1) < 4);
    await expect(rowCountsOf(chunks)).rejects.toBe(lacking);
    expect(raised).toBe(4);
    const other = new Error('IO Error: the file is gone');
    const failing = await chunksWithMemory(failingWith(other), async () => true);
    await expect(rowCountsOf(failing)).rejects.toBe(other);
  });

  it('end with the fault where rows come in other pieces the second time', async () => {
    const pieces = [
      [2048, 2048, 2048],
      [1000, 2000, 3000],
    ];
    let opened = 0;
    const open = async (): Promise<Chunks> => chunksUpTo(pieces[opened]!, opened++ === 0 ? 1 : 9, lacking);
    const chunks = await chunksWithMemory(open, async () => opened < 2);
    await expect(rowCountsOf(chunks)).rejects.toBe(lacking);
  });
});
