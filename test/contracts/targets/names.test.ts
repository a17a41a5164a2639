/** Tables and columns called as something that databases have built in: the same rows in every target, and in what a folder's scripts fill. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { convert } from '../../support/service/tools.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { loadEveryTarget, targetTests, type EveryTarget } from './every-target.ts';
import { needs } from '../../support/needs.ts';

/** types, functions and words of the grammar, in PostgreSQL, SQLite, MySQL or DuckDB */
const builtIn = (
  'line point box path circle money json map text name integer struct date time timestamp interval year ' +
  'user order group select values rank count max coalesce current_user key rows'
).split(' ');
/** what the scripts call something themselves */
const ofScripts = ['t', 'r', 'l', 'j', 'one', 'items', 'rowid', 'row_number'];
const words = [...builtIn, ...ofScripts];
/** the table that has a column of each name */
const widest = 'line';
/** tables with a list */
const listed = new Set(['line', 'order', 'j', 'rowid']);

const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:simpleType name="numbers"><xs:list itemType="xs:int"/></xs:simpleType>
<xs:element name="words"><xs:complexType><xs:sequence>${words.map(declared).join('\n')}</xs:sequence></xs:complexType></xs:element>
</xs:schema>`;

function declared(name: string): string {
  const attributes = attributesOf(name).map((one) => `<xs:attribute name="${one}" type="xs:decimal"/>`);
  if (listed.has(name)) attributes.push('<xs:attribute name="list" type="numbers"/>');
  return `<xs:element name="${name}" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:simpleContent>
<xs:extension base="xs:date">${attributes.join('')}</xs:extension></xs:simpleContent></xs:complexType></xs:element>`;
}

function attributesOf(name: string): readonly string[] {
  return name === widest ? words : [name];
}

const document = `<words>${words.flatMap((name) => [1, 2].map((time) => row(name, time))).join('')}</words>`;

function row(name: string, time: number): string {
  const attributes = attributesOf(name).map((one, at) => `${one}="${at}.${time}"`);
  if (listed.has(name)) attributes.push(`list="${time} 7"`);
  return `<${name} ${attributes.join(' ')}>2026-11-0${time}</${name}>`;
}

const trial = useTrial();
let home: ServiceHome;
let targets: EveryTarget;

beforeAll(async () => {
  home = await trial.home();
  const [xsd, xml] = [join(home.directory, 'words.xsd'), join(home.directory, 'words.xml')];
  await writeFile(xsd, schema);
  await writeFile(xml, document);
  const { origin } = await convert(home, 'xsd2er', xsd, '-g', '3');
  targets = await loadEveryTarget(home, origin!, [[xml]]);
}, 240_000);

afterAll(async () => {
  await targets?.drop();
});

test('each of the names is a table', needs('whole run'), () => {
  expect(targets.model.tables.map(({ name }) => name)).toEqual(expect.arrayContaining(words));
});

for (const [target, options] of targetTests)
  describe(target, { ...options, ...needs('whole run') }, () => {
    test('holds the rows that PostgreSQL holds', async () => {
      for (const name of words)
        expect(await targets.rows(target, name), name).toEqual(await targets.rows('postgresql', name));
    });
  });
