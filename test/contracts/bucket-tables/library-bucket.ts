/** Loads of the library's documents into tables of a bucket. */
import { join } from 'node:path';
import type { LakeFormatName } from '../../../src/targets/files/lake/table-format.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { bucketLake } from '../../../src/targets/files/lake/bucket.ts';
import type { LakeTarget } from '../../../src/targets/files/lake/place.ts';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import type { S3Settings } from '../../../src/storage/object-store/s3-requests.ts';
import { AppError } from '../../../src/errors.ts';
import type { Published, SinkPlan } from '../../../src/ports/row-sink.ts';
import { copyObjects, type ObjectServer } from '../../support/servers/object-server.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';

export const prefix = 'lake/';

/** Milliseconds until an answer is given up; absent: as the service waits. */
export interface ShortPatience {
  readonly patienceMs?: number;
}

/** `scratch`: a folder of this machine, another one for each. */
export function libraryBucket(
  settings: S3Settings & ShortPatience,
  scratch: string,
  folder = 'lake',
): LakeTarget {
  const location = `s3://${settings.bucket}/${folder}`;
  const { patienceMs } = settings;
  const objects =
    patienceMs === undefined
      ? createS3ObjectStore(settings)
      : createS3ObjectStore(settings, (signed, _, signal) =>
          fetch(signed, {
            signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
            redirect: 'manual',
          }),
        );
  return bucketLake({ objects, location, prefix: `${folder}/`, label: location, scratch });
}

/** What a server of another program has below `lake/`, for `expectJobs`. */
export async function bucketCopy(settings: S3Settings): Promise<Pick<ObjectServer, 'objects' | 'copyTo'>> {
  const store = createS3ObjectStore(settings);
  const objects = new Map<string, Buffer>();
  for await (const { key } of store.listObjects(prefix)) {
    const body = (await store.read(key))!;
    objects.set(key, Buffer.from(await new Response(body).arrayBuffer()));
  }
  return { objects, copyTo: (folder, below) => copyObjects(objects, folder, below) };
}

let tries = 0;

export async function load(
  settings: S3Settings & ShortPatience,
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

/** Tried again as a worker does, under the same number. Answers how often. */
export async function loadUntilThere(
  settings: S3Settings & ShortPatience,
  scratch: string,
  format: LakeFormatName,
  job: number,
): Promise<number> {
  for (let number = 1; ; number += 1) {
    try {
      await load(settings, scratch, format, libraryPlan(job));
      return number;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'service_unavailable' || number > 40) throw error;
    }
  }
}
