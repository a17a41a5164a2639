/** `--engine spark`, before there is a schema, or for statistics alone: executors take statistics of units, and they are merged here. */
import { join } from 'node:path';
import { writeNewFile } from '../adapters/node/durable-file.ts';
import { addStatistics } from '../engine/infer/merge-statistics.ts';
import { emptyStatistics } from '../engine/infer/statistics.ts';
import { AppError } from '../errors.ts';
import type { OriginFile } from '../ports/catalog-store.ts';
import type { CollectedStatistics, StatisticsPass } from './collect-statistics.ts';
import { runUnitsOnSpark, taskCommand } from './spark-application.ts';
import { withWorkFolder } from './spark-work-folder.ts';
import { writeUnits } from './spark-units.ts';
import { doneFolder, readJson, type ReadingJob, type UnitMember } from './spark-work.ts';
import type { ToolSession } from './tool-session.ts';

export interface StatisticsJob extends ReadingJob {
  readonly noSamples: boolean;
}

export type StatisticsReport =
  { readonly failure?: undefined; readonly collected: CollectedStatistics } | { readonly failure: string };

/**
 * What `collectHere` answers, byte for byte: units are merged in the order of the documents. AppError
 * `unprocessable_input`: the first document that is not well-formed.
 */
export async function collectOnSpark(
  session: ToolSession,
  { inputs, rowTag, rejected, progress }: StatisticsPass,
): Promise<CollectedStatistics> {
  return withWorkFolder(session, async (work) => {
    const units = await writeUnits(session, work, {
      inputs,
      rowTag,
      hashOf: (place) => (rejected(place) ? null : ''),
    });
    if (units > 0) {
      const job: StatisticsJob = {
        name: `xml2er -j ${session.idJob}: statistics`,
        command: taskCommand(session, 'spark-statistics-task'),
        units,
        rowTag,
        limits: session.limits,
        archiveLimits: session.archiveLimits,
        links: session.byHand ? 'follow' : 'refuse',
        noSamples: session.request.noSamples,
      };
      await writeNewFile(join(work, 'job.json'), JSON.stringify(job));
      session.log(`${units} units of work for Spark: statistics`);
      await runUnitsOnSpark(session, work, units, progress);
    }
    return merged(work, units);
  });
}

async function merged(work: string, units: number): Promise<CollectedStatistics> {
  const statistics = emptyStatistics();
  const files: OriginFile[] = [];
  let documents = 0;
  let bytes = 0;
  for (let unit = 0; unit < units; unit += 1) {
    const report = await readJson<StatisticsReport>(join(doneFolder(work, unit), 'report.json'));
    if (report.failure !== undefined) throw new AppError('unprocessable_input', report.failure);
    const { collected } = report;
    addStatistics(statistics, collected.statistics);
    const [first] = await readJson<readonly UnitMember[]>(join(work, 'units', `${unit}.json`));
    for (const file of collected.files)
      if ((first?.range?.from ?? 0) === 0) files.push(file);
      else files.push({ ...file, bytes: files.pop()!.bytes + file.bytes });
    documents += collected.documents;
    bytes += collected.bytes;
  }
  return { statistics, files, documents, bytes };
}
