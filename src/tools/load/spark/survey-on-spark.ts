/** Finds with executors what must be known of documents before they are loaded: hashes and places to cut. */
import { writeFile } from 'node:fs/promises';
import type { PieceOfRows } from '../../../engine/shred/row-tag/pieces.ts';
import { AppError } from '../../../errors.ts';
import type { InputSet } from '../../../inputs/list-files.ts';
import type { DocumentRange, InputMember } from '../../../inputs/members.ts';
import {
  countPieces,
  levelCutsOfPieces,
  rangesOfPieces,
  type SurveyedRows,
} from '../../../inputs/readable-ranges.ts';
import type { ToolSession } from '../../session/tool-session.ts';
import { hashHere, type InputHashes } from '../document-hashes.ts';
import type { Rejects } from '../findings.ts';
import {
  lookAhead,
  type OneDocumentOptions,
  type RowsAhead,
  type SurveyedDocument,
} from '../one-document.ts';
import { readingJob, type ReadingJob, type LoadOptions } from '../row-loader.ts';
import { type SparkApplication, withSpark } from './orders.ts';
import { noneSurveyed, rangeBytesOf, writeUnits, type SurveyedFiles } from './units.ts';
import {
  readReport,
  unitFile,
  writeJob,
  type SparkUnit,
  readJson,
  type UnitFailure,
  type UnitMember,
} from './work.ts';
import { addStatistics } from '../../../engine/infer/merge-statistics.ts';
import { InputError, type Diagnostic } from '../../../engine/diagnostics.ts';
import type { SourceModel } from '../../../engine/model/source-model.ts';
import { emptyStatistics } from '../../../engine/infer/statistics.ts';
import type { RootRule } from '../../../engine/shred/open-document.ts';
import type { OriginFile } from '../../../ports/stores/catalog.ts';
import type { CollectedStatistics, StatisticsPass } from '../collect-statistics.ts';

export interface SurveyJob extends ReadingJob {
  /** size of ranges and of pieces */
  readonly rangeBytes: number;
}

/** Hashes of a unit's members, with the modification time that large files had before, in ms. */
export interface HashReport {
  readonly failure?: undefined;
  readonly hashes: readonly (readonly [sha256: string, modified: number | null])[];
}

export interface PieceReport {
  readonly failure?: undefined;
  readonly piece: PieceOfRows | null;
  /** modification time of the file, in ms */
  readonly modified: number;
}

type Reading = Pick<LoadOptions, 'rowTag' | 'takesXsd'>;

/** Like `hashHere`. Inputs that fit into one unit are read here. */
export async function hashOnSpark(
  session: ToolSession,
  spark: SparkApplication,
  { inputs, rejects }: { readonly inputs: InputSet; readonly rejects: Pick<Rejects, 'has'> },
  reading: Reading,
): Promise<InputHashes> {
  if (inputs.totalBytes <= session.home.config.spark.rangeBytes) return hashHere(inputs, rejects);
  const folder = await spark.folderFor('hashes');
  const chosen = (inputIndex: number) => (rejects.has(inputIndex) ? null : { sha256: '' });
  const nothing = { rowTag: null, surveyed: noneSurveyed, keyRanges: null };
  const count = await writeUnits(session, folder, { inputs, chosen, ...nothing });
  session.log(`${count} units of work for Spark: hashes of documents`);
  const reports = await survey<HashReport>(session, spark, { inputs, reading, folder, count });
  const found = reports.flatMap(({ hashes }) => hashes);
  const waiting = found.values();
  const all = Array.from({ length: inputs.seen().read }, (_, inputIndex) =>
    rejects.has(inputIndex) ? (['', null] as const) : waiting.next().value!,
  );
  return { hashes: all.map(([sha256]) => sha256), modified: all.map(([, modified]) => modified) };
}

interface SurveyedFile {
  readonly inputIndex: number;
  readonly member: InputMember;
  readonly modified: number;
  readonly pieces: number;
  readonly rows: SurveyedRows;
  /** rows at the beginning of a document that remains one; null: a file with a row tag */
  readonly ahead: RowsAhead | null;
}

/** Settings of a survey of a job's documents. */
export interface SurveyOptions {
  readonly reading: Reading;
  /** large documents are loaded in ranges if possible; absent: they are not, or there is a row tag */
  readonly oneDocument?: Omit<OneDocumentOptions, 'rangeBytes'>;
  /** whether a document is to be read at all */
  readonly isChosen: (inputIndex: number) => boolean;
}

/**
 * Searches large files for places to cut on executors, one piece in each task. Files that together fit into one unit are left to the
 * function that makes units, as are files whose tags alone do not show the places.
 */
export async function surveyOnSpark(
  session: ToolSession,
  spark: SparkApplication,
  inputs: InputSet,
  { reading, oneDocument, isChosen }: SurveyOptions,
): Promise<SurveyedFiles> {
  const { rowTag } = reading;
  if (rowTag === null && oneDocument === undefined) return noneSurveyed;
  const rangeBytes = rangeBytesOf(session, inputs);
  const documents = new Map<number, SurveyedDocument>();
  const files: SurveyedFile[] = [];
  let inputIndex = -1;
  for await (const member of inputs.members()) {
    inputIndex += 1;
    if (!isChosen(inputIndex) || member.parts === undefined) continue;
    const modified = await member.parts.modified();
    const pieces = await countPieces(member, { rangeBytes });
    if (pieces === 0) continue;
    const file = { inputIndex, member, modified, pieces };
    if (rowTag !== null) {
      files.push({ ...file, rows: { rowTag }, ahead: null });
      continue;
    }
    const ahead = await lookAhead(member, oneDocument!);
    documents.set(inputIndex, { ahead });
    if (typeof ahead !== 'string')
      files.push({ ...file, modified: ahead.modified, rows: { level: ahead.level }, ahead });
  }
  const bytes = files.reduce((sum, { member }) => sum + member.diskBytes, 0);
  const ranges = new Map<number, readonly DocumentRange[]>();
  if (bytes <= session.home.config.spark.rangeBytes) return { ranges, documents };
  const folder = await spark.folderFor('pieces');
  const count = await writePieces(folder, files);
  session.log(`${count} units of work for Spark: places to cut files at`);
  const reports = await survey<PieceReport>(session, spark, { inputs, reading, folder, count });
  let next = 0;
  for (const file of files) {
    const own = reports.slice(next, (next += file.pieces));
    if (own.some(({ modified }) => modified !== file.modified))
      throw new AppError('unprocessable_input', `${file.member.path}: the file changed while it was read`);
    const pieces = own.map(({ piece }) => piece);
    const { member, rows, ahead, inputIndex } = file;
    const surveying = { rows, rangeBytes };
    if (ahead !== null) {
      documents.set(inputIndex, { ahead, cuts: await levelCutsOfPieces(member, pieces, surveying) });
      continue;
    }
    const found = await rangesOfPieces(member, pieces, surveying, file.modified);
    if (found !== null) ranges.set(inputIndex, found);
  }
  return { ranges, documents };
}

/** Returns the number of units. */
async function writePieces(folder: string, files: readonly SurveyedFile[]): Promise<number> {
  let count = 0;
  for (const { inputIndex, member, pieces, rows } of files) {
    const { source, name, path } = member;
    const members = [{ ...source, name, path, inputIndex, sha256: '' }];
    const level = 'level' in rows ? { level: rows.level } : {};
    for (let piece = 0; piece < pieces; piece += 1) {
      const unit: SparkUnit = { members, keys: null, piece, ...level };
      await writeFile(unitFile(folder, count), JSON.stringify(unit), { mode: 0o600 });
      count += 1;
    }
  }
  return count;
}

interface Survey {
  readonly inputs: InputSet;
  readonly reading: Reading;
  readonly folder: string;
  readonly count: number;
}

/** Returns the reports of the tasks, in the order of the units. */
async function survey<Report extends HashReport | PieceReport>(
  session: ToolSession,
  spark: SparkApplication,
  { inputs, reading, folder, count }: Survey,
): Promise<Report[]> {
  const job: SurveyJob = {
    ...readingJob(session, reading),
    rangeBytes: rangeBytesOf(session, inputs),
  };
  await writeJob(session, folder, job);
  await spark.run({ folder, count, module: 'survey' }, () => undefined);
  const reports: Report[] = [];
  for (let unit = 0; unit < count; unit += 1) {
    reports.push(await readReport<Report>(folder, unit));
  }
  return reports;
}

// `--engine spark`, before there is a schema, or for statistics alone: executors take statistics of units, and they are merged here.

export interface StatisticsJob extends ReadingJob {
  readonly noSamples: boolean;
  readonly roots: RootRule;
  readonly source: SourceModel | null;
  /** `--on-error skip` */
  readonly skips: boolean;
}

interface StatisticsOfUnit {
  readonly failure?: undefined;
  readonly collected: CollectedStatistics;
  /** faults of skipped documents, by their index in the job */
  readonly rejects: readonly (readonly [inputIndex: number, fault: Diagnostic])[];
}

export type StatisticsReport = StatisticsOfUnit | { readonly failure: UnitFailure };

/**
 * Returns the same statistics as `collectHere`, byte for byte: units are merged in the order of the documents. Throws an InputError for
 * the first document that is not well-formed or has a root that is not allowed. With `--on-error skip` such documents join the rejects.
 */
export async function collectOnSpark(
  session: ToolSession,
  { inputs, rowTag, roots, source, takesXsd, rejects, progress }: StatisticsPass,
): Promise<CollectedStatistics> {
  return withSpark(session, `xml2er -j ${session.idJob}: statistics`, async (spark) => {
    const surveyed = await surveyOnSpark(session, spark, inputs, {
      reading: { rowTag, takesXsd },
      isChosen: (inputIndex) => !rejects.has(inputIndex),
    });
    const folder = await spark.folderFor('statistics');
    const count = await writeUnits(session, folder, {
      inputs,
      rowTag,
      surveyed,
      chosen: (inputIndex) => (rejects.has(inputIndex) ? null : { sha256: '' }),
      keyRanges: null,
    });
    if (count > 0) {
      const job: StatisticsJob = {
        ...readingJob(session, { rowTag, takesXsd }),
        roots,
        source,
        noSamples: session.request.noSamples,
        skips: session.request.onError === 'skip',
      };
      await writeJob(session, folder, job);
      session.log(`${count} units of work for Spark: statistics`);
      await spark.run({ folder, count, module: 'statistics' }, progress);
    }
    return merged(folder, count, rejects);
  });
}

async function merged(work: string, units: number, rejects: Rejects): Promise<CollectedStatistics> {
  for await (const { report } of reportsOf(work, units))
    for (const [inputIndex, fault] of report.rejects) await rejects.add(inputIndex, new InputError(fault));
  const statistics = emptyStatistics();
  const files: OriginFile[] = [];
  let documents = 0;
  let bytes = 0;
  for await (const { report, first } of reportsOf(work, units)) {
    // a file that is at fault in one of its ranges counts in none
    if (first.range !== undefined && rejects.has(first.inputIndex)) continue;
    const { collected } = report;
    addStatistics(statistics, collected.statistics);
    for (const file of collected.files)
      if ((first.range?.from ?? 0) === 0) files.push(file);
      else files.push({ ...file, bytes: files.pop()!.bytes + file.bytes });
    documents += collected.documents;
    bytes += collected.bytes;
  }
  return { statistics, files, documents, bytes };
}

/** Yields the reports in the order of the documents, each with the first index of its unit. */
async function* reportsOf(
  work: string,
  units: number,
): AsyncIterable<{
  readonly report: StatisticsOfUnit;
  readonly first: UnitMember;
}> {
  for (let unit = 0; unit < units; unit += 1) {
    const report = await readReport<StatisticsOfUnit>(work, unit);
    const { members } = await readJson<SparkUnit>(unitFile(work, unit));
    yield { report, first: members[0]! };
  }
}
