/**
 * `node src/tools/load/spark/survey-task.ts WORK`: returns the SHA-256 of the documents of units, or the rows found in pieces of files.
 */
import { AppError } from '../../../errors.ts';
import { hashDocument } from '../../../inputs/read-document.ts';
import { surveyPiece } from '../../../inputs/readable-ranges.ts';
import { modifiedOf } from '../document-hashes.ts';
import { membersOf, serveAttempts, type PlacedJob, type UnitAnswer } from './attempt.ts';
import type { HashReport, PieceReport, SurveyJob } from './survey-on-spark.ts';
import type { SparkUnit } from './work.ts';

serveAttempts<SurveyJob, UnitAnswer>(
  (job) => (unit) => (unit.piece === undefined ? hash(job, unit) : look(job, unit.piece, unit)),
  (failure) => ({ failure }),
);

async function hash(job: SurveyJob & PlacedJob, { members }: SparkUnit): Promise<HashReport> {
  const hashes: (readonly [string, number | null])[] = [];
  for await (const member of membersOf(job, members)) {
    const modified = await modifiedOf(member);
    hashes.push([await hashDocument(member), modified]);
  }
  return { hashes };
}

async function look(
  job: SurveyJob & PlacedJob,
  number: number,
  { members, level }: SparkUnit,
): Promise<PieceReport> {
  const { rowTag, rangeBytes } = job;
  const rows = level === undefined ? { rowTag: rowTag! } : { level };
  const [member] = await Array.fromAsync(membersOf(job, members));
  const modified = await member!.parts!.modified();
  const piece = await surveyPiece(member!, number, { rows, rangeBytes });
  if ((await member!.parts!.modified()) !== modified)
    throw new AppError('unprocessable_input', `${member!.path}: the file changed while it was read`);
  return { piece, modified };
}
