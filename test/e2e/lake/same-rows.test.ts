/** All that jobs do to tables of Delta and Iceberg, on a disk, in a bucket and in a catalogue: after each step their rows are those of PostgreSQL. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPostgresCatalogStore } from '../../../src/adapters/postgres/metadb/catalog/store.ts';
import { clarkName } from '../../../src/engine/model/source-model.ts';
import { isHere, needs } from '../../support/needs.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { standardSeries } from '../../support/versions/standards.ts';
import { openPlaces, type Places, type TablePlace } from './places.ts';
import { readTables, type ModelTables } from './tables.ts';

const isWhole = isHere('whole run');
const series = standardSeries().filter(({ name }) => isWhole || name.startsWith('camt.054'));

interface StoredVersion {
  readonly origin: string;
  readonly logical: string;
  /** one for each load, without names that another one has */
  readonly groups: readonly string[];
  /** of the first group */
  readonly document: string;
}

describe.each(series)(
  '$name',
  { timeout: isWhole ? 3_600_000 : 900_000, ...needs('corpus') },
  ({ versions }) => {
    const trial = useTrial();
    let places: Places;
    let stored: StoredVersion[];
    let tables: ModelTables;

    beforeAll(async () => {
      places = await openPlaces(
        trial,
        isWhole ? ['delta', 'iceberg', 'disk', 'bucket', 'catalogue'] : ['disk'],
      );
      stored = [];
      // all have the same documents at most three times, under names of their own
      for (const [at, { files, entry, root, documents }] of versions().slice(0, 2).entries()) {
        const folder = join(places.home.directory, `v${at}`);
        const put = async (path: string, bytes: Uint8Array): Promise<void> => {
          await mkdir(dirname(join(folder, path)), { recursive: true });
          await writeFile(join(folder, path), bytes);
        };
        for (const { name, bytes } of files) await put(join('xsd', name), bytes);
        for (let group = 0; group < 3; group += 1)
          for (const one of [0, 1]) {
            const { bytes } = documents[(2 * group + one) % documents.length]!;
            await put(join(`group-${group}`, `v${at}-${group}-${one}.xml`), bytes);
          }
        const made = await convert(
          places.home,
          'xsd2er',
          join(folder, 'xsd', entry),
          '--name',
          'standard',
          '-g',
          '3',
          '--root',
          clarkName(root),
          ...(at === 0 ? [] : ['--parent', stored[at - 1]!.origin]),
        );
        stored.push({
          origin: String(made.origin),
          logical: String(made.logical),
          groups: [0, 1, 2].map((group) => join(folder, `group-${group}`)),
          document: `v${at}-0-0.xml`,
        });
      }
      const catalog = createPostgresCatalogStore(await trial.metadb(places.home));
      const models = await Promise.all(
        stored.map(async ({ origin, logical }) => {
          const one = await catalog.loadLogicalSchema(1, {
            idSch: Number(origin),
            idLschma: Number(logical),
          });
          return one!.model;
        }),
      );
      tables = models.flatMap((model) => model.tables);
    }, 600_000);

    const argv = (place: TablePlace, at: number, group: number, ...more: readonly string[]): string[] => [
      stored[at]!.groups[group]!,
      '-x',
      stored[at]!.origin,
      '-l',
      stored[at]!.logical,
      '-o',
      place.target,
      ...place.format,
      ...place.login,
      ...more,
    ];

    /** None waits for another one. */
    async function inPlaces(work: (place: TablePlace) => Promise<unknown>): Promise<void> {
      await Promise.all(places.all.map(work));
    }

    async function load(at: number, group: number, ...more: readonly string[]): Promise<void> {
      await inPlaces((place) => convert(places.home, 'xml2er', ...argv(place, at, group, ...more)));
    }

    async function unload(at: number): Promise<void> {
      const { logical, document } = stored[at]!;
      await inPlaces(async ({ target, login }) => {
        const options = ['-l', logical, '-i', target, '-D', document, ...login];
        expect(await convert(places.home, 'unload', ...options), target).toMatchObject({ documents: 1 });
      });
    }

    /** `documents`: that are there. */
    async function expectSame(step: string, documents: number): Promise<void> {
      const [postgres, ...others] = places.all;
      const expected = await readTables(tables, (await postgres!.readers())['rows']!);
      expect([step, expected.get('_documents')?.length ?? 0]).toEqual([step, documents]);
      for (const { name, readers } of others)
        for (const [format, reader] of Object.entries(await readers())) {
          const found = await readTables(tables, reader);
          for (const [table, rows] of expected)
            expect(found.get(table), `${step}: ${table}, ${format}, ${name}`).toEqual(rows);
        }
    }

    it('holds the rows of PostgreSQL after loads, versions, removals and every save mode', async () => {
      await inPlaces(async (place) => {
        const printed = await runTool(places.home, 'xml2er', argv(place, 0, 0, '-S', 'p'));
        expect([place.name, printed.code, printed.stdout !== '']).toEqual([place.name, 0, true]);
      });
      await expectSame('-S p', 0);
      await load(0, 0, '-S', 'w');
      await expectSame('-S w', 0);
      await load(0, 0);
      await load(0, 1);
      await unload(0);
      await load(0, 2);
      await expectSame('three loads and a removal', 5);

      await load(1, 0);
      await load(0, 0);
      await load(1, 1);
      await expectSame('a next version', 11);
      await unload(1);
      await load(1, 2, '-S', 'w');
      await load(1, 2, '-S', 'i');
      await inPlaces(async (place) => {
        const refused = await runTool(places.home, 'xml2er', argv(place, 1, 2, '-S', 'e'));
        expect([place.name, refused.code], refused.stdout).toEqual([place.name, 1]);
        expect((await runTool(places.home, 'xml2er', argv(place, 1, 2, '-S', 'p'))).code).toBe(0);
      });
      await expectSame('-S w, i, e, p', 10);

      await load(1, 1, '-S', 'o');
      await expectSame('-S o', 2);
      await load(0, 1);
      await load(1, 0);
      await unload(1);
      await expectSame('more loads and a removal', 5);
    });
  },
);
