/** Finds the rows of documents that are removed, replaced by a merge, or overwritten, and the jobs that remain. */
import { fileKeyName, sideTableNames, codesTable } from '../../../engine/model/side-tables.ts';
import type { FileChoice } from './table-format.ts';
import type { LakeJob, LakeManifest, TableStep, LakeTable } from './manifest.ts';
import type { ExistingTables } from './existing-tables.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import type { SinkPlan } from '../../../ports/row-sink.ts';
import { isByLogicalSchema } from '../folder/manifest.ts';

/** Selects the files that may have rows of the documents, as far as the table records it. `keys`: decimal digits. */
export function filesOf(keys: readonly string[]): FileChoice {
  const sorted = BigInt64Array.from(keys, BigInt).toSorted();
  return ({ rangeOf }) => {
    const range = rangeOf(fileKeyName);
    if (range === null) return true;
    const [least, greatest] = range;
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (sorted[middle]! < least) from = middle + 1;
      else to = middle;
    }
    return from < sorted.length && sorted[from]! <= greatest;
  };
}

const besideData: ReadonlySet<string> = new Set(Object.values(sideTableNames));

export function isBesideData(table: string): boolean {
  return besideData.has(table);
}

/**
 * Counts the rows of the documents by table, including tables of other versions of the model; tables without such rows are omitted. `keys`:
 * decimal digits.
 */
export async function rowsOfDocuments(
  tables: ExistingTables,
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

/** Returns a step that only removes rows of documents. */
export function removalStep(name: string, directory: string, keys: readonly string[]): TableStep {
  const nothing = { comment: '', columns: [], files: [], replace: false, keptJobs: [] };
  return { name, directory, ...nothing, without: keys };
}

/** Returns the remaining jobs. Jobs whose documents were all removed have no rows in any table. */
export async function jobsThatStay(
  tables: ExistingTables,
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

interface Overwritten {
  /** jobs whose documents remain */
  readonly keptJobs: readonly string[];
  /** documents of other jobs that remain, decimal digits */
  readonly keptDocuments: readonly string[];
  /** tables of other models with rows of documents to remove */
  readonly others: readonly LakeTable[];
  /** the jobs of the ledger, with the tables that still contain rows of them */
  readonly jobs: readonly LakeJob[];
}

/**
 * Finds the documents that an overwrite removes: those with a row in a table of the model, and those that this logical schema loaded. All
 * others remain. Documents are searched only for jobs of another logical schema that have rows in the model's tables.
 */
export async function overwrittenBy(
  plan: SinkPlan,
  tables: ExistingTables,
  before: LakeManifest,
): Promise<Overwritten> {
  const { model } = plan;
  const own = new Set(model.tables.map(({ name }) => name));
  const isByIt = (job: LakeJob): boolean => isByLogicalSchema(job, plan);
  const keptJobs: string[] = [];
  const mixed: string[] = [];
  for (const job of before.jobs) {
    if (isByIt(job)) continue;
    const isApart = !job.tables.some((name) => own.has(name));
    (isApart ? keptJobs : mixed).push(job.job_uuid);
  }
  const { kept, losing } = await documentsOf(tables, model, before, mixed);
  const keptOf = new Set([...keptJobs, ...kept.map(({ job }) => job)]);
  const emptied = new Set(before.jobs.flatMap((job) => (losing.has(job.job_uuid) ? job.tables : [])));
  const others: LakeTable[] = [];
  for (const table of before.tables) {
    const isOther = !own.has(table.name) && !isBesideData(table.name) && table.name !== codesTable.name;
    if (isOther && emptied.has(table.name) && (await tables.columns(table.name)) !== null) others.push(table);
  }
  return {
    keptJobs,
    keptDocuments: kept.map(({ key }) => key),
    others,
    jobs: before.jobs.map((job) => ({
      ...job,
      tables: keptOf.has(job.job_uuid) && !isByIt(job) ? job.tables.filter((name) => !own.has(name)) : [],
    })),
  };
}

interface DocumentsOfJobs {
  readonly kept: readonly { readonly key: string; readonly job: string }[];
  /** jobs that lose documents */
  readonly losing: ReadonlySet<string>;
}

async function documentsOf(
  tables: ExistingTables,
  model: SinkPlan['model'],
  before: LakeManifest,
  jobs: readonly string[],
): Promise<DocumentsOfJobs> {
  const { documents } = sideTableNames;
  const filled = new Set(before.jobs.flatMap((job) => (jobs.includes(job.job_uuid) ? job.tables : [])));
  const own = model.tables.flatMap(({ name, columns }) => {
    const column = columns.find(({ role }) => role === 'document')?.name;
    return column === undefined || !filled.has(name) ? [] : [{ name, column }];
  });
  const from = await tables.relations([documents, ...own.map(({ name }) => name)]);
  if (jobs.length === 0 || !from.has(documents)) return { kept: [], losing: new Set() };
  const keys = own.flatMap(({ name, column }) =>
    from.has(name) ? [`SELECT ${doubleQuoted(column)} AS key FROM ${from.get(name)!}`] : [],
  );
  const ofRows = keys.length === 0 ? 'SELECT NULL::BIGINT AS key' : keys.join(' UNION ALL ');
  const rows = await tables.read<{ job: string; key: string | null }>(
    `SELECT DISTINCT d.job_uuid AS job, CASE WHEN r.key IS NULL THEN d.${fileKeyName}::VARCHAR END AS key
       FROM ${from.get(documents)!} d LEFT JOIN (SELECT DISTINCT key FROM (${ofRows})) r ON r.key = d.${fileKeyName}
      WHERE d.job_uuid IN (${jobs.map(standardLiteral).join(', ')})`,
  );
  return {
    kept: rows.flatMap(({ job, key }) => (key === null ? [] : [{ key, job }])),
    losing: new Set(rows.flatMap(({ job, key }) => (key === null ? [job] : []))),
  };
}
