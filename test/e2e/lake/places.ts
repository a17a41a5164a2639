/** Where tables of Delta and Iceberg lie, each with what reads them without the code that wrote them; and the SQL schema that they are held against. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startIcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import { startObjectServer } from '../../support/servers/object-server.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import type { Trial } from '../../support/service/trial.ts';
import { copyCatalogue } from '../../contracts/catalogue-tables/library-catalogue.ts';
import {
  deltaReader,
  icebergReader,
  postgresReader,
  type TargetReader,
} from '../../contracts/row-sinks/readers.ts';

export interface TablePlace {
  readonly name: string;
  /** as `-o` and `-i` name it */
  readonly target: string;
  /** of whoever writes there */
  readonly format: readonly string[];
  readonly login: readonly string[];
  /** of what is there now, by the name of the format */
  readers(): Promise<Readonly<Record<string, TargetReader>>>;
}

const prefix = 'catalogue/';

/** `disk`, `bucket`: both formats over the same files. */
export type PlaceKind = 'delta' | 'iceberg' | 'disk' | 'bucket' | 'catalogue';

/** `home`: whose tools fill them. The first one is PostgreSQL. */
export interface Places {
  readonly home: ServiceHome;
  readonly all: readonly TablePlace[];
}

export async function openPlaces(trial: Trial, kinds: readonly PlaceKind[]): Promise<Places> {
  const store = trial.keep(await startObjectServer(), (server) => server.end());
  const { bucket, endpoint, region, accessKeyId, secretAccessKey } = store.settings;
  const login = { id: 'loader', secret: 'secret-of-the-loader' };
  const catalogue = trial.keep(
    await startIcebergCatalogue(store, {
      prefix,
      client: login,
      storeConfig: () => ({
        's3.endpoint': endpoint,
        's3.access-key-id': accessKeyId,
        's3.secret-access-key': secretAccessKey,
      }),
    }),
    (server) => server.end(),
  );
  const home = await trial.home({
    'svc.sources.lake.location': `s3://${bucket}`,
    'svc.sources.lake.endpoint': endpoint,
    'svc.sources.lake.region': region,
    'svc.sources.lake.access_key': accessKeyId,
    'svc.sources.lake.secret_key': secretAccessKey,
    'svc.sources.lake.writable': 'true',
  });
  const [disk, delta, iceberg] = ['disk', 'delta', 'iceberg'].map((name) => join(home.directory, name)) as [
    string,
    string,
    string,
  ];
  const copy = join(home.directory, 'copy');
  const places: Readonly<Record<PlaceKind, TablePlace>> = {
    delta: {
      name: 'disk, Delta alone',
      target: delta,
      format: ['-f', 'delta'],
      login: [],
      readers: async () => ({ delta: deltaReader(delta) }),
    },
    iceberg: {
      name: 'disk, Iceberg alone',
      target: iceberg,
      format: ['-f', 'iceberg'],
      login: [],
      readers: async () => ({ iceberg: icebergReader(iceberg) }),
    },
    disk: {
      name: 'disk',
      target: disk,
      format: ['-f', 'delta,iceberg'],
      login: [],
      readers: async () => ({ delta: deltaReader(disk), iceberg: icebergReader(disk) }),
    },
    bucket: {
      name: 'bucket',
      target: `s3://${bucket}/tables`,
      format: ['-f', 'delta,iceberg'],
      login: [],
      readers: async () => {
        await rm(copy, { recursive: true, force: true });
        await store.copyTo(copy, 'tables/');
        return { delta: deltaReader(copy), iceberg: icebergReader(copy) };
      },
    },
    catalogue: {
      name: 'catalogue',
      target: `iceberg:${catalogue.address}?warehouse=lake&namespace=rows`,
      format: [],
      login: ['-u', login.id, '-p', login.secret],
      readers: async () => {
        await rm(copy, { recursive: true, force: true });
        if (store.objects.has(`${prefix}_loads/.svc/manifest.json`)) await copyCatalogue(store, copy, prefix);
        return { iceberg: icebergReader(copy) };
      },
    },
  };
  // the first tool starts the database
  let sql: ReturnType<Trial['metadb']> | null = null;
  const postgres: TablePlace = {
    name: 'PostgreSQL',
    target: 'metadb:rows',
    format: [],
    login: [],
    readers: async () => ({ rows: postgresReader(await (sql ??= trial.metadb(home)), 'rows') }),
  };
  return { home, all: [postgres, ...kinds.map((kind) => places[kind])] };
}
