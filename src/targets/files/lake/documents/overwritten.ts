/** Save mode `o`: which documents go with the rows of the model's tables, and which tables of other models hold rows of theirs. */
import { codesTable, fileKeyName, sideTableNames } from '../../../../engine/model/side-tables.ts';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import type { SinkPlan } from '../../../../ports/rows/sink.ts';
import { isByLogicalSchema } from '../../folder/contents/next-manifest.ts';
import type { LakeJob, LakeManifest, LakeTable } from '../manifest.ts';
import type { TablesThere } from '../tables-there.ts';
import { isBesideData } from './removed-rows.ts';

export interface Overwritten {
  /** jobs whose documents stay */
  readonly keptJobs: readonly string[];
  /** documents of further jobs that stay, decimal digits */
  readonly keptDocuments: readonly string[];
  /** tables of other models, with rows of documents that go */
  readonly others: readonly LakeTable[];
  /** those of the ledger, with the tables in which they have rows still */
  readonly jobs: readonly LakeJob[];
}

/**
 * A document goes that has a row in a table of the model, or that the logical schema loaded; all others stay. Documents are looked
 * at only of jobs that another logical schema ran, and that have rows in the model's tables.
 */
export async function overwrittenBy(
  plan: SinkPlan,
  tables: TablesThere,
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
  /** jobs of which documents go */
  readonly losing: ReadonlySet<string>;
}

async function documentsOf(
  tables: TablesThere,
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
