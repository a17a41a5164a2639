/**
 * kill -9 of the service while a job runs, and a new start: the job ends by itself, its rows are there once or not at all.
 * FAULT_ROUNDS says how often (3), FAULT_MEGABYTES how large the document is (60).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../src/postgres/connect.ts';
import type { RunningService } from '../support/service/start.ts';
import { execution } from '../support/service/client.ts';
import { freightDocumentFolder } from '../support/service/fixtures.ts';
import {
  createLargeLoad,
  expectLoadedOnce,
  expectNothingLoaded,
  type LargeLoad,
} from '../support/documents/large-target.ts';
import { toolProcesses } from '../support/service/processes.ts';
import { leftovers } from '../support/service/schema.ts';
import { needs, some } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

const rounds = Number(process.env['FAULT_ROUNDS'] ?? 3);
const megabytes = Number(process.env['FAULT_MEGABYTES'] ?? 60);

describe('kill -9 of the service in a job', { timeout: 180_000, ...needs('whole run') }, () => {
  let load: LargeLoad;
  const trial = useTrial();
  let service: RunningService;
  let sql: Sql;
  /** of a load that nobody disturbs */
  let undisturbedMs = 0;
  const ends: string[] = [];
  const shown = some(
    Array.from({ length: rounds }, (_, round) => round + 1),
    1,
  );

  beforeAll(async () => {
    load = trial.keep(await createLargeLoad(megabytes, { 'svc.files.roots': '/' }), ({ remove }) => remove());
    service = await trial.service(load.home);
    sql = await trial.metadb(load.home);
    const job = await service.client.ended(await load.submit(service.client, 'undisturbed'));
    undisturbedMs = job.end_date! - job.start_date!;
    await expectLoadedOnce(sql, 'undisturbed', load.document);
    await sql`drop schema undisturbed cascade`;
  });

  it.each(shown)(
    'round %i: the job ends after the next start, its rows are there once or not at all',
    async (round) => {
      const sqlSchema = `round_${round}`;
      const idJob = await load.submit(service.client, sqlSchema);
      const started = await service.client.running(idJob);
      // somewhere in its nth part, so that few rounds come to every stage
      const afterMs = (((round - 1) % 3) + Math.random()) * (undisturbedMs / 3);
      await delay(afterMs);
      expect(await service.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });

      service = await trial.service(load.home);
      const job = await service.client.ended(idJob);
      const told = `killed after ${Math.round(afterMs)} ms: ${JSON.stringify(job)}`;
      expect(['C', 'F'], told).toContain(job.status);
      expect(job.start_date, told).toBe(started.start_date);
      if (job.status === 'C') await expectLoadedOnce(sql, sqlSchema, load.document);
      else await expectNothingLoaded(sql, sqlSchema);
      expect(await toolProcesses(load.home), told).toEqual([]);
      ends.push(`${job.status}${job.attempt}`);

      // the next job there is not disturbed by what the dead one left, and removes it
      const options = [['-o', `metadb:${sqlSchema}`]] as const;
      const next = await service.client.run([
        execution('xml2er', `${freightDocumentFolder}/manifest-1.xml`, options, String(load.origin)),
      ]);
      expect(await service.client.ended(next.jobs[0]!)).toMatchObject({ status: 'C', failure: null });
      const [documents] = await sql`select count(*)::int from ${sql(sqlSchema)}._documents`;
      expect(documents).toEqual({ count: job.status === 'C' ? 2 : 1 });
      expect(await leftovers(sql)).toEqual([]);
      await sql`drop schema ${sql(sqlSchema)} cascade`;
    },
  );

  it('killed at its start, while it claims and compiles: nothing is lost', needs('whole run'), async () => {
    const idJob = await load.submit(service.client, 'at_start');
    await service.end('SIGKILL');
    service = await trial.service(load.home);
    const job = await service.client.ended(idJob);
    expect(job, job.failure ?? '').toMatchObject({ status: 'C' });
    await expectLoadedOnce(sql, 'at_start', load.document);
    expect(ends).toHaveLength(shown.length);
  });
});
