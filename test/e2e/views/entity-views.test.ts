/** Views of business entities in real databases: what they tell of real documents, against the documents themselves. */
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { enumerationsOf } from '../../../src/engine/metadata/enumerations.ts';
import type { MapLevel, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { dialectOf } from '../../../src/engine/sql/dialects/every-dialect.ts';
import { renderDdl } from '../../../src/engine/sql/ddl.ts';
import { entityViews, viewScript, type EntityViewsOptions } from '../../../src/engine/views/statements.ts';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { corpusFiles, corpusXsdSet, readCorpus } from '../../support/corpus.ts';
import { bytesOf, compiled, modelOf } from '../../support/models/shredding.ts';
import { needs, some } from '../../support/needs.ts';
import { loadIntoPostgres } from '../../support/round-trip/postgres.ts';
import { readXml, type ReadElement } from '../../support/service/xml-reader.ts';
import { useTrial } from '../../support/service/trial.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';

const trial = useTrial();
let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await trial.emptyDatabase();
  sql = connectPostgres(database.url, { applicationName: 'test', max: 1 });
});
afterAll(() => sql.end({ timeout: 1 }));

async function viewsOf(source: SourceModel, model: RelationalModel, options: Partial<EntityViewsOptions>) {
  const valuesAt = await enumerationsOf(model, source);
  return await entityViews(model, {
    dialect: dialectOf('postgresql'),
    enumeration: (table, column) => valuesAt(table, column)?.values ?? null,
    ...options,
  });
}

/** Loads the documents, and makes the views over the tables that they filled. */
async function loadWithViews(
  sqlSchema: string,
  source: SourceModel,
  model: RelationalModel,
  documents: readonly Uint8Array[],
): Promise<string[]> {
  await loadIntoPostgres({ url: database.url, sqlSchema }, model, documents, { id: 1, name: 'file' });
  const there = await sql<
    { tablename: string }[]
  >`select tablename from pg_tables where schemaname = ${sqlSchema}`;
  const names = new Set(there.map(({ tablename }) => tablename));
  const tables = new Set(model.tables.flatMap(({ name }, at) => (names.has(name) ? [at] : [])));
  const views = await viewsOf(source, model, { sqlSchema, tables });
  await sql.unsafe(viewScript(views).join(''));
  return views.map(({ name }) => name);
}

/** Elements on a path of local names below one. */
function elements(from: ReadElement, ...path: readonly string[]): ReadElement[] {
  return path.reduce<ReadElement[]>(
    (found, name) =>
      found.flatMap(({ children }) =>
        children.filter((child) => typeof child !== 'string').filter(({ localName }) => localName === name),
      ),
    [from],
  );
}

function text(from: ReadElement, ...path: readonly string[]): string | null {
  const found = elements(from, ...path);
  return found.length === 0 ? null : found.map(({ children }) => children.join('')).join('\n');
}

describe('camt.053: a view of transactions', needs('corpus'), () => {
  const set = 'iso20022/assets/camt.053.001.02.xsd';
  const names = [
    'camt053.v2.multi.statement.xml',
    'camt053.v2.minimal.ultimate.xml',
    'camt053.v2.all-balance-types.xml',
  ];

  it.each([0, 1, 2, 3] as const)('has the rows and values of the documents at level %i', async (level) => {
    const { files } = corpusXsdSet(set);
    const { model: source } = compileXsdSet(
      files.filter(({ name }) => set.endsWith(name)),
      {},
    );
    const model = modelOf(source, level);
    const documents = names.map((name) => readCorpus('iso20022', 'test', 'data', name));
    const views = await loadWithViews(`camt_${level}`, source, model, documents);
    expect(views).toContain('tx_dtls_view');
    const wanted = documents.flatMap((bytes, at) => {
      const root = readXml(new TextDecoder().decode(bytes));
      return elements(root, 'BkToCstmrStmt', 'Stmt').flatMap((stmt) =>
        elements(stmt, 'Ntry').flatMap((entry) =>
          elements(entry, 'NtryDtls', 'TxDtls').map((one) => ({
            document: `file-${at + 1}.xml`,
            statement: text(stmt, 'Id'),
            iban: text(stmt, 'Acct', 'Id', 'IBAN'),
            booked: text(entry, 'BookgDt', 'Dt'),
            valued: text(entry, 'ValDt', 'Dt'),
            amount: `${text(entry, 'CdtDbtInd') === 'DBIT' ? '-' : ''}${text(entry, 'Amt')}`,
            currency: elements(entry, 'Amt')[0]!.attributes.find(({ localName }) => localName === 'Ccy')!
              .value,
            reference: text(one, 'Refs', 'EndToEndId'),
            debtor: text(one, 'RltdPties', 'Dbtr', 'Nm'),
            creditor: text(one, 'RltdPties', 'Cdtr', 'Nm'),
            remittance: text(one, 'RmtInf', 'Ustrd'),
          })),
        ),
      );
    });
    expect(wanted.length).toBeGreaterThan(2);
    const columns = await sql<{ name: string }[]>`
      select column_name as name from information_schema.columns
      where table_schema = ${`camt_${level}`} and table_name = 'tx_dtls_view' order by ordinal_position`;
    /** The only column that ends so. */
    const column = (pattern: RegExp): string => {
      const found = columns.filter(({ name }) => pattern.test(name)).map(({ name }) => name);
      expect([pattern.source, found]).toEqual([pattern.source, [expect.anything()]]);
      return found[0]!;
    };
    const has = (pattern: RegExp): boolean => columns.some(({ name }) => pattern.test(name));
    const optional = (pattern: RegExp, as: string): string =>
      has(pattern) ? `"${column(pattern)}" as ${as}` : `null as ${as}`;
    const rows = await sql.unsafe(
      `select document_name as document, stmt_id as statement, "${column(/^stmt_(?:acct_)?(?:id_)?iban$/)}" as iban,
         "${column(/^ntry_bookg_dt(?:_dt)?$/)}"::text as booked, "${column(/^ntry_val_dt(?:_dt)?$/)}"::text as valued,
         ntry_amt_signed::text as amount, ntry_amt_ccy as currency, "${column(/end_to_end_id$/)}" as reference,
         ${optional(/(?<!ultmt_)dbtr_nm$/, 'debtor')}, ${optional(/(?<!ultmt_)cdtr_nm$/, 'creditor')},
         "${column(/ustrd$/)}" as remittance
       from camt_${level}.tx_dtls_view order by document_name, tx_dtls_key`,
    );
    expect(rows.map((row) => ({ ...row, amount: Number(row['amount']) }))).toEqual(
      wanted.map((row) => ({ ...row, amount: Number(row.amount) })),
    );
  });
});

describe('views of any schema', () => {
  const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:complexType name="Person"><xs:sequence><xs:element name="fullName" type="xs:string"/><xs:element name="phone" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>
    <xs:element name="harbour"><xs:complexType><xs:sequence>
      <xs:element name="code" type="xs:string"/>
      <xs:element name="call" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="vessel" type="xs:string"/><xs:element name="arrival" type="xs:date"/><xs:element name="tonnage" type="xs:decimal"/><xs:element name="berth" type="xs:int" minOccurs="0"/>
        <xs:element name="note" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
        <xs:element name="pilot" type="Person" minOccurs="0"/><xs:element name="captain" type="Person"/>
        <xs:element name="guest" type="Person" minOccurs="0" maxOccurs="9"/>
      </xs:sequence></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element></xs:schema>`);
  const document = bytesOf(
    `<harbour><code>O'SLO</code><call><vessel>Fram</vessel><arrival>2026-05-17</arrival><tonnage>402.5</tonnage><note>first</note><note>second</note><captain><fullName>Otto</fullName></captain><guest><fullName>A</fullName></guest><guest><fullName>B</fullName></guest></call><call><vessel>Gjøa</vessel><arrival>2026-06-01</arrival><tonnage>47</tonnage><berth>3</berth><pilot><fullName>Roald</fullName></pilot><captain><fullName>Gus</fullName></captain></call></harbour>`,
  );

  it('have a row for each of their table, parties by role, and texts that repeat in one', async () => {
    const model = modelOf(source, 3);
    expect(await loadWithViews('harbour', source, model, [document])).toContain('call_view');
    const rows = await sql`select * from harbour.call_view order by call_key`;
    expect(rows.map((row) => ({ ...row }))).toMatchObject([
      {
        document_name: 'file-1.xml',
        harbour_code: "O'SLO",
        vessel: 'Fram',
        note: 'first\nsecond',
        captain_full_name: 'Otto',
        pilot_full_name: null,
      },
      {
        document_name: 'file-1.xml',
        harbour_code: "O'SLO",
        vessel: 'Gjøa',
        note: null,
        captain_full_name: 'Gus',
        pilot_full_name: 'Roald',
      },
    ]);
    const [said] = await sql<
      { comment: string }[]
    >`select obj_description('harbour.call_view'::regclass) as comment`;
    expect(said!.comment).toMatch(/^One row for each row of call \(\/harbour\/call\)\./);
  });

  it('have names without hashes where long ones can be told apart', async () => {
    const start = 'harbour_call_of_a_vessel_'.repeat(2);
    const model = modelOf(source, 3);
    const viewNames = async (longNames: Readonly<Record<string, string>>): Promise<string[]> => {
      const tables = model.tables.map((table) => ({ ...table, name: longNames[table.name] ?? table.name }));
      return (await viewsOf(source, { ...model, tables }, {})).map(({ name }) => name);
    };
    expect(await viewNames({ call: `${start}in_the_north` })).toContain(`${start}in_the_n_view`);
    const alike = await viewNames({ call: `${start}in_the_north`, note: `${start}in_the_nordics` });
    expect(alike).toContainEqual(expect.stringMatching(/_[0-9a-f]{8}$/));
  });

  it.each([0, 1, 2, 3] as MapLevel[])(
    'have one row for a row that has more of what the schema lets it have once, at level %i',
    async (level) => {
      const captain = '<captain><fullName>Otto</fullName></captain>';
      const deviating = new TextDecoder().decode(document).replace(captain, captain.repeat(2));
      await loadWithViews(`twice_${level}`, source, modelOf(source, level), [bytesOf(deviating)]);
      const rows = await sql`select vessel from ${sql(`twice_${level}`)}.call_view order by call_key`;
      expect(rows.map(({ vessel }) => vessel as string)).toEqual(['Fram', 'Gjøa']);
    },
  );

  it.each([0, 1, 2, 3] as MapLevel[])(
    'can be made where all tables are, on PostgreSQL and DuckDB, at level %i',
    async (level) => {
      const instance = await DuckDBInstance.create(':memory:');
      const connection = await instance.connect();
      try {
        const model = modelOf(source, level);
        const sqlSchema = `made_${level}`;
        await sql.unsafe(renderDdl(model, { sqlSchema }));
        await sql.unsafe(viewScript(await viewsOf(source, model, { sqlSchema })).join(''));
        await connection.run(renderDdl(model, { dialect: 'duckdb' }));
        const views = await viewsOf(source, model, { dialect: dialectOf('duckdb') });
        await connection.run(viewScript(views).join(''));
        for (const { name } of views) await connection.run(`SELECT * FROM "${name}"`);
      } finally {
        connection.closeSync();
        instance.closeSync();
      }
    },
  );
});

/** Of an XSD: so many that a row of their own is drawn for them. */
const manyTexts = (start: string): string =>
  Array.from(
    { length: 104 },
    (_, at) => `<xs:element name="${start}${at}" type="xs:string" minOccurs="0"/>`,
  ).join('');
const partner = (name: string): string =>
  `<xs:element name="${name}"><xs:complexType><xs:sequence><xs:element name="taxMark" type="xs:string"/><xs:element name="called" type="xs:string"/></xs:sequence></xs:complexType></xs:element>`;
/** A document that is about one row alone. */
const note = (id: string, whole: string, lines: string, carrier = ''): Uint8Array =>
  bytesOf(
    `<sealed><note id="${id}"><head><serial>${id}7</serial><issued>2026-05-17</issued></head><seller><taxMark>S${id}</taxMark><called>Fram</called></seller><buyer><taxMark>B${id}</taxMark><called>Gjøa</called></buyer>${carrier}${lines}<totals><tax><whole>${whole}</whole></tax></totals><extra4>more</extra4></note><seal>x</seal></sealed>`,
  );

describe('views of documents that are but wrappers of one row', () => {
  const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:complexType name="Address"><xs:sequence><xs:element name="streetName" type="xs:string"/><xs:element name="town" type="xs:string"/></xs:sequence></xs:complexType>
    <xs:complexType name="Party"><xs:sequence>
      <xs:element name="partyName" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
      <xs:element name="phone" type="xs:string" minOccurs="0"/><xs:element name="address" type="Address" minOccurs="0"/>
    </xs:sequence></xs:complexType>
    <xs:element name="sealed"><xs:complexType><xs:sequence>
      <xs:element name="note"><xs:complexType><xs:sequence>
        <xs:element name="head"><xs:complexType><xs:sequence><xs:element name="serial" type="xs:string"/><xs:element name="issued" type="xs:date"/></xs:sequence></xs:complexType></xs:element>
        ${partner('seller')}${partner('buyer')}
        <xs:element name="carrier" type="Party" minOccurs="0"/><xs:element name="broker" type="Party" minOccurs="0"/>
        <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence>
          <xs:element name="goods" type="xs:string"/><xs:element name="price" type="xs:decimal"/>
          <xs:element name="duty" minOccurs="0"><xs:complexType><xs:sequence>
            <xs:element name="import"><xs:complexType><xs:sequence><xs:element name="base" type="xs:decimal"/><xs:element name="due" type="xs:decimal"/></xs:sequence></xs:complexType></xs:element>${manyTexts('rule')}
          </xs:sequence></xs:complexType></xs:element>
        </xs:sequence></xs:complexType></xs:element>
        <xs:element name="remark" minOccurs="0" maxOccurs="unbounded" type="xs:string"/>
        <xs:element name="totals"><xs:complexType><xs:sequence><xs:element name="tax"><xs:complexType><xs:sequence><xs:element name="whole" type="xs:decimal"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
        ${manyTexts('extra')}
      </xs:sequence><xs:attribute name="id" type="xs:string" use="required"/></xs:complexType></xs:element>
      <xs:element name="seal" type="xs:string" minOccurs="0"/>
    </xs:sequence></xs:complexType></xs:element></xs:schema>`);
  const duty = '<duty><import><base>10.5</base><due>2.1</due></import><rule3>R</rule3></duty>';
  const carrier =
    '<carrier><partyName><name>Otto</name></partyName><partyName><name>Sverdrup</name></partyName><address><streetName>Pier</streetName><town>Oslo</town></address></carrier>';
  const documents = [
    note(
      'A',
      '12.6',
      `<line><goods>rope</goods><price>10.5</price>${duty}</line><line><goods>tar</goods><price>2</price></line>`,
    ),
    note('B', '7', '<line><goods>oil</goods><price>7</price></line>', carrier),
  ];

  it.each([0, 1, 2, 3] as MapLevel[])(
    'tell key, number, date, partners and totals in one row for each, at level %i',
    async (level) => {
      const sqlSchema = `sealed_${level}`;
      const views = await loadWithViews(sqlSchema, source, modelOf(source, level), documents);
      expect(views).toEqual(expect.arrayContaining(['sealed_view', 'line_view']));
      const columns = async (view: string): Promise<string[]> => {
        const found = await sql<{ name: string }[]>`select column_name as name from information_schema.columns
          where table_schema = ${sqlSchema} and table_name = ${view} order by ordinal_position`;
        return found.map(({ name }) => name);
      };
      /** Of a view by the ends of the names of its columns, each of which is there once. */
      const rows = async (view: string, ...ends: readonly string[]): Promise<unknown[][]> => {
        const there = await columns(view);
        const named = ends.map((end) => {
          const found = there.filter((name) => name === end || name.endsWith(`_${end}`));
          expect([end, found]).toEqual([end, [expect.anything()]]);
          return `"${found[0]!}"::text as "${end}"`;
        });
        const found = await sql.unsafe(
          `select ${named.join()} from ${sqlSchema}.${view} order by document_key, "${view.replace('_view', '_key')}"`,
        );
        return found.map((row) => Object.values(row));
      };
      expect(
        await rows(
          'sealed_view',
          'seal',
          'serial',
          'issued',
          'seller_tax_mark',
          'seller_called',
          'buyer_tax_mark',
          'buyer_called',
          'whole',
          'carrier_party_name',
          'extra4',
        ),
      ).toEqual([
        ['x', 'A7', '2026-05-17', 'SA', 'Fram', 'BA', 'Gjøa', '12.6', null, 'more'],
        ['x', 'B7', '2026-05-17', 'SB', 'Fram', 'BB', 'Gjøa', '7', 'Otto\nSverdrup', 'more'],
      ]);
      // what a wrapped row says is told once, and of large rows aside amounts alone
      expect(await rows('line_view', 'sealed_key', 'note_id', 'goods', 'price', 'base', 'due')).toEqual([
        ['1', 'A', 'rope', '10.5', '10.5', '2.1'],
        ['1', 'A', 'tar', '2', null, null],
        ['2', 'B', 'oil', '7', null, null],
      ]);
      expect((await columns('line_view')).filter((name) => name.includes('rule3'))).toEqual([]);
    },
  );
});

describe('views of real sets', needs('corpus'), () => {
  it.each(some(['junit', 'musicxml', 'cdisc-odm', 'siri'], 1))('of %s can be made', async (set) => {
    const files = corpusFiles(set, '.xsd').map((name) => ({ name, bytes: readCorpus(set, name) }));
    const { model: source } = compileXsdSet(files, {});
    const model = modelOf(source, 3);
    const sqlSchema = `real_${set.replaceAll('-', '_')}`;
    for (const statement of renderDdl(model, { sqlSchema }).split(/;\n\n/)) await sql.unsafe(statement);
    const views = await viewsOf(source, model, { sqlSchema });
    expect(views.length).toBeGreaterThan(0);
    for (const { statements } of views) for (const statement of statements) await sql.unsafe(statement);
  });
});
