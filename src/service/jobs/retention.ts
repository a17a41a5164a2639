/**
 * Removes records past their retention time (docs/decisions/service/limits.md): jobs with their logs, uploads, idempotency keys,
 * events.
 */
import type { Limits } from '../../config/limits.ts';
import type { LogReader, UploadStore } from '../../ports/files.ts';
import type { Logger } from '../../ports/environment.ts';
import type { RetentionStore } from '../../ports/stores/jobs.ts';
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';

/** workflows examined in one transaction */
const batch = 200;
/** An upload on which nothing moved for so long has lost its service: connections end after two minutes of silence. */
const partialUploadMs = 3_600_000;

interface Swept {
  readonly jobs: number;
  readonly uploads: number;
  readonly idempotencyKeys: number;
  readonly events: number;
}

interface RetentionAdapters {
  readonly retention: RetentionStore;
  readonly files: Pick<UploadStore, 'removeUploads'>;
  readonly logs: Pick<LogReader, 'removeLog'>;
  readonly logger: Logger;
}

type RetentionLimits = Pick<Limits, 'keepJobsMs' | 'keepUploadsMs' | 'keepIdempotencyKeysMs'>;

/** Returns null if another process is doing the same now. */
export async function sweepExpired(
  { retention, files, logs, logger }: RetentionAdapters,
  limits: RetentionLimits,
): Promise<Swept | null> {
  let swept: Swept | null = null;
  await retention.alone(async () => {
    let jobs = 0;
    for (let after = 0; ;) {
      const removed = await retention.removeEndedJobs(limits.keepJobsMs, after, batch, async (ids) => {
        for (const id of ids) await logs.removeLog(id);
      });
      if (removed === null) break;
      jobs += removed.jobs;
      after = removed.lastWorkflow;
    }
    // Looked up first: an upload that becomes a job's input after this is younger than those to be removed
    const inUse = await retention.inputsInUse();
    const now = await retention.nowMs();
    swept = {
      jobs,
      uploads: await files.removeUploads({
        olderThan: now - limits.keepUploadsMs,
        partialOlderThan: now - Math.min(partialUploadMs, limits.keepUploadsMs),
        except: new Set(inUse.map(({ idOrg, path }) => `${idOrg}/${path}`)),
      }),
      idempotencyKeys: await retention.removeIdempotencyKeys(limits.keepIdempotencyKeysMs),
      events: await retention.removeSettledEvents(limits.keepJobsMs),
    };
    if (Object.values(swept).some((count) => count > 0)) logger.info('removed expired records', { ...swept });
  });
  return swept;
}

// DELETE /v2/executions/{id_job}: removes the record of an ended job with its log.

/** Removes the record of an ended job and its log. AppError `not_found`, `job_not_terminal`. */
export async function removeJob(
  { jobs, logs }: Pick<Adapters, 'jobs' | 'logs'>,
  idOrg: number,
  idJob: number,
): Promise<void> {
  if (!(await jobs.removeJob(idOrg, idJob))) throw new AppError('not_found', 'there is no such job');
  await logs.removeLog(idJob);
}
