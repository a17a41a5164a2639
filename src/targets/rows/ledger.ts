/** The row of a job in the table `_loads` of a database. */
import { standardLiteral } from '../../engine/sql/dialect.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { SinkPlan } from '../../ports/rows/sink.ts';

type LedgerJob = Pick<SinkPlan, 'idJob' | 'jobUuid' | 'installation' | 'idSch' | 'idLschma' | 'modelHash'>;

/** Returns a query that returns a row if the job was published. `relation`: names a table beside the data. */
export function publishedQuery(
  { jobUuid }: Pick<LedgerJob, 'jobUuid'>,
  relation: (table: string) => string,
): string {
  return `SELECT 1 FROM ${relation(sideTableNames.loads)} WHERE job_uuid = ${standardLiteral(jobUuid)}`;
}

/** The numbers of documents and rows that the job added, minus those that it removed. */
interface Added {
  readonly documents: number;
  readonly rows: number;
}

/**
 * Returns the statement that inserts the job's row. `into`: the table; `now`: the time as an expression; `quote`: quotes the name of a
 * column.
 */
export function ledgerStatement(
  job: LedgerJob,
  { documents, rows }: Added,
  {
    into,
    now,
    quote,
  }: { readonly into: string; readonly now: string; readonly quote: (name: string) => string },
): string {
  const values: Readonly<Record<string, string | number>> = {
    job_uuid: textOrNull(job.jobUuid),
    job: job.idJob,
    installation: textOrNull(job.installation ?? ''),
    id_sch: job.idSch ?? 'NULL',
    id_lschma: job.idLschma ?? 'NULL',
    model_sha256: textOrNull(job.modelHash),
    published_at: now,
    documents,
    rows,
  };
  return `INSERT INTO ${into} (${Object.keys(values).map(quote).join(', ')}) VALUES (${Object.values(values).join(', ')})`;
}

function textOrNull(value: string | null): string {
  return value === null ? 'NULL' : standardLiteral(value);
}
