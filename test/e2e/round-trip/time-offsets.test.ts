/** Times that documents write with offsets: there and back in every kind of target, and as local times by sums. */
import { describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { duckDbRows } from '../../contracts/row-sinks/readers.ts';
import { some } from '../../support/needs.ts';
import { targetKinds, useEveryTarget } from '../../support/round-trip/every-target.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="plan"><xs:complexType><xs:sequence><xs:element name="leg" maxOccurs="unbounded"><xs:complexType>
    <xs:sequence><xs:element name="departure" type="xs:dateTime"/><xs:element name="arrival" type="xs:dateTime" minOccurs="0"/></xs:sequence>
    <xs:attribute name="number" type="xs:int" use="required"/>
  </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema>`;
const leg = (number: number, departure: string, arrival: string): string =>
  `<leg number="${number}"><departure>${departure}</departure><arrival>${arrival}</arrival></leg>`;
const documents: Readonly<Record<string, string>> = {
  'usual.xml':
    leg(1, '2024-07-01T10:00:00+02:00', '2024-07-01T10:00:00Z') +
    leg(2, '2024-12-31T23:30:00.5-05:30', '2024-07-01T11:00:00Z') +
    leg(3, '2024-03-01T00:15:00+00:00', '2024-07-01T12:00:00Z') +
    leg(4, '2024-02-29T12:00:00Z', '2024-07-01T13:00:00Z'),
  // a column of instants alone, and what is written otherwise than minutes tell
  'later.xml':
    leg(5, '2024-07-01T10:00:00-00:00', '2024-07-01T10:00:00+01:00') +
    leg(6, '2024-07-01T24:00:00+02:00', '2024-07-01T10:00:00') +
    leg(7, '2024-07-01T10:00:00.1234567+02:00', '2024-07-01T10:00:00.000+02:00') +
    leg(8, '9999-12-31T23:59:59-14:00', '0001-01-01T00:00:00+14:00'),
  // they become text, where earlier ones still have their offsets
  'beyond.xml':
    leg(9, '-0044-03-15T12:00:00+02:00', '12024-01-01T00:00:00Z') +
    leg(10, '2024-07-01T10:00:00+02:00', '2024-07-01T10:00:00-14:00'),
};

const everyTarget = useEveryTarget(xsd, 'plan', documents, '--prune');

describe.each(some(targetKinds, 2))('%s', { timeout: 120_000 }, (kind) => {
  it('gives every document back as it was', () => everyTarget.expectBackFrom(kind));
});

describe('a column of offsets', { timeout: 120_000 }, () => {
  const written = [
    '2024-07-01 10:00:00',
    '2024-12-31 23:30:00.5',
    '2024-03-01 00:15:00',
    '2024-02-29 12:00:00',
  ];

  it('makes local times of instants in PostgreSQL', async () => {
    await everyTarget.load(['usual.xml'], ['metadb:local_times']);
    const sql = everyTarget.sql();
    const rows = await sql.unsafe(
      `SELECT (departure AT TIME ZONE 'UTC' + coalesce(departure_offset, 0) * interval '1 minute')::text AS local FROM local_times.leg ORDER BY number`,
    );
    expect(rows.map(({ local }) => local)).toEqual(written);
    expect(await sql.unsafe('SELECT count(*)::int AS kept FROM local_times._lexical')).toEqual([{ kept: 0 }]);
    const comments = await sql.unsafe(
      `SELECT col_description('local_times.leg'::regclass, attnum) AS comment FROM pg_attribute WHERE attrelid = 'local_times.leg'::regclass AND attname = 'departure_offset'`,
    );
    expect(comments.map(({ comment }) => comment)).toEqual([
      '/plan/leg/departure (UTC offset in minutes as written; NULL for Z)',
    ]);
  });

  it('makes local times of instants in DuckDB', async () => {
    const file = join(everyTarget.folder(), 'local.duckdb');
    await everyTarget.load(['usual.xml'], [`duckdb:${file}`]);
    const rows = await duckDbRows(
      file,
      `(SELECT number, ((departure AT TIME ZONE 'UTC') + to_minutes(coalesce(departure_offset, 0)))::text AS local FROM leg)`,
    );
    const sorted = rows.toSorted((a, b) => Number(a['number']) - Number(b['number']));
    expect(sorted.map((row) => row['local'])).toEqual(written);
  });
});
