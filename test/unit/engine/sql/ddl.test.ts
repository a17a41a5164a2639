/** DDL, read and executed. */
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dialectNames, dialectOf } from '../../../../src/engine/sql/dialects/every-dialect.ts';
import { renderDdl } from '../../../../src/engine/sql/ddl.ts';
import { physicalNames } from '../../../../src/engine/sql/physical-model.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { byteLength, defaultNaming } from '../../../../src/engine/map/names/identifiers.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../../../src/engine/model/side-tables.ts';
import { sideTables } from '../../../../src/ports/row-sink.ts';
import { createEmptyDatabase, type TestDatabase } from '../../../support/servers/postgres.ts';
import { at, libraryModel, oddColumns, oddTable } from './library-model.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

const said = (text: string): string =>
  `<xs:annotation><xs:documentation>${text}</xs:documentation></xs:annotation>`;

/** A member of the substitution group of `item`. */
const member = (name: string, children: string): string =>
  `<xs:element name="${name}" substitutionGroup="item"><xs:complexType><xs:complexContent><xs:extension base="Item"><xs:sequence>${children}</xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:element>`;

describe('DDL', () => {
  test.each(dialectNames)('%s is as recorded', async (dialect) => {
    const ddl = renderDdl(libraryModel, { dialect, sqlSchema: 'lib"rary' });
    expect(renderDdl(structuredClone(libraryModel), { dialect, sqlSchema: 'lib"rary' })).toBe(ddl);
    await expect(ddl).toMatchFileSnapshot(`../../../golden/ddl/${dialect}.sql`);
  });

  test('postgresql is the default, and names stand alone without a SQL schema', () => {
    const ddl = renderDdl(libraryModel);
    expect(ddl).toBe(renderDdl(libraryModel, { dialect: 'postgresql' }));
    expect(ddl).toContain('CREATE TABLE "book" (');
    expect(ddl).not.toContain('CREATE SCHEMA');
  });

  test('comments of a wide table share what MySQL has room for, the longest give way', () => {
    const elements = Array.from(
      { length: 150 },
      (_, at) =>
        `<xs:element name="value${at}" type="xs:string">${said(at === 7 ? 'Short.' : 'Größe und Gewicht. '.repeat(90))}</xs:element>`,
    );
    const model = modelOf(
      compiled(
        `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="note"><xs:complexType><xs:sequence>${elements.join('')}</xs:sequence></xs:complexType></xs:element></xs:schema>`,
      ),
      3,
    );
    const ddl = renderDdl(model, { dialect: 'mysql' });
    const comments = [...ddl.matchAll(/^ {2}`value\d+` .* COMMENT '(.*)',?$/gm)].map(
      ([, comment]) => comment!,
    );
    expect(comments).toHaveLength(150);
    expect(comments[7]).toBe('/note/value7: Short.');
    const lengths = new Set(comments.filter((_, at) => at !== 7).map(({ length }) => length));
    expect(lengths.size).toBe(1);
    const bytes = comments.reduce((sum, comment) => sum + byteLength(comment), 0);
    expect(bytes).toBeGreaterThan(55_000);
    expect(bytes).toBeLessThan(62_000);
    expect(renderDdl(model, { dialect: 'postgresql' })).toContain('Größe und Gewicht. '.repeat(90).trim());
  });

  test('a selection of tables has no keys to those left out', () => {
    const ddl = renderDdl(libraryModel, { tables: new Set([at.person, at.library]) });
    expect(ddl).toContain('CREATE TABLE "person"');
    expect(ddl).toContain('REFERENCES "library"');
    expect(ddl).not.toContain('"book" (');
  });

  test.each(dialectNames)('%s: names fit the database and stay distinct', (name) => {
    const dialect = dialectOf(name);
    const long = `${'l'.repeat(400)}`;
    const names = ['a/b', 'a b', 'a.b', 'a😀b', 'a"b', `${long}1`, `${long}2`, 'x'];
    const model: RelationalModel = {
      ...libraryModel,
      tables: names.map((table) => ({ ...libraryModel.tables[0]!, name: table })),
    };
    const physical = physicalNames(model, dialect).map((table) => table.name);
    expect(new Set(physical.map((one) => one.toLowerCase())).size).toBe(names.length);
    for (const one of physical) {
      expect(byteLength(one)).toBeLessThanOrEqual(dialect.identifierMaxBytes);
      if (dialect.refusedCharacters !== null) expect(one).not.toMatch(dialect.refusedCharacters);
    }
    expect(physical.at(-1)).toBe('x');
  });

  test('the encoded side tables have the columns that their definitions say', () => {
    for (const name of ['documents', 'unmapped', 'lexical'] as const) {
      expect(sideTableDefinitions[name].columns.map((column) => column.name)).toEqual(sideTables[name]);
    }
  });
});

describe('DDL, executed by SQLite', () => {
  test('makes every table with keys, and foreign keys hold', () => {
    const database = new DatabaseSync(':memory:');
    database.exec(renderDdl(libraryModel, { dialect: 'sqlite' }));
    const columns = database.prepare(`select name from pragma_table_info(?)`).all(oddTable);
    expect(columns.map((column) => column.name)).toEqual([
      'odd_key',
      'library_key',
      'position',
      ...oddColumns,
    ]);
    const keys = database.prepare(`select "from", "table" from pragma_foreign_key_list('group')`).all();
    expect(keys.map((key) => `${key.from} ${key.table}`).toSorted()).toEqual([
      'library_key library',
      'note_key note',
    ]);
    database.exec(
      `insert into "_documents" (document_key) values (1); insert into library values (1, 1, 'x', null, null, null)`,
    );
    expect(() => database.exec(`insert into library values (1, 1, 'y', null, null, null)`)).toThrow(/UNIQUE/);
    expect(() => database.exec(`insert into library values (2, 9, 'y', null, null, null)`)).toThrow(
      /FOREIGN KEY/,
    );
    expect(() => database.exec(`insert into library values (2, 1, null, null, null, null)`)).toThrow(
      /NOT NULL/,
    );
    const { sql } = database.prepare(`select sql from sqlite_schema where name = 'book'`).get() as {
      sql: string;
    };
    expect(sql).toContain('/* /library/book/@isbn */');
    database.close();
  });

  test('a decimal longer than a double keeps its digits', () => {
    const database = new DatabaseSync(':memory:');
    database.exec(renderDdl(libraryModel, { dialect: 'sqlite' }));
    const digits = '12345678901234567890.123456789';
    database.exec(`pragma foreign_keys = off; insert into book (book_key, library_key, position, isbn, title, years_count, weight)
      values (1, 1, 1, 'i', 't', 2, '${digits}')`);
    expect(database.prepare('select weight from book').get()).toMatchObject({ weight: digits });
    database.close();
  });
});

describe('DDL, executed by PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.sql.unsafe(renderDdl(libraryModel, { sqlSchema: 'lib"rary' }));
  });
  afterAll(() => database.drop());

  test('makes every table, names as they are', async () => {
    const rows = await database.sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'lib"rary'`;
    const side = Object.values(sideTableDefinitions).map((definition) => definition.name);
    expect(rows.map((row) => row.name).toSorted()).toEqual(
      [...libraryModel.tables.map((table) => table.name), ...side].toSorted(),
    );
    const columns = await database.sql<{ name: string }[]>`
      select column_name as name from information_schema.columns
       where table_schema = 'lib"rary' and table_name = ${oddTable} order by ordinal_position`;
    expect(columns.map((column) => column.name)).toEqual([
      'odd_key',
      'library_key',
      'position',
      ...oddColumns,
    ]);
  });

  test('types, NOT NULL and keys are those of the model', async () => {
    const columns = await database.sql<{ column: string; type: string; required: boolean }[]>`
      select attname as column, format_type(atttypid, atttypmod) as type, attnotnull as required
        from pg_attribute where attrelid = '"lib""rary".book'::regclass and attnum > 0 order by attnum`;
    expect(columns.map(({ column, type, required }) => `${column} ${type}${required ? ' !' : ''}`)).toEqual([
      'book_key bigint !',
      'library_key bigint !',
      'position integer !',
      'isbn character varying(17) !',
      'title text !',
      'price numeric(10,2)',
      'weight numeric',
      'pages integer',
      'volume smallint',
      'score double precision',
      'rating real',
      'closes time without time zone',
      'printed timestamp without time zone',
      'keywords text[]',
      'years integer[] !',
      'serial numeric(60,0)',
    ]);
    const constraints = await database.sql<{ text: string }[]>`
      select conrelid::regclass::text || ' ' || pg_get_constraintdef(oid) as text from pg_constraint
       where connamespace = 'lib"rary'::regnamespace and contype in ('p', 'u', 'f')`;
    const texts = constraints.map((row) => row.text.replaceAll('"lib""rary".', ''));
    expect(texts).toContain('book UNIQUE (isbn)');
    expect(texts).toContain(
      '"group" FOREIGN KEY (note_key) REFERENCES note(note_key) DEFERRABLE INITIALLY DEFERRED',
    );
    expect(texts).toContain('section FOREIGN KEY (parent_section_key) REFERENCES section(section_key)');
    expect(texts).toContain('library FOREIGN KEY (document_key) REFERENCES _documents(document_key)');
  });

  test('every table and column has a comment, the XPath where there is one', async () => {
    const bare = await database.sql`
      select attrelid::regclass, attname from pg_attribute join pg_class on pg_class.oid = attrelid
       where relnamespace = 'lib"rary'::regnamespace and relkind = 'r' and attnum > 0
         and (col_description(attrelid, attnum) is null or obj_description(attrelid) is null)`;
    expect(bare).toHaveLength(0);
    const [isbn] = await database.sql<{ comment: string; tableComment: string }[]>`
      select col_description('"lib""rary".book'::regclass, 4) as comment,
             obj_description('"lib""rary".library'::regclass) as "tableComment"`;
    expect(isbn).toEqual({
      comment: '/library/book/@isbn',
      tableComment: `/library: The library's own row; -- DROP TABLE "x"; */ {braces} \\ 'quoted'`,
    });
  });
});

describe('elements that are called like the tables beside the data', () => {
  const source = compiled(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="_documents"><xs:complexType><xs:sequence>${[
      '_Loads',
      '_UNMAPPED',
      '_lexical',
      '_keys',
      '_documents',
    ]
      .map(
        (name) =>
          `<xs:element name="${name}" maxOccurs="2"><xs:complexType><xs:attribute name="document_key"/></xs:complexType></xs:element>`,
      )
      .join('')}</xs:sequence></xs:complexType></xs:element></xs:schema>`,
  );
  const naming = { ...defaultNaming, nameMode: 'c' } as const;

  test.each(dialectNames)('%s: get names of their own', (name) => {
    const model = buildRelationalModel(source, { mapLevel: 0, naming });
    const ddl = renderDdl(model, { dialect: name });
    const { quote } = dialectOf(name);
    const made = [...ddl.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\S+) \(/g)].map(([, table]) =>
      table!.toLowerCase(),
    );
    expect(made).toHaveLength(model.tables.length + Object.keys(sideTableDefinitions).length);
    expect(new Set(made).size).toBe(made.length);
    for (const { name: table } of Object.values(sideTableDefinitions)) expect(made).toContain(quote(table));
  });
});

function uses(n: number): string {
  return Array.from(
    { length: n },
    (_, at) => `<xs:element name="u${at}" type="Address" maxOccurs="3"/>`,
  ).join('');
}

const keyComments = (model: RelationalModel): (readonly [string, string])[] =>
  [
    ...renderDdl(model).matchAll(
      /COMMENT ON COLUMN "(\w+"\."\w+)" IS '((?:key of the parent row|\S+ \(the path from)[^']+)'/g,
    ),
  ].map(([, column, text]) => [column!.replace('"."', '.'), text!]);

const slice = (of: string) =>
  `<xs:element name="slice" maxOccurs="9"><xs:complexType><xs:sequence><xs:element name="${of}" type="xs:int"/></xs:sequence></xs:complexType></xs:element>`;

describe('comments', () => {
  const book = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
        <xs:complexType name="Person"><xs:sequence><xs:element name="name" type="xs:string" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
        <xs:complexType name="Part"><xs:sequence>
          <xs:element name="by" type="Person" maxOccurs="unbounded"/><xs:element name="ed" type="Person" maxOccurs="unbounded"/>
        </xs:sequence></xs:complexType>
        <xs:element name="book"><xs:complexType><xs:sequence><xs:element name="part" type="Part" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
      </xs:schema>`);
  test('say of one key of several elements that another column tells them apart', () => {
    expect(keyComments(modelOf(book, 3))).toEqual([
      ['part.book_key', 'key of the parent row in book'],
      ['person.part_key', 'key of the parent row in part'],
      [
        'person.role',
        '/book/part/by (the path from the parent row to this element); also below /book/part/ed',
      ],
      ['name.person_key', 'key of the parent row in person'],
    ]);
  });

  test('tell of keys to several parents which element of each the row is', () => {
    const firm = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
        <xs:complexType name="Text"><xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="lang"/></xs:extension></xs:simpleContent></xs:complexType>
        <xs:element name="firm"><xs:complexType><xs:sequence><xs:element name="name" type="Text" maxOccurs="unbounded"/>
          <xs:element name="branch" maxOccurs="unbounded"><xs:complexType><xs:sequence>
            <xs:element name="note" type="Text" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
        </xs:sequence></xs:complexType></xs:element></xs:schema>`);
    expect(keyComments(modelOf(firm, 3))).toEqual([
      ['text.firm_key', 'key of the parent row in firm, where it is /firm/name'],
      ['text.branch_key', 'key of the parent row in branch, where it is /firm/branch/note'],
      ['branch.firm_key', 'key of the parent row in firm'],
    ]);
  });

  const address = `<xs:complexType name="Address"><xs:sequence><xs:element name="street" type="xs:string"/>
      <xs:element name="line" type="xs:string" maxOccurs="unbounded"/></xs:sequence></xs:complexType>`;
  const commentsOf = (n: number): Map<string, string> =>
    new Map(
      [
        ...renderDdl(
          modelOf(
            compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${address}
              <xs:element name="firm"><xs:complexType><xs:sequence>${uses(n)}</xs:sequence></xs:complexType></xs:element></xs:schema>`),
            3,
          ),
        ).matchAll(/COMMENT ON (?:TABLE|COLUMN) (\S+) IS '([^']+)'/g),
      ].map(([, place, text]) => [place!.replaceAll('"', ''), text!]),
    );

  test.each([
    [1, '/firm/u0', '/firm/u0/street'],
    [2, '/firm/u0; also /firm/u1', '/firm/u0/street; also below /firm/u1'],
    [
      12,
      '/firm/u0; also /firm/u1, /firm/u2, /firm/u3, /firm/u4, /firm/u5, /firm/u6, /firm/u7, /firm/u8 and 3 more',
      '/firm/u0/street; also below /firm/u1, /firm/u2 and 9 more',
    ],
  ])('of a table of %i uses say where else its rows stand', (n, table, street) => {
    const comments = commentsOf(n);
    const name = n === 1 ? 'u0' : 'address';
    expect([comments.get(name), comments.get(`${name}.street`)]).toEqual([table, street]);
    expect(comments.get('line')).toBe(
      `/firm/u0/line${n === 1 ? '' : '; also below other places of address'}`,
    );
  });

  test('of elements without a namespace, in that of a root with one, name each place once, as XPaths do', () => {
    const firm =
      compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:f" targetNamespace="urn:f">${address}
        <xs:element name="firm"><xs:complexType><xs:sequence>${uses(2)}<xs:element name="seat" type="Address"/></xs:sequence></xs:complexType></xs:element>
      </xs:schema>`);
    const comments = [
      ...renderDdl(modelOf(firm, 3)).matchAll(/COMMENT ON (?:TABLE|COLUMN) (\S+) IS '([^']+)'/g),
    ]
      .map(([, place, text]) => [place!.replaceAll('"', ''), text!] as const)
      .filter(([place]) => ['address', 'address.street', 'firm.seat_key'].includes(place));
    expect(Object.fromEntries(comments)).toEqual({
      address: '/firm/u0; also /firm/u1, /firm/seat',
      'address.street': '/firm/u0/street; also below /firm/u1, /firm/seat',
      'firm.seat_key': 'key of the row in address that is /firm/seat',
    });
  });

  test('of a column that several members of a substitution group fill name the others', () => {
    const no = '<xs:element name="no" type="xs:string"/>';
    const offer = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
        <xs:complexType name="Item" abstract="true"/><xs:element name="item" type="Item" abstract="true"/>
        ${member('seat', `${no}<xs:element name="row" type="xs:int"/>`)}${member('flight', no)}${member('bag', no)}
        <xs:element name="offer"><xs:complexType><xs:sequence><xs:element ref="item" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
      </xs:schema>`);
    const comments = new Map(
      [...renderDdl(modelOf(offer, 3)).matchAll(/COMMENT ON COLUMN (\S+) IS '([^']+)'/g)].map(
        ([, place, text]) => [place!.replaceAll('"', ''), text!],
      ),
    );
    expect(comments.get('item.row')).toBe('/offer/seat/row');
    expect(comments.get('item.no')).toBe('/offer/seat/no; also of flight, bag');
  });

  test('of a child that members of a substitution group have alike say where what each holds stands', () => {
    const set = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
        <xs:complexType name="Item" abstract="true"/><xs:element name="item" type="Item" abstract="true"/>
        ${member('port', slice('city'))}${member('runway', slice('length'))}
        <xs:element name="msg"><xs:complexType><xs:sequence><xs:element ref="item" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
      </xs:schema>`);
    const comments = [...renderDdl(modelOf(set, 3)).matchAll(/ IS '([^']*slice[^']*)'/g)].map(
      ([, text]) => text,
    );
    expect(comments).toEqual([
      '/msg/port/slice; also of runway',
      '/msg/port/slice/city',
      '/msg/runway/slice/length',
    ]);
  });

  test('of attributes that a wildcard allows tell whose they are and how they are written', () => {
    const ddl = renderDdl(
      modelOf(
        compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
          <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="one"><xs:complexType><xs:attribute name="a"/><xs:anyAttribute processContents="lax"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
        </xs:schema>`),
        3,
      ),
    );
    expect(ddl).toContain(
      `"one_any_attributes" IS '/r/one (attributes allowed by a wildcard, one per line: {namespace}name="value")'`,
    );
  });
});
