/** Local times in views of business entities: what documents write, of columns that have instants. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { duckDbRows } from '../../contracts/row-sinks/readers.ts';
import { needs, programOf } from '../../support/needs.ts';
import { useEveryTarget } from '../../support/round-trip/every-target.ts';
import { mariadbParts, startMariadb } from '../../support/servers/mariadb.ts';

const element = (name: string, type: string): string => `<xs:element name="${name}" type="xs:${type}"/>`;
const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="plan"><xs:complexType><xs:sequence><xs:element name="trip" maxOccurs="unbounded"><xs:complexType>
    <xs:sequence>${element('number', 'int')}${element('sold', 'dateTime')}${element('ship', 'string')}${element('captain', 'string')}
      <xs:element name="stop" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        ${element('place', 'string')}${element('departure', 'dateTime')}${element('berth', 'string')}${element('pilot', 'string')}
      </xs:sequence></xs:complexType></xs:element>
    </xs:sequence>
  </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema>`;
const stop = (place: string, departure: string): string =>
  `<stop><place>${place}</place><departure>${departure}</departure><berth>1</berth><pilot>Roald</pilot></stop>`;
const trip = (number: number, sold: string, stops: string): string =>
  `<trip><number>${number}</number><sold>${sold}</sold><ship>Fram</ship><captain>Otto</captain>${stops}</trip>`;
const documents = {
  'trips.xml':
    trip(
      1,
      '2024-07-01T00:30:00+02:00',
      `${stop('a', '2024-07-01T10:00:00Z')}${stop('b', '2024-12-31T23:30:59.9999-05:30')}${stop('c', '2024-03-01T00:15:00+00:00')}`,
    ) + trip(2, '2024-07-01T10:00:00Z', stop('d', '2024-02-29T23:59:59.123456+14:00')),
  'long-ago.xml': trip(3, '2024-07-01T10:00:00+02:00', stop('e', '-0044-03-15T12:00:00+02:00')),
};
const local = [
  ['a', '2024-07-01 10:00:00', '2024-07-01 00:30:00'],
  ['b', '2024-12-31 23:30:59.9999', '2024-07-01 00:30:00'],
  ['c', '2024-03-01 00:15:00', '2024-07-01 00:30:00'],
  ['d', '2024-02-29 23:59:59.123456', '2024-07-01 10:00:00'],
];

const everyTarget = useEveryTarget(xsd, 'plan', documents, '--prune', '--views');

/** A date and time as PostgreSQL writes it. */
function asPostgres(text: string): string {
  return text
    .replace('T', ' ')
    .replace(/(\.\d*?)0+$/u, '$1')
    .replace(/\.$/u, '');
}

function told(rows: readonly Readonly<Record<string, unknown>>[]): string[][] {
  return rows
    .map((row) =>
      ['place', 'departure_local', 'trip_sold_local'].map((name) => asPostgres(String(row[name]))),
    )
    .toSorted(([a], [b]) => a!.localeCompare(b!));
}

function fromSqlite(file: string): string[][] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return told(database.prepare('SELECT * FROM stop_view').all());
  } finally {
    database.close();
  }
}

describe('a view tells local times beside instants', { timeout: 120_000 }, () => {
  it('in PostgreSQL, and not where a column became text', async () => {
    const sql = everyTarget.sql();
    await everyTarget.load(['trips.xml'], ['metadb:local_views']);
    const select = `SELECT place, departure_local::text, trip_sold_local::text FROM local_views.stop_view`;
    expect(told(await sql.unsafe(select))).toEqual(local);
    await everyTarget.load(['long-ago.xml'], ['metadb:local_views']);
    const [row] = await sql.unsafe(`SELECT * FROM local_views.stop_view WHERE place = 'e'`);
    expect(row).toMatchObject({ departure: '-0044-03-15T12:00:00+02:00' });
    expect(row).toHaveProperty('trip_sold_local');
    expect(row).not.toHaveProperty('departure_local');
  });

  it('in DuckDB', async () => {
    const file = join(everyTarget.folder(), 'local.duckdb');
    await everyTarget.load(['trips.xml'], [`duckdb:${file}`]);
    const rows = await duckDbRows(
      file,
      '(SELECT place, departure_local::text AS departure_local, trip_sold_local::text AS trip_sold_local FROM stop_view)',
    );
    expect(told(rows)).toEqual(local);
  });

  it('in SQLite', async () => {
    const file = join(everyTarget.folder(), 'local.sqlite');
    await everyTarget.load(['trips.xml'], [`sqlite:${file}`]);
    expect(fromSqlite(file)).toEqual(local);
  });

  it('in SQLite from JSON Lines', needs('sqlite3'), async () => {
    const cwd = join(everyTarget.folder(), 'for-sqlite');
    await everyTarget.load(['trips.xml'], [cwd, '-f', 'jsonl']);
    for (const name of ['load.sqlite.sql', 'views.sqlite.sql'])
      await promisify(execFile)(programOf('sqlite3')!, ['a.db', `.read ${name}`], { cwd });
    expect(fromSqlite(join(cwd, 'a.db'))).toEqual(local);
  });

  it('in MariaDB from TSV', needs(mariadbParts), async () => {
    const directory = join(everyTarget.folder(), 'for-mariadb');
    await everyTarget.load(['trips.xml'], [directory, '-f', 'tsv']);
    const server = await startMariadb();
    try {
      await server.run('CREATE DATABASE loaded;');
      for (const name of ['load.mysql.sql', 'views.mysql.sql'])
        await server.run(await readFile(join(directory, name), 'utf8'), directory, 'loaded');
      const select = `SELECT place, departure_local, trip_sold_local FROM stop_view ORDER BY place;`;
      const rows = (await server.run(select, directory, 'loaded')).trim().split('\n').slice(1);
      expect(rows.map((row) => row.split('\t').map(asPostgres))).toEqual(local);
    } finally {
      await server.stop();
    }
  });
});
