/** What is there of jobs in a bucket, told by other code than that which wrote it. */
import { join } from 'node:path';
import { expect } from 'vitest';
import type { LakeFormatName } from '../../../src/targets/files/lake/table-format.ts';
import type { ObjectServer } from '../../support/servers/object-server.ts';
import { deltaFiles, deltaReader, icebergFiles, icebergReader } from '../row-sinks/readers.ts';
import { prefix } from './library-bucket.ts';

/**
 * Each of the jobs is there once, with all of its rows, and no table has a file that it does not name, but for files before a compaction (`isCompacted`).
 * `folder`: a new one for copies.
 */
export async function expectJobs(
  server: Pick<ObjectServer, 'objects' | 'copyTo'>,
  folder: string,
  format: LakeFormatName,
  jobs: readonly number[],
  { isCompacted = false }: { readonly isCompacted?: boolean } = {},
): Promise<void> {
  await server.copyTo(folder, prefix);
  for (const one of format.split(',') as ('delta' | 'iceberg')[]) {
    const reader = one === 'delta' ? deltaReader(folder) : icebergReader(folder);
    const read = async (table: string): Promise<readonly Record<string, unknown>[]> =>
      (await reader.read(table)) ?? [];
    const ledger = (await read('_loads')).map((row) => Number(row['job'])).toSorted((a, b) => a - b);
    expect(ledger).toEqual([...jobs]);
    const documents = (await read('_documents')).map((row) => Number(row['job'])).toSorted((a, b) => a - b);
    expect(documents).toEqual([...jobs]);
    const books = await read('book');
    expect(books).toHaveLength(2 * jobs.length);
    expect(new Set(books.map((row) => row['book_key'])).size).toBe(2 * jobs.length);
    const named = await (one === 'delta' ? deltaFiles : icebergFiles)(join(folder, 'book'));
    const there = [...server.objects.keys()].flatMap((key) =>
      key.startsWith(`${prefix}book/data/`) ? [key.slice(`${prefix}book/`.length)] : [],
    );
    if (isCompacted) expect(named.filter((file) => !there.includes(file))).toEqual([]);
    else expect(there.toSorted()).toEqual([...new Set(named)].toSorted());
  }
  const left = [...server.objects.keys()].filter((key) => /\.svc-(?:lock|staging)/.test(key));
  expect(left).toEqual([]);
}
