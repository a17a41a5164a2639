/** All that jobs do to tables of Delta and Iceberg, on a disk, in a bucket and in a catalogue: after each step their rows are those of PostgreSQL. */
import { beforeAll, describe, expect, it } from 'vitest';
import { isHere, needs } from '../../support/needs.ts';
import { runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { standardSeries } from '../../support/versions/standards.ts';
import { storeVersions, type StandardLoads } from './loads.ts';
import { openPlaces, type Places } from './places.ts';
import { readTables } from './tables.ts';

const isWhole = isHere('whole run');
const series = standardSeries().filter(({ name }) => isWhole || name.startsWith('camt.054'));

describe.each(series)(
  '$name',
  { timeout: isWhole ? 3_600_000 : 900_000, ...needs('corpus') },
  ({ versions }) => {
    const trial = useTrial();
    let places: Places;
    let loads: StandardLoads;

    beforeAll(async () => {
      places = await openPlaces(
        trial,
        isWhole ? ['delta', 'iceberg', 'disk', 'bucket', 'catalogue'] : ['disk'],
      );
      loads = await storeVersions(trial, places, versions());
    }, 600_000);

    /** `documents`: that are there. */
    async function expectSame(step: string, documents: number): Promise<void> {
      const [postgres, ...others] = places.all;
      const expected = await readTables(loads.tables, (await postgres!.readers())['rows']!);
      expect([step, expected.get('_documents')?.length ?? 0]).toEqual([step, documents]);
      for (const { name, readers } of others)
        for (const [format, reader] of Object.entries(await readers())) {
          const found = await readTables(loads.tables, reader);
          for (const [table, rows] of expected)
            expect(found.get(table), `${step}: ${table}, ${format}, ${name}`).toEqual(rows);
        }
    }

    it('holds the rows of PostgreSQL after loads, versions, removals and every save mode', async () => {
      await loads.inPlaces(async (place) => {
        const printed = await runTool(places.home, 'xml2er', loads.argv(place, 0, 0, '-S', 'p'));
        expect([place.name, printed.code, printed.stdout !== '']).toEqual([place.name, 0, true]);
      });
      await expectSame('-S p', 0);
      await loads.load(0, 0, '-S', 'w');
      await expectSame('-S w', 0);
      await loads.load(0, 0);
      await loads.load(0, 1);
      await loads.unload(0);
      await loads.load(0, 2);
      await expectSame('three loads and a removal', 5);

      await loads.load(1, 0);
      await loads.load(0, 0);
      await loads.load(1, 1);
      await expectSame('a next version', 11);
      await loads.unload(1);
      await loads.load(1, 2, '-S', 'w');
      await loads.load(1, 2, '-S', 'i');
      await loads.inPlaces(async (place) => {
        const refused = await runTool(places.home, 'xml2er', loads.argv(place, 1, 2, '-S', 'e'));
        expect([place.name, refused.code], refused.stdout).toEqual([place.name, 1]);
        expect((await runTool(places.home, 'xml2er', loads.argv(place, 1, 2, '-S', 'p'))).code).toBe(0);
      });
      await expectSame('-S w, i, e, p', 10);

      await loads.load(1, 1, '-S', 'o');
      await expectSame('-S o', 2);
      await loads.load(0, 1);
      await loads.load(1, 0);
      await loads.unload(1);
      await expectSame('more loads and a removal', 5);
    });
  },
);
