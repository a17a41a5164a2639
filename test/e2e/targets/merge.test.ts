/** `-S m`: documents take the place of those of their name, in the transaction that publishes them. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

/** Lines by number, and a remark that only a wildcard lets in. */
interface Order {
  readonly customer: string;
  readonly lines: readonly number[];
  readonly odd: boolean;
}

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="order"><xs:complexType><xs:sequence>
    <xs:element name="customer" type="xs:string"/>
    <xs:element name="line" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="quantity" type="xs:int"/><xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Part"><xs:sequence><xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="no" type="xs:int"/></xs:complexType>
</xs:schema>`;

function written({ customer, lines, odd }: Order): string {
  const all = lines.map(
    (quantity) =>
      `<line><quantity>${quantity}</quantity><part no="${quantity}"><part no="${-quantity}"/></part></line>`,
  );
  return `<order><customer>${customer}</customer>${all.join('')}${odd ? '<remark>odd</remark>' : ''}</order>`;
}

describe('documents of the same name', () => {
  const trial = useTrial();
  let home: ServiceHome;
  let folder: string;
  let sql: Sql;

  beforeAll(async () => {
    home = await trial.home();
    folder = await trial.folder('merge-');
    await writeFile(join(folder, 'order.xsd'), xsd);
    await convert(home, 'xsd2er', join(folder, 'order.xsd'));
    sql = await trial.metadb(home);
  });

  const write = async (documents: ReadonlyMap<string, Order>): Promise<string> => {
    const inbox = join(folder, 'inbox');
    await rm(inbox, { recursive: true, force: true });
    await mkdir(inbox);
    for (const [name, order] of documents) await writeFile(join(inbox, name), written(order));
    return inbox;
  };

  const held = async (sqlSchema: string): Promise<Record<string, Order>> => {
    const rows = await sql.unsafe<
      { name: string; customer: string; lines: number[] | null; odd: boolean }[]
    >(`
      select d.name, o.customer,
             (select json_agg(l.quantity order by l.line_key) from ${sqlSchema}.line l where l.order_key = o.order_key) as lines,
             exists (select from ${sqlSchema}._unmapped u where u.document_key = d.document_key) as odd
        from ${sqlSchema}._documents d join ${sqlSchema}."order" o using (document_key)`);
    return Object.fromEntries(
      rows.map(({ name, customer, lines, odd }) => [name, { customer, lines: lines ?? [], odd }]),
    );
  };

  it('are replaced, new ones are added, and unchanged ones stay as they are', async () => {
    const first = new Map([
      ['a.xml', { customer: 'A', lines: [1, 2], odd: true }],
      ['b.xml', { customer: 'B', lines: [3], odd: false }],
      ['c.xml', { customer: 'C', lines: [], odd: false }],
    ]);
    const made = await convert(
      home,
      'xml2er',
      await write(first),
      '-x',
      '1',
      '-o',
      'metadb:orders',
      '-S',
      'm',
    );
    expect(made).toMatchObject({ merged: { inserted: 3, replaced: 0, unchanged: 0, deleted: 0 } });
    const [kept] = await sql`select order_key from orders."order" where customer = 'B'`;
    const second = new Map([
      ['a.xml', { customer: 'A2', lines: [9], odd: false }],
      ['b.xml', first.get('b.xml')!],
      ['d.xml', { customer: 'D', lines: [4], odd: true }],
    ]);
    const merged = await convert(
      home,
      'xml2er',
      await write(second),
      '-x',
      '1',
      '-o',
      'metadb:orders',
      '-S',
      'm',
    );
    expect(merged).toMatchObject({ merged: { inserted: 1, replaced: 1, unchanged: 1, deleted: 0 } });
    expect(await held('orders')).toEqual(Object.fromEntries([...first, ...second]));
    expect((await sql`select order_key from orders."order" where customer = 'B'`)[0]).toEqual(kept);
    const again = await convert(
      home,
      'xml2er',
      await write(second),
      '-x',
      '1',
      '-o',
      'metadb:orders',
      '-S',
      'm',
    );
    expect(again).toMatchObject({ rows: 0, merged: { inserted: 0, replaced: 0, unchanged: 3, deleted: 0 } });
    // the ledger tells what the target holds
    const [sums] = await sql`
      select sum(documents)::int as documents, sum(rows)::int as rows from orders._loads`;
    const [there] = await sql`
      select (select count(*) from orders._documents)::int as documents,
             ((select count(*) from orders."order") + (select count(*) from orders.line) + (select count(*) from orders.part))::int as rows`;
    expect(sums).toEqual(there);
  });

  it.each([
    ['two inputs of one name', ['-o', 'metadb:twice'], 'are both called a.xml'],
    [
      'another kind of target',
      ['-o', 'OUT'],
      'replaces documents in databases of PostgreSQL, MySQL, SQLite and DuckDB, and in tables of Delta and Iceberg',
    ],
    [
      'parts of documents',
      ['-o', 'metadb:parts', '--row-tag', 'line'],
      'give the path of a key that identifies each document',
    ],
    ['a path that is none', ['-o', 'metadb:paths', '--key', 'order/customer'], 'is not an absolute path'],
    ['a path with a condition', ['-o', 'metadb:paths', '--key', '/order[1]/@id'], 'consists of names only'],
    [
      'a path with a strange prefix',
      ['-o', 'metadb:paths', '--key', '/x:order/@id'],
      'a prefix of the schema',
    ],
    ['a path of another schema', ['-o', 'metadb:paths', '--key', '/order/client'], 'it has customer, line'],
    ['keys by content', ['-o', 'metadb:hashes', '--keys', 'hash'], '--keys hash'],
  ])('are refused for %s', async (_, options, words) => {
    const order: Order = { customer: 'A', lines: [1], odd: false };
    const inbox = await write(new Map([['a.xml', order]]));
    await mkdir(join(folder, 'more'), { recursive: true });
    await writeFile(join(folder, 'more', 'a.xml'), written(order));
    const inputs = words.includes('both') ? [join(inbox, 'a.xml'), join(folder, 'more', 'a.xml')] : [inbox];
    const { code, stdout } = await runTool(home, 'xml2er', [
      ...inputs,
      '-x',
      '1',
      '-S',
      'm',
      ...options.map((option) => (option === 'OUT' ? join(folder, 'out') : option)),
    ]);
    expect([code, stdout]).toEqual([expect.any(Number), expect.stringContaining(words)]);
    expect(code).not.toBe(0);
  });
});
