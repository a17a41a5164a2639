/** A process beside a newer release that has migrated the metadata database: it takes no jobs, and charges none an attempt. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { execution } from '../../support/service/client.ts';
import type { RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

const trial = useTrial();
const newer = '9999_future';

describe('a process whose database a newer release migrated', { timeout: 240_000 }, () => {
  let service: RunningService;
  let sql: Sql;
  const submitted: number[] = [];

  beforeAll(async () => {
    const home = await trial.home({ 'cmd.enabled': 'true' });
    service = await trial.service(home);
    sql = await trial.metadb(home);
  });

  async function submit(name: string): Promise<number> {
    const { client } = service;
    const path = await client.upload('xml', `${name}.xml`, new TextEncoder().encode('<a><b>1</b></a>'));
    const answer = await client.run([execution('xml2er', path, [['-o', `metadb:${name}`]])]);
    submitted.push(answer.jobs[0]!);
    return answer.jobs[0]!;
  }

  const readiness = async (path = '', headers: Record<string, string> = {}) => {
    const answer = await fetch(`${service.url}/actuator/health/readiness${path}`, { headers });
    return { status: answer.status, text: await answer.text() };
  };

  it('charges no attempt to a job that it claimed before it noticed', async () => {
    expect((await readiness()).status).toBe(200);
    await sql`insert into svc.migration (name, checksum) values (${newer}, 'x')`;
    const idJob = await submit('early');
    // claimed at once, and handed back when its tool refuses the database; not claimed if the service was slower than its look at the version
    await eventually('a hand-back', async () => {
      const [row] = await sql<{ epoch: number; status: string }[]>`
        select epoch::int as epoch, status from svc.job where id_job = ${idJob}`;
      const isClaimed = row!.epoch > 0 || (await readiness()).status !== 503;
      return isClaimed && (row!.epoch === 0 || row!.status === 'R') ? null : row!;
    });
    expect(await sql`select attempts, failure, end_date from svc.job where id_job = ${idJob}`).toEqual([
      { attempts: 0, failure: null, end_date: null },
    ]);
  });

  it('is not ready within 15 s, and says in health and log which version the database has', async () => {
    const since = performance.now();
    await eventually('readiness 503', async () => ((await readiness()).status === 503 ? true : null));
    expect(performance.now() - since).toBeLessThan(15_000);
    expect(JSON.parse((await readiness()).text)).toMatchObject({
      status: 'OUT_OF_SERVICE',
      components: { version: { status: 'OUT_OF_SERVICE', details: { database: newer } } },
    });
    const keyed = await readiness('/version', { Authorization: `Bearer ${service.key}` });
    expect(keyed).toMatchObject({ status: 503, text: expect.stringContaining(newer) as unknown });
    expect(service.output()).toMatch(new RegExp(`"level":"error".*${newer}`));
    const liveness = await fetch(`${service.url}/actuator/health/liveness`);
    expect(liveness.status).toBe(200);
  });

  it('claims no job, and goes on once it fits again', async () => {
    for (const name of ['one', 'two', 'three']) await submit(name);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const [claimed] = await sql`select coalesce(sum(attempts), 0)::int as attempts from svc.job`;
    expect(claimed).toEqual({ attempts: 0 });
    await sql`delete from svc.migration where name = ${newer}`;
    for (const idJob of submitted)
      expect(await service.client.ended(idJob)).toMatchObject({ status: 'C', attempt: 1 });
    await eventually('readiness 200', async () => ((await readiness()).status === 200 ? true : null));
  });
});
