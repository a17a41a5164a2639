/** Loads of the library's documents into tables of a bucket. */
import { join } from 'node:path';
import type { LakeFormatName } from '../../../src/adapters/lake/table-format.ts';
import { createLakeRowSink } from '../../../src/adapters/lake/sink.ts';
import { bucketLake } from '../../../src/adapters/lake/store/bucket/objects.ts';
import type { LakeTarget } from '../../../src/adapters/lake/store/place.ts';
import { createS3ObjectStore } from '../../../src/adapters/object-store/s3.ts';
import type { S3Settings } from '../../../src/adapters/object-store/s3-requests.ts';
import type { Published, SinkPlan } from '../../../src/ports/rows/sink.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';

export const prefix = 'lake/';

/** `scratch`: a folder of this machine, another one for each. */
export function libraryBucket(settings: S3Settings, scratch: string, folder = 'lake'): LakeTarget {
  const location = `s3://${settings.bucket}/${folder}`;
  const objects = createS3ObjectStore(settings);
  return bucketLake({ objects, location, prefix: `${folder}/`, label: location, scratch });
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
