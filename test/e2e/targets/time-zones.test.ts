/** Dates with times, read by people in other time zones: what documents write without one never shifts, instants stay what they are. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { compiled } from '../../support/models/shredding.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';
import { deltaReader, icebergReader } from '../../contracts/row-sinks/readers.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="watch"><xs:complexType><xs:sequence>
  <xs:element name="turn" maxOccurs="unbounded"><xs:complexType><xs:sequence>
    <xs:element name="planned" type="xs:dateTime"/><xs:element name="seen" type="xs:dateTime" minOccurs="0"/>
    <xs:element name="ended" type="xs:dateTime" minOccurs="0"/></xs:sequence>
    <xs:attribute name="day" type="xs:date"/><xs:attribute name="hour" type="xs:time"/></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element></xs:schema>`;
const watch = (...turns: readonly string[]): string => `<watch>${turns.join('')}</watch>`;
const turn = (more: string): string => watch(`<turn><planned>2024-05-01T08:00:00</planned>${more}</turn>`);
const first = watch(
  '<turn day="2024-03-31" hour="02:30:00"><planned>2024-03-31T02:30:00</planned><seen>2024-03-31T02:30:00+05:30</seen></turn>',
  '<turn><planned>2024-10-27T02:30:00.25</planned><seen>2024-10-27T00:30:00Z</seen></turn>',
);
const second = watch(
  '<turn day="2024-03-31+02:00" hour="02:30:00Z"><planned>2024-07-01T08:00:00-07:00</planned><seen>2024-07-01T08:00:00</seen><ended>2024-07-01T09:00:00+02:00</ended></turn>',
);
/** what stands in documents, and its instant where it has a time zone, in milliseconds */
const planned = ['2024-03-31 02:30:00', '2024-10-27 02:30:00.25', '2024-07-01 08:00:00'];
const seen = ['2024-03-31T02:30:00+05:30', '2024-10-27T00:30:00Z', '2024-07-01T08:00:00Z'].map(Date.parse);

describe('dates with times', { timeout: 240_000 }, () => {
  const trial = useTrial();
  const source = compiled(xsd);
  let home: ServiceHome;
  let documents: string;
  let origin: string;

  beforeAll(async () => {
    home = await trial.home();
    documents = join(home.directory, 'files', '1', 'watches');
    await mkdir(documents, { recursive: true });
    await writeFile(join(home.directory, 'watch.xsd'), xsd);
    await writeFile(join(documents, 'first.xml'), first);
    await writeFile(join(documents, 'second.xml'), second);
    origin = String(
      (await convert(home, 'xsd2er', join(home.directory, 'watch.xsd'), '--name', 'watch')).origin,
    );
  });

  async function expectBack(target: string): Promise<void> {
    const out = join(home.directory, 'files', '1', `back-${target.replaceAll(/\W/g, '')}`);
    await convert(home, 'er2xml', '-i', target, '-x', 'watch', '-o', out);
    for (const [name, document] of [
      ['first.xml', first],
      ['second.xml', second],
    ] as const)
      expect(compareXml(document, await readFile(join(out, name), 'utf8'), { source })).toEqual([]);
  }

  it('are what documents write, in whatever time zone they are read', async () => {
    await convert(home, 'xml2er', join(documents, 'first.xml'), '-x', 'watch', '-o', 'metadb:watches');
    await convert(home, 'xml2er', join(documents, 'second.xml'), '-x', 'watch', '-o', 'metadb:watches');
    for (const zone of ['Europe/Berlin', 'America/New_York']) {
      const sql = trial.keep(
        connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 1 }),
        (open) => open.end({ timeout: 1 }),
      );
      await sql.unsafe(`SET TimeZone = '${zone}'`);
      const rows = await sql.unsafe(`
        SELECT planned::text, (extract(epoch FROM seen) * 1000)::float8 AS seen, (extract(epoch FROM ended) * 1000)::float8 AS ended,
               day::text, hour::text, pg_typeof(planned)::text AS local, pg_typeof(seen)::text AS zoned
          FROM watches.turn ORDER BY turn_key`);
      expect(rows.map((row) => row['planned'])).toEqual(planned);
      expect(rows.map((row) => row['seen'])).toEqual(seen);
      // no value was there before the first one with a time zone
      expect(rows[2]!['ended']).toBe(Date.parse('2024-07-01T09:00:00+02:00'));
      expect([rows[0]!['day'], rows[0]!['hour'], rows[2]!['day'], rows[2]!['hour']]).toEqual([
        '2024-03-31',
        '02:30:00',
        '2024-03-31',
        '02:30:00',
      ]);
      expect([rows[0]!['local'], rows[0]!['zoned']]).toEqual([
        'timestamp without time zone',
        'timestamp with time zone',
      ]);
    }
    await expectBack('metadb:watches');
  });

  it('are instants in tables of Delta and Iceberg from the first one with a time zone on', async () => {
    const target = join(home.directory, 'files', 'tables');
    for (const name of ['first.xml', 'second.xml'])
      await convert(
        home,
        'xml2er',
        join(documents, name),
        '-x',
        'watch',
        '-o',
        target,
        '-f',
        'delta,iceberg',
      );
    for (const reader of [deltaReader(target), icebergReader(target)]) {
      const rows = (await reader.read('turn'))!;
      expect(rows.map((row) => row['ended']).filter((ended) => ended !== null)).toEqual([
        '2024-07-01 07:00:00+00',
      ]);
    }
  });

  it('are instants in a column, too, that files of an earlier version do not have', async () => {
    const next = xsd.replace(
      '</xs:sequence>',
      '<xs:element name="left" type="xs:dateTime" minOccurs="0"/></xs:sequence>',
    );
    const name = join(home.directory, 'next.xsd');
    await writeFile(name, next);
    await convert(home, 'xsd2er', name, '--name', 'next', '--parent', origin);
    const later = join(home.directory, 'files', 'later');
    await mkdir(later);
    await writeFile(join(later, 'without.xml'), turn(''));
    await writeFile(join(later, 'with.xml'), turn('<left>2024-05-01T09:00:00+02:00</left>'));
    const target = join(home.directory, 'files', 'later-tables');
    for (const [document, version] of [
      [join(documents, 'first.xml'), origin],
      [join(later, 'without.xml'), 'next'],
      [join(later, 'with.xml'), 'next'],
    ] as const)
      await convert(home, 'xml2er', document, '-x', version, '-o', target, '-f', 'delta,iceberg');
    for (const reader of [deltaReader(target), icebergReader(target)]) {
      const rows = (await reader.read('turn'))!;
      expect(rows.map((row) => row['left'] ?? null)).toEqual([null, null, null, '2024-05-01 07:00:00+00']);
    }
  });

  it.each([
    ['by threads', 'metadb:threads', ['--workers', '2']],
    ['into DuckDB', 'duckdb:{}/watches.duckdb', []],
    ['into CSV', '{}/csv', []],
    ['into Parquet', '{}/parquet', ['-f', 'parquet']],
    ['into Delta', '{}/delta', ['-f', 'delta']],
    ['where tables were made before', 'metadb:made', []],
  ] as const)('come back: %s', needs('whole run'), async (_, address, options) => {
    const target = address.replace('{}', join(home.directory, 'files', '1'));
    if (address === 'metadb:made')
      await convert(home, 'xml2er', join(documents, 'first.xml'), '-x', 'watch', '-o', target, '-S', 'w');
    for (const name of ['first.xml', 'second.xml'])
      await convert(home, 'xml2er', join(documents, name), '-x', 'watch', '-o', target, ...options);
    await expectBack(target);
  });
});
