/** What is to be known of documents before they are loaded, found by executors. */
import { join } from 'node:path';
import { writeNewFile } from '../../../adapters/file-staging/durable-file.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import type { ToolSession } from '../../session/tool-session.ts';
import { hashHere, type InputHashes } from '../document-hashes.ts';
import { readingJob } from '../order.ts';
import type { LoadOptions } from '../row-loader.ts';
import type { SparkApplication } from './application/orders.ts';
import { writeUnits } from './units.ts';
import { doneFolder, failureOf, jobFile, readJson, type UnitFailure } from './work.ts';

/** What a task answers of its unit. */
export type SurveyReport =
  | {
      readonly failure?: undefined;
      /** of its members, with when large files had last been changed before, in ms */
      readonly hashes: readonly (readonly [sha256: string, modified: number | null])[];
    }
  | { readonly failure: UnitFailure };

const all = () => ({ sha256: '' });

/** As `hashHere`. Inputs that are no more than one unit may have are read here. */
export async function hashOnSpark(
  session: ToolSession,
  spark: SparkApplication,
  inputs: InputSet,
  { rowTag, takesXsd }: Pick<LoadOptions, 'rowTag' | 'takesXsd'>,
): Promise<InputHashes> {
  if (inputs.totalBytes <= session.home.config.spark.rangeBytes) return hashHere(inputs);
  const folder = await spark.folderFor('hashes');
  const count = await writeUnits(session, folder, { inputs, rowTag: null, chosen: all, keyRanges: null });
  await writeNewFile(jobFile(folder), JSON.stringify(readingJob(session, { rowTag, takesXsd })));
  session.log(`${count} units of work for Spark: hashes of documents`);
  await spark.run({ folder, count, module: 'survey' }, () => undefined);
  const found: (readonly [sha256: string, modified: number | null])[] = [];
  for (let unit = 0; unit < count; unit += 1) {
    const report = await readJson<SurveyReport>(join(doneFolder(folder, unit), 'report.json'));
    if (report.failure !== undefined) throw failureOf(report.failure);
    for (const one of report.hashes) found.push(one);
  }
  return { hashes: found.map(([sha256]) => sha256), modified: found.map(([, modified]) => modified) };
}
