/** Documents of a target against the jobs that should have loaded them. */
import type { LargeDocument } from '../../../test/support/documents/large.ts';
import type { Ask, MixTarget } from './targets.ts';

export interface LoadJob {
  readonly idJob: number;
  /** of the job record; null: the job has not ended */
  readonly status: string | null;
}

export interface Findings {
  /** documents of completed jobs that are absent, or whose rows are not all there */
  readonly lost: readonly string[];
  /** documents that are there more than once, that belong to a job that did not complete, and rows of no document */
  readonly doubled: readonly string[];
}

/** `documents`: those that each job loads, by their names in `_documents`. Each finding names a job and a document. */
export async function countDocuments(
  target: MixTarget,
  documents: ReadonlyMap<string, LargeDocument>,
  jobs: readonly LoadJob[],
): Promise<Findings> {
  const found = (await target.read(readCounts)) ?? {
    copies: new Map(),
    rows: new Map(),
    stray: 0,
  };
  const lost: string[] = [];
  const doubled: string[] = [];
  const expected = new Set<string>();
  for (const { idJob, status } of jobs)
    for (const [name, { shipments, packages, goods }] of documents) {
      const key = `${idJob} ${name}`;
      expected.add(key);
      if (status === null) continue;
      const copies = found.copies.get(key) ?? 0;
      const rows = found.rows.get(key) ?? 0;
      const wanted = status === 'C' ? 1 : 0;
      const wantedRows = wanted * (shipments + packages + goods);
      const told = `${target.kind} job ${key}: ${status}, ${copies} × with ${rows} of ${wantedRows} rows`;
      if (copies < wanted || rows < wantedRows) lost.push(told);
      else if (copies > wanted || rows > wantedRows) doubled.push(told);
    }
  for (const [key, copies] of found.copies)
    if (!expected.has(key)) doubled.push(`${target.kind} job ${key}: ${copies} × of no job`);
  if (found.stray > 0) doubled.push(`${target.kind}: ${found.stray} rows of no document`);
  return { lost, doubled };
}

interface FoundCounts {
  /** entries in `_documents`, by job and name */
  readonly copies: ReadonlyMap<string, number>;
  /** rows that belong to them */
  readonly rows: ReadonlyMap<string, number>;
  /** rows that belong to no document */
  readonly stray: number;
}

async function readCounts(ask: Ask): Promise<FoundCounts> {
  const byDocument = async (query: string): Promise<Map<string, number>> =>
    new Map((await ask(query)).map(([job, name, n]) => [`${Number(job)} ${String(name)}`, Number(n)]));
  const copies = await byDocument('select job, name, count(*) from _documents group by job, name');
  const rows = await byDocument(rowsOfDocuments);
  const tables = ['shipment', 'package', 'goods'].map((table) => `(select count(*) from ${table})`);
  const [[total]] = (await ask(`select ${tables.join(' + ')} as n`)) as [[unknown]];
  const counted = [...rows.values()].reduce((sum, n) => sum + n, 0);
  return { copies, rows, stray: Number(total) - counted };
}

/** Packages belong to shipments or to other packages, goods to packages. */
const shipments =
  '_documents d join manifest m on m.document_key = d.document_key join shipment s on s.manifest_key = m.manifest_key';
const outer = `${shipments} join package o on o.shipment_key = s.shipment_key`;
const inner = `${outer} join package i on i.parent_package_key = o.package_key`;
const parts = [
  shipments,
  outer,
  inner,
  `${outer} join goods g on g.package_key = o.package_key`,
  `${inner} join goods g on g.package_key = i.package_key`,
].map((rows) => `select d.job as job, d.name as name, count(*) as n from ${rows} group by d.job, d.name`);
const rowsOfDocuments = `select job, name, sum(n) from (${parts.join(' union all ')}) t group by job, name`;
