/** Jobs that fill tables in a bucket, or of a catalogue, two programs at once, and are killed at any moment: each is there once, and every table can be read. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, it, expect } from 'vitest';
import { expectJobs } from '../contracts/bucket-tables/expected-jobs.ts';
import { bucketCopy } from '../contracts/bucket-tables/library-bucket.ts';
import { expectCatalogueJobs } from '../contracts/catalogue-tables/library-catalogue.ts';
import { isHere, needs, skipFor } from '../support/needs.ts';
import { startIcebergCatalogue } from '../support/servers/iceberg-catalogue.ts';
import { startS3Server } from '../support/servers/s3-server.ts';
import { startObjectServer, type ObjectServer } from '../support/servers/object-server.ts';
import { projectRoot } from '../support/service/start.ts';
import { useTrial } from '../support/service/trial.ts';

const kills = isHere('whole run') ? 50 : 2;
/** A program is killed at a random moment of so many milliseconds. */
const killWithinMs = isHere('whole run') ? 4000 : 2000;
const trial = useTrial();
let server: ObjectServer;

beforeEach(async () => {
  server = await startObjectServer();
});
afterEach(() => server.end());

/** One program of jobs `first` to `last`; the last one that was published for certain. `killAfterMs`: once it runs, null for never. */
async function loadJobs(
  [kind, place]: readonly [kind: string, place: string],
  first: number,
  last: number,
  killAfterMs: number | null,
): Promise<number> {
  const script = join(projectRoot, 'test/fixtures/processes/loads-tables.ts');
  const child = spawn(process.execPath, [script, kind, place, String(first), String(last)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await Promise.race([once(child.stdout, 'data'), closed]);
  if (killAfterMs !== null) {
    await Promise.race([sleep(killAfterMs), closed]);
    child.kill('SIGKILL');
  }
  const [code] = (await closed) as [number | null];
  if (killAfterMs === null) expect(code).toBe(0);
  return output.split('\n').slice(1, -1).map(Number).at(-1) ?? first - 1;
}

/** The numbers of all jobs that two programs brought about, with numbers of their own; whoever is killed is tried again under the same number. */
async function loadKilled(place: readonly [kind: string, place: string]): Promise<readonly number[]> {
  const ends = await Promise.all(
    [1, 10_001].map(async (first) => {
      let job = first - 1;
      for (let kill = 0; kill < kills; kill += 2)
        job = await loadJobs(place, job + 1, job + 50, Math.random() * killWithinMs);
      return loadJobs(place, job + 1, job + 2, null);
    }),
  );
  return [1, 10_001].flatMap((first, at) =>
    Array.from({ length: ends[at]! - first + 1 }, (_, index) => first + index),
  );
}

describe('no job is lost, none is there twice', { timeout: 120_000 + kills * 20_000 }, () => {
  it('tables in a bucket', async () => {
    const jobs = await loadKilled(['delta,iceberg', server.settings.endpoint]);
    const folder = await trial.folder('bucket-kill-');
    await expectJobs(server, folder, 'delta,iceberg', jobs, { isCompacted: true });
  });

  it('tables in a bucket of a real S3 server', needs(['s3 server', 'whole run']), async (context) => {
    const started = await startS3Server();
    if (started === null) return skipFor(context, 's3 server', 'it does not start');
    const { settings } = trial.keep(started, (one) => one.end());
    const { endpoint, bucket, accessKeyId, secretAccessKey } = settings;
    const place = [endpoint, bucket, accessKeyId, secretAccessKey].join('#');
    const jobs = await loadKilled(['delta,iceberg', place]);
    const folder = await trial.folder('bucket-kill-');
    await expectJobs(await bucketCopy(settings), folder, 'delta,iceberg', jobs, { isCompacted: true });
  });

  it.each(['told', 'never'] as const)(
    'tables of a catalogue that changes several at once: %s',
    async (together) => {
      const catalogue = await startIcebergCatalogue(server, { together });
      try {
        const jobs = await loadKilled(['catalogue', `${catalogue.address}#${server.settings.endpoint}`]);
        const folder = await trial.folder('catalogue-kill-');
        await expectCatalogueJobs(server, folder, jobs, { isCompacted: true });
      } finally {
        await catalogue.end();
      }
    },
  );
});
