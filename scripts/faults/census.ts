/** Rows of one target against those that its jobs should have added. */
import type { Sql } from '../../src/adapters/postgres/client/connect.ts';
import type { LargeDocument } from '../../test/support/documents/large.ts';

export interface Census {
  /** rows that completed jobs should have added and that are not there */
  readonly lost: number;
  /** rows that are there though no completed job added them, or more than once */
  readonly doubled: number;
}

/** `completed`: jobs that each added the document once to this SQL schema. All rows are tied to their documents by their keys. */
export async function countRows(
  sql: Sql,
  sqlSchema: string,
  document: LargeDocument,
  completed: readonly number[],
): Promise<Census> {
  const [found] = await sql<
    { there: boolean }[]
  >`select to_regclass(${`${sqlSchema}._documents`}) is not null as there`;
  const perJob = document.shipments + document.packages + document.goods;
  if (found?.there !== true) return { lost: completed.length * perJob, doubled: 0 };
  const schema = sql(sqlSchema);
  const rows = await sql<{ job: number; documents: number; ledger: number; rows: number }[]>`
    with tied as (
      select d.job, s.shipment_key from ${schema}._documents d
        join ${schema}.manifest m on m.document_key = d.document_key join ${schema}.shipment s using (manifest_key)
    ), packages as (
      select t.job, p.package_key from tied t join ${schema}.package p using (shipment_key)
      union all
      select t.job, i.package_key from tied t join ${schema}.package o using (shipment_key)
        join ${schema}.package i on i.parent_package_key = o.package_key
    )
    select d.job, count(*)::int as documents, (select count(*)::int from ${schema}._loads l where l.job = d.job) as ledger,
           ((select count(*) from tied t where t.job = d.job) + (select count(*) from packages p where p.job = d.job)
            + (select count(*) from packages p join ${schema}.goods using (package_key) where p.job = d.job))::int as rows
      from ${schema}._documents d group by d.job`;
  const [totals] = await sql<{ rows: number }[]>`
    select ((select count(*) from ${schema}.shipment) + (select count(*) from ${schema}.package)
            + (select count(*) from ${schema}.goods))::int as rows`;
  let lost = 0;
  let doubled = 0;
  let tied = 0;
  const byJob = new Map(rows.map((row) => [row.job, row]));
  for (const { job, rows: count, documents, ledger } of rows) {
    tied += count;
    const expected = completed.includes(job) ? perJob : 0;
    lost += Math.max(0, expected - count);
    doubled += Math.max(0, count - expected) + Math.max(0, documents - 1) + Math.max(0, ledger - 1);
  }
  lost += completed.filter((job) => !byJob.has(job)).length * perJob;
  // rows that hang from no document
  doubled += Math.max(0, totals!.rows - tied);
  return { lost, doubled };
}
