/** Rows that have the keys of their children, and rows whose role says which child they are: loaded, added to, replaced, removed and written back, with foreign keys in both directions. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { compiled } from '../../support/models/shredding.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="Party"><xs:sequence><xs:element name="name" type="xs:string"/><xs:element name="phone" type="xs:string" minOccurs="0" maxOccurs="unbounded"/><xs:element name="agent" type="Party" minOccurs="0"/></xs:sequence></xs:complexType>
  <xs:element name="trade"><xs:complexType><xs:sequence>
    <xs:element name="buyer" type="Party"/><xs:element name="seller" type="Party" minOccurs="0"/>
    <xs:element name="witness" type="Party" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element name="notary" type="Party" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`;

const party = (element: string, name: string, inner = ''): string =>
  `<${element}><name>${name}</name><phone>${name}-1</phone><phone>${name}-2</phone>${inner}</${element}>`;
const trade = (name: string): string =>
  `<trade>${party('buyer', `${name}b`, party('agent', `${name}ba`, party('agent', `${name}baa`)))}${party('seller', `${name}s`)}${party('witness', `${name}w`)}${party('witness', `${name}v`)}${party('notary', `${name}t`)}</trade>`;
// the second buyer breaks the XSD, and nobody sells
const odd = `<trade>${party('buyer', 'o')}${party('buyer', 'p')}${party('witness', 'q', party('agent', 'r'))}</trade>`;

const query = `select d.name, b.name as buyer, a.name as agent, s.name as seller,
    (select count(*) from party w where w.trade_key = t.trade_key and w.role = 'witness') as witnesses,
    (select max(w.name) from party w where w.trade_key = t.trade_key and w.role = 'notary') as notary
  from trade t join _documents d on d.document_key = t.document_key left join party b on b.party_key = t.buyer_key left join party s on s.party_key = t.seller_key
  left join party a on a.party_key = b.agent_key order by d.name`;
const of = (name: string) => ({
  name: `${name}.xml`,
  buyer: `${name}b`,
  agent: `${name}ba`,
  seller: `${name}s`,
  witnesses: 2,
  notary: `${name}t`,
});

const trial = useTrial();
let home: ServiceHome;
let sql: Sql;
let folder: string;
let origin: string;

beforeAll(async () => {
  home = await trial.home();
  await trial.service(home);
  sql = await trial.metadb(home);
  folder = join(home.directory, 'trades');
  await mkdir(folder);
  await writeFile(join(folder, 'trade.xsd'), xsd);
  await write('m', trade('m'));
  await write('n', trade('n'));
  await write('odd', odd);
  origin = String((await convert(home, 'xsd2er', join(folder, 'trade.xsd'))).origin);
}, 120_000);

const write = (name: string, text: string): Promise<void> => writeFile(join(folder, `${name}.xml`), text);
const file = (name: string): string => join(folder, `${name}.xml`);

interface Place {
  readonly target: string;
  rows(statement: string): Promise<readonly Record<string, unknown>[]>;
}

function inDatabase(sqlSchema: string): Place {
  return {
    target: `metadb:${sqlSchema}`,
    rows: async (statement) =>
      await sql.begin(async (tx) => {
        await tx.unsafe(`set local search_path to ${sqlSchema}`);
        return (await tx.unsafe(statement)).map((row) => ({ ...row }));
      }),
  };
}

function inFile(path: string): Place {
  return {
    target: `sqlite:${path}`,
    rows: async (statement) => {
      const database = new DatabaseSync(path, { readOnly: true });
      try {
        expect(database.prepare('pragma foreign_key_check').all()).toEqual([]);
        return database.prepare(statement).all();
      } finally {
        database.close();
      }
    },
  };
}

const places: readonly (readonly [string, () => Place])[] = [
  ['PostgreSQL', () => inDatabase('trades')],
  ['SQLite', () => inFile(join(folder, 'trades.sqlite'))],
];

describe('children that stand once in tables that several places share', { timeout: 240_000 }, () => {
  for (const [database, placeOf] of places) {
    it(`are known by their keys (${database})`, async () => {
      const { target, rows } = placeOf();
      const found = async (): Promise<unknown> =>
        (await rows(query)).map((row) => ({ ...row, witnesses: Number(row['witnesses']) }));
      const load = (...argv: string[]) => convert(home, 'xml2er', ...argv, '-x', origin, '-o', target);
      const { logical } = await load(file('m'));
      expect(await found()).toEqual([of('m')]);
      await load(file('n'), file('odd'));
      const withOdd = { name: 'odd.xml', buyer: 'o', agent: null, seller: null, witnesses: 1, notary: null };
      expect(await found()).toEqual([of('m'), of('n'), withOdd]);
      const out = join(folder, `back-${database}`);
      await convert(home, 'er2xml', '-l', String(logical), '-i', target, '-o', out);
      for (const name of ['m', 'n', 'odd']) {
        const [before, after] = [await readFile(file(name)), await readFile(join(out, `${name}.xml`))];
        expect(compareXml(before, after, { source: compiled(xsd) })).toEqual([]);
      }
      await write('m', trade('x'));
      expect((await load(file('m'), '-S', 'm')).merged).toMatchObject({ replaced: 1, inserted: 0 });
      await write('m', trade('m'));
      expect(await found()).toEqual([{ ...of('x'), name: 'm.xml' }, of('n'), withOdd]);
      const parties = async (): Promise<unknown> =>
        (await rows('select name from party order by name')).map(({ name }) => name);
      expect(await parties()).toEqual([
        'nb',
        'nba',
        'nbaa',
        'ns',
        'nt',
        'nv',
        'nw',
        'o',
        'q',
        'r',
        'xb',
        'xba',
        'xbaa',
        'xs',
        'xt',
        'xv',
        'xw',
      ]);
      for (const name of ['m.xml', 'odd.xml'])
        await convert(home, 'unload', '-l', String(logical), '-i', target, '-D', name);
      expect(await found()).toEqual([of('n')]);
      expect(await parties()).toEqual(['nb', 'nba', 'nbaa', 'ns', 'nt', 'nv', 'nw']);
      const [phones] = await rows('select count(*) as n from phone');
      expect(Number(phones!['n'])).toBe(14);
    });
  }

  it('are enforced, and checked at the end of the transaction where they lead to a later table', async () => {
    await convert(home, 'xml2er', file('n'), '-x', origin, '-o', 'metadb:enforced');
    const keys = await sql<{ name: string; definition: string }[]>`
      select conrelid::regclass::text as name, pg_get_constraintdef(oid) as definition from pg_constraint
       where connamespace = 'enforced'::regnamespace and contype = 'f' and conrelid in ('enforced.trade'::regclass, 'enforced.party'::regclass) order by 1, 2`;
    expect(keys.map(({ definition }) => definition.replaceAll('enforced.', ''))).toEqual([
      'FOREIGN KEY (agent_key) REFERENCES party(party_key)',
      'FOREIGN KEY (trade_key) REFERENCES trade(trade_key)',
      'FOREIGN KEY (buyer_key) REFERENCES party(party_key) DEFERRABLE INITIALLY DEFERRED',
      'FOREIGN KEY (document_key) REFERENCES _documents(document_key)',
      'FOREIGN KEY (seller_key) REFERENCES party(party_key) DEFERRABLE INITIALLY DEFERRED',
    ]);
    const [column] = await sql<{ nullable: string }[]>`
      select is_nullable as nullable from information_schema.columns where table_schema = 'enforced' and table_name = 'trade' and column_name = 'buyer_key'`;
    expect(column).toEqual({ nullable: 'NO' });
  });

  it('that a later version adds between tables that are there are enforced, too', async () => {
    const later = join(folder, 'later');
    await mkdir(later);
    await writeFile(
      join(later, 'trade.xsd'),
      xsd.replace('<xs:element name="seller"', '<xs:element name="broker" type="Party" minOccurs="0"/>$&'),
    );
    await write('brokered', trade('k').replace('<seller>', `${party('broker', 'kk')}<seller>`));
    await convert(home, 'xml2er', file('m'), '-x', origin, '-o', 'metadb:added');
    const made = await convert(home, 'xsd2er', join(later, 'trade.xsd'), '--parent', origin);
    await convert(home, 'xml2er', file('brokered'), '-x', String(made.origin), '-o', 'metadb:added');
    const names = await sql`
      select p.name from added.trade t join added.party p on p.party_key = t.broker_key`;
    expect(names.map(({ name }) => name as string)).toEqual(['kk']);
    const [key] = await sql<{ definition: string; valid: boolean }[]>`
      select pg_get_constraintdef(oid) as definition, convalidated as valid from pg_constraint
       where conrelid = 'added.trade'::regclass and contype = 'f' and pg_get_constraintdef(oid) like '%broker_key%'`;
    expect(key).toMatchObject({
      definition: expect.stringContaining(
        'FOREIGN KEY (broker_key) REFERENCES added.party(party_key)',
      ) as string,
      valid: true,
    });
  });
});

it('keys to a table that comes later in a next version are checked when all rows are there', async () => {
  const party = `<xs:complexType name="Party"><xs:sequence><xs:element name="phone" type="xs:string" maxOccurs="9"/></xs:sequence></xs:complexType>`;
  const version = (first: string): string =>
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${party}<xs:element name="register"><xs:complexType><xs:sequence>${first}
      <xs:element name="trade" maxOccurs="9"><xs:complexType><xs:sequence><xs:element name="buyer" type="Party"/><xs:element name="seller" type="Party"/></xs:sequence></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element></xs:schema>`;
  const trades = '<trade><buyer><phone>1</phone></buyer><seller><phone>2</phone></seller></trade>';
  const versions = [
    [
      '<xs:element name="owner" type="Party"/>',
      `<register><owner><phone>0</phone></owner>${trades}</register>`,
    ],
    ['', `<register>${trades}</register>`],
  ] as const;
  const made: string[] = [];
  for (const [at, [first, document]] of versions.entries()) {
    const folderOf = join(folder, `version-${at}`);
    await mkdir(folderOf);
    await writeFile(join(folderOf, 'register.xsd'), version(first));
    await writeFile(join(folderOf, `register-${at}.xml`), document);
    const parent = at === 0 ? [] : ['--parent', made[at - 1]!];
    const { origin: one } = await convert(home, 'xsd2er', join(folderOf, 'register.xsd'), ...parent);
    made.push(String(one));
    await convert(
      home,
      'xml2er',
      join(folderOf, `register-${at}.xml`),
      '-x',
      made[at]!,
      '-o',
      'metadb:turned',
    );
  }
  const { rows } = inDatabase('turned');
  expect(
    await rows(
      'select d.name, count(*)::int from trade t join party b on b.party_key = t.buyer_key join _documents d on d.document_key = t.document_key group by 1 order by 1',
    ),
  ).toEqual([
    { name: 'register-0.xml', count: 1 },
    { name: 'register-1.xml', count: 1 },
  ]);
  const deferred =
    await rows(`select k.condeferred as is_deferred from pg_constraint k join pg_class c on c.oid = k.conrelid
    where c.relname = 'trade' and k.contype = 'f' and k.conrelid = 'turned.trade'::regclass and k.confrelid = 'turned.party'::regclass`);
  expect(deferred).toEqual([{ is_deferred: true }, { is_deferred: true }]);
});

it.each(['sequence', 'hash'])(
  'overwriting by a next version empties what hangs from it, whatever refers to that (keys: %s)',
  async (keys) => {
    const target = `deeds_${keys}`;
    const witness = '<xs:element name="witness" type="Witness" minOccurs="0" maxOccurs="9"/>';
    const version = (more: string): string =>
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:complexType name="Witness"><xs:sequence><xs:element name="name" type="xs:string"/><xs:element name="phone" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>
      <xs:element name="file"><xs:complexType><xs:sequence><xs:element name="deed" maxOccurs="9"><xs:complexType><xs:sequence>
        <xs:element name="title" type="xs:string"/>${witness}${more}
      </xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
    const annex = `<xs:element name="annex" minOccurs="0" maxOccurs="9"><xs:complexType><xs:sequence><xs:element name="page" type="xs:int"/>${witness}
  </xs:sequence></xs:complexType></xs:element>`;
    const versions = [
      [
        annex,
        '<file><deed><title>a</title><witness><name>w</name></witness><annex><page>1</page><witness><name>v</name></witness></annex></deed></file>',
      ],
      ['', '<file><deed><title>b</title><witness><name>u</name></witness></deed></file>'],
    ] as const;
    let parent: readonly string[] = [];
    for (const [at, [more, document]] of versions.entries()) {
      const path = join(folder, `deeds-${at}`);
      const to = ['-o', `metadb:${target}`, '--keys', keys];
      await writeFile(`${path}.xsd`, version(more));
      await writeFile(`${path}.xml`, document);
      const { origin: one } = await convert(home, 'xsd2er', `${path}.xsd`, ...parent);
      parent = ['--parent', String(one)];
      const mode = at === 0 ? 'a' : 'o';
      await convert(home, 'xml2er', `${path}.xml`, '-x', String(one), ...to, '-S', mode);
      if (at > 0) continue;
      // without rows, it is in nobody's way
      await sql`create table ${sql(target)}.note (annex_key bigint references ${sql(target)}.annex)`;
      const [made] =
        await sql`select tableowner as owner from pg_tables where schemaname = ${target} and tablename = 'annex'`;
      await sql`alter table ${sql(target)}.note owner to ${sql(made!['owner'] as string)}`;
    }
    const { rows } = inDatabase(target);
    expect(
      await rows(`select 'deed' as of, title as text from deed union all select 'witness', name from witness
      union all select 'annex', page::text from annex union all select 'document', name from _documents order by 1, 2`),
    ).toEqual([
      { of: 'deed', text: 'b' },
      { of: 'document', text: 'deeds-1.xml' },
      { of: 'witness', text: 'u' },
    ]);
  },
);
