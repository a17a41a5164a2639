/** Row groups of a file end where its rows say so, not where compressing has come to. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ParquetWriter, WriterMemory } from '../../../src/engine/parquet/file-writer.ts';

const rows = Array.from({ length: 100_000 }, (_, row) =>
  [row + 1, `${String(row).repeat(40)} of ${row % 1013}`, `${row * 7919}`.repeat(20)].join('\t'),
);
const text = new TextEncoder().encode(`${rows.join('\n')}\n`);

/** `wait`: before a page of so many bytes is compressed. */
async function written(wait: (bytes: number) => Promise<unknown>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const writer = new ParquetWriter({
    columns: [
      { name: 'row_key', sqlType: 'BIGINT' },
      { name: 'one', sqlType: 'VARCHAR' },
      { name: 'other', sqlType: 'VARCHAR' },
    ],
    keyValues: {},
    rowsBytes: text.length,
    longestRowBytes: 1024,
    deltas: true,
    compress: async (bytes) => {
      const compressed = bytes.slice();
      await wait(bytes.length);
      return compressed;
    },
    write: (bytes) => {
      pieces.push(bytes.slice());
      return Promise.resolve();
    },
    memory: new WriterMemory(),
  });
  let from = 0;
  await writer.rows((target) => {
    const piece = text.subarray(from, from + target.length);
    target.set(piece);
    from += piece.length;
    return piece.length;
  });
  await writer.finish();
  return Buffer.concat(pieces);
}

describe('row groups', () => {
  it('are the same however long it takes to compress pages', async () => {
    const [quick, slow, uneven] = [
      await written(() => Promise.resolve()),
      await written(() => delay(2)),
      await written((bytes) => delay(bytes % 7)),
    ];
    // more than two groups, of about 16 MB
    expect(quick.length).toBeGreaterThan(33e6);
    expect(slow.equals(quick)).toBe(true);
    expect(uneven.equals(quick)).toBe(true);
  });
});
