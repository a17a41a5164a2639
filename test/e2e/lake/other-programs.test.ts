/** What jobs wrote on a disk, read by deltalake, PyIceberg, DuckDB and Spark, also behind a row that Spark merged into it: the rows of PostgreSQL. */
import { beforeAll, describe, expect, it } from 'vitest';
import { isHere, needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';
import { standardSeries } from '../../support/versions/standards.ts';
import { storeVersions, type StandardLoads } from './loads.ts';
import { openPlaces, type Places } from './places.ts';
import { programNames, programParts, TableProgram, type TableFormat } from './programs.ts';
import { readTables } from './tables.ts';

const all = standardSeries();
/** All, or a small one. */
const series = isHere('whole run')
  ? all
  : [all.find(({ name }) => name.startsWith('camt.054')) ?? all[0]].filter((one) => one !== undefined);

describe.each(series)(
  '$name',
  { timeout: 3_600_000, ...needs(['whole run', 'corpus', ...programParts]) },
  ({ versions }) => {
    const trial = useTrial();
    let places: Places;
    let loads: StandardLoads;
    let programs: readonly TableProgram[];

    beforeAll(async () => {
      programs = programNames.map((name) => trial.keep(new TableProgram(name), (program) => program.end()));
      places = await openPlaces(trial, ['delta', 'iceberg', 'disk']);
      loads = await storeVersions(trial, places, versions());
    }, 600_000);

    /** `documents`: that are there. What PostgreSQL has is answered. */
    async function expectSame(
      step: string,
      documents: number,
    ): Promise<Awaited<ReturnType<typeof readTables>>> {
      const [postgres, ...others] = places.all;
      const expected = await readTables(loads.tables, (await postgres!.readers())['rows']!);
      expect([step, expected.get('_documents')!.length]).toEqual([step, documents]);
      for (const { name: place, target, readers } of others)
        for (const format of Object.keys(await readers()) as TableFormat[])
          for (const program of programs.filter(({ formats }) => formats.includes(format))) {
            const found = await readTables(loads.tables, program.reader(format, target));
            for (const [table, rows] of expected)
              expect(found.get(table), `${step}: ${table}, ${format} by ${program.name}, ${place}`).toEqual(
                rows,
              );
          }
      return expected;
    }

    /** A row of Spark's in each place of one format, as PostgreSQL's own: of a table in which a row may say what another one says. */
    async function merge(table: string, key: string): Promise<void> {
      const sql = await trial.metadb(places.home);
      await sql`
        insert into ${sql(`rows.${table}`)} select (jsonb_populate_record(r, jsonb_build_object(${key}::text, r.${sql(key)} + 1))).*
          from ${sql(`rows.${table}`)} r order by r.${sql(key)} desc limit 1`;
      const spark = programs.find(({ name }) => name === 'Spark')!;
      for (const { name: place, target } of places.all)
        if (place.endsWith('alone'))
          await spark.merge(place.includes('Delta') ? 'delta' : 'iceberg', target, table, key);
    }

    it('is the same to all after loads, a next version, a removal, an overwrite and a row that Spark merged', async () => {
      await loads.load(0, 0);
      await loads.load(0, 1);
      await loads.unload(0);
      await loads.load(0, 2);
      await loads.load(1, 0);
      await expectSame('three loads, a removal and a next version', 7);
      await loads.load(1, 1, '-S', 'o');
      const there = await expectSame('-S o', 2);
      const sql = await trial.metadb(places.home);
      const unique = await sql<{ table: string }[]>`
        select relname as table from pg_constraint join pg_class on pg_class.oid = conrelid where contype = 'u'`;
      const [widest] = loads.tables
        .filter(({ name }) => there.get(name)!.length > 0 && unique.every(({ table }) => table !== name))
        .toSorted((a, b) => b.columns.length - a.columns.length);
      await merge(widest!.name, widest!.columns[0]!.name);
      places = { ...places, all: places.all.filter(({ name }) => name !== 'disk') };
      await expectSame('MERGE', 2);
      await loads.load(1, 0);
      await loads.load(0, 0);
      await loads.unload(1);
      await expectSame('loads and a removal behind it', 5);
    });
  },
);
