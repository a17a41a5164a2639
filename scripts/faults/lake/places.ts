/** Tables of Delta and Iceberg that jobs fill while another program writes into them: on a disk, in a bucket whose store fails now and then, and in a catalogue. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { S3Settings } from '../../../src/storage/object-store/s3-requests.ts';
import type { Part } from '../../../test/support/needs.ts';
import {
  startIcebergRestServer,
  type IcebergRestServer,
} from '../../../test/support/servers/iceberg-rest-server.ts';
import { startS3Server, type S3Server } from '../../../test/support/servers/s3-server.ts';
import { countRows, type Census } from '../census.ts';
import type { MakePlace, Place } from '../places.ts';
import { startFaultyStore, type FaultyStore } from './faulty-store.ts';
import { exportTables, startForeignWriter, type ForeignPlace, type ForeignWriter } from './programs.ts';

export const lakeParts = [
  'deltalake',
  'pyiceberg',
  's3 server',
  'iceberg catalogue',
] as const satisfies Part[];

/** of the requests of jobs to the store */
const faultShare = 0.03;
const counted = ['_documents', '_loads', 'manifest', 'shipment', 'package', 'goods'] as const;
/** the other program writes there */
const sharedTable = 'goods';

const formats = ['delta', 'iceberg', 'delta,iceberg'] as const;
const kinds = [
  ...formats.flatMap((format) => [['disk', format] as const, ['bucket', format] as const]),
  ['catalogue', 'iceberg'] as const,
];
const partitions = [null, 'month(pickup)', 'shipment.priority'] as const;

export interface LakeServers {
  /** of the service */
  readonly settings: Readonly<Record<string, string>>;
  readonly makePlace: MakePlace;
  end(): Promise<void>;
}

/** Each place is of the next kind, with the next partitions. Needs `lakeParts`. */
export async function startLakeServers(folder: string): Promise<LakeServers> {
  const store = (await startS3Server())!;
  const faulty = await startFaultyStore(store.settings, { share: faultShare });
  const catalogue = await startIcebergRestServer(store.settings);
  const servers: Servers = { folder, store, faulty, catalogue };
  const { bucket, accessKeyId, secretAccessKey, region } = store.settings;
  let made = 0;
  return {
    settings: {
      'svc.sources.store.location': `s3://${bucket}`,
      'svc.sources.store.endpoint': faulty.settings.endpoint,
      'svc.sources.store.region': region,
      'svc.sources.store.access_key': accessKeyId,
      'svc.sources.store.secret_key': secretAccessKey,
      'svc.sources.store.writable': 'true',
    },
    makePlace: async (name) => {
      const [where, format] = kinds[made % kinds.length]!;
      const partition = partitions[made % partitions.length]!;
      made += 1;
      return lakePlace(servers, { name, where, format, partition });
    },
    end: async () => {
      await catalogue.end();
      await faulty.end();
      await store.end();
    },
  };
}

interface Servers {
  readonly folder: string;
  readonly store: S3Server;
  readonly faulty: FaultyStore;
  readonly catalogue: IcebergRestServer;
}

interface Wanted {
  readonly name: string;
  readonly where: 'disk' | 'bucket' | 'catalogue';
  readonly format: (typeof formats)[number];
  readonly partition: string | null;
}

function lakePlace(servers: Servers, { name, where, format, partition }: Wanted): Place {
  const { folder, store, catalogue } = servers;
  const path = where === 'disk' ? join(folder, name) : `s3://${store.settings.bucket}/${name}`;
  const target = where === 'catalogue' ? `iceberg:${catalogue.address}?namespace=${name}` : path;
  const seen: ForeignPlace[] =
    where === 'catalogue'
      ? [{ kind: where, path: name, catalogue: catalogue.address, options: icebergOptions(store.settings) }]
      : (format.split(',') as ('delta' | 'iceberg')[]).map((kind) => ({
          kind,
          path,
          options: where === 'disk' ? {} : optionsFor(kind, store.settings),
        }));
  const main = seen[0]!;
  // without a catalogue PyIceberg writes nothing
  let writer: ForeignWriter | null = main.kind === 'iceberg' ? null : startForeignWriter(main, sharedTable);
  return {
    told: `${where} ${format}${partition === null ? '' : ` by ${partition}`}`,
    options: [
      ['-o', target],
      ...(where === 'catalogue' ? [] : [['-f', format] as const]),
      ...(partition === null ? [] : [['--partition', partition] as const]),
    ],
    census: async (document, completed) => {
      const { added = [], tried = 0 } = (await writer?.end()) ?? {};
      writer = null;
      let census: Census = { lost: 0, doubled: 0 };
      for (const [at, place] of seen.entries()) {
        const rows = await withRows(folder, place, async (ask, isPresent) => {
          const own = await countRows(
            { isPresent: async () => isPresent, ask, prefix: '' },
            document,
            completed,
          );
          return { own, theirs: isPresent ? await ask('SELECT goods_key FROM theirs') : [] };
        });
        const theirs = rows.theirs.map(([key]) => -Number(key));
        // what they write into one format the other one does not have
        const wanted = at === 0 ? added : [];
        census = {
          lost: census.lost + rows.own.lost + wanted.filter((number) => !theirs.includes(number)).length,
          doubled:
            census.doubled +
            rows.own.doubled +
            theirs.filter((number, index) => number > tried || theirs.indexOf(number) < index).length,
        };
      }
      return census;
    },
    remove: async () => {
      await writer?.end();
      if (where === 'disk') await rm(path, { recursive: true, force: true });
    },
  };
}

type Ask = (query: string) => Promise<readonly (readonly unknown[])[]>;

/** `isPresent`: whether jobs made tables there. Rows of others are apart. */
async function withRows<T>(
  folder: string,
  place: ForeignPlace,
  work: (ask: Ask, isPresent: boolean) => Promise<T>,
): Promise<T> {
  const copies = await mkdtemp(join(folder, 'census-'));
  await exportTables(place, copies, counted);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const ask: Ask = async (query) => (await connection.runAndReadAll(query)).getRows();
  try {
    const files = (await ask(`SELECT file FROM glob('${copies}/*.parquet')`)).map(([file]) => String(file));
    for (const file of files) {
      const table = /([^/]+)\.parquet$/.exec(file)![1]!;
      const own = table === sharedTable ? ' WHERE goods_key > 0' : '';
      await ask(`CREATE VIEW "${table}" AS SELECT * FROM read_parquet('${file}')${own}`);
      if (table === sharedTable)
        await ask(`CREATE VIEW theirs AS SELECT * FROM read_parquet('${file}') WHERE goods_key < 0`);
    }
    return await work(ask, files.length === counted.length);
  } finally {
    connection.closeSync();
    instance.closeSync();
    await rm(copies, { recursive: true, force: true });
  }
}

function optionsFor(kind: 'delta' | 'iceberg', settings: S3Settings): Readonly<Record<string, string>> {
  if (kind === 'iceberg') return icebergOptions(settings);
  return {
    AWS_ENDPOINT_URL: settings.endpoint,
    AWS_REGION: settings.region,
    AWS_ACCESS_KEY_ID: settings.accessKeyId,
    AWS_SECRET_ACCESS_KEY: settings.secretAccessKey,
    AWS_ALLOW_HTTP: 'true',
    aws_conditional_put: 'etag',
  };
}

function icebergOptions(settings: S3Settings): Readonly<Record<string, string>> {
  return {
    's3.endpoint': settings.endpoint,
    's3.region': settings.region,
    's3.access-key-id': settings.accessKeyId,
    's3.secret-access-key': settings.secretAccessKey,
  };
}
