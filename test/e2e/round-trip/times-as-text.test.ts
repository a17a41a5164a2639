/** Columns of instants that a value turns into text: then they say what documents say, with its offset or without any zone. */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { duckDbRows } from '../../contracts/row-sinks/readers.ts';
import { freePort } from '../../support/free-port.ts';
import { needs } from '../../support/needs.ts';
import { mariadbParts, startMariadb } from '../../support/servers/mariadb.ts';
import { useEveryTarget } from '../../support/round-trip/every-target.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="plan"><xs:complexType><xs:sequence><xs:element name="leg" maxOccurs="unbounded"><xs:complexType>
    <xs:sequence><xs:element name="departure" type="xs:dateTime"/></xs:sequence><xs:attribute name="number" type="xs:int" use="required"/>
  </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema>`;
/** By document, in the order in which these are loaded. */
const departures = {
  'before.xml': [
    '2024-07-01T10:00:00+02:00',
    '2024-07-01T11:00:00',
    '2024-07-01T12:00:00Z',
    '2024-12-31T23:30:00.25-05:30',
    '2024-02-29T24:00:00',
  ],
  'beyond.xml': ['2024-07-01T13:00:00', '-0044-03-15T12:00:00', '2024-07-01T14:00:00+02:00'],
  'behind.xml': ['2024-07-01T15:00:00', '2024-07-01T16:00:00+02:00', '2024-07-01T17:00:00.1000-00:00'],
};
const documents = Object.fromEntries(
  Object.entries(departures).map(([name, values], document) => [
    name,
    values
      .map((value, at) => `<leg number="${document * 10 + at}"><departure>${value}</departure></leg>`)
      .join(''),
  ]),
);
const written = Object.values(departures).flat();

const everyTarget = useEveryTarget(xsd, 'plan', documents, '--prune');

/** By one load for each document, or by one of all of them. */
const ways = ['one by one', 'at once'] as const;

async function loadInto(way: (typeof ways)[number], ...target: readonly string[]): Promise<void> {
  const names = Object.keys(documents);
  for (const loaded of way === 'at once' ? [names] : names.map((name) => [name]))
    await everyTarget.load(loaded, target);
}

describe.each(ways)(
  'a column that became text, loaded %s, says what documents say',
  { timeout: 120_000 },
  (way) => {
    const name = `times_${way.replaceAll(' ', '_')}`;

    it('in PostgreSQL', async () => {
      await loadInto(way, `metadb:${name}`);
      const rows = await everyTarget.sql().unsafe(`SELECT departure FROM ${name}.leg ORDER BY number`);
      expect(rows.map(({ departure }) => departure as string)).toEqual(written);
    });

    it('in DuckDB', async () => {
      const file = join(everyTarget.folder(), `${name}.duckdb`);
      await loadInto(way, `duckdb:${file}`);
      const rows = await duckDbRows(file, '(SELECT departure, number FROM leg)');
      const sorted = rows.toSorted((a, b) => Number(a['number']) - Number(b['number']));
      expect(sorted.map(({ departure }) => departure)).toEqual(written);
    });

    it('in SQLite', async () => {
      const file = join(everyTarget.folder(), `${name}.sqlite`);
      await loadInto(way, `sqlite:${file}`);
      const database = new DatabaseSync(file, { readOnly: true });
      try {
        const rows = database.prepare('SELECT departure FROM leg ORDER BY number').all();
        expect(rows.map(({ departure }) => departure)).toEqual(written);
      } finally {
        database.close();
      }
    });

    it('in MariaDB', needs(mariadbParts), async () => {
      const port = await freePort();
      const server = await startMariadb({ port });
      try {
        await server.run('CREATE DATABASE times;');
        await loadInto(way, `mysql://127.0.0.1:${port}/times`, '-u', 'root');
        const rows = await server.run('SELECT departure FROM leg ORDER BY number;', undefined, 'times');
        expect(rows.trim().split('\n').slice(1)).toEqual(written);
      } finally {
        await server.stop();
      }
    });
  },
);

it('says so, too, where the job that turned it failed: in MariaDB', needs(mariadbParts), async () => {
  const port = await freePort();
  const server = await startMariadb({ port });
  const target = [`mysql://127.0.0.1:${port}/times`, '-u', 'root'];
  try {
    await server.run('CREATE DATABASE times;');
    await everyTarget.load(['before.xml'], target);
    const refusal = `CREATE TRIGGER refusal BEFORE INSERT ON _loads FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no load today';`;
    await server.run(refusal, undefined, 'times');
    await expect(everyTarget.load(['beyond.xml'], target)).rejects.toThrow('no load today');
    await server.run('DROP TRIGGER refusal;', undefined, 'times');
    await everyTarget.load(['beyond.xml'], target);
    const rows = await server.run('SELECT departure FROM leg ORDER BY number;', undefined, 'times');
    expect(rows.trim().split('\n').slice(1)).toEqual([
      ...departures['before.xml'],
      ...departures['beyond.xml'],
    ]);
  } finally {
    await server.stop();
  }
});
