/** Ten thousand queued jobs, most of them one organisation's: each runs once, and nobody waits for the flood. QUEUE_JOBS says how many. */
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/postgres/connect.ts';
import { createPostgresJobStore } from '../../src/metadb/job-store.ts';
import { submission, worker } from '../contracts/stores/jobs/contract.ts';
import type { TestDatabase } from '../support/servers/postgres.ts';
import { needs } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

const total = Number(process.env['QUEUE_JOBS'] ?? 10_000);
/** of them are claimed and ended here */
const claimed = Math.min(total, Number(process.env['QUEUE_CLAIMS'] ?? 600));
const minute = 60_000;

describe(`${total} queued jobs`, { timeout: 300_000 }, () => {
  const trial = useTrial();
  let database: TestDatabase;
  beforeAll(async () => {
    database = await trial.database();
  });

  it(
    'none is claimed twice, a lone job of another organisation comes next, lists stay on their index',
    needs('whole run'),
    async () => {
      const { sql } = database;
      const store = createPostgresJobStore(sql, { maxQueuedPerOrg: total });
      for (let made = 0; made < total; made += 100) await store.submit(submission(1, 100));
      // workflows run in order, so of each the first job is to be had: make them all so
      await sql`update svc.job set ready = true where status = 'Q'`;
      const [other] = await sql<
        { id_org: number }[]
      >`insert into svc.org (name) values ('small') returning id_org`;

      const seen = new Map<number, number>();
      const waits: number[] = [];
      let lone: { readonly idJob: number; after: number | null } | null = null;
      const claims = async (): Promise<void> => {
        const pool = connectPostgres(database.url, { applicationName: 'worker', max: 2 });
        const own = createPostgresJobStore(pool, {});
        try {
          while (seen.size < claimed) {
            const asked = performance.now();
            const claim = await own.claimJob(worker, minute);
            waits.push(performance.now() - asked);
            if (claim === null) {
              await delay(2);
              continue;
            }
            seen.set(claim.idJob, (seen.get(claim.idJob) ?? 0) + 1);
            if (lone !== null && lone.after === null) {
              if (claim.idJob === lone.idJob) lone.after = 0;
            }
            if (lone === null && seen.size > claimed / 2) {
              lone = { idJob: -1, after: null };
              const { idJobs } = await own.submit(submission(other!.id_org, 1));
              lone = { idJob: idJobs[0]!, after: null };
            }
            expect(await own.finish(claim, 'completed', null)).toBe(true);
          }
        } finally {
          await own.close();
          await pool.end({ timeout: 1 });
        }
      };
      await Promise.all(Array.from({ length: 8 }, claims));
      expect([...seen.values()].every((times) => times === 1)).toBe(true);
      expect(seen.has(lone!.idJob)).toBe(true);
      const [counted] = await sql<{ ended: number; running: number }[]>`
      select count(*) filter (where status = 'C')::int as ended, count(*) filter (where status in ('R', 'T'))::int as running from svc.job`;
      expect(counted).toEqual({ ended: seen.size, running: 0 });
      waits.sort((a, b) => a - b);
      const at = (share: number): string => waits[Math.floor(waits.length * share)]!.toFixed(1);
      console.log(`claims of 8 workers, ${total} queued: median ${at(0.5)} ms, p99 ${at(0.99)} ms`);

      const plan = await sql<{ 'QUERY PLAN': string }[]>`
      explain select id_job from svc.job where id_org = 1 order by id_job desc limit 20`;
      expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toMatch(/Index/);
      await store.close();
    },
  );
});
