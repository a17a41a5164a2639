/**
 * `-S m` on every target that knows it: a thousand replacements, compared with a model in memory, by what is written back; and with `--history` at
 * ten moments.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDuckDb } from '../../../src/adapters/duckdb/database.ts';
import { createDuckDbRowSink } from '../../../src/adapters/duckdb/target/sink.ts';
import { createDuckDbRowSource } from '../../../src/adapters/duckdb/target/source.ts';
import type { LakeFormatName } from '../../../src/adapters/lake/formats.ts';
import { createLakeRowSink } from '../../../src/adapters/lake/sink.ts';
import { createLakeRowSource } from '../../../src/adapters/lake/source.ts';
import { diskLake } from '../../../src/adapters/lake/store/disk.ts';
import type { LakeTarget } from '../../../src/adapters/lake/store/place.ts';
import { createMysqlRowSink } from '../../../src/adapters/mysql/sink.ts';
import { createMysqlRowSource } from '../../../src/adapters/mysql/source.ts';
import { createPostgresRowSource } from '../../../src/adapters/postgres/target/read/source.ts';
import { createPostgresRowSink } from '../../../src/adapters/postgres/target/sink.ts';
import { createSqliteRowSink } from '../../../src/adapters/sqlite/target/sink.ts';
import { createSqliteRowSource } from '../../../src/adapters/sqlite/target/source.ts';
import { isHere, needs } from '../../support/needs.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import { startIcebergCatalogue, type IcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { libraryBucket } from '../bucket-tables/library-bucket.ts';
import { copyCatalogue, libraryCatalogue } from '../catalogue-tables/library-catalogue.ts';
import { deltaReader, icebergReader, type TargetReader } from '../row-sinks/readers.ts';
import { mariadbAddress } from '../row-sinks/targets.ts';
import {
  createDice,
  expectSame,
  mergeFolder,
  orderModel,
  orderOf,
  written,
  type MergeTarget,
} from './orders.ts';

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
    createSink: () => createLakeRowSink({ target: target(), format, mostFiles: 9 }),
    createSource: () => createLakeRowSource({ target: target() }),
    count: async (view) => {
      const counts = new Set<number>();
      for (const reader of await readers()) counts.add(await currentRows(reader, view));
      expect(counts.size).toBe(1);
      return [...counts][0]!;
    },
  };
}

/** 1,000 documents in all, or a few of them */
const [rounds, documentsPerRound] = isHere('whole run') ? [25, 40] : [4, 12];

describe('merges', { timeout: 600_000 }, () => {
  let database: TestDatabase;
  let mariadb: TestMariadb;
  let server: ObjectServer;
  const catalogues = new Map<string, IcebergCatalogue>();
  let folders: string;
  const model = orderModel;

  beforeAll(async () => {
    folders = await mkdtemp(join(tmpdir(), 'merges-'));
    database = await createEmptyDatabase();
    server = await startObjectServer();
    for (const name of ['replaced', 'kept'])
      catalogues.set(name, await startIcebergCatalogue(server, { prefix: `${name}-catalogue/` }));
    if (mariadbParts.every((part) => isHere(part))) {
      mariadb = await startMariadb();
      for (const name of ['replaced', 'kept']) await mariadb.run(`CREATE DATABASE ${name};`);
    }
  });
  afterAll(async () => {
    await mariadb?.stop();
    await database?.drop();
    for (const catalogue of catalogues.values()) await catalogue.end();
    await server?.end();
    await rm(folders, { recursive: true, force: true });
  });

  let scratches = 0;
  const scratch = (): string => join(folders, `scratch-${(scratches += 1)}`);

  const targets: Readonly<Record<string, (name: string) => MergeTarget>> = {
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
    'PostgreSQL without indexes': (name) => ({ ...targets['PostgreSQL']!(`${name}_bare`), indexes: 'none' }),
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

  for (const [kind, targetOf] of Object.entries(targets))
    it.each([['replaced'], ['kept']] as const)(
      `of ${kind} are as a model in memory says: %s`,
      kind === 'MariaDB' ? needs(mariadbParts) : {},
      async (what) => {
        const target = targetOf(what);
        const more = what === 'kept' ? { history: true as const } : {};
        const dice = createDice(17);
        const current = new Map<string, string>();
        const moments: { readonly at: string; readonly documents: ReadonlyMap<string, string> }[] = [];
        let versions = 0;
        for (let round = 0; round < rounds; round += 1) {
          const folder = await mkdtemp(join(folders, 'inbox-'));
          const isWhole = round % 4 === 3;
          const documents = new Map<string, string>(isWhole ? current : []);
          for (let count = 0; count < documentsPerRound; count += 1) {
            const id = `order ${dice(documentsPerRound * 1.5)}`;
            const old = current.get(id);
            documents.set(id, old !== undefined && dice(4) === 0 ? old : orderOf(id, dice));
          }
          if (isWhole) for (const id of [...documents.keys()].slice(0, 5)) documents.delete(id);
          // another name each time, as the key is what counts
          let number = 0;
          for (const text of documents.values())
            await writeFile(join(folder, `${round}-${(number += 1)}.xml`), text);
          const expected = {
            inserted: [...documents.keys()].filter((id) => !current.has(id)).length,
            unchanged: [...documents].filter(([id, text]) => current.get(id) === text).length,
            deleted: isWhole ? [...current.keys()].filter((id) => !documents.has(id)).length : 0,
          };
          const replaced = documents.size - expected.inserted - expected.unchanged;
          const missing = isWhole ? { deleteMissing: true as const } : {};
          const merged = await mergeFolder(target, model, folder, round + 1, {
            ...more,
            ...missing,
          });
          expect({
            ...merged.merged,
            inserted: merged.loaded - replaced,
            unchanged: merged.unchanged,
          }).toEqual({
            ...expected,
            replaced,
          });
          if (isWhole) for (const id of current.keys()) if (!documents.has(id)) current.delete(id);
          for (const [id, text] of documents) current.set(id, text);
          versions += expected.inserted + replaced;
          await sleep(5);
          moments.push({ at: new Date().toISOString(), documents: new Map(current) });
          await sleep(5);
          await rm(folder, { recursive: true });
        }
        expectSame(await written(target.createSource(), model), current);
        if (what === 'replaced') return;
        const lines = [...current.values()].join('').split('<line>').length - 1;
        expect([await target.count('order_current'), await target.count('line_current')]).toEqual([
          current.size,
          lines,
        ]);
        for (const { at, documents } of moments.slice(-10))
          expectSame(await written(target.createSource(), model, { at }), documents);
        const all = await written(target.createSource(), model, 'all');
        expect([...all.values()].flat()).toHaveLength(versions);
        expect(await written(target.createSource(), model, { at: '2001-01-01T00:00:00.000Z' })).toEqual(
          new Map(),
        );
      },
    );
});
