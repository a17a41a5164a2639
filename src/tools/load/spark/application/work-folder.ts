/** The work folder of a job on Spark, made and removed; src/tools/load/spark/work.ts describes its content. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../../../errors.ts';
import { terminalStatuses } from '../../../../jobs/record.ts';
import type { ToolSession } from '../../../session/tool-session.ts';

/** Gives `use` a new work folder, and removes it afterwards. AppError `invalid_option`: svc.spark.work is no folder. */
export async function withWorkFolder<T>(session: ToolSession, use: (work: string) => Promise<T>): Promise<T> {
  const parent = session.home.config.spark.work ?? tmpdir();
  const { catalog } = session.home.adapters;
  const prefix = `xml2er-${(await catalog.installation()).replaceAll(/[^\w-]/g, '')}-`;
  await removeLeftOver(session, parent, prefix);
  const work = await mkdtemp(join(parent, `${prefix}${session.idJob}-`));
  try {
    return await use(work);
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Removes what a machine that died left behind: folders of earlier attempts at this job, and of jobs that have ended. */
async function removeLeftOver({ idJob, home }: ToolSession, parent: string, prefix: string): Promise<void> {
  const names = await readdir(parent).catch((error: unknown) => {
    throw new AppError('invalid_option', `svc.spark.work: ${(error as Error).message}`);
  });
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const job = Number(/^(\d+)-/.exec(name.slice(prefix.length))?.[1]);
    if (!Number.isSafeInteger(job)) continue;
    const over = job === idJob || (await hasEnded(home.adapters.jobs, job));
    if (over) await rm(join(parent, name), { recursive: true, force: true });
  }
}

async function hasEnded(jobs: ToolSession['home']['adapters']['jobs'], idJob: number): Promise<boolean> {
  try {
    const { record } = await jobs.findStoredJob(idJob);
    return terminalStatuses.has(record.status);
  } catch (error) {
    // records of old jobs are removed
    if (error instanceof AppError && error.code === 'not_found') return true;
    throw error;
  }
}
