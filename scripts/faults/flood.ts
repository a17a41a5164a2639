/** Thousands of queued jobs of one organisation: what a claim costs then, and how long a job of another organisation waits. */
import { setTimeout as delay } from 'node:timers/promises';
import { createServiceClient, execution, type ServiceClient } from '../../test/support/service/client.ts';
import { quantile, type Scene } from './scene.ts';

export interface FloodFigures {
  readonly queued: number;
  /** milliseconds of one claim, as a worker asks for it */
  readonly claimP50: number;
  readonly claimP99: number;
  /** of a page of the list of jobs */
  readonly listP99: number;
  /** jobs of the other organisation, and how long the slowest of them waited for its start */
  readonly others: number;
  readonly waitP50: number;
  readonly waitWorst: number;
  readonly ran: number;
  /** jobs that were started twice, or whose rows are there twice or not at all */
  readonly wrong: number;
}

const perWorkflow = 100;

export async function measureFlood(scene: Scene, queued: number, others: number): Promise<FloodFigures> {
  const { installation, sql, input, origin } = scene;
  const { client, url } = installation.service();
  const other = await clientOfAnother(client, url);
  const path = await other.upload('xml', 'one.xml', await scene.oneDocument());
  const one = execution('xml2er', input, [['-o', 'metadb:flood']], String(origin));
  const flooded: number[] = [];
  for (let made = 0; made < queued; made += perWorkflow)
    flooded.push(...(await client.run(Array.from({ length: perWorkflow }, () => one))).jobs);
  const claims: number[] = [];
  const lists: number[] = [];
  const lone: number[] = [];
  for (let at = 0; at < others; at += 1) {
    lone.push((await other.run([execution('xml2er', path)])).jobs[0]!);
    for (let sample = 0; sample < 10; sample += 1) {
      claims.push(await claimTime(scene));
      lists.push(await timeOf(() => client.get('/v2/executions/all/3')));
      await delay(200);
    }
  }
  for (const idJob of lone) await startOf(scene, idJob);
  const waits = await sql<{ ms: number }[]>`
    select extract(epoch from start_date - created)::float8 * 1000 as ms from svc.job where id_job in ${sql(lone)}`;
  const ran = await sql<{ id_job: number; attempts: number; loads: number; documents: number }[]>`
    select id_job, attempts, (select count(*)::int from flood._loads l where l.job = j.id_job) as loads,
           (select count(*)::int from flood._documents d where d.job = j.id_job) as documents
      from svc.job j where id_job between ${flooded[0]!} and ${flooded.at(-1)!} and status = 'C'`;
  return {
    queued,
    claimP50: quantile(claims, 0.5),
    claimP99: quantile(claims, 0.99),
    listP99: quantile(lists, 0.99),
    others,
    waitP50: quantile(
      waits.map(({ ms }) => ms),
      0.5,
    ),
    waitWorst: quantile(
      waits.map(({ ms }) => ms),
      1,
    ),
    ran: ran.length,
    wrong: ran.filter((job) => job.attempts !== 1 || job.loads !== 1 || job.documents !== scene.documents)
      .length,
  };
}

/** Another organisation, with a key of its own. */
async function clientOfAnother(client: ServiceClient, url: string): Promise<ServiceClient> {
  const made = await client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'small' });
  const key = await client.post<{ key: string }>('/v2/admin/keys', {
    name: 'small',
    id_org: made.body.id_org,
    scopes: ['jobs:run', 'jobs:read', 'files:upload', 'schemas:read', 'schemas:write'],
  });
  if (made.status !== 201 || key.status !== 201)
    throw new Error(`no other organisation: ${JSON.stringify([made, key])}`);
  return createServiceClient(url, key.body.key);
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const asked = performance.now();
  await work();
  return performance.now() - asked;
}

const rolledBack = new Error('rolled back');

/** The server's own time; with one place more than there is by default, so that there is always a job to be had. */
async function claimTime({ sql }: Scene): Promise<number> {
  let ms = Number.NaN;
  await sql
    .begin(async (tx) => {
      const [row] = await tx<{ 'QUERY PLAN': { 'Execution Time': number }[] }[]>`
        explain (analyze, format json)
        select * from svc.claim_job(5, interval '30 s', 'sample', 'sample', 'sample', '/')`;
      ms = row!['QUERY PLAN'][0]!['Execution Time'];
      throw rolledBack;
    })
    .catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  return ms;
}

async function startOf({ sql }: Scene, idJob: number): Promise<void> {
  for (;;) {
    const [row] = await sql<
      { started: boolean }[]
    >`select start_date is not null as started from svc.job where id_job = ${idJob}`;
    if (row?.started === true) return;
    await delay(100);
  }
}
