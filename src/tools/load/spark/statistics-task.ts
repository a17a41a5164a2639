/** `node src/tools/load/spark/statistics-task.ts WORK`: the statistics of the documents of units. */
import { InputError, type Diagnostic } from '../../../engine/diagnostics.ts';
import { addStatistics } from '../../../engine/infer/merge-statistics.ts';
import { emptyStatistics } from '../../../engine/infer/statistics.ts';
import type { OriginFile } from '../../../ports/stores/catalog.ts';
import { collectStatistics, type CollectedStatistics } from '../collect-statistics.ts';
import type { StatisticsJob, StatisticsReport } from './survey-on-spark.ts';
import { membersOf, serveAttempts, type PlacedJob } from './attempt.ts';
import type { UnitMember } from './work.ts';
import type { InputMember } from '../../../inputs/members.ts';

serveAttempts(
  (job: StatisticsJob & PlacedJob) =>
    ({ members }) =>
      collect(job, members),
  (failure): StatisticsReport => ({ failure }),
);

async function collect(
  job: StatisticsJob & PlacedJob,
  members: readonly UnitMember[],
): Promise<StatisticsReport> {
  const { limits, rowTag, roots, source, noSamples } = job;
  const read = (some: AsyncIterable<InputMember>): Promise<CollectedStatistics> =>
    collectStatistics(some, { limits, rowTag, roots, source, noSamples, afterPiece: () => undefined });
  return job.skips
    ? collectSound(membersOf(job, members), members, read)
    : { collected: await read(membersOf(job, members)), rejects: [] };
}

/** A document that breaks off must not count: each is collected separately, and added after it was read to its end. */
async function collectSound(
  members: AsyncIterable<InputMember>,
  listed: readonly UnitMember[],
  read: (some: AsyncIterable<InputMember>) => Promise<CollectedStatistics>,
): Promise<StatisticsReport> {
  const rejects: (readonly [number, Diagnostic])[] = [];
  const statistics = emptyStatistics();
  const files: OriginFile[] = [];
  let documents = 0;
  let bytes = 0;
  let index = 0;
  for await (const member of members) {
    const { inputIndex } = listed[index]!;
    index += 1;
    try {
      const one = await read(only(member));
      addStatistics(statistics, one.statistics);
      files.push(...one.files);
      documents += one.documents;
      bytes += one.bytes;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      rejects.push([inputIndex, error.diagnostic]);
    }
  }
  return { collected: { statistics, files, documents, bytes }, rejects };
}

async function* only(member: InputMember): AsyncIterable<InputMember> {
  yield member;
}
