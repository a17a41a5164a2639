/** Targets that a version before 1.0 made: every kind refuses them, to writers and readers alike, and changes nothing. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDuckDbRowSource } from '../../../src/targets/sql/duckdb/source.ts';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { createFolderRowSink, createObjectFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { createFolderRowSource } from '../../../src/targets/files/folder/source.ts';
import { lakeFormatOf } from '../../../src/targets/files/lake/look.ts';
import { createLakeRowRemover } from '../../../src/targets/files/lake/remover.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import { diskLake, type LakeTarget } from '../../../src/targets/files/lake/place.ts';
import type { LakeFormatName } from '../../../src/targets/files/lake/table-format.ts';
import { createMysqlRowRemover } from '../../../src/targets/sql/mysql/driver.ts';
import { createMysqlRowSink } from '../../../src/targets/sql/mysql/sink.ts';
import { createMysqlRowSource } from '../../../src/targets/sql/mysql/source.ts';
import { createPostgresRowRemover } from '../../../src/targets/sql/postgres/remover.ts';
import { createPostgresRowSource } from '../../../src/targets/sql/postgres/source.ts';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import { createSqliteRowRemover, createSqliteRowSink } from '../../../src/targets/sql/sqlite/driver.ts';
import { createSqliteRowSource } from '../../../src/targets/sql/sqlite/source.ts';
import type { RowRemover, RowSink } from '../../../src/ports/row-sink.ts';
import type { RowSource } from '../../../src/ports/row-source.ts';
import { createMemoryFileStore, objectsIn } from '../../support/memory/files.ts';
import { needs } from '../../support/needs.ts';
import { startIcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { libraryModel } from '../../unit/engine/sql/library-model.ts';
import { libraryBucket } from '../bucket-tables/library-bucket.ts';
import { libraryCatalogue } from '../catalogue-tables/library-catalogue.ts';
import { duckDbRows } from '../row-sinks/readers.ts';
import { mariadbAddress } from '../row-sinks/targets.ts';
import { libraryPlan, loadLibrary } from './library-rows.ts';

const message =
  /^[^\n]+(?:_loads has no column|a job in it has no) installation\. A version before 1\.0 made this target, .+er2xml.+ with this version\.$/;

const trial = useTrial();
let database: TestDatabase;
let server: ObjectServer;
let folders = '';
const ends: (() => Promise<void>)[] = [];
let scratches = 0;
const scratch = (): string => join(folders, `scratch-${(scratches += 1)}`);

beforeAll(async () => {
  database = await trial.emptyDatabase();
  server = await startObjectServer();
  folders = await mkdtemp(join(tmpdir(), 'pre-release-'));
});
afterAll(async () => {
  for (const end of ends) await end();
  await server?.end();
  await rm(folders, { recursive: true, force: true });
});

interface AgingTarget {
  createSink(): RowSink;
  createSource?(): RowSource;
  createRemover?(): RowRemover;
  /** The format of the tables, which decides how a folder is read. */
  formatThere?(): Promise<unknown>;
  /** Takes away what an early version did not write. */
  age(): Promise<unknown>;
  /** What the target holds. */
  state(): Promise<unknown>;
}

function aged(manifest: string): string {
  const whole = JSON.parse(manifest) as { jobs: readonly Readonly<Record<string, unknown>>[] };
  const jobs = whole.jobs.map((job) => ({ ...job, installation: undefined }));
  return JSON.stringify({ ...whole, jobs });
}

function isManifest(text: string): boolean {
  try {
    return Array.isArray((JSON.parse(text) as { jobs?: unknown }).jobs);
  } catch {
    return false;
  }
}

async function ageFile(path: string): Promise<void> {
  await writeFile(path, aged(await readFile(path, 'utf8')));
}

const namesIn = async (directory: string): Promise<string[]> =>
  (await readdir(directory, { recursive: true })).toSorted();

function filesTarget(format: 'csv' | 'tsv' | 'jsonl' | 'parquet'): AgingTarget {
  const directory = join(folders, format);
  return {
    createSink: () => createFolderRowSink({ directory, format }),
    createSource: () => createFolderRowSource({ directory }),
    age: () => ageFile(join(directory, 'manifest.json')),
    state: () => namesIn(directory),
  };
}

/** Tables of a lake on this machine. */
function lakeTarget(format: LakeFormatName): AgingTarget {
  const directory = join(folders, format.replace(',', '-'));
  return {
    ...lakeAt(format, () => diskLake({ directory })),
    age: () => ageFile(join(directory, 'manifest.json')),
    state: () => namesIn(directory),
  };
}

/** Tables of a lake in a bucket, below `prefix`. */
function bucketTarget(format: LakeFormatName, prefix: string, target: () => LakeTarget): AgingTarget {
  return {
    ...lakeAt(format, target),
    age: async () => {
      for (const [key, body] of server.objects) {
        const text = body.toString();
        if (key.startsWith(prefix) && /"jobs":/.test(text) && isManifest(text)) server.put(key, aged(text));
      }
    },
    state: async () =>
      [...server.objects.keys()].filter((key) => key.startsWith(prefix) && !key.includes('lock')),
  };
}

function lakeAt(
  format: LakeFormatName,
  target: () => LakeTarget,
): Required<Pick<AgingTarget, 'createSink' | 'createSource' | 'createRemover' | 'formatThere'>> {
  return {
    createSink: () => createLakeRowSink({ target: target(), format }),
    createSource: () => createLakeRowSource({ target: target() }),
    createRemover: () => createLakeRowRemover(target()),
    formatThere: () => lakeFormatOf(target()),
  };
}

async function refuses(target: AgingTarget): Promise<void> {
  const refusal = { code: 'conflict', message: expect.stringMatching(message) as unknown };
  const first = target.createSink();
  await loadLibrary(first, libraryPlan(1), 1).finally(() => first.close());
  await target.age();
  const before = await target.state();
  for (const saveMode of ['append', 'overwrite', 'write-schema'] as const) {
    const sink = target.createSink();
    await expect(loadLibrary(sink, libraryPlan(2, { saveMode }), 1)).rejects.toMatchObject(refusal);
    await sink.close();
  }
  const asked = target.createSink();
  await expect(asked.loads()).rejects.toMatchObject(refusal);
  await asked.close();
  if (target.createSource !== undefined) {
    const source = target.createSource();
    await expect(source.loads()).rejects.toMatchObject(refusal);
    await expect(source.open(libraryModel)).rejects.toMatchObject(refusal);
    await source.close();
  }
  if (target.createRemover !== undefined) {
    const remover = target.createRemover();
    const { idJob, jobUuid, modelHash, model } = libraryPlan(3);
    const plan = { idJob, jobUuid, installation: '', idSch: 1, idLschma: 2, modelHash: modelHash!, model };
    await expect(
      remover.removeDocuments({ ...plan, documentName: 'job 1 file 1.xml', dryRun: false }, async () => true),
    ).rejects.toMatchObject(refusal);
    await remover.close();
  }
  if (target.formatThere !== undefined) await expect(target.formatThere()).rejects.toMatchObject(refusal);
  expect(await target.state()).toEqual(before);
}

const kinds: Readonly<Record<string, () => AgingTarget | Promise<AgingTarget>>> = {
  PostgreSQL: () => {
    const place = { url: database.url, sqlSchema: 'aged', label: 'aged' };
    return {
      createSink: () => createPostgresRowSink({ ...place, createSchema: true }),
      createSource: () => createPostgresRowSource(place),
      createRemover: () => createPostgresRowRemover(place),
      age: () => database.sql.unsafe('alter table aged._loads drop column installation'),
      state: async () => [
        await database.sql.unsafe(`select table_name, column_name from information_schema.columns
                                    where table_schema = 'aged' or table_schema like '\\_svc%' order by 1, 2`),
        await database.sql.unsafe('select job from aged._loads'),
      ],
    };
  },
  SQLite: () => {
    const file = join(folders, 'aged.sqlite');
    const open = <T>(work: (opened: DatabaseSync) => T): T => {
      const opened = new DatabaseSync(file);
      try {
        return work(opened);
      } finally {
        opened.close();
      }
    };
    return {
      createSink: () => createSqliteRowSink({ file }),
      createSource: () => createSqliteRowSource({ file }),
      createRemover: () => createSqliteRowRemover({ file }),
      age: async () => open((opened) => opened.exec('alter table _loads drop column installation')),
      state: async () =>
        open((opened) => [
          opened.prepare('select name, sql from sqlite_schema order by 1').all(),
          opened.prepare('select job from _loads').all(),
        ]),
    };
  },
  DuckDB: () => {
    const file = join(folders, 'aged.duckdb');
    return {
      createSink: () => createDuckDbRowSink({ file }),
      createSource: () => createDuckDbRowSource({ file }),
      age: async () => {
        const instance = await DuckDBInstance.create(file);
        const connection = await instance.connect();
        await connection.run('create table aged as select * exclude (installation) from _loads');
        await connection.run('drop table _loads');
        await connection.run('alter table aged rename to _loads');
        connection.closeSync();
        instance.closeSync();
      },
      state: async () => [
        await duckDbRows(file, '(select table_name, column_name from duckdb_columns() order by 1, 2)'),
        await duckDbRows(file, '(select job from _loads)'),
      ],
    };
  },
  'a folder of CSV': () => filesTarget('csv'),
  'a folder of TSV': () => filesTarget('tsv'),
  'a folder of JSON Lines': () => filesTarget('jsonl'),
  'a folder of Parquet': () => filesTarget('parquet'),
  'files in a store': () => {
    const files = createMemoryFileStore();
    const location = '/memory/1/out';
    const path = `${location}/manifest.json`;
    return {
      createSink: () =>
        createObjectFolderRowSink({
          location: 's3://lake/out',
          objects: objectsIn(files),
          prefix: '1/out/',
          label: 'out',
          format: 'csv',
          jobMark: '1',
          scratch: scratch(),
          lock: async () => ({ isHeld: async () => true, release: async () => undefined }),
        }),
      age: async () =>
        files.write(path, new TextEncoder().encode(aged(await new Response(await files.read(path)).text()))),
      state: async () =>
        (await Array.fromAsync(files.listFiles(location))).map(({ name }) => name).toSorted(),
    };
  },
  'a folder of Delta': () => lakeTarget('delta'),
  'a folder of Iceberg': () => lakeTarget('iceberg'),
  'a folder of both': () => lakeTarget('delta,iceberg'),
  'Delta in a bucket': () =>
    bucketTarget('delta', 'delta/', () => libraryBucket(server.settings, scratch(), 'delta')),
  'Iceberg in a catalogue': async () => {
    const catalogue = await startIcebergCatalogue(server, { prefix: 'catalogue/' });
    ends.push(() => catalogue.end());
    return bucketTarget('iceberg', 'catalogue/', () =>
      libraryCatalogue(catalogue.address, server.settings, scratch()),
    );
  },
};

describe('a target of a version before 1.0', () => {
  test.each(Object.entries(kinds))('is refused: %s', async (_, targetOf) => refuses(await targetOf()));

  describe('in a server', needs(mariadbParts), () => {
    let mariadb: TestMariadb;
    beforeAll(async () => {
      mariadb = await startMariadb();
      await mariadb.run('CREATE DATABASE aged;');
    });
    afterAll(() => mariadb?.stop());

    test('is refused: MariaDB', () => {
      const address = mariadbAddress(mariadb, 'aged');
      return refuses({
        createSink: () => createMysqlRowSink(address),
        createSource: () => createMysqlRowSource(address),
        createRemover: () => createMysqlRowRemover(address),
        age: () => mariadb.run('ALTER TABLE _loads DROP COLUMN installation;', undefined, 'aged'),
        state: () =>
          mariadb.run(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'aged' ORDER BY 1, 2; SELECT job FROM _loads;",
            undefined,
            'aged',
          ),
      });
    });
  });
});

test('a table of somebody else without a ledger beside it is none', async () => {
  const own = { url: database.url, sqlSchema: 'own' };
  await database.sql.unsafe('create schema own; create table own.mine (job int)');
  const sink = createPostgresRowSink(own);
  await loadLibrary(sink, libraryPlan(1), 1).finally(() => sink.close());
  expect(await database.sql.unsafe('select count(*)::int as n from own.library')).toMatchObject([{ n: 1 }]);
});
