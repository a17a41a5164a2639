/** `--keys hash` and `--skip-loaded`: what is there already is left alone, whatever the order and the target. */
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import {
  duckDbReader,
  folderReader,
  postgresReader,
  type TargetReader,
} from '../../contracts/row-sinks/readers.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { compiled } from '../../support/models/shredding.ts';
import { needs, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/targets/', import.meta.url));
const [first, second, third] = ['first.xml', 'second.xml', 'third.xml'].map((name) => join(fixtures, name));
/** values of columns that widened on the way look otherwise: how rows hang together, and which they are, must not */
const telling = /_key$|^(position|id|label|sha256|column_name|xpath|content)$/;
const tables = ['item', '_documents', '_lexical', '_unmapped'];

const stockXsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="stock"><xs:complexType><xs:sequence><xs:element name="item" maxOccurs="unbounded"><xs:complexType>
    <xs:sequence><xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
    <xs:attribute name="id" type="xs:ID"/>
    <xs:attribute name="kind"><xs:simpleType><xs:restriction base="xs:string"><xs:enumeration value="new"/><xs:enumeration value="old"/></xs:restriction></xs:simpleType></xs:attribute>
  </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema>`;
const item = (id: string): string => `<item id="${id}" kind="new"><tag>${id}1</tag><tag>${id}2</tag></item>`;

const trial = useTrial();
let home: ServiceHome;
let sql: Sql;
let origin: string;
const source = compiled(readFileSync(join(fixtures, 'values.xsd'), 'utf8'));

beforeAll(async () => {
  home = await trial.home();
  origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
  sql = await trial.metadb(home);
}, 120_000);

interface Place {
  readonly argv: readonly string[];
  readonly reader: () => TargetReader;
}

const places: Readonly<Record<string, (name: string) => Place>> = {
  postgresql: (name) => ({ argv: ['-o', `metadb:${name}`], reader: () => postgresReader(sql, name) }),
  duckdb: (name) => {
    const file = join(home.directory, 'out', `${name}.duckdb`);
    return { argv: ['-o', `duckdb:${file}`], reader: () => duckDbReader(file) };
  },
  ...Object.fromEntries(
    (['csv', 'tsv', 'jsonl', 'parquet'] as const).map((format) => [
      format,
      (name: string): Place => {
        const directory = join(home.directory, 'out', `${format}-${name}`);
        return { argv: ['-o', directory, '-f', format], reader: () => folderReader(directory, format) };
      },
    ]),
  ),
};

async function contents({ reader }: Place): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of tables) {
    const rows = (await reader().read(table)) ?? [];
    found[table] = rows
      .map((row) => JSON.stringify(Object.entries(row).filter(([name]) => telling.test(name))))
      .toSorted();
  }
  return found;
}

const load = (place: Place, ...argv: string[]) =>
  convert(home, 'xml2er', ...argv, '-x', origin, ...place.argv);

describe.each(some(Object.keys(places), 1))('%s', { timeout: 120_000 }, (kind) => {
  it('gives a document the same keys whatever was loaded before it', needs('whole run'), async () => {
    const [one, other] = [places[kind]!('one'), places[kind]!('other')];
    await load(one, first!, second!, third!, '--keys', 'hash');
    await load(other, third!, '--keys', 'hash');
    await load(other, second!, first!, '--keys', 'hash');
    const rows = await contents(one);
    expect(rows['item']!.length).toBeGreaterThan(3);
    expect(rows['_documents']).toHaveLength(3);
    expect(await contents(other)).toEqual(rows);
  });

  it('adds nothing when a document comes again', needs('whole run'), async () => {
    const place = places[kind]!('again');
    await load(place, first!, '--keys', 'hash');
    const before = await contents(place);
    expect(await load(place, first!, '--keys', 'hash')).toMatchObject({ status: 'C', documents: 0, rows: 0 });
    expect(await contents(place)).toEqual(before);
    expect(await load(place, first!, second!, '--keys', 'hash')).toMatchObject({ documents: 1 });
    expect((await contents(place))['_documents']).toHaveLength(2);
  });

  it('--skip-loaded leaves out what is there, with keys that are numbers', async () => {
    const place = places[kind]!('skip');
    await load(place, first!);
    expect(await load(place, first!, second!, '--skip-loaded')).toMatchObject({ status: 'C', documents: 1 });
    expect((await contents(place))['_documents']).toHaveLength(2);
    expect(await load(place, first!, '--skip-loaded', '-S', 'o')).toMatchObject({ documents: 1 });
  });
});

describe('documents with hashed keys', { timeout: 120_000 }, () => {
  it('are written back', async () => {
    const place = places['postgresql']!('back');
    const { logical } = await load(place, third!, first!, second!, '--keys', 'hash');
    const folder = join(home.directory, 'written');
    await convert(home, 'er2xml', '-l', String(logical), '-i', 'metadb:back', '-o', folder);
    for (const path of [first!, second!, third!]) {
      const written = await readFile(join(folder, path.slice(fixtures.length)), 'utf8');
      expect(compareXml(await readFile(path, 'utf8'), written, { source })).toEqual([]);
    }
  });
});

// keys beyond 2^53, which a number of JavaScript does not hold
describe('a SQLite file with hashed keys', { timeout: 120_000 }, () => {
  it('takes rows beside unique keys and codes, more of them, and lets documents go', async () => {
    const folder = join(home.directory, 'stock');
    await mkdir(folder);
    const [xsd, file] = [join(folder, 'stock.xsd'), join(folder, 'stock.sqlite')];
    await writeFile(xsd, stockXsd);
    await writeFile(join(folder, 'a.xml'), `<stock>${item('a')}${item('b')}</stock>`);
    // it breaks the unique key, which is dropped then
    await writeFile(join(folder, 'b.xml'), `<stock>${item('c')}${item('c')}</stock>`);
    const target = ['-o', `sqlite:${file}`, '--keys', 'hash', '--codes', 'table'];
    const loadStock = (name: string) => convert(home, 'xml2er', join(folder, name), '--xsd', xsd, ...target);
    expect((await loadStock('a.xml')).rows).toBe(7);
    expect(await loadStock('b.xml')).toMatchObject({
      rows: 7,
      broken_keys: [{ table: 'item', columns: ['document_key', 'id'] }],
    });
    expect(itemIds(file)).toEqual(['a', 'b', 'c', 'c']);
    await convert(home, 'unload', '-i', `sqlite:${file}`, '-D', 'a.xml');
    expect(itemIds(file)).toEqual(['c', 'c']);
  });
});

function itemIds(file: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare('SELECT id FROM item ORDER BY id')
      .all()
      .map(({ id }) => id);
  } finally {
    database.close();
  }
}
