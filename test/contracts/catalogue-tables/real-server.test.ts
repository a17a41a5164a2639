/** Tables of a catalogue server that is not ours, through all that jobs do to tables, read back by PyIceberg: the rows are those of a folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compactLake } from '../../../src/targets/files/lake/compaction.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import { diskLake, type LakeTarget } from '../../../src/targets/files/lake/place.ts';
import { libraryModel } from '../../unit/engine/sql/library-model.ts';
import { isHere, needs } from '../../support/needs.ts';
import { startIcebergRestServer, type IcebergRestServer } from '../../support/servers/iceberg-rest-server.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import { icebergReader } from '../row-sinks/readers.ts';
import { catalogueRows } from './read-rows.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';
import { libraryCatalogue, loadCatalogue } from './library-catalogue.ts';

const isPresent = isHere('iceberg catalogue');
const store = isPresent ? await startS3Server() : null;
const parts = ['iceberg catalogue', 'pyiceberg'] as const;
const lacks = parts.find((part) => !isHere(part));

describe(
  'a catalogue server of the Iceberg project',
  { timeout: 240_000, ...(lacks === undefined ? needs('s3 server', store !== null) : needs(parts)) },
  () => {
    let server: IcebergRestServer;
    let folder: string;
    let scratches = 0;
    const target = (): LakeTarget =>
      libraryCatalogue(server.address, store!.settings, join(folder, `scratch-${(scratches += 1)}`));
    const load = (
      job: number,
      saveMode: 'append' | 'overwrite' = 'append',
    ): ReturnType<typeof loadCatalogue> =>
      loadCatalogue(server.address, store!.settings, folder, libraryPlan(job, { saveMode }));

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'catalogue-server-'));
      server = await startIcebergRestServer(store!.settings);
    });
    afterAll(async () => {
      await server?.end();
      await store?.end();
      await rm(folder, { recursive: true, force: true });
    });

    const read = (tables: readonly string[]): ReturnType<typeof catalogueRows> =>
      catalogueRows(
        server.address,
        store!.settings,
        tables.map((table) => `trial.${table}`),
      );

    async function sameRows(): Promise<void> {
      const reader = icebergReader(join(folder, 'lake'));
      const tables = ['library', 'book', 'section', '_documents'];
      const found = await read(tables.map((table) => `library.${table}`));
      for (const [at, table] of tables.entries()) {
        const wanted = (await reader.read(table)) ?? [];
        expect(wanted.length).toBeGreaterThan(0);
        const key = Object.keys(wanted[0]!)[0]!;
        expect([table, found[at]!.toSorted((a, b) => Number(a[key]) - Number(b[key]))]).toEqual([
          table,
          wanted,
        ]);
      }
    }

    async function loadBoth(job: number, saveMode: 'append' | 'overwrite' = 'append'): Promise<void> {
      await load(job, saveMode);
      const sink = createLakeRowSink({
        target: diskLake({ directory: join(folder, 'lake') }),
        format: 'iceberg',
      });
      await loadLibrary(sink, libraryPlan(job, { saveMode }), 1);
      await sink.close();
    }

    test('has the rows of a folder, as it is told them, after appends, a compaction and an overwrite', async () => {
      for (const job of [1, 2]) await loadBoth(job);
      expect((await load(2)).already).toBe(true);
      await sameRows();
      expect(await compactLake(target())).toContain('book: 2 files became 1');
      await sameRows();
      await loadBoth(3, 'overwrite');
      await sameRows();
      const source = createLakeRowSource({ target: target(), version: 2 });
      await source.open(libraryModel);
      expect(await source.documentCount()).toBe(2);
      await source.close();
    });

    test('has partitions as jobs wish for them, by which PyIceberg finds rows', async () => {
      const namespace = ['trial', 'parted'];
      const place = (): LakeTarget =>
        libraryCatalogue(server.address, store!.settings, join(folder, `scratch-${(scratches += 1)}`), {
          namespace,
        });
      const wishes = [
        { part: 'identity', column: 'book.pages' },
        { part: 'year', column: 'person.born' },
      ] as const;
      for (const [id, partition] of [
        [21, wishes],
        [22, []],
      ] as const) {
        const sink = createLakeRowSink({ target: place(), format: 'iceberg' });
        await loadLibrary(sink, libraryPlan(id, { partition }), 1);
        await sink.close();
      }
      await compactLake(place());
      const found = await read(['parted.book', 'parted.person', 'parted._loads']);
      expect(found.map((rows) => rows.length)).toEqual([4, 4, 2]);
    });

    test('has two jobs at once, each of them once', async () => {
      await Promise.all([11, 12].map((job) => load(job)));
      const [rows] = await read(['library._loads']);
      const jobs = rows!.map((row) => Number(row['job'])).filter((job) => job > 10);
      expect(jobs.toSorted()).toEqual([11, 12]);
    });
  },
);
