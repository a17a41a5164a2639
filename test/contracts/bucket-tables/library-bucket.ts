/** The library's documents in tables of a bucket: loads, and what is there, told by other code than that which wrote it. */
import { join } from 'node:path';
import { expect } from 'vitest';
import type { LakeFormatName } from '../../../src/adapters/lake/formats.ts';
import { createLakeRowSink } from '../../../src/adapters/lake/sink.ts';
import { bucketLake } from '../../../src/adapters/lake/store/bucket/objects.ts';
import type { LakeTarget } from '../../../src/adapters/lake/store/place.ts';
import { createS3ObjectStore } from '../../../src/adapters/object-store/s3.ts';
import type { S3Settings } from '../../../src/adapters/object-store/s3-requests.ts';
import type { Published, SinkPlan } from '../../../src/ports/rows/sink.ts';
import type { ObjectServer } from '../../support/servers/object-server.ts';
import { deltaFiles, deltaReader, icebergFiles, icebergReader } from '../row-sinks/readers.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';

export const prefix = 'lake/';

/** `scratch`: a folder of this machine, another one for each. */
export function libraryBucket(settings: S3Settings, scratch: string): LakeTarget {
  const location = `s3://${settings.bucket}/lake`;
  return bucketLake({ objects: createS3ObjectStore(settings), location, prefix, label: location, scratch });
}

let tries = 0;

export async function load(
  settings: S3Settings,
  scratch: string,
  format: LakeFormatName,
  plan: SinkPlan = libraryPlan(1),
): Promise<Published> {
  tries += 1;
  const sink = createLakeRowSink({
    target: libraryBucket(settings, join(scratch, `try-${tries}`)),
    format,
  });
  try {
    return await loadLibrary(sink, plan, 1);
  } finally {
    await sink.close();
  }
}

/** Each of the jobs is there once, with all of its rows, and no table has a file that it does not name. `folder`: a new one for copies. */
export async function expectJobs(
  server: ObjectServer,
  folder: string,
  format: LakeFormatName,
  jobs: readonly number[],
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
    expect(there.toSorted()).toEqual([...new Set(named)].toSorted());
  }
  const left = [...server.objects.keys()].filter((key) => /\.svc-(?:lock|staging)/.test(key));
  expect(left).toEqual([]);
}
