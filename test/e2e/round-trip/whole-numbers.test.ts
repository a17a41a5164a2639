/** Whole numbers beyond 64 bits, in columns that were made for fewer digits: there and back in every kind of target. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { duckDbReader } from '../../contracts/row-sinks/readers.ts';
import { some } from '../../support/needs.ts';
import { targetKinds, useEveryTarget } from '../../support/round-trip/every-target.ts';
import { convert } from '../../support/service/tools.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="stock"><xs:complexType><xs:sequence><xs:element name="item" maxOccurs="unbounded"><xs:complexType>
    <xs:sequence><xs:element name="count" type="xs:integer"/><xs:element name="serial" type="xs:unsignedLong"/></xs:sequence>
    <xs:attribute name="number" type="xs:positiveInteger" use="required"/>
  </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema>`;
const item = (count: string, number: string, serial = '1'): string =>
  `<item number="${number}"><count>${count}</count><serial>${serial}</serial></item>`;
const documents: Readonly<Record<string, string>> = {
  'few.xml': item('-5', '1') + item('9223372036854775807', '9223372036854775807'),
  'many.xml':
    item('-92233720368547758080', '1') +
    item('7', '12345678901234567890123456789012345678') +
    item('100', '2', '18446744073709551615'),
  // more digits than decimals have, and one that is written in another way
  'most.xml': item('1'.padEnd(60, '0'), '3') + item('+092233720368547758080', '4'),
};

const everyTarget = useEveryTarget(xsd, 'stock', documents);
const { load } = everyTarget;

describe.each(some(targetKinds, 2))('%s', { timeout: 120_000 }, (kind) => {
  it('gives every document back as it was', () => everyTarget.expectBackFrom(kind));
});

function typesThere(schema: string): Promise<unknown> {
  return everyTarget.sql().unsafe(
    `SELECT column_name AS name, data_type AS type, is_nullable AS nullable FROM information_schema.columns
      WHERE table_schema = '${schema}' AND table_name = 'item' AND column_name IN ('count', 'number', 'serial') ORDER BY 1`,
  );
}

describe('columns of such numbers', { timeout: 120_000 }, () => {
  const wide = [
    { name: 'count', type: 'numeric', nullable: 'NO' },
    { name: 'number', type: 'numeric', nullable: 'NO' },
    { name: 'serial', type: 'numeric', nullable: 'NO' },
  ];

  it('are decimals, and still required, in a new table and in one that holds rows', async () => {
    await load(['few.xml', 'many.xml'], ['metadb:anew']);
    expect(await typesThere('anew')).toEqual(wide);
    await load(['few.xml'], ['metadb:later']);
    expect(await typesThere('later')).toEqual(
      wide.map((column) => (column.name === 'serial' ? column : { ...column, type: 'bigint' })),
    );
    await load(['many.xml'], ['metadb:later']);
    expect(await typesThere('later')).toEqual(wide);
    await load(['few.xml'], ['metadb:later']);
    expect(await typesThere('later')).toEqual(wide);
  });

  it('are decimals of 38 digits where a target has no more', async () => {
    const file = join(everyTarget.folder(), 'types.duckdb');
    await load(['few.xml', 'many.xml'], [`duckdb:${file}`]);
    const rows = await duckDbReader(file).read('item');
    expect(rows!.map((row) => String(row.number))).toContain('12345678901234567890123456789012345678');
  });

  it('are decimals from the start in a model that is pruned to documents with them', async () => {
    // of an origin of its own: numbers that are written in other ways tell no digits
    const ownXsd = join(everyTarget.folder(), 'own.xsd');
    await writeFile(ownXsd, `${xsd}<!-- pruned -->`);
    const options = ['--xsd', ownXsd, '--prune', '-o', 'metadb:pruned'];
    await convert(
      everyTarget.home(),
      'xml2er',
      join(everyTarget.folder(), 'few.xml'),
      join(everyTarget.folder(), 'many.xml'),
      ...options,
    );
    expect(await typesThere('pruned')).toEqual(wide);
    expect(
      await everyTarget
        .sql()
        .unsafe(
          `SELECT numeric_precision AS digits FROM information_schema.columns WHERE table_schema = 'pruned' AND column_name IN ('count', 'number')`,
        ),
    ).toEqual([{ digits: 38 }, { digits: 38 }]);
  });
});
