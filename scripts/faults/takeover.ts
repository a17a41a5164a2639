/** How long the job of a dead worker waits for the next one: its lease, a look around, a pause (architecture: 45 s at most). */
import { setTimeout as delay } from 'node:timers/promises';
import { kill as signal } from './victims.ts';
import { quantile, type Scene } from './scene.ts';

export interface TakeoverFigures {
  readonly takeovers: number;
  readonly p50: number;
  readonly worst: number;
  /** jobs that did not end C with their rows once */
  readonly wrong: number;
}

/** In each round one worker is killed, or stopped for longer than its lease, in the middle of its jobs. */
export async function measureTakeovers(
  scene: Scene,
  rounds: number,
  how: 'SIGKILL' | 'SIGSTOP',
): Promise<TakeoverFigures> {
  const waits: number[] = [];
  let wrong = 0;
  const { sql } = scene;
  for (let round = 0; round < rounds; round += 1) {
    const names = Array.from({ length: 4 }, (_, at) => `takeover_${how.toLowerCase()}_${round}_${at}`);
    const ids = await Promise.all(names.map((name) => scene.load(`metadb:${name}`)));
    // all four run, none has ended
    let victim = 0;
    while (victim === 0) {
      const running = await sql<{ pid: number }[]>`
        select reverse(split_part(reverse(worker_id), '-', 2))::int as pid from svc.job where id_job in ${sql(ids)} and status = 'R'`;
      victim = running[0]?.pid ?? 0;
      await delay(5);
    }
    await delay(Math.random() * scene.usualMs * 0.6);
    const held = await sql<{ id_job: number; epoch: number }[]>`
      select id_job, epoch from svc.job where id_job in ${sql(ids)} and status = 'R' and worker_id like ${`%-${victim}-%`}`;
    const killed = performance.now();
    signal(victim, how);
    if (how === 'SIGKILL') {
      await delay(200);
      await scene.installation.mend();
    }
    const open = new Map(held.map(({ id_job: idJob, epoch }) => [idJob, epoch]));
    while (open.size > 0) {
      await delay(50);
      const rows = await sql<{ id_job: number; epoch: number; ended: boolean }[]>`
        select id_job, epoch, end_date is not null as ended from svc.job where id_job in ${sql([...open.keys()])}`;
      for (const { id_job: idJob, epoch, ended } of rows) {
        if (epoch > open.get(idJob)!) waits.push(performance.now() - killed);
        // its tool had its say before the worker was gone
        if (epoch > open.get(idJob)! || ended) open.delete(idJob);
      }
    }
    if (how === 'SIGSTOP') signal(victim, 'SIGCONT');
    for (const [at, idJob] of ids.entries()) {
      for (;;) {
        const [row] = await sql<{ status: string; ended: boolean }[]>`
          select status, end_date is not null as ended from svc.job where id_job = ${idJob}`;
        if (row!.ended) {
          const documents = await sql
            .unsafe(`select job from "${names[at]}"._documents`)
            .catch(() => [] as { job: number }[]);
          const once = documents.length === scene.documents && documents.every(({ job }) => job === idJob);
          if (row!.status !== 'C' || !once) wrong += 1;
          break;
        }
        await delay(50);
      }
      await sql`drop schema if exists ${sql(names[at]!)} cascade`;
    }
  }
  return { takeovers: waits.length, p50: quantile(waits, 0.5), worst: quantile(waits, 1), wrong };
}
