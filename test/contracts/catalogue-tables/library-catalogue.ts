/** Loads of the library's documents into tables of a catalogue. */
import { join } from 'node:path';
import {
  catalogueLake,
  type CatalogueLakeOptions,
} from '../../../src/targets/files/lake/catalogue/tables.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import type { LakeTarget } from '../../../src/targets/files/lake/place.ts';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import type { S3Settings } from '../../../src/storage/object-store/s3-requests.ts';
import type { Published, SinkPlan } from '../../../src/ports/row-sink.ts';
import type { IcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import type { ObjectServer } from '../../support/servers/object-server.ts';
import { expectJobs } from '../bucket-tables/expected-jobs.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';

/** `scratch`: a folder of this machine, another one for each. */
export function libraryCatalogue(
  address: string,
  settings: S3Settings,
  scratch: string,
  more: Partial<CatalogueLakeOptions> = {},
): LakeTarget {
  return catalogueLake({
    address,
    warehouse: null,
    namespace: ['trial', 'library'],
    label: `iceberg:${address}?namespace=trial.library`,
    login: { kind: 'none' },
    transport: (method, url, headers, body) =>
      fetch(url, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) }),
    openStore: async (location, vended) => {
      const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)\/(.*)$/.exec(location) ?? [];
      return { objects: createS3ObjectStore({ ...settings, ...vended, bucket }), prefix: `${prefix}/` };
    },
    scratch,
    ...more,
  });
}

let tries = 0;

export async function loadCatalogue(
  address: string,
  settings: S3Settings,
  folder: string,
  plan: SinkPlan = libraryPlan(1),
  more: Partial<CatalogueLakeOptions> = {},
): Promise<Published> {
  tries += 1;
  const target = libraryCatalogue(address, settings, join(folder, `try-${tries}`), more);
  const sink = createLakeRowSink({ target, format: 'iceberg' });
  try {
    return await loadLibrary(sink, plan, 1);
  } finally {
    await sink.close();
  }
}

/** Tables of a catalogue in this process as a folder of tables. */
export async function copyCatalogue(server: ObjectServer, folder: string, prefix: string): Promise<void> {
  const manifest = server.objects.get(`${prefix}_loads/.svc/manifest.json`)!.toString();
  server.put(`${prefix}manifest.json`, manifest);
  await server.copyTo(folder, prefix);
}

/** As `expectJobs`, of the tables below `lake/` that a catalogue in this process has. */
export async function expectCatalogueJobs(
  server: ObjectServer,
  folder: string,
  jobs: readonly number[],
  options: { readonly isCompacted?: boolean } = {},
): Promise<void> {
  server.put('lake/manifest.json', server.objects.get('lake/_loads/.svc/manifest.json')!.toString());
  await expectJobs(server, folder, 'iceberg', jobs, options);
}

let foreign = 3_051_729_675_574_597_004n;

/** Of somebody else, with the files that the table has, under an identifier as other programs draw them. */
export function changeBook(catalogue: IcebergCatalogue): void {
  catalogue.change('book', (metadata) => {
    const snapshot = {
      ...metadata.snapshots.at(-1),
      'snapshot-id': (foreign += 1n),
      'parent-snapshot-id': metadata['current-snapshot-id'],
      'sequence-number': metadata['last-sequence-number'] + 1,
      summary: { operation: 'replace' },
    };
    return {
      snapshots: [...metadata.snapshots, snapshot],
      'last-sequence-number': metadata['last-sequence-number'] + 1,
      'current-snapshot-id': snapshot['snapshot-id'],
    };
  });
}
