/** Documents of other shapes in every target, by value: wards in wards, events of several kinds, prose, zones, carers in several roles, lists, odd text, numbers at their limits. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { isHere, some } from '../../support/needs.ts';
import { compiled } from '../../support/models/shredding.ts';
import { convert } from '../../support/service/tools.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { loadEveryTarget, targetTests, type EveryTarget } from './every-target.ts';
import type { CanonicalRow } from './values.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/targets/shapes/', import.meta.url));

const shapes = [
  ['hospital', ['hospital-north.xml', 'hospital-south.xml']],
  ['invoices', ['invoices-plain.xml', 'invoices-odd.xml']],
] as const;

/** The one time without a zone in a column of instants. */
const zoneless = '2026-07-01T10:00:00';

interface Fact {
  readonly table: string;
  /** the rows that the fact is about, by their values */
  readonly where: CanonicalRow;
  readonly is: CanonicalRow;
}

const microsOf = (time: string): string => `${Date.parse(time)}000`;

/** What a reader of the documents finds there; the rows of every target are those of PostgreSQL. */
const facts: Readonly<Record<string, readonly Fact[]>> = {
  hospital: [
    { table: 'hospital', where: { code: 'N-1' }, is: { opened: '1967-08' } },
    // a ward in a ward in a ward, whose position counts the patient behind it, too
    {
      table: 'ward',
      where: { title: '' },
      is: { parent_ward_key: '2', hospital_key: null, position: '2', isolated: 'false' },
    },
    { table: 'ward', where: { title: 'NULL' }, is: { floor: '127', isolated: null } },
    {
      table: 'patient',
      where: { id: '1' },
      is: { weight: '3.45', left: null, left_nil: 'true', allergies: '["nuts","pollen","latex"]' },
    },
    // the end of a day is the beginning of the next one
    {
      table: 'patient',
      where: { id: '2' },
      is: { shares_with: '1', left: microsOf('2026-03-06T00:00:00Z'), left_nil: null, allergies: null },
    },
    { table: 'patient', where: { id: '7' }, is: { allergies: '[]', born: microsOf('2024-02-29') } },
    { table: 'name', where: { script: 'Hani' }, is: { value: '東京 😀', position: '3' } },
    {
      table: 'event',
      where: { element: 'given', dose: '0.000001' },
      is: {
        at: microsOf('2026-03-01T13:30:00Z'),
        batch: '0aFF',
        drug: '  two  spaces\tand a tab',
        from: null,
      },
    },
    {
      table: 'event',
      where: { pulse: '0' },
      is: { pressure: '["120.5","80","-0.25"]', at: microsOf('2026-03-01T00:00:00Z') },
    },
    { table: 'event', where: { at: 'not known' }, is: { clock: 'later', from: '\nline\r\nends\t' } },
    // of two elements of one type the role says which a row is
    {
      table: 'carer',
      where: { name: 'Ada' },
      is: { role: 'doctor', patient_key: '1', ward_key: null, days: '["mo","tu"]' },
    },
    { table: 'carer', where: { name: 'Bo' }, is: { role: 'nurse', days: '[]', hours: '[]' } },
    { table: 'carer', where: { name: 'Cy' }, is: { role: 'doctor', days: null, hours: null } },
    { table: 'carer', where: { name: 'Dee' }, is: { role: 'doctor', patient_key: null, days: '["su"]' } },
    { table: 'prose', where: { position: '4' }, is: { parent_prose_key: '1', patient_key: null } },
    { table: 'prose_text', where: { prose_key: '2', position: '3' }, is: { content: ' (gone)' } },
  ],
  invoices: [
    {
      table: 'invoice',
      where: { number: '2026/0001', invoice_key: '1' },
      is: {
        total: '98765432109876543210987654321098765432109876543210.000000000000000000000000000001',
        tags: '["x","y-1","_z"]',
        // text, as another document has a due date that is none: the second one has a zone
        due: `["${microsOf('2026-02-28')}","${microsOf('2026-03-31T00:00:00+01:00')}"]`,
      },
    },
    { table: 'invoice', where: { number: '\n' }, is: { issued: '12026-01-31', tags: '[]', total: '1E5' } },
    { table: 'party', where: { name: 'of first' }, is: { parent_party_key: '2', position: '2', vat: null } },
    { table: 'party', where: { name: 'A; "B", C|D' }, is: { vat: '"DE,1"', parent_party_key: null } },
    {
      table: 'line',
      where: { no: '-32768' },
      is: {
        text: '\\N',
        price: '1234567890123456789012345678.0123456789',
        rate: '1e-300',
        order: '18446744073709551615',
      },
    },
    { table: 'line', where: { no: '0' }, is: { price: '7.5', rate: 'INF', share: '-INF', order: null } },
    {
      table: 'line',
      where: { no: '70000' },
      is: { price: 'about ten', rate: 'fast', order: '-1', text: '=1+1' },
    },
    { table: 'group', where: { key: '1' }, is: { group_group_key: '2' } },
    { table: 'instalments', where: { invoice_key: '1', position: '8' }, is: { value: '["1","-2","3"]' } },
    { table: 'instalments', where: { invoice_key: '1', position: '9' }, is: { value: '[]' } },
    { table: 'instalments', where: { invoice_key: '3', position: '4' }, is: { value: '["1","many","3"]' } },
  ],
};

/** Targets of the short form: test/contracts/targets/every-target.test.ts has the folders of texts as well. */
const only = isHere('whole run') ? undefined : ['duckdb', 'sqlite', 'mysql', 'parquet', 'delta', 'iceberg'];
const isWanted = (target: string): boolean =>
  only === undefined || only.includes(target.replace(/,.*/, '').replace('load.sql of ', ''));

describe.each(some(shapes, 1))('%s', (shape, documents) => {
  const trial = useTrial();
  let home: ServiceHome;
  let targets: EveryTarget;
  let logical: number;

  beforeAll(async () => {
    home = await trial.home();
    const argv = [join(fixtures, `${shape}.xsd`), '-g', '3'];
    const made = await convert(home, 'xsd2er', ...argv);
    logical = made.logical!;
    // a job each: the second brings what its columns cannot hold
    targets = await loadEveryTarget(
      home,
      made.origin!,
      documents.map((name) => [join(fixtures, name)]),
      only,
    );
  }, 240_000);

  afterAll(async () => {
    await targets?.drop();
  });

  for (const [target, options] of targetTests.filter(([name]) => isWanted(name)))
    test(`${target} holds the rows that PostgreSQL holds`, options, async () => {
      let filled = 0;
      const tables = targets.model.tables.map((table) => table.name);
      for (const name of [...tables, '_documents', '_unmapped', '_lexical']) {
        const inPostgres = (await targets.rows('postgresql', name)) ?? [];
        // SQLite keeps times as text, so that none needs its form noted beside it
        const expected =
          target === 'sqlite' ? inPostgres.filter(({ content }) => content !== zoneless) : inPostgres;
        if (expected.length > 0) filled += 1;
        expect((await targets.rows(target, name)) ?? [], name).toEqual(expected);
      }
      expect(filled).toBeGreaterThan(6);
    });

  test.each(facts[shape]!)('the documents say so: $table $where', async ({ table, where, is }) => {
    const rows = (await targets.rows('postgresql', table))!.filter((row) =>
      Object.entries(where).every(([column, value]) => row[column] === value),
    );
    expect(rows).toEqual([expect.objectContaining(is)]);
  });

  test('every target gives the documents back', async () => {
    const source = compiled(await readFile(join(fixtures, `${shape}.xsd`), 'utf8'));
    for (const [target, argv] of targets.sources) {
      const folder = join(home.directory, 'back', target);
      await convert(home, 'er2xml', '-l', String(logical), ...argv, '-o', folder);
      expect((await readdir(folder)).toSorted(), target).toEqual([...documents].toSorted());
      for (const name of documents) {
        const written = await readFile(join(folder, name), 'utf8');
        const wanted = await readFile(join(fixtures, name), 'utf8');
        expect(compareXml(wanted, written, { source }), `${target}: ${name}`).toEqual([]);
      }
    }
  }, 120_000);
});
