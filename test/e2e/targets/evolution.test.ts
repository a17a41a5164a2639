/** Two versions of a schema in one target: columns hold what they mean, and documents of both come back. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { compiled } from '../../support/models/shredding.ts';
import { some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;

const root = (children: string): string =>
  `<xs:element name="deal"><xs:complexType><xs:sequence>${children}</xs:sequence></xs:complexType></xs:element>`;

const element = (name: string, type: string, more = ''): string =>
  `<xs:element name="${name}" type="${type}" ${more}/>`;

const named = (name: string, content: string): string =>
  `<xs:complexType name="${name}">${content}</xs:complexType>`;

const party = named(
  'Party',
  `<xs:sequence>${element('name', 'xs:string')}${element('phone', 'xs:string', 'minOccurs="0" maxOccurs="9"')}</xs:sequence>`,
);

const filled = (name: string): string => `<${name}><name>${name}</name><phone>${name} 1</phone></${name}>`;

interface Evolution {
  readonly what: string;
  readonly versions: readonly [string, string];
  readonly documents: readonly [string, string];
  /** whether the later version reads what the earlier one wrote */
  readonly covers: boolean;
  /** keys of parties or places that the deal has */
  readonly keyColumns: number;
}

const optional = 'minOccurs="0"';
const evolutions: readonly Evolution[] = [
  {
    what: 'another use of a type comes first',
    versions: [
      xs(root(element('seller', 'Party') + element('payee', 'Party')) + party),
      xs(
        root(element('buyer', 'Party', optional) + element('seller', 'Party') + element('payee', 'Party')) +
          party,
      ),
    ],
    documents: [
      `<deal>${filled('seller')}${filled('payee')}</deal>`,
      `<deal>${filled('buyer')}${filled('seller')}${filled('payee')}</deal>`,
    ],
    covers: true,
    keyColumns: 3,
  },
  {
    what: 'uses at several depths, values in attributes',
    versions: [
      xs(
        root(element('seller', 'Place') + element('leg', 'Leg', 'maxOccurs="9"')) +
          named('Leg', `<xs:sequence>${element('from', 'Place')}${element('to', 'Place')}</xs:sequence>`) +
          named(
            'Place',
            `<xs:sequence>${element('gate', 'xs:string', 'maxOccurs="9"')}</xs:sequence><xs:attribute name="code"/>`,
          ),
      ),
      xs(
        root(
          element('broker', 'Place', optional) +
            element('seller', 'Place') +
            element('leg', 'Leg', 'maxOccurs="9"'),
        ) +
          named(
            'Leg',
            `<xs:sequence>${element('via', 'Place', optional)}${element('from', 'Place')}${element('to', 'Place')}</xs:sequence>`,
          ) +
          named(
            'Place',
            `<xs:sequence>${element('gate', 'xs:string', 'maxOccurs="9"')}</xs:sequence><xs:attribute name="kind"/><xs:attribute name="code"/>`,
          ),
      ),
    ],
    documents: [
      '<deal><seller code="S"><gate>1</gate></seller><leg><from code="F"><gate>2</gate></from><to code="T"><gate>3</gate></to></leg></deal>',
      '<deal><broker code="B"><gate>0</gate></broker><seller code="S" kind="k"><gate>1</gate></seller><leg><via code="V"><gate>9</gate></via><from code="F"><gate>2</gate></from><to code="T"><gate>3</gate></to></leg></deal>',
    ],
    covers: true,
    keyColumns: 2,
  },
  {
    what: 'an element is repeated, another need not be there',
    versions: [
      xs(
        root(element('note', 'Note') + element('seller', 'Party')) +
          named('Note', `<xs:sequence>${element('line', 'xs:string')}</xs:sequence>`) +
          party,
      ),
      xs(
        root(element('note', 'Note', 'minOccurs="0" maxOccurs="9"') + element('seller', 'Party', optional)) +
          named('Note', `<xs:sequence>${element('line', 'xs:string', optional)}</xs:sequence>`) +
          party,
      ),
    ],
    documents: [
      `<deal><note><line>a</line></note>${filled('seller')}</deal>`,
      '<deal><note><line>a</line></note><note/></deal>',
    ],
    covers: false,
    keyColumns: 0,
  },
  {
    what: 'a type is split in two',
    versions: [
      xs(root(element('seller', 'Party') + element('agent', 'Party') + element('payee', 'Party')) + party),
      xs(
        root(
          element('seller', 'Party') +
            element('agent', 'Party') +
            element('payee', 'Payee') +
            element('drawee', 'Payee'),
        ) +
          party +
          party.replace('"Party"', '"Payee"'),
      ),
    ],
    documents: [
      `<deal>${filled('seller')}${filled('agent')}${filled('payee')}</deal>`,
      `<deal>${filled('seller')}${filled('agent')}${filled('payee')}${filled('drawee')}</deal>`,
    ],
    covers: false,
    keyColumns: 3,
  },
];

const targets = ['metadb', 'duckdb', 'sqlite'] as const;

describe.each(some(evolutions, 2))(
  '$what',
  { timeout: 240_000 },
  ({ versions, documents, covers, keyColumns }) => {
    const trial = useTrial();
    let home: ServiceHome;
    const logicals: number[] = [];
    const origins: number[] = [];

    beforeAll(async () => {
      home = await trial.home();
      for (const [at, text] of versions.entries()) {
        const folder = join(home.directory, `v${at + 1}`);
        await mkdir(folder);
        await writeFile(join(folder, 'deal.xsd'), text);
        await writeFile(join(folder, `deal-${at + 1}.xml`), documents[at]!);
        const parent = at === 0 ? [] : ['--parent', String(origins[0])];
        const made = await convert(home, 'xsd2er', join(folder, 'deal.xsd'), '--name', 'deal', ...parent);
        origins.push(Number(made.origin));
        logicals.push(Number(made.logical));
      }
    });

    afterAll(() => {
      logicals.length = 0;
      origins.length = 0;
    });

    // the database first, and one of files
    it.each(covers ? some(targets, 1) : targets.slice(0, 1))('in %s', async (kind) => {
      const place = kind === 'metadb' ? 'metadb:deals' : `${kind}:${join(home.directory, `deals.${kind}`)}`;
      for (const [at, origin] of origins.entries())
        await convert(
          home,
          'xml2er',
          join(home.directory, `v${at + 1}`, `deal-${at + 1}.xml`),
          '-x',
          String(origin),
          '-l',
          String(logicals[at]),
          '-o',
          place,
        );
      for (const [at, logical] of logicals.entries()) {
        const folder = join(home.directory, `back-${kind}-${at}`);
        const { documents: written } = await convert(
          home,
          'er2xml',
          '-l',
          String(logical),
          '-i',
          place,
          '-o',
          folder,
        );
        // what the earlier version wrote is read by the later one where it has a place for all of it
        const readable = at === 1 && covers ? [0, 1] : [at];
        expect(written).toBe(readable.length);
        for (const one of readable) {
          const text = await readFile(join(folder, `deal-${one + 1}.xml`), 'utf8');
          expect(compareXml(documents[one]!, text, { source: compiled(versions[one]!) })).toEqual([]);
        }
        await rm(folder, { recursive: true });
      }
    });

    it('has in each key column the rows of its use', async () => {
      const sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 1 });
      try {
        const columns = await sql<{ table: string; column: string }[]>`
        select table_name as table, column_name as column from information_schema.columns where table_schema = 'deals'`;
        // a use that stands once is a key in the row of the deal
        const parent = columns.some(({ table }) => table === 'place') ? 'place' : 'party';
        const keys = columns.filter(
          ({ table, column }) => table === 'deal' && /^(?:seller|payee|buyer|agent|broker)_key$/.test(column),
        );
        for (const { column } of keys) {
          const use = column.split('_').at(-2)!;
          const value = columns.some((one) => one.table === parent && one.column === 'code')
            ? 'code'
            : 'name';
          const rows = await sql<{ value: string }[]>`
          select p.${sql(value)} as value from deals.deal d join deals.${sql(parent)} p on p.${sql(`${parent}_key`)} = d.${sql(column)}`;
          const own = value === 'name' ? use : use[0]!.toUpperCase();
          expect(new Set(rows.map((row) => row.value))).toEqual(new Set([own]));
        }
        expect(keys.length).toBe(keyColumns);
      } finally {
        await sql.end();
      }
    });
  },
);
