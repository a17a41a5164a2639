/** Rows of documents that go from a folder of tables: which tables have some, and the steps that take them out. */
import { fileKeyName, sideTableNames } from '../../../../engine/model/side-tables.ts';
import type { LakeJob, LakeManifest, TableStep } from '../manifest.ts';
import type { TablesThere } from '../tables-there.ts';
import { filesOf } from './files-of-documents.ts';

const besideData: ReadonlySet<string> = new Set(Object.values(sideTableNames));

export function isBesideData(table: string): boolean {
  return besideData.has(table);
}

/** How many rows of the documents tables have, those of other versions of the model among them; tables without any are left out. `keys`: decimal digits. */
export async function rowsOfDocuments(
  tables: TablesThere,
  manifest: LakeManifest,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = new Map<string, number>();
  const holding = filesOf(keys);
  for (const { name } of keys.length === 0 ? [] : manifest.tables) {
    if ((await tables.columns(name))?.has(fileKeyName) !== true) continue;
    const [found] = await tables.rows<{ count: bigint }>(
      name,
      (from) => `SELECT count(*) AS count FROM ${from} WHERE ${fileKeyName} IN (${keys.join(', ')})`,
      holding,
    );
    const count = Number(found?.count ?? 0n);
    if (count > 0) rows.set(name, count);
  }
  return rows;
}

/** Nothing but that rows of the documents go. */
export function removalStep(name: string, directory: string, keys: readonly string[]): TableStep {
  const nothing = { comment: '', columns: [], files: [], replace: false, keptJobs: [] };
  return { name, directory, ...nothing, without: keys };
}

/** Jobs whose documents are all gone have no rows in any table any more. */
export async function jobsThatStay(
  tables: TablesThere,
  { jobs }: LakeManifest,
  keys: readonly string[],
): Promise<readonly LakeJob[]> {
  if (keys.length === 0) return jobs;
  const left = await tables.rows<{ job: string }>(
    sideTableNames.documents,
    (from) => `SELECT DISTINCT job_uuid AS job FROM ${from} WHERE ${fileKeyName} NOT IN (${keys.join(', ')})`,
  );
  const jobsLeft = new Set(left.map(({ job }) => job));
  return jobs.map((job) => (jobsLeft.has(job.job_uuid) ? job : { ...job, tables: [] }));
}
