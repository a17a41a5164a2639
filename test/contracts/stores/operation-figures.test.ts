/** Figures of the installation, as the metadata database has them. */
import { beforeAll, expect, test } from 'vitest';
import { createPostgresJobStore } from '../../../src/metadb/job-store.ts';
import { readOperationFigures } from '../../../src/metadb/operation-figures.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { submission, worker } from './jobs/contract.ts';

const trial = useTrial();
const day = 24 * 3_600_000;
let database: TestDatabase;
beforeAll(async () => void (database = await trial.database()));

test('the 20 organisations that wait longest have a figure, the longest wait first', async () => {
  const { sql } = database;
  const jobs = createPostgresJobStore(database.service);
  const orgs = await sql<{ id_org: number }[]>`
    insert into svc.org (name) select 'waits ' || n from generate_series(1, 23) n returning id_org`;
  for (const [at, { id_org: idOrg }] of orgs.entries()) {
    const { idJobs } = await jobs.submit(submission(idOrg, 1));
    await sql`
      update svc.job set created = clock_timestamp() - ${(at + 1) * 60} * interval '1 second' where id_job = ${idJobs[0]!}`;
    // a newer one of the same organisation changes nothing
    await jobs.submit(submission(idOrg, 1));
  }
  const { queues } = await readOperationFigures(sql, day);
  expect(queues.map(({ idOrg }) => idOrg)).toEqual(
    orgs
      .map(({ id_org }) => id_org)
      .toReversed()
      .slice(0, 20),
  );
  expect(queues[0]!.ageMs).toBeGreaterThanOrEqual(23 * 60_000);
  expect(queues[0]!.ageMs).toBeLessThan(24 * 60_000);
});

test('jobs that wait for the end of an outage are counted, and how long the first has waited', async () => {
  const { sql } = database;
  const jobs = createPostgresJobStore(database.service);
  expect(await readOperationFigures(sql, day)).toMatchObject({ outageJobs: 0, outageMs: 0 });
  const claim = (await jobs.claimJob(worker, 60_000))!;
  await jobs.handBack(claim, 60_000, 'no server', true);
  await sql`update svc.job set outage_since = outage_since - interval '1 hour' where id_job = ${claim.idJob}`;
  const { outageJobs, outageMs } = await readOperationFigures(sql, day);
  expect(outageJobs).toBe(1);
  expect(outageMs).toBeGreaterThanOrEqual(3_600_000);
  // past its deadline the record still says what it waited for
  await sql`update svc.job set deadline = clock_timestamp() where id_job = ${claim.idJob}`;
  await jobs.reap();
  expect(await jobs.findJob(claim.idOrg, claim.idJob)).toMatchObject({
    status: 'expired',
    failure: 'its deadline passed; no server',
  });
  expect(await readOperationFigures(sql, day)).toMatchObject({ outageJobs: 0, outageMs: 0 });
});
