/** Keys of an XSD, and keys that people declare, through the tools into a database. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="net"><xs:complexType><xs:sequence>
    <xs:element name="stop" maxOccurs="unbounded"><xs:complexType><xs:attribute name="id" use="required"/></xs:complexType></xs:element>
    <xs:element name="link" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="from"/></xs:complexType></xs:element></xs:sequence></xs:complexType>
  <xs:key name="stopKey"><xs:selector xpath="stop"/><xs:field xpath="@id"/></xs:key>
  <xs:keyref name="fromStop" refer="stopKey"><xs:selector xpath="link"/><xs:field xpath="@from"/></xs:keyref></xs:element></xs:schema>`;

const trial = useTrial();
let home: ServiceHome;
let sql: Sql;
let origin: string;
let folder: string;

beforeAll(async () => {
  home = await trial.home();
  folder = join(home.directory, 'net');
  await mkdir(folder);
  await writeFile(join(folder, 'net.xsd'), xsd);
  await writeFile(join(folder, 'good.xml'), '<net><stop id="a"/><stop id="b"/><link from="a"/></net>');
  await writeFile(
    join(folder, 'bad.xml'),
    '<net>\n<stop id="a"/>\n<stop id="a"/>\n<link from="x"/>\n<link from="x"/></net>',
  );
  origin = String((await convert(home, 'xsd2er', join(folder, 'net.xsd'), '--name', 'net')).origin);
  sql = await trial.metadb(home, 1);
}, 120_000);

const load = (document: string, target: string) =>
  runTool(home, 'xml2er', [join(folder, document), '-x', origin, '-o', target]);

describe('keys that the XSD declares', () => {
  it('are reported where documents break them, and the rows are loaded', async () => {
    const good = await load('good.xml', 'metadb:declared');
    const bad = await load('bad.xml', 'metadb:declared');
    expect([good.code, bad.code]).toEqual([0, 0]);
    expect(good.stdout + good.stderr).not.toContain('is broken');
    const log = bad.stdout + bad.stderr;
    expect(log).toContain(
      'key stopKey is broken: repeated values: 1, such as "a" in bad.xml, line 3, column 1',
    );
    expect(log).toContain(
      'keyref fromStop is broken: references without a target: 2, such as "x" in bad.xml, line 4, column 1',
    );
    const rows = await sql`select id from declared.stop order by stop_key`;
    expect(rows.map(({ id }) => id as string)).toEqual(['a', 'b', 'a', 'a']);
  });
});

describe('keys that people declare', () => {
  it('are unique constraints of targets made from then on, while the values allow it', async () => {
    await createPostgresCatalogStore(sql).saveNaturalKeys(1, Number(origin), [
      { tableName: 'stop', columnName: 'id', position: 1 },
    ]);
    expect((await load('good.xml', 'metadb:natural')).code).toBe(0);
    const keys = async (): Promise<string[]> =>
      (
        await sql<{ name: string }[]>`
          select k.conname as name from pg_constraint k where k.contype = 'u' and k.conrelid = 'natural.stop'::regclass`
      ).map(({ name }) => name);
    expect(await keys()).toEqual(['stop_natural_key']);
    const again = await load('good.xml', 'metadb:natural');
    expect(again.code).toBe(0);
    expect(again.stdout + again.stderr).toContain(
      'unique key stop_natural_key dropped because values repeat',
    );
    expect(await keys()).toEqual([]);
  });
});
