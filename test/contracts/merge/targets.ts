/** Every target that knows `-S m`, opened for tests: databases and servers that are started for them, files and folders. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { openDuckDb } from '../../../src/targets/sql/duckdb/database.ts';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { createDuckDbRowSource } from '../../../src/targets/sql/duckdb/source.ts';
import type { LakeFormatName } from '../../../src/targets/files/lake/table-format.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import { diskLake, type LakeTarget } from '../../../src/targets/files/lake/place.ts';
import { createMysqlRowSink } from '../../../src/targets/sql/mysql/sink.ts';
import { createMysqlRowSource } from '../../../src/targets/sql/mysql/source.ts';
import { createPostgresRowSource } from '../../../src/targets/sql/postgres/source.ts';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import { createSqliteRowSink } from '../../../src/targets/sql/sqlite/driver.ts';
import { createSqliteRowSource } from '../../../src/targets/sql/sqlite/source.ts';
import { isHere } from '../../support/needs.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import { startIcebergCatalogue, type IcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import { startObjectServer } from '../../support/servers/object-server.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { libraryBucket } from '../bucket-tables/library-bucket.ts';
import { copyCatalogue, libraryCatalogue } from '../catalogue-tables/library-catalogue.ts';
import { deltaReader, icebergReader, type TargetReader } from '../row-sinks/readers.ts';
import { mariadbAddress } from '../row-sinks/targets.ts';
import type { MergeTarget } from './orders.ts';

/** Rows of what a view would show: of a table without views, those of documents that nothing has replaced. */
async function currentRows(reader: TargetReader, view: string): Promise<number> {
  const documents = (await reader.read('_documents')) ?? [];
  const current = new Set(
    documents.filter((row) => row['valid_to'] === null).map((row) => row['document_key']),
  );
  expect(documents.filter(({ key, valid_from: from }) => key === null || from === null)).toEqual([]);
  const rows = (await reader.read(view.replace(/_current$/, ''))) ?? [];
  return rows.filter((row) => current.has(row['document_key']!)).length;
}

function lakeTarget(
  format: LakeFormatName,
  target: () => LakeTarget,
  readers: () => Promise<readonly TargetReader[]>,
): MergeTarget {
  return {
    createSink: () => createLakeRowSink({ target: target(), format, maxFiles: 9 }),
    createSource: () => createLakeRowSource({ target: target() }),
    count: async (view) => {
      const counts = new Set<number>();
      for (const reader of await readers()) counts.add(await currentRows(reader, view));
      expect(counts.size).toBe(1);
      return [...counts][0]!;
    },
  };
}

export const mergeTargetKinds = [
  'PostgreSQL',
  'PostgreSQL without indexes',
  'SQLite',
  'DuckDB',
  'Delta',
  'Delta and Iceberg',
  'Iceberg in a bucket',
  'Iceberg in a catalogue',
  'MariaDB',
] as const;
export type MergeTargetKind = (typeof mergeTargetKinds)[number];

export interface MergeTargets {
  readonly database: TestDatabase;
  /** `name`: one that the targets were opened for */
  target(kind: MergeTargetKind, name: string): MergeTarget;
  end(): Promise<void>;
}

/** `names`: of the SQL schemas, files and folders that will be asked for. MariaDB is there where its programs are. */
export async function openMergeTargets(names: readonly string[]): Promise<MergeTargets> {
  const folders = await mkdtemp(join(tmpdir(), 'merges-'));
  const database = await createEmptyDatabase();
  const server = await startObjectServer();
  const catalogues = new Map<string, IcebergCatalogue>();
  for (const name of names)
    catalogues.set(name, await startIcebergCatalogue(server, { prefix: `${name}-catalogue/` }));
  let mariadb: TestMariadb;
  if (mariadbParts.every((part) => isHere(part))) {
    mariadb = await startMariadb();
    for (const name of names) await mariadb.run(`CREATE DATABASE ${name};`);
  }
  let scratches = 0;
  const scratch = (): string => join(folders, `scratch-${(scratches += 1)}`);

  const targets: Readonly<Record<MergeTargetKind, (name: string) => MergeTarget>> = {
    PostgreSQL: (name) => {
      const place = { url: database.url, sqlSchema: name };
      return {
        createSink: () => createPostgresRowSink({ ...place, createSchema: true }),
        createSource: () => createPostgresRowSource(place),
        count: async (view) => {
          const [row] = await database.sql.unsafe<{ n: number }[]>(
            `select count(*)::int as n from ${name}.${view}`,
          );
          return row!.n;
        },
      };
    },
    'PostgreSQL without indexes': (name) => ({ ...targets['PostgreSQL'](`${name}_bare`), indexes: 'none' }),
    SQLite: (name) => {
      const file = join(folders, `${name}.sqlite`);
      return {
        createSink: () => createSqliteRowSink({ file }),
        createSource: () => createSqliteRowSource({ file }),
        count: async (view) => {
          const opened = new DatabaseSync(file, { readOnly: true });
          try {
            return Number(opened.prepare(`select count(*) as n from ${view}`).get()!['n']);
          } finally {
            opened.close();
          }
        },
      };
    },
    DuckDB: (name) => {
      const file = join(folders, `${name}.duckdb`);
      return {
        createSink: () => createDuckDbRowSink({ file }),
        createSource: () => createDuckDbRowSource({ file }),
        count: async (view) => {
          const opened = await openDuckDb(file, { directory: folders, memoryBytes: 256 * 2 ** 20 });
          try {
            const [row] = await opened.read<{ n: number }>(`SELECT count(*)::INTEGER AS n FROM ${view}`);
            return row!.n;
          } finally {
            opened.close();
          }
        },
      };
    },
    Delta: (name) => {
      const directory = join(folders, `delta-${name}`);
      return lakeTarget(
        'delta',
        () => diskLake({ directory }),
        async () => [deltaReader(directory)],
      );
    },
    'Delta and Iceberg': (name) => {
      const directory = join(folders, `both-${name}`);
      return lakeTarget(
        'delta,iceberg',
        () => diskLake({ directory }),
        async () => [deltaReader(directory), icebergReader(directory)],
      );
    },
    'Iceberg in a bucket': (name) =>
      lakeTarget(
        'iceberg',
        () => libraryBucket(server.settings, scratch(), name),
        async () => {
          const copy = scratch();
          await server.copyTo(copy, `${name}/`);
          return [icebergReader(copy)];
        },
      ),
    'Iceberg in a catalogue': (name) =>
      lakeTarget(
        'iceberg',
        () => libraryCatalogue(catalogues.get(name)!.address, server.settings, scratch()),
        async () => {
          const copy = scratch();
          await copyCatalogue(server, copy, `${name}-catalogue/`);
          return [icebergReader(copy)];
        },
      ),
    MariaDB: (name) => ({
      createSink: () => createMysqlRowSink(mariadbAddress(mariadb, name)),
      createSource: () => createMysqlRowSource(mariadbAddress(mariadb, name)),
      count: async (view) => {
        const told = await mariadb.run(`SELECT count(*) FROM ${view};`, undefined, name);
        return Number(told.trim().split('\n').at(-1));
      },
    }),
  };

  return {
    database,
    target: (kind, name) => targets[kind](name),
    end: async () => {
      await mariadb?.stop();
      await database.drop();
      for (const catalogue of catalogues.values()) await catalogue.end();
      await server.end();
      await rm(folders, { recursive: true, force: true });
    },
  };
}
