/** A service with an origin and a document that takes some seconds to load: what faults are tried on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { createServiceHome, type ServiceHome } from '../service/start.ts';
import { execution, type ServiceClient } from '../service/client.ts';
import { freightXsdFolder } from '../service/fixtures.ts';
import { writeLargeDocument, type LargeDocument } from './large.ts';
import { shortLeases } from '../service/leases.ts';
import { tablesOf } from '../service/schema.ts';
import { convert } from '../service/tools.ts';

export interface LargeLoad {
  readonly home: ServiceHome;
  readonly document: LargeDocument;
  /** of the freight schema, at map level 1 */
  readonly origin: number;
  /** Starts an xml2er of the document into `metadb:NAME`; the job's id. */
  submit(client: ServiceClient, sqlSchema: string): Promise<number>;
  remove(): Promise<void>;
}

export async function createLargeLoad(
  megabytes: number,
  properties: Readonly<Record<string, string>> = {},
): Promise<LargeLoad> {
  const folder = await mkdtemp(join(tmpdir(), 'large-document-'));
  const home = await createServiceHome({ ...shortLeases, 'svc.files.roots': folder, ...properties });
  const document = await writeLargeDocument(join(folder, 'large.xml'), megabytes * 1e6);
  const { origin } = await convert(home, 'xsd2er', freightXsdFolder, '-g', '1');
  return {
    home,
    document,
    origin: origin!,
    async submit(client, sqlSchema) {
      const options = [['-o', `metadb:${sqlSchema}`]] as const;
      const run = await client.run([execution('xml2er', document.path, options, String(origin))]);
      return run.jobs[0]!;
    },
    async remove() {
      await home.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The document's rows are there exactly once: by number, by key, by parent, and by the sum of a value. */
export async function expectLoadedOnce(sql: Sql, sqlSchema: string, document: LargeDocument): Promise<void> {
  const schema = sql(sqlSchema);
  const [counts] = await sql`
    select (select count(*)::int from ${schema}._loads) as loads,
           (select count(*)::int from ${schema}._documents) as documents,
           (select count(*)::int from ${schema}.manifest) as manifests,
           (select count(*)::int from ${schema}.shipment s join ${schema}.manifest using (manifest_key)) as shipments,
           (select count(distinct ref)::int from ${schema}.shipment) as refs,
           (select count(*)::int from ${schema}.package) as packages,
           (select count(distinct package_key)::int from ${schema}.package) as package_keys,
           (select count(*)::int from ${schema}.package p left join ${schema}.shipment s using (shipment_key)
             left join ${schema}.package o on o.package_key = p.parent_package_key
             where (s.shipment_key is null) = (o.package_key is null)) as orphans,
           (select count(*)::int from ${schema}.goods g join ${schema}.package using (package_key)) as goods,
           (select (sum(weight) * 1000000)::bigint::text from ${schema}.package) as weight`;
  expect(counts).toEqual({
    loads: 1,
    documents: 1,
    manifests: 1,
    shipments: document.shipments,
    refs: document.shipments,
    packages: document.packages,
    package_keys: document.packages,
    orphans: 0,
    goods: document.goods,
    weight: String(document.weightMillionths),
  });
}

export async function expectNothingLoaded(sql: Sql, sqlSchema: string): Promise<void> {
  expect((await tablesOf(sql, sqlSchema)).filter((name) => !name.startsWith('_svc_'))).toEqual([]);
}
