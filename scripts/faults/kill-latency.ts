/** How long a kill takes, from each state a job can be in (docs/decisions/service/job-queue.md: 15 s), with children that do not want to end. */
import { setTimeout as delay } from 'node:timers/promises';
import { execution } from '../../test/support/service/client.ts';
import { toolProcesses } from '../../test/support/service/processes.ts';
import { kill as signal } from './victims.ts';
import { quantile, toolDescendants, type Scene } from './scene.ts';

export const killStates = [
  'Q',
  'W',
  'R early',
  'R loading',
  'R stubborn',
  'publishing',
  'worker stopped',
] as const;
export type KillState = (typeof killStates)[number];

export interface KillFigures {
  readonly state: KillState;
  readonly kills: number;
  readonly p50: number;
  readonly p99: number;
  /** how many ended how */
  readonly ends: Readonly<Record<string, number>>;
  /** jobs that were C without their rows, or K with them, in a target that nothing else had written */
  readonly wrong: number;
  /** processes of killed jobs that still ran a second after the record's end */
  readonly left: number;
}

/** At the same time: what one organisation may run; a worker that is stopped holds up all its jobs. */
const atOnce = (state: KillState): number => (state === 'worker stopped' ? 1 : 4);

export async function measureKills(scene: Scene, state: KillState, kills: number): Promise<KillFigures> {
  const latencies: number[] = [];
  const ends: Record<string, number> = {};
  let wrong = 0;
  let left = 0;
  let started = 0;
  let brought = 0;
  async function one(): Promise<void> {
    while (started < kills) {
      started += 1;
      brought += 1;
      const name = `${state.replace(' ', '_').toLowerCase()}_${brought}`;
      const { idJob, after } = await bring(scene, state, name);
      const asked = performance.now();
      const answer = await scene.kill(idJob);
      if (['C', 'F', 'L', 'E'].includes(answer.status)) {
        // it was quicker than we
        started -= 1;
        await after(idJob);
        continue;
      }
      const status = await endOf(scene, idJob);
      latencies.push(performance.now() - asked);
      ends[status] = (ends[status] ?? 0) + 1;
      const remaining = await toolProcesses(scene.installation.home, idJob);
      if (remaining.length > 0) {
        await delay(1000);
        left += (await toolProcesses(scene.installation.home, idJob)).length;
      }
      if ((await hasRows(scene, name, idJob)) !== (status === 'C')) wrong += 1;
      await after(idJob);
      await scene.sql`drop schema if exists ${scene.sql(name)} cascade`;
    }
  }
  await Promise.all(Array.from({ length: atOnce(state) }, one));
  await delay(1000);
  left += (await toolDescendants(scene.installation)).length;
  return {
    state,
    kills: latencies.length,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    ends,
    wrong,
    left,
  };
}

interface Brought {
  readonly idJob: number;
  /** takes down what was put up for it */
  after(idJob: number): Promise<unknown>;
}

const nothing = (): Promise<void> => Promise.resolve();

async function bring(scene: Scene, state: KillState, name: string): Promise<Brought> {
  const { sql } = scene;
  if (state === 'Q') {
    // the second of a workflow waits for the first
    const [first, second] = [`${name}_before`, name].map((target) =>
      execution('xml2er', scene.input, [['-o', `metadb:${target}`]], String(scene.origin)),
    );
    const { jobs } = await scene.installation.service().client.run([first, second]);
    return {
      idJob: jobs[1]!,
      after: async () => {
        await scene.kill(jobs[0]!);
        await endOf(scene, jobs[0]!);
        await sql`drop schema if exists ${sql(`${name}_before`)} cascade`;
      },
    };
  }
  if (state === 'publishing') await slowCommit(scene, name);
  const idJob = await scene.load(`metadb:${name}`);
  await until(scene, idJob, ({ status }) => status !== 'Q');
  if (state === 'R early') await delay(Math.random() * 200);
  if (state === 'R loading') await delay(Math.random() * scene.usualMs);
  if (state === 'R stubborn') {
    await delay(Math.random() * scene.usualMs * 0.5);
    // deaf to SIGTERM, as a tool in an endless loop of native code is
    for (const { pid } of await toolProcesses(scene.installation.home, idJob)) signal(pid, 'SIGSTOP');
  }
  if (state === 'W') {
    for (;;) {
      const record = await recordOf(scene, idJob);
      if (record.status !== 'R') break;
      for (const { pid } of await toolProcesses(scene.installation.home, idJob)) signal(pid, 'SIGKILL');
      await delay(20);
    }
  }
  if (state === 'worker stopped') {
    const [holder] = await sql<{ pid: number }[]>`
      select reverse(split_part(reverse(worker_id), '-', 2))::int as pid from svc.job where id_job = ${idJob}`;
    signal(holder!.pid, 'SIGSTOP');
    return { idJob, after: async () => void signal(holder!.pid, 'SIGCONT') };
  }
  if (state === 'publishing') {
    await until(scene, idJob, ({ committing, ended }) => committing || ended);
    await delay(Math.random() * 300);
  }
  return { idJob, after: nothing };
}

/** A target whose commits take a moment, as on a disk that is slow to sync: the moment in which a job publishes can then be met. */
async function slowCommit(scene: Scene, name: string): Promise<void> {
  await endOf(scene, await scene.load(`metadb:${name}`));
  await scene.sql.unsafe(`
    create function "${name}".wait() returns trigger language plpgsql as $$ begin perform pg_sleep(random() * 3); return null; end $$;
    create constraint trigger wait after insert on "${name}"._loads deferrable initially deferred
      for each row execute function "${name}".wait()`);
}

interface Standing {
  readonly status: string;
  readonly committing: boolean;
  readonly ended: boolean;
}

async function recordOf({ sql }: Scene, idJob: number): Promise<Standing> {
  const [row] = await sql<
    Standing[]
  >`select status, committing, end_date is not null as ended from svc.job where id_job = ${idJob}`;
  return row!;
}

async function until(scene: Scene, idJob: number, met: (standing: Standing) => boolean): Promise<Standing> {
  for (;;) {
    const standing = await recordOf(scene, idJob);
    if (met(standing) || standing.ended) return standing;
    await delay(10);
  }
}

async function endOf(scene: Scene, idJob: number): Promise<string> {
  return (await until(scene, idJob, ({ ended }) => ended)).status;
}

async function hasRows({ sql }: Scene, name: string, idJob: number): Promise<boolean> {
  const [there] = await sql<{ yes: boolean }[]>`select to_regclass(${`"${name}"._loads`}) is not null as yes`;
  if (there?.yes !== true) return false;
  const loads = await sql`select 1 from ${sql(name)}._loads where job = ${idJob}`;
  const documents = await sql`select 1 from ${sql(name)}._documents where job = ${idJob}`;
  if (loads.length > 0 !== documents.length > 0) throw new Error(`job ${idJob}: ledger and documents differ`);
  return loads.length > 0;
}
