/** Rows of one target against those that its jobs should have added. */
import type { LargeDocument } from '../../test/support/documents/large.ts';

export interface Census {
  /** rows that completed jobs should have added and that are not there */
  readonly lost: number;
  /** rows that are there though no completed job added them, or more than once */
  readonly doubled: number;
}

/** The database that a cycle's jobs load. */
export interface CountedDatabase {
  /** whether tables were made there */
  isPresent(): Promise<boolean>;
  /** Rows of a query that any SQL database understands; values as text or numbers. */
  ask(query: string): Promise<readonly (readonly unknown[])[]>;
  /** what stands before the name of a table */
  readonly prefix: string;
}

/** `completed`: jobs that each added the document once. All rows are tied to their documents by their keys. */
export async function countRows(
  database: CountedDatabase,
  document: LargeDocument,
  completed: readonly number[],
): Promise<Census> {
  const perJob = document.shipments + document.packages + document.goods;
  if (!(await database.isPresent())) return { lost: completed.length * perJob, doubled: 0 };
  const perJobOf = async (query: string): Promise<ReadonlyMap<number, number>> =>
    new Map((await database.ask(query)).map(([job, count]) => [Number(job), Number(count)]));
  const of = (name: string): string => `${database.prefix}${name}`;
  const byJob = (name: string): string => `select job, count(*) as n from ${of(name)} group by job`;
  const documents = await perJobOf(byJob('_documents'));
  const ledger = await perJobOf(byJob('_loads'));
  const tied = await perJobOf(tiedRows(of));
  const tables = ['shipment', 'package', 'goods'].map((name) => `(select count(*) from ${of(name)})`);
  const [[total]] = (await database.ask(`select ${tables.join(' + ')}`)) as [[unknown]];
  let lost = 0;
  let doubled = 0;
  let found = 0;
  for (const job of new Set([...documents.keys(), ...ledger.keys(), ...completed])) {
    const rows = tied.get(job) ?? 0;
    const expected = completed.includes(job) ? perJob : 0;
    found += rows;
    lost += Math.max(0, expected - rows);
    doubled += Math.max(0, rows - expected);
    for (const told of [documents, ledger]) doubled += Math.max(0, (told.get(job) ?? 0) - 1);
  }
  // rows that hang from no document
  doubled += Math.max(0, Number(total) - found);
  return { lost, doubled };
}

/** Packages lie in shipments, and in one another; goods in packages. */
function tiedRows(of: (name: string) => string): string {
  const shipments = `${of('_documents')} d join ${of('manifest')} m on m.document_key = d.document_key join ${of('shipment')} s on s.manifest_key = m.manifest_key`;
  const outer = `${shipments} join ${of('package')} o on o.shipment_key = s.shipment_key`;
  const inner = `${outer} join ${of('package')} i on i.parent_package_key = o.package_key`;
  const goodsOf = (packages: string, alias: string): string =>
    `${packages} join ${of('goods')} g on g.package_key = ${alias}.package_key`;
  const parts = [shipments, outer, inner, goodsOf(outer, 'o'), goodsOf(inner, 'i')].map(
    (rows) => `select d.job as job, count(*) as n from ${rows} group by d.job`,
  );
  return `select job, sum(n) from (${parts.join(' union all ')}) t group by job`;
}
