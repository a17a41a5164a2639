/**
 * Jobs that fill tables in a bucket of a real S3 server, two at a time, by a way on which requests fail: by an error, a refusal of what was done, a broken connection
 * or silence, before or after they were done. Somebody else makes versions of a table meanwhile. No row is lost, none is there twice, and every table can be read.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startFaultyStore } from '../../scripts/faults/lake/faulty-store.ts';
import type { LakeFormatName } from '../../src/targets/files/lake/table-format.ts';
import { createS3ObjectStore } from '../../src/storage/object-store/s3.ts';
import type { DecidingStore } from '../../src/ports/files.ts';
import { expectJobs } from '../contracts/bucket-tables/expected-jobs.ts';
import { bucketCopy, loadUntilThere, prefix } from '../contracts/bucket-tables/library-bucket.ts';
import { isHere, needs, skipFor, some } from '../support/needs.ts';
import { s3Programs, startS3Server, type S3Program } from '../support/servers/s3-server.ts';
import { useTrial } from '../support/service/trial.ts';

const rounds = isHere('whole run') ? 10 : 1;
const formats = ['delta,iceberg', 'delta', 'iceberg'] as const;
/** of the requests */
const share = 0.06;
/** until a job gives up an answer */
const patienceMs = 1500;
const table = `${prefix}book/`;

const trial = useTrial();

/** Of another program, without rows; by format. A version that is taken by then is left. */
const foreignVersions: Readonly<
  Record<'delta' | 'iceberg', (objects: DecidingStore) => Promise<string | null>>
> = {
  delta: async (objects) => {
    const newest = await newestOf(objects, `${table}_delta_log/`, /(\d{20})\.json$/);
    if (newest === null) return null;
    const key = `${table}_delta_log/${String(newest.number + 1).padStart(20, '0')}.json`;
    const version = JSON.stringify({ commitInfo: { operation: 'somebody’s', timestamp: Date.now() } });
    return (await objects.createObject(key, bytesOf(`${version}\n`))) ? key : null;
  },
  iceberg: async (objects) => {
    const newest = await newestOf(objects, `${table}metadata/`, /\/v(\d+)\.metadata\.json$/);
    if (newest === null) return null;
    const metadata = JSON.parse((await textAt(objects, newest.key))!) as {
      readonly properties: Readonly<Record<string, string>>;
      readonly 'last-updated-ms': number;
    };
    const next = {
      ...metadata,
      'last-updated-ms': metadata['last-updated-ms'] + 1,
      properties: { ...metadata.properties, somebody: String(newest.number) },
    };
    const key = `${table}metadata/v${newest.number + 1}.metadata.json`;
    return (await objects.createObject(key, bytesOf(JSON.stringify(next)))) ? key : null;
  },
};

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

async function textAt(objects: DecidingStore, key: string): Promise<string | null> {
  const body = await objects.read(key);
  return body === null ? null : new Response(body).text();
}

interface NewestObject {
  readonly key: string;
  readonly number: number;
}

async function newestOf(
  objects: DecidingStore,
  folder: string,
  pattern: RegExp,
): Promise<NewestObject | null> {
  let newest: NewestObject | null = null;
  for await (const { key } of objects.listObjects(folder)) {
    const number = Number(pattern.exec(key)?.[1] ?? -1);
    if (number >= 0 && number > (newest?.number ?? -1)) newest = { key, number };
  }
  return newest;
}

/** Until `ended`; what it made, by key. */
async function writeVersions(
  objects: DecidingStore,
  format: LakeFormatName,
  ended: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const made = new Map<string, string>();
  while (!ended.aborted) {
    for (const one of format.split(',') as (keyof typeof foreignVersions)[]) {
      const key = await foreignVersions[one](objects);
      if (key !== null) made.set(key, (await textAt(objects, key))!);
    }
    await sleep(50 + 250 * Math.random());
  }
  return made;
}

/** The first S3 server that is here, or each. */
const programs: readonly (S3Program | undefined)[] = isHere('whole run') ? s3Programs : [undefined];

for (const program of programs)
  for (const format of some(formats, 1))
    test(
      `${program ?? 'an S3 server'}, ${format}`,
      { timeout: 120_000 + rounds * 30_000, ...needs('s3 server') },
      async (context) => {
        const started = await startS3Server(program);
        if (started === null)
          return skipFor(context, program === 'versitygw' ? program : 's3 server', 'it does not start');
        const server = trial.keep(started, (one) => one.end());
        const shares = { share, silentShare: 0.1 };
        const faulty = trial.keep(await startFaultyStore(server.settings, shares), (one) => one.end());
        const objects = createS3ObjectStore(server.settings);
        const folder = await trial.folder('faulty-store-');
        const ended = new AbortController();
        // a test that takes too long is no load on the next
        const stopped = AbortSignal.any([ended.signal, context.signal]);
        const foreign = writeVersions(objects, format, stopped);
        const loadJobs = async (first: number): Promise<void> => {
          const settings = { ...faulty.settings, patienceMs };
          for (let job = first; job < first + rounds && !stopped.aborted; job += 1)
            await loadUntilThere(settings, folder, format, job);
        };
        await Promise.all([1, 10_001].map(loadJobs));
        ended.abort();
        const versions = await foreign;
        // ends what was decided, and takes away what dead attempts left
        await loadUntilThere(server.settings, folder, format, 20_001);
        expect(faulty.faults()).toBeGreaterThan(rounds);
        expect(versions.size).toBeGreaterThan(rounds);
        const there = await bucketCopy(server.settings);
        for (const [key, text] of versions)
          expect([key, there.objects.get(key)?.toString()]).toEqual([key, text]);
        const jobs = [1, 10_001].flatMap((first) => Array.from({ length: rounds }, (_, at) => first + at));
        await expectJobs(there, await trial.folder('faulty-store-copy-'), format, [...jobs, 20_001]);
      },
    );
