/** `node spark-statistics-task.ts WORK UNIT`: the statistics of a unit's documents. */
import { createTokenizerKernels } from '../engine/xml/fast-tokenizer.ts';
import { collectStatistics } from './collect-statistics.ts';
import type { StatisticsJob, StatisticsReport } from './collect-on-spark.ts';
import { membersOf, runAttempt } from './spark-attempt.ts';
import type { UnitMember } from './spark-work.ts';

await runAttempt(collect, (failure): StatisticsReport => ({ failure }));

async function collect(job: StatisticsJob, members: readonly UnitMember[]): Promise<StatisticsReport> {
  const collected = await collectStatistics(membersOf(job, members), {
    limits: job.limits,
    kernels: createTokenizerKernels(),
    rowTag: job.rowTag,
    noSamples: job.noSamples,
    afterPiece: () => undefined,
  });
  return { collected };
}
