/** `--engine spark`, before there is a schema, or for statistics alone: executors take statistics of units, and they are merged here. */
import { addStatistics } from '../../../engine/infer/merge-statistics.ts';
import { InputError, type Diagnostic } from '../../../engine/diagnostics.ts';
import type { SourceModel } from '../../../engine/model/source-model.ts';
import { emptyStatistics } from '../../../engine/infer/statistics.ts';
import type { RootRule } from '../../../engine/shred/unknown-root.ts';
import type { OriginFile } from '../../../ports/stores/catalog.ts';
import type { CollectedStatistics, StatisticsPass } from '../collect-statistics.ts';
import type { Rejects } from '../rejects.ts';
import { readingJob, type ReadingJob } from '../order.ts';
import { withSpark } from './application/orders.ts';
import { surveyOnSpark } from './survey-on-spark.ts';
import { writeUnits } from './units.ts';
import {
  readJson,
  readReport,
  unitFile,
  writeJob,
  type SparkUnit,
  type UnitFailure,
  type UnitMember,
} from './work.ts';
import type { ToolSession } from '../../session/tool-session.ts';

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
