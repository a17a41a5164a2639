/** Amounts with more digits than their columns were drawn for: there and back in every kind of target. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { duckDbRows } from '../../contracts/row-sinks/readers.ts';
import { createMysqlRowSink } from '../../../src/targets/sql/mysql/sink.ts';
import { mariadbAddress } from '../../contracts/row-sinks/targets.ts';
import { modelOf } from '../../support/models/shredding.ts';
import { needs, some } from '../../support/needs.ts';
import { convert } from '../../support/service/tools.ts';
import { mariadbParts, startMariadb } from '../../support/servers/mariadb.ts';
import { targetKinds, useEveryTarget } from '../../support/round-trip/every-target.ts';
import { loadInto } from '../../support/round-trip/postgres.ts';

/** ISO 20022 allows amounts of 18 digits, 5 of them behind the point, and XSD counts neither apart. */
const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:simpleType name="Amount"><xs:restriction base="xs:decimal"><xs:totalDigits value="18"/><xs:fractionDigits value="5"/></xs:restriction></xs:simpleType>
  <xs:element name="book"><xs:complexType><xs:sequence><xs:element name="entry" maxOccurs="unbounded"><xs:complexType>
    <xs:sequence><xs:element name="amount" type="Amount"/><xs:element name="rate" type="Amount" minOccurs="0"/></xs:sequence>
    <xs:attribute name="number" type="xs:int" use="required"/>
  </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema>`;
const entry = (number: number, amount: string, rate = '1.5'): string =>
  `<entry number="${number}"><amount>${amount}</amount><rate>${rate}</rate></entry>`;
const documents: Readonly<Record<string, string>> = {
  'usual.xml': entry(1, '12.50') + entry(2, '-1234567890123.12345'),
  'long.xml': entry(3, '9999999999999999.5') + entry(4, '-0.00000125', '0.1234560') + entry(5, '7'),
  'longer.xml': entry(6, '0.000000001') + entry(7, '123456789012345678'),
  // more digits than most decimals have, one that is written in another way, and one that is no number
  'longest.xml': entry(8, `1${'0'.repeat(30)}.000000000000000001`) + entry(9, '1.5', '+0.0000001'),
};

const everyTarget = useEveryTarget(xsd, 'book', documents);
const { load } = everyTarget;

describe.each(some(targetKinds, 2))('%s', { timeout: 120_000 }, (kind) => {
  it('gives every document back as it was', () => everyTarget.expectBackFrom(kind));
});

function typesThere(schema: string): Promise<unknown> {
  return everyTarget.sql().unsafe(
    `SELECT column_name AS name, data_type AS type, numeric_scale AS scale, is_nullable AS nullable FROM information_schema.columns
      WHERE table_schema = '${schema}' AND table_name = 'entry' AND column_name IN ('amount', 'rate') ORDER BY 1`,
  );
}

/** Loads one after another. */
async function typesInDuckDb(...names: readonly string[]): Promise<unknown> {
  const file = join(everyTarget.folder(), `${names.join('-')}.duckdb`);
  for (const name of names) await load([`${name}.xml`], [`duckdb:${file}`]);
  const columns = await duckDbRows(file, 'duckdb_columns()');
  return columns
    .filter((row) => row['table_name'] === 'entry' && /amount|rate/.test(row['column_name']!))
    .map((row) => [row['column_name'], row['data_type'], row['is_nullable']]);
}

describe('columns of such amounts', { timeout: 120_000 }, () => {
  const drawn = [
    { name: 'amount', type: 'numeric', scale: 5, nullable: 'NO' },
    { name: 'rate', type: 'numeric', scale: 5, nullable: 'YES' },
  ];
  const wide = drawn.map((column) => ({ ...column, scale: null }));

  it('are decimals without bounds, and still required, in a new table and in one that holds rows', async () => {
    await load(['usual.xml', 'long.xml'], ['metadb:anew']);
    expect(await typesThere('anew')).toEqual(wide);
    await load(['usual.xml'], ['metadb:later']);
    expect(await typesThere('later')).toEqual(drawn);
    await load(['long.xml'], ['metadb:later']);
    await load(['usual.xml', 'longer.xml'], ['metadb:later']);
    expect(await typesThere('later')).toEqual(wide);
    expect(
      (await everyTarget.sql().unsafe(`SELECT amount::text FROM later.entry ORDER BY number, amount`)).map(
        (row) => row['amount'],
      ),
    ).toEqual([
      '12.50000',
      '12.50000',
      '-1234567890123.12345',
      '-1234567890123.12345',
      '9999999999999999.5',
      '-0.00000125',
      '7.00000',
      '0.000000001',
      '123456789012345678',
    ]);
  });

  it('have the digits that were met, where a target has bounds, and are text beyond them', async () => {
    expect(await typesInDuckDb('usual', 'long', 'longer', 'usual')).toEqual([
      ['amount', 'DECIMAL(27,9)', 'false'],
      ['rate', 'DECIMAL(19,6)', 'true'],
    ]);
    expect(await typesInDuckDb('longest')).toEqual([
      ['amount', 'VARCHAR', 'false'],
      ['rate', 'VARCHAR', 'true'],
    ]);
  });

  it('are read by a script of a folder with all their digits', async () => {
    for (const format of ['csv', 'parquet']) {
      const target = join(everyTarget.folder(), `script ${format}`);
      for (const name of ['usual.xml', 'long.xml', 'longer.xml']) await load([name], [target, '-f', format]);
      const script = await readFile(join(target, 'load.sql'), 'utf8');
      expect(script).toMatch(
        format === 'csv' ? /"amount" numeric\(27,9\) NOT NULL/ : /"amount" DECIMAL\(27,9\) NOT NULL/,
      );
    }
  });
});

describe('MariaDB', needs(mariadbParts), () => {
  it('has them as decimals with all their digits', { timeout: 120_000 }, async () => {
    const model = modelOf(everyTarget.source, 3);
    const server = await startMariadb();
    try {
      await server.run('CREATE DATABASE book;');
      const address = mariadbAddress(server, 'book');
      const texts = await Promise.all(
        ['usual.xml', 'long.xml', 'longer.xml'].map((name) => readFile(join(everyTarget.folder(), name))),
      );
      await loadInto(createMysqlRowSink(address), { model, idJob: 1 }, texts.slice(0, 1));
      await loadInto(createMysqlRowSink(address), { model, idJob: 2 }, texts.slice(1));
      const rows = await server.run(
        "SELECT column_type, is_nullable FROM information_schema.columns WHERE table_schema = 'book' AND column_name = 'amount'; SELECT amount FROM entry ORDER BY number;",
        everyTarget.folder(),
        'book',
      );
      expect(rows.trim().split('\n')).toEqual([
        'column_type\tis_nullable',
        'decimal(27,9)\tNO',
        'amount',
        '12.500000000',
        '-1234567890123.123450000',
        '9999999999999999.500000000',
        '-0.000001250',
        '7.000000000',
        '0.000000001',
        '123456789012345678.000000000',
      ]);
    } finally {
      await server.stop();
    }
  });
});

function guessedTarget(kind: string): readonly [string, ...string[]] {
  if (kind.includes(':')) return [kind];
  if (kind === 'duckdb' || kind === 'sqlite')
    return [`${kind}:${join(everyTarget.folder(), `guessed.${kind}`)}`];
  return [join(everyTarget.folder(), `guessed ${kind}`), '-f', kind];
}

const row = (amount: string): string => `<row><price>${amount}</price></row>`;

describe('amounts that a model has from documents alone', { timeout: 120_000 }, () => {
  const lists: Readonly<Record<string, string>> = {
    'first.xml': row('12.50') + row('3.99'),
    'second.xml': row('99999999999999999999.25') + row('0.50'),
    // not as a decimal of so many digits is printed
    'third.xml': row('123456789012345678901234567890.5') + row('0.0010') + row('0.125'),
  };

  it.each(some(['metadb:guessed', 'duckdb', 'sqlite', 'parquet', 'csv', 'delta', 'iceberg'], 1))(
    'come back to the letter from %s',
    async (kind) => {
      for (const [name, rows] of Object.entries(lists))
        await writeFile(join(everyTarget.folder(), name), `<rows>${rows}</rows>`);
      const target = guessedTarget(kind);
      const { origin: guessed } = await convert(
        everyTarget.home(),
        'xml2er',
        join(everyTarget.folder(), 'first.xml'),
        '-o',
        ...target,
      );
      for (const name of ['second.xml', 'third.xml'])
        await convert(
          everyTarget.home(),
          'xml2er',
          join(everyTarget.folder(), name),
          '-x',
          String(guessed),
          '-o',
          ...target,
        );
      const written = join(everyTarget.folder(), `guessed from ${kind.replace(':', ' ')}`);
      await convert(everyTarget.home(), 'er2xml', '-x', String(guessed), '-i', target[0], '-o', written);
      for (const name of Object.keys(lists)) {
        const prices = async (from: string): Promise<unknown> =>
          (await readFile(join(from, name), 'utf8')).match(/<price>[^<]*/g);
        expect(await prices(written)).toEqual(await prices(everyTarget.folder()));
      }
    },
  );
});
