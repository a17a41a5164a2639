/** Cycles of one fault each, under jobs that load rows; what is counted at the end of each is what no fault may change. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connectPostgres, type Sql } from '../../src/postgres/connect.ts';
import { execution, terminalStatuses, type JobAnswer } from '../../test/support/service/client.ts';
import type { LargeDocument } from '../../test/support/documents/large.ts';
import { toolProcesses } from '../../test/support/service/processes.ts';
import type { MakePlace } from './places.ts';
import type { Installation } from './processes.ts';

export interface Counts {
  cycles: number;
  jobs: number;
  completed: number;
  failed: number;
  lost: number;
  doubled: number;
  /** jobs that had not ended in `patienceMs` */
  stuck: number;
  /** jobs submitted once that are there twice, or not at all */
  submissionsWrong: number;
  /** tools that outlived their worker or their job */
  leftProcesses: number;
}

export const noCounts = (): Counts => ({
  cycles: 0,
  jobs: 0,
  completed: 0,
  failed: 0,
  lost: 0,
  doubled: 0,
  stuck: 0,
  submissionsWrong: 0,
  leftProcesses: 0,
});

export interface CycleOptions {
  readonly installation: Installation;
  readonly document: LargeDocument;
  readonly origin: number;
  readonly makePlace: MakePlace;
  /** of an undisturbed load, from submission to end */
  readonly usualMs: number;
  readonly jobs: number;
  /** from the fault to the end of every job (two minutes) */
  readonly patienceMs?: number;
  /** Does its harm at once, and says what it did. */
  readonly fault: () => Promise<string>;
}

const usualPatienceMs = 120_000;

export async function runCycle(options: CycleOptions, counts: Counts, number: number): Promise<string> {
  const { installation, document, origin, patienceMs = usualPatienceMs } = options;
  const place = await options.makePlace(`cycle_${number}`);
  const key = randomUUID();
  const body = JSON.stringify({
    executions: [execution('xml2er', document.path, place.options, String(origin))],
  });
  // One request per job: those of one request run one after the other
  const keys = Array.from({ length: options.jobs }, (_, at) => `${key}-${at}`);
  const submitted = Promise.all(keys.map(async (one) => (await submit(installation, one, body))[0]!));
  const [told, idJobs] = await Promise.all([
    delay(Math.random() * options.usualMs).then(async () => {
      const done = await options.fault();
      await installation.mend();
      return done;
    }),
    submitted,
  ]);
  counts.cycles += 1;
  counts.jobs += idJobs.length;
  const until = performance.now() + patienceMs;
  const records: JobAnswer[] = [];
  for (const idJob of idJobs) {
    const record = await ended(installation, idJob, until);
    if (record === null) counts.stuck += 1;
    else records.push(record);
  }
  const completed = records.filter(({ status }) => status === 'C').map(({ id_job: idJob }) => idJob);
  counts.completed += completed.length;
  counts.failed += records.length - completed.length;
  await withDatabase(installation, async (sql) => {
    const [known] = await sql<
      { n: number }[]
    >`select count(*)::int as n from svc.idempotency where key like ${`${key}-%`}`;
    if (known!.n !== keys.length || new Set(idJobs).size !== keys.length) counts.submissionsWrong += 1;
  });
  const { lost, doubled } = await place.census(document, completed);
  counts.lost += lost;
  counts.doubled += doubled;
  await place.remove();
  counts.leftProcesses += (await toolProcesses(installation.home)).length;
  const ends = records.map(({ status, attempt }) => `${status}${attempt}`).join(' ');
  const reasons = records.flatMap(({ status, failure }) => (status === 'C' ? [] : [failure]));
  const where = place.told === undefined ? '' : `${place.told}, `;
  return `${where}${told}: ${ends}${reasons.length > 0 ? ` (${reasons.join('; ')})` : ''}`;
}

/** As a careful client does it: the same key until there is an answer. */
export async function submit(
  installation: Installation,
  key: string,
  body: string,
): Promise<readonly number[]> {
  const until = performance.now() + usualPatienceMs;
  for (;;) {
    try {
      const response = await installation.service().client.fetch('/v2/run/cmd', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
        body,
      });
      if (response.status === 200) return ((await response.json()) as { jobs: number[] }).jobs;
      const text = await response.text();
      if (response.status < 500 && response.status !== 409 && response.status !== 429)
        throw new Error(`refused: ${response.status} ${text}`, { cause: 'refused' });
    } catch (error) {
      if ((error as Error).cause === 'refused' || performance.now() > until) throw error;
    }
    await delay(100);
  }
}

/** Null where the job has not ended by then. */
export async function ended(
  installation: Installation,
  idJob: number,
  until: number,
): Promise<JobAnswer | null> {
  for (;;) {
    const record = await installation
      .service()
      .client.job(idJob)
      .catch(() => null);
    if (record !== null && terminalStatuses.includes(record.status)) return record;
    if (performance.now() > until) return null;
    await delay(100);
  }
}

export async function withDatabase<T>(
  installation: Installation,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const url = (await readFile(join(installation.home.directory, 'metadb.url'), 'utf8')).trim();
    const sql = connectPostgres(url, { applicationName: 'faults', max: 2 });
    try {
      return await work(sql);
    } catch (error) {
      // right after a crash the server may still be recovering
      if (attempt === 5) throw error;
      await delay(1000);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}
