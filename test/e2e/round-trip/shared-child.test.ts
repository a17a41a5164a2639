/** Documents of several schemas whose rows share a table: each is written by a schema that knows it, whole and once. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { some } from '../../support/needs.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let home: ServiceHome;
let root: string;

beforeAll(async () => {
  home = await trial.home();
  root = await trial.folder('shared-child-');
});

const targets = {
  sqlite: (folder: string) => [`sqlite:${join(folder, 'rows.sqlite')}`],
  metadb: (folder: string) => [`metadb:${folder.split('/').at(-1)!.replaceAll('-', '_')}`],
  duckdb: (folder: string) => [`duckdb:${join(folder, 'rows.duckdb')}`],
  csv: (folder: string) => [join(folder, 'csv'), '-f', 'csv'],
  delta: (folder: string) => [join(folder, 'delta'), '-f', 'delta'],
} satisfies Record<string, (folder: string) => string[]>;

type Documents = Readonly<Record<string, string>>;

const xsd = (since: string): string => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="ship"><xs:complexType><xs:sequence><xs:element name="port" type="Port" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
  <xs:element name="road"><xs:complexType><xs:sequence><xs:element name="port" type="Port" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Port"><xs:attribute name="name"/>${since}</xs:complexType></xs:schema>`;

async function writeAll(folder: string, files: Documents): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

async function expectDocuments(folder: string, documents: Documents): Promise<void> {
  expect((await readdir(folder)).toSorted()).toEqual(Object.keys(documents).toSorted());
  for (const [name, text] of Object.entries(documents))
    expect(compareXml(text, await readFile(join(folder, name), 'utf8')), name).toEqual([]);
}

describe.each(some(Object.entries(targets), 2))('%s', (kind, targetIn) => {
  it('of schemas that documents made, one for each load', { timeout: 60_000 }, async () => {
    const folder = await writeAll(join(root, `${kind}-made`), {});
    const target = targetIn(folder);
    const loads: Documents[] = [
      { 'a.xml': '<ship><port name="Riga" since="1201"/><port name="Oslo"/></ship>' },
      {
        'b.xml': '<road><port name="Kiel"/><port name="Gent"/></road>',
        'c.xml': '<ship><port name="Ulm"/></ship>',
      },
    ];
    const origins: string[] = [];
    for (const [at, documents] of loads.entries()) {
      const inbox = await writeAll(join(folder, `in-${at}`), documents);
      const { origin } = await convert(home, 'xml2er', inbox, '-o', ...target);
      origins.push(String(origin));
    }
    expect(new Set(origins).size).toBe(2);
    for (const [at, documents] of loads.entries()) {
      const back = join(folder, `back-${at}`);
      const summary = await convert(home, 'er2xml', '-i', target[0]!, '-x', origins[at]!, '-o', back);
      expect(summary).toMatchObject({ documents: Object.keys(documents).length, rejected: 0 });
      await expectDocuments(back, documents);
    }
  });

  it('of two versions of a schema, at once', { timeout: 60_000 }, async () => {
    const folder = await writeAll(join(root, `${kind}-versions`), {});
    const target = targetIn(folder);
    const versions: [string, Documents][] = [
      [
        '<xs:attribute name="since" type="xs:int"/>',
        {
          'a.xml': '<ship><port name="Riga" since="1201"/><port name="Oslo"/></ship>',
          'd.xml': '<ship><port name="Brest" since="1342"/></ship>',
        },
      ],
      [
        '',
        {
          'b.xml': '<road><port name="Kiel"/><port name="Gent"/></road>',
          'c.xml': '<ship><port name="Ulm"/></ship>',
        },
      ],
    ];
    for (const [at, [since, documents]] of versions.entries()) {
      const inbox = await writeAll(join(folder, `in-${at}`), documents);
      await writeAll(folder, { [`v${at}.xsd`]: xsd(since) });
      const set = join(folder, `v${at}.xsd`);
      await convert(home, 'xml2er', inbox, '--xsd', set, '--name', `${kind} ports`, '-o', ...target);
    }
    const back = join(folder, 'back');
    const summary = await convert(home, 'er2xml', '-i', target[0]!, '-o', back);
    expect(summary).toMatchObject({ documents: 4, rejected: 0 });
    await expectDocuments(back, { ...versions[0]![1], ...versions[1]![1] });
  });
});
