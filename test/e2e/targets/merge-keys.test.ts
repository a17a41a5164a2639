/** `-S m --key`: documents, and parts of files, take the place of those whose values say that they are the same. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:stock" xmlns:s="urn:stock" elementFormDefault="qualified">
  <xs:element name="stock"><xs:complexType><xs:sequence>
    <xs:element ref="s:item" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType></xs:element>
  <xs:element name="item" type="s:Item"/>
  <xs:complexType name="Item"><xs:sequence>
    <xs:element name="sku" type="xs:string" minOccurs="0"/><xs:element name="price" type="xs:decimal"/>
    <xs:element name="note" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence><xs:attribute name="shop" type="xs:string"/></xs:complexType>
</xs:schema>`;

/** By shop and number: the price, and notes. */
type Stock = ReadonlyMap<string, readonly [price: string, ...notes: string[]]>;

function itemOf(key: string, [price, ...notes]: readonly [string, ...string[]], prefix: string): string {
  const [shop, sku] = key.split('/') as [string, string];
  const said = notes.map((note) => `<${prefix}note>${note}</${prefix}note>`).join('');
  return `<${prefix}item shop="${shop}"><${prefix}sku> ${sku} </${prefix}sku><${prefix}price>${price}</${prefix}price>${said}</${prefix}item>`;
}

function alone(sku: string, price: string): string {
  return itemOf(`x/${sku}`, [price], '').replace('<item', '<item xmlns="urn:stock"');
}

function stockOf(stock: Stock): string {
  const items = [...stock].map(([key, item]) => itemOf(key, item, 'i:'));
  return `<i:stock xmlns:i="urn:stock">\n${items.join('\n')}\n</i:stock>`;
}

const separator = '\u001F';

describe('documents of one key', () => {
  const trial = useTrial();
  let home: ServiceHome;
  let folder: string;
  let sql: Sql;

  beforeAll(async () => {
    home = await trial.home();
    folder = await trial.folder('merge-keys-');
    await writeFile(join(folder, 'stock.xsd'), xsd);
    await convert(home, 'xsd2er', join(folder, 'stock.xsd'));
    sql = await trial.metadb(home);
  });

  const write = async (files: Readonly<Record<string, string>>): Promise<string> => {
    const inbox = join(folder, 'inbox');
    await rm(inbox, { recursive: true, force: true });
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(inbox, name, '..'), { recursive: true });
      await writeFile(join(inbox, name), text);
    }
    return inbox;
  };

  const merge = (input: string, ...options: string[]) =>
    convert(home, 'xml2er', input, '-x', '1', '-S', 'm', ...options);

  const key = ['--row-tag', 's:item', '--key', '/s:item/@shop,/s:item/s:sku'];

  it.each([
    ['a database of PostgreSQL', 'metadb:parts', []],
    ['a SQLite file', 'sqlite:FOLDER/parts.sqlite', []],
    ['a database of PostgreSQL, by threads', 'metadb:threads', ['--workers', '3']],
  ])('are parts of files, which are replaced one by one: %s', async (_, out, more) => {
    const target = out.replace('FOLDER', folder);
    const first: Stock = new Map([
      ['north/1', ['1.50', 'a', 'b']],
      ['north/2', ['2.00']],
      ['south/1', ['3.25', 'c']],
    ]);
    const load = (files: Readonly<Record<string, string>>, ...options: string[]) =>
      write(files).then((inbox) => merge(inbox, '-o', target, ...key, ...more, ...options));
    const made = await load({ 'stock.xml': stockOf(first) });
    expect(made).toMatchObject({
      documents: 3,
      merged: { inserted: 3, replaced: 0, unchanged: 0, deleted: 0 },
    });
    const [itemTable, noteTable] = Object.keys(made.tables) as [string, string];
    // other files, another order, other prefixes: what an item holds tells whether it changed
    const second: Stock = new Map([
      ['south/1', ['3.25', 'c']],
      ['north/9', ['9.99']],
    ]);
    const plain = `<stock xmlns="urn:stock">${itemOf('north/1', ['1.75', 'b'], '')}</stock>`;
    expect(await load({ 'a.xml': stockOf(second), 'b.xml': plain })).toMatchObject({
      documents: 2,
      merged: { inserted: 1, replaced: 1, unchanged: 1, deleted: 0 },
    });
    const price = async (): Promise<unknown[]> => {
      const query = (schema: string): string => `
        select d.key, i.price ${out.startsWith('metadb') ? '::text' : ''} as price, d.valid_to, (select count(*) from ${schema}${noteTable} n where n.${itemTable}_key = i.${itemTable}_key) as notes
          from ${schema}_documents d join ${schema}${itemTable} i on i.document_key = d.document_key order by d.key`;
      if (out.startsWith('metadb')) return sql.unsafe(query(`${out.slice('metadb:'.length)}.`));
      const database = new DatabaseSync(target.slice('sqlite:'.length), { readOnly: true });
      try {
        return database.prepare(query('')).all();
      } finally {
        database.close();
      }
    };
    const told = (await price()) as { key: string; price: unknown; valid_to: null; notes: unknown }[];
    expect(told.map((row) => [row.key, Number(row.price), row.valid_to, Number(row.notes)])).toEqual([
      [`north${separator}1`, 1.75, null, 1],
      [`north${separator}2`, 2, null, 0],
      [`north${separator}9`, 9.99, null, 0],
      [`south${separator}1`, 3.25, null, 1],
    ]);
    const third: Stock = new Map([['south/1', ['3.25', 'c']]]);
    expect(await load({ 'c.xml': stockOf(third) }, '--delete-missing')).toMatchObject({
      documents: 0,
      merged: { inserted: 0, replaced: 0, unchanged: 1, deleted: 3 },
    });
    expect(await price()).toHaveLength(1);
    const back = join(folder, `back-${Math.abs(out.length * 31 + more.length)}`);
    await convert(home, 'er2xml', '-i', target, '-o', back);
    expect(await readFile(join(back, 'stock.xml#3'), 'utf8')).toContain('3.25');
  });

  it('are files, whatever these are called', async () => {
    const toFiles = ['-o', 'metadb:files', '--key', '/s:item/s:sku'];
    const { tables } = await merge(
      await write({ 'one/a.xml': alone('1', '1'), 'two/a.xml': alone('2', '2') }),
      ...toFiles,
    );
    const second = await write({ 'three/b.xml': alone('2', '2.5'), 'a.xml': alone('1', '1') });
    expect(await merge(second, ...toFiles)).toMatchObject({
      merged: { inserted: 0, replaced: 1, unchanged: 1, deleted: 0 },
    });
    const rows = await sql.unsafe(
      `select d.key, d.name, i.price::text from files._documents d join files.${Object.keys(tables)[0]} i using (document_key) order by 1`,
    );
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { key: '1', name: 'one/a.xml', price: '1' },
      { key: '2', name: 'three/b.xml', price: '2.5' },
    ]);
  });

  it.each([
    [
      'no value',
      `<item xmlns="urn:stock"><price>1</price></item>`,
      'bad.xml: --key /s:item/s:sku: the document has no value at this path',
    ],
    [
      'a value of white space',
      `<item xmlns="urn:stock"><sku> </sku><price>1</price></item>`,
      'bad.xml: --key /s:item/s:sku: the document has no value at this path',
    ],
    [
      'several values',
      `<item xmlns="urn:stock"><sku>1</sku><sku>2</sku><price>1</price></item>`,
      'bad.xml: --key /s:item/s:sku: the document has several values at this path',
    ],
    [
      'the key of another one',
      `<item xmlns="urn:stock"><sku>7</sku><price>2</price></item>`,
      'a.xml and bad.xml have the same key 7',
    ],
  ])('a document that has %s is rejected, and nothing is deleted for it', async (what, bad, words) => {
    const good = `<item xmlns="urn:stock"><sku>7</sku><price>1</price></item>`;
    const target = `metadb:rejects_${what.replaceAll(' ', '_')}`;
    await merge(
      await write({ 'old.xml': good.replace('>7<', '>8<') }),
      '-o',
      target,
      '--key',
      '/s:item/s:sku',
    );
    const inbox = await write({ 'a.xml': good, 'bad.xml': bad });
    const options = ['-x', '1', '-S', 'm', '-o', target, '--key', '/s:item/s:sku', '--delete-missing'];
    const failed = await runTool(home, 'xml2er', [inbox, ...options]);
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining(words)]);
    const skipped = await runTool(home, 'xml2er', [inbox, ...options, '--on-error', 'skip']);
    expect([skipped.code, skipped.stdout]).toEqual([0, expect.stringContaining(words)]);
    expect(skipped.stdout).toContain('documents: 1 new, 0 replaced, 0 unchanged, 0 deleted');
    expect(skipped.stdout).toContain('1 documents of the target are not among the inputs, but stay');
  });

  it('are not deleted by a folder without documents', async () => {
    const item = `<item xmlns="urn:stock"><sku>7</sku><price>1</price></item>`;
    await merge(await write({ 'a.xml': item }), '-o', 'metadb:kept');
    const empty = join(folder, 'empty');
    await mkdir(empty);
    const options = ['-x', '1', '-S', 'm', '-o', 'metadb:kept', '--delete-missing'];
    const { code } = await runTool(home, 'xml2er', [empty, ...options]);
    expect(code).not.toBe(0);
    expect(await sql`select name from kept._documents`).toHaveLength(1);
  });
});
