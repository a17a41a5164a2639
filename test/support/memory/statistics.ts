/** Statistics of jobs, kept in memory as the catalog store keeps them. */
import { AppError } from '../../../src/errors.ts';

interface JobStatistics {
  readonly idOrg: number;
  readonly idSch: number;
  readonly idJob: number | null;
  readonly statistics: unknown;
}

export interface MemoryJobStatistics {
  /** Of the origin's other jobs, where an attempt of this one had saved before; else null. */
  save(saved: JobStatistics): readonly unknown[] | null;
  find(idOrg: number, idJob: number): Pick<JobStatistics, 'idSch' | 'statistics'> | null;
  /** AppError `not_found`. */
  list(idOrg: number, idJobs: readonly number[]): readonly unknown[];
}

export function createMemoryJobStatistics(): MemoryJobStatistics {
  const rows = new Map<number, JobStatistics>();
  const find = (idOrg: number, idJob: number): JobStatistics | null => {
    const found = rows.get(idJob);
    return found?.idOrg === idOrg ? found : null;
  };
  return {
    save(saved) {
      const { idJob, idSch } = saved;
      const again = idJob !== null && rows.get(idJob)?.idSch === idSch;
      if (idJob !== null) rows.set(idJob, saved);
      const others = [...rows.values()].filter((row) => row.idSch === idSch && row.idJob !== idJob);
      return again ? others.map(({ statistics }) => statistics) : null;
    },
    find,
    list: (idOrg, idJobs) =>
      idJobs.map((idJob) => {
        const found = find(idOrg, idJob);
        if (found === null) throw new AppError('not_found', `there are no statistics of a job ${idJob}`);
        return found.statistics;
      }),
  };
}
