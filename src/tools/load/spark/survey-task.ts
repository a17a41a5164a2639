/** `node src/tools/load/spark/survey-task.ts WORK`: the SHA-256 of the documents of units. */
import { modifiedOf } from '../document-hashes.ts';
import type { ReadingJob } from '../order.ts';
import { hashDocument } from '../../inputs/read-document.ts';
import { membersOf, serveAttempts } from './attempt.ts';
import type { SurveyReport } from './survey-on-spark.ts';
import type { SparkUnit } from './work.ts';

serveAttempts(
  (job: ReadingJob) => (unit) => hash(job, unit),
  (failure): SurveyReport => ({ failure }),
);

async function hash(job: ReadingJob, { members }: SparkUnit): Promise<SurveyReport> {
  const hashes: (readonly [string, number | null])[] = [];
  for await (const member of membersOf(job, members)) {
    const modified = await modifiedOf(member);
    hashes.push([await hashDocument(member), modified]);
  }
  return { hashes };
}
