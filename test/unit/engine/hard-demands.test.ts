/**
 * What hard standards demand of a conversion, a test for each of nine demands: on real sets and documents where these lie beside
 * the project, and on small ones of our own where the demand is exact.
 */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../src/engine/map/prune.ts';
import type { MapLevel, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { parseXmlTree } from '../../../src/engine/xml/tree.ts';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { corpusFiles, corpusXsdSet, readCorpus } from '../../support/corpus.ts';
import {
  corpusGroups,
  documentDifference,
  groupModel,
  groupSource,
  type CorpusGroup,
} from '../../support/round-trip/corpus.ts';
import { roundTrip } from '../../support/round-trip/in-memory.ts';
import { compiled, modelOf, shred, statisticsOf, type Shredded } from '../../support/models/shredding.ts';
import { needs } from '../../support/needs.ts';

const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';
const levels: readonly MapLevel[] = [0, 1, 2, 3];

function group(corpus: string, xsd = ''): CorpusGroup {
  return corpusGroups().find((one) => one.corpus === corpus && (one.xsd ?? '').includes(xsd))!;
}

/** The first documents of a corpus as rows of its model at one level. */
function load(from: CorpusGroup, count: number, level: MapLevel) {
  const source = groupSource(from);
  const documents = from.documents.slice(0, count).map((name) => readCorpus(name));
  const model = groupModel(source.source, level, documents);
  return { source, documents, model, shredded: shred(model, documents) };
}

function valuesOf({ rows }: Shredded, table: string, column: string): Set<string | null> {
  return new Set(rows[table]?.map((row) => row[column] ?? null));
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe('what hard standards demand', { timeout: 60_000, ...needs('whole run') }, () => {
  it('1: tables only for what occurs: shared by type, pruned by statistics, stable', needs('corpus'), () => {
    const from = group('eforms', 'ContractNotice');
    const { source, documents, model, shredded } = load(from, 3, 3);
    const plain = groupModel(source.source, 0, documents);
    const used = Object.keys(shredded.rows).length;
    expect(model.tables.length).toBeLessThan(plain.tables.length / 2);
    expect(used).toBeLessThan(model.tables.length / 4);
    const pruned = groupModel(pruneSourceModel(source.source, statisticsOf(documents)), 3, documents);
    expect(pruned.tables.length).toBeLessThan(used);
    const again = groupModel(groupSource(from).source, 3, documents);
    expect(JSON.stringify(again)).toBe(JSON.stringify(model));
  });

  it('2: substitution groups and xsi:type across namespaces', needs('corpus'), async () => {
    const { source, documents, model, shredded } = load(group('scap-oval'), 1, 3);
    // oval-def:test and oval-def:object are abstract; their members come from other namespaces
    expect(shredded.rows['rpminfo_test']!.length).toBeGreaterThan(10);
    expect(shredded.rows['textfilecontent54_object']!.length).toBeGreaterThan(10);
    const members = valuesOf(shredded, 'test', 'element');
    expect([...members]).toEqual(expect.arrayContaining(['linux-def:rpminfo_test', 'unix-def:file_test']));
    expect(await documentDifference(source, model, documents[0]!)).toBeNull();
    const derived = compiled({
      'a.xsd': `<xs:schema ${xs} xmlns:a="urn:a" targetNamespace="urn:a"><xs:element name="r"><xs:complexType><xs:sequence>
        <xs:element name="party" type="a:Party" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
        <xs:complexType name="Party"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType></xs:schema>`,
      'b.xsd': `<xs:schema ${xs} xmlns:a="urn:a" targetNamespace="urn:b"><xs:import namespace="urn:a" schemaLocation="a.xsd"/>
        <xs:complexType name="Firm"><xs:complexContent><xs:extension base="a:Party"><xs:sequence><xs:element name="vat" type="xs:string"/>
        </xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:schema>`,
    });
    // the set is entered by b.xsd, and a document starts with an element of a.xsd
    const roots = [{ namespaceUri: 'urn:a', localName: 'r' }];
    const document = `<a:r xmlns:a="urn:a" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:f="urn:b"><party><name>P</name></party><party xsi:type="f:Firm"><name>F</name><vat>7</vat></party></a:r>`;
    for (const mapLevel of levels) {
      const typed = buildRelationalModel(derived, { mapLevel, roots });
      const party = shred(typed, [document]).rows['party']!;
      expect(party.map((row) => [row['name'], row['vat']])).toEqual([
        ['P', null],
        ['F', '7'],
      ]);
    }
  });

  it(
    '3: recursion by self keys and positions; mixed content and sibling order kept',
    needs('corpus'),
    async () => {
      const { source, documents, model, shredded } = load(group('xmark'), 1, 3);
      const bold = model.tables.find(({ name }) => name === 'bold')!;
      const own = bold.columns.find(({ name }) => name === 'parent_bold_key')!;
      expect(model.tables[own.references!]).toBe(bold);
      // bold, keyword and emph stand in each other, to any depth
      const kinds = ['bold', 'keyword', 'emph'];
      const nested = kinds.flatMap((name) =>
        shredded.rows[name]!.filter((row) =>
          kinds.some((kind) => (row[kind === name ? `parent_${kind}_key` : `${kind}_key`] ?? null) !== null),
        ),
      );
      expect(nested.length).toBeGreaterThan(10);
      expect(shredded.rows['bold_text']!.length).toBeGreaterThan(100);
      expect(await documentDifference(source, model, documents[0]!)).toBeNull();
      const tree = compiled(
        `<xs:schema ${xs}><xs:element name="p"><xs:complexType mixed="true"><xs:choice minOccurs="0" maxOccurs="unbounded">
        <xs:element ref="p"/><xs:element name="b" type="xs:string"/></xs:choice></xs:complexType></xs:element></xs:schema>`,
      );
      const document = '<p>one<b>two</b><p>three<p/></p> <b>four</b>five</p>';
      for (const level of levels) {
        const [back] = await roundTrip(modelOf(tree, level), [document]);
        expect(text(back!)).toContain(document.slice(2));
      }
    },
  );

  it(
    '4: wildcards and foreign namespaces kept as XML, and shredded where an XSD of the set matches',
    needs('corpus'),
    async () => {
      const { source, documents, model, shredded } = load(group('eforms', 'ContractNotice'), 2, 3);
      // ext:ExtensionContent holds any element; that of the eForms extension is in the set
      expect(shredded.rows['eforms_extension']!.length).toBeGreaterThanOrEqual(documents.length);
      expect(shredded.rows['organization']!.length).toBeGreaterThan(1);
      expect(await documentDifference(source, model, documents[0]!)).toBeNull();
      const open = compiled(
        `<xs:schema ${xs} targetNamespace="urn:a"><xs:element name="r"><xs:complexType><xs:sequence>
        <xs:any namespace="##other" processContents="lax" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
      );
      const document =
        '<a:r xmlns:a="urn:a" xmlns:z="urn:z"><z:x n="1">mixed <z:y/>text</z:x><q xmlns="urn:q"/></a:r>';
      for (const level of levels) {
        const kept = shred(modelOf(open, level), [document]);
        expect(kept.deviations.paths.size).toBe(0);
        const [back] = await roundTrip(modelOf(open, level), [document]);
        expect(parseXmlTree(back!).children).toMatchObject(
          parseXmlTree(new TextEncoder().encode(document)).children.map((child) => ({
            name: (child as { name: unknown }).name,
            children: expect.any(Array),
          })),
        );
        expect(text(back!)).toContain('mixed <');
      }
    },
  );

  it('5: exact values: decimals, zone offsets, nil, empty and absent, lists, values over 1 MB', async () => {
    const source = compiled(
      `<xs:schema ${xs}><xs:element name="r"><xs:complexType><xs:sequence><xs:element name="v" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="d" type="xs:decimal" minOccurs="0"/><xs:element name="t" type="xs:dateTime" minOccurs="0"/>
        <xs:element name="s" type="xs:string" nillable="true" minOccurs="0"/>
        <xs:element name="l" minOccurs="0"><xs:simpleType><xs:list itemType="xs:token"/></xs:simpleType></xs:element>
      </xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`,
    );
    const long = 'äöü€𝔘 '.repeat(120_000);
    const values = [
      '<d>12345678901234567890.123456789012345678</d><t>2026-10-25T02:30:00+02:00</t><s>x</s><l>a,b c</l>',
      '<d>-0.10</d><t>2026-10-25T02:30:00Z</t><s></s><l></l>',
      '<d>+007</d><t>2026-10-25T02:30:00</t><s xsi:nil="true"></s>',
      `<s>${long}</s>`,
      '',
    ];
    const document = `<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${values.map((value) => `<v>${value}</v>`).join('')}</r>`;
    expect(new TextEncoder().encode(long).length).toBeGreaterThan(1024 * 1024);
    for (const level of levels) {
      const model = modelOf(source, level);
      const difference = await documentDifference(
        { source, inferred: false },
        model,
        new TextEncoder().encode(document),
      );
      expect(difference).toBeNull();
      const back = text((await roundTrip(model, [document]))[0]!);
      for (const exact of ['12345678901234567890.123456789012345678', '02:30:00+02:00', '02:30:00Z', 'a,b c'])
        expect(back).toContain(exact);
      expect(back).toMatch(/<s\/>|<s><\/s>/);
      expect(back).toContain(`>${long}<`);
    }
  });

  it('6: types by namespace and name; safe, unique, short names', async () => {
    const long = 'a'.repeat(70);
    const source = compiled({
      'a.xsd': `<xs:schema ${xs} xmlns:a="urn:a" xmlns:b="urn:b" targetNamespace="urn:a"><xs:import namespace="urn:b" schemaLocation="b.xsd"/>
        <xs:element name="r"><xs:complexType><xs:sequence>
          <xs:element name="one" type="a:Item" maxOccurs="unbounded"/><xs:element name="two" type="b:Item" maxOccurs="unbounded"/>
          <xs:element name="data-set" type="xs:string"/><xs:element name="data_set" type="xs:string"/><xs:element name="Data.Set" type="xs:string"/>
          <xs:element name="id" type="xs:string"/><xs:element name="${long}1" type="xs:string"/><xs:element name="${long}2" type="xs:string"/>
        </xs:sequence><xs:attribute name="id" type="xs:string"/></xs:complexType></xs:element>
        <xs:complexType name="Item"><xs:attribute name="x" type="xs:int"/></xs:complexType></xs:schema>`,
      'b.xsd': `<xs:schema ${xs} targetNamespace="urn:b"><xs:complexType name="Item"><xs:attribute name="y" type="xs:date"/></xs:complexType></xs:schema>`,
    });
    const document = `<a:r xmlns:a="urn:a" id="at"><one x="1"/><two y="2026-01-01"/><data-set>1</data-set><data_set>2</data_set><Data.Set>3</Data.Set><id>el</id><${long}1>4</${long}1><${long}2>5</${long}2></a:r>`;
    for (const level of levels) {
      const model = modelOf(source, level);
      for (const { name, columns } of model.tables) {
        const names = columns.map((column) => column.name.toLowerCase());
        expect(new Set(names).size, name).toBe(names.length);
        for (const one of [name, ...names]) expect(one).toMatch(/^[a-z_][a-z0-9_]{0,62}$/);
      }
      const { rows } = shred(model, [document]);
      const item = (column: string): unknown[] =>
        Object.values(rows).flatMap((table) => table.flatMap((row) => row[column] ?? []));
      expect([item('x'), item('y')]).toEqual([['1'], ['2026-01-01']]);
      const difference = await documentDifference(
        { source, inferred: false },
        model,
        new TextEncoder().encode(document),
      );
      expect(difference).toBeNull();
    }
  });

  it('7: include graphs of hundreds of files, several roots, DTDs without a network', needs('corpus'), () => {
    const netex = corpusXsdSet('netex/xsd/NeTEx_publication.xsd');
    expect(netex.files.length).toBeGreaterThan(400);
    const { model, diagnostics } = compileXsdSet(netex.files, { entries: netex.entries });
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(model.elements.length).toBeGreaterThan(3000);
    const several = compileXsdSet(corpusXsdSet('iso20022/assets/camt.053.001.02.xsd').files);
    expect(several.model.primaryRoots).toBe(12);
    // its DTD is an address that is not asked
    const [cldr] = corpusFiles('cldr', '.xml');
    expect(text(readCorpus('cldr', cldr!))).toMatch(/<!DOCTYPE \S+ SYSTEM/);
    expect(parseXmlTree(readCorpus('cldr', cldr!)).children.length).toBeGreaterThan(0);
    const chameleon = compiled({
      'main.xsd': `<xs:schema ${xs} xmlns="urn:m" targetNamespace="urn:m"><xs:include schemaLocation="ring.xsd"/><xs:redefine schemaLocation="base.xsd">
        <xs:complexType name="T"><xs:complexContent><xs:extension base="T"><xs:attribute name="more" type="xs:int"/></xs:extension></xs:complexContent></xs:complexType>
        </xs:redefine><xs:element name="r" type="T"/></xs:schema>`,
      'ring.xsd': `<xs:schema ${xs} targetNamespace="urn:m"><xs:include schemaLocation="main.xsd"/></xs:schema>`,
      'base.xsd': `<xs:schema ${xs}><xs:complexType name="T"><xs:attribute name="a" type="xs:int"/></xs:complexType></xs:schema>`,
    });
    expect(modelOf(chameleon, 3).tables.map(({ columns }) => columns.map(({ name }) => name))).toEqual([
      expect.arrayContaining(['a', 'more']),
    ]);
  });

  it(
    '8: documents that break their XSD are loaded, deviations reported, nothing dropped',
    needs('corpus'),
    async () => {
      const broken: readonly (readonly [CorpusGroup, string])[] = [
        [group('iso20022', 'camt.053.001.02'), 'iso20022/test/data/camt053.v2.wrong.xml'],
        [group('musicxml'), 'musicxml/io/testIncorrectMidiProgram.xml'],
      ];
      for (const [from, name] of broken) {
        const { source, documents, model } = load({ ...from, documents: [name] }, 1, 3);
        expect(await documentDifference(source, model, documents[0]!), name).toBeNull();
      }
      const source = compiled(
        `<xs:schema ${xs}><xs:element name="r"><xs:complexType><xs:sequence><xs:element name="n" type="xs:int"/><xs:element name="d" type="xs:date"/>
        </xs:sequence><xs:attribute name="k" type="xs:int" use="required"/></xs:complexType></xs:element></xs:schema>`,
      );
      const document = '<r extra="1"><d>soon</d><new><deep/></new><n>99999999999</n></r>';
      const model = modelOf(source, 1);
      const { deviations, nullAllowed, rows, unconvertedValues } = shred(model, [document]);
      expect([...deviations.paths.values()].map(({ xpath, count }) => [xpath, count])).toEqual([
        ['/r/@extra', 1],
        ['/r/new', 1],
      ]);
      const column = (table: number, at: number): string => model.tables[table]!.columns[at]!.name;
      expect(nullAllowed.map(({ table, column: at }) => column(table, at)).toSorted()).toEqual([
        'd',
        'k',
        'n',
      ]);
      expect(
        unconvertedValues.map(({ table, column: at, text: value }) => [column(table, at), value]),
      ).toEqual(expect.arrayContaining([['n', '99999999999']]));
      expect(rows['r']).toHaveLength(1);
      for (const level of levels) {
        const difference = await documentDifference(
          { source, inferred: false },
          modelOf(source, level),
          new TextEncoder().encode(document),
        );
        expect(difference).toBeNull();
      }
    },
  );

  it(
    '9: evolution: versions of bank statements and of clinical data, names kept from one to the next',
    needs('corpus'),
    () => {
      const statements = evolve(
        ['02', '03', '04', '08'].map((version) => `iso20022/assets/camt.053.001.${version}.xsd`),
      );
      for (const [at, next] of statements.slice(1).entries()) {
        const before = new Map(pathsOf(statements[at]!));
        const kept = pathsOf(next).filter(([path]) => before.has(path));
        expect(kept.length).toBeGreaterThan(20);
        for (const [path, name] of kept) expect(name, path).toBe(before.get(path));
      }
      const again = evolve(['02', '02'].map((version) => `iso20022/assets/camt.053.001.${version}.xsd`));
      expect(JSON.stringify(again[1])).toBe(JSON.stringify(again[0]));
    },
  );
});

/** Tables of elements by their local path; namespaces change with each version. */
function pathsOf(model: RelationalModel): [path: string, table: string][] {
  return model.tables.map(({ xpath, name }) => [xpath, name]);
}

/** Models of an XSD's versions, each made after the one before it. */
function evolve(xsds: readonly string[]): RelationalModel[] {
  const models: RelationalModel[] = [];
  for (const xsd of xsds) {
    const files = [{ name: xsd, bytes: readCorpus(xsd) }];
    const { model } = compileXsdSet(files, { missing: 'wildcard' });
    const previous = models.at(-1);
    models.push(
      buildRelationalModel(model, { mapLevel: 1, ...(previous === undefined ? {} : { previous }) }),
    );
  }
  return models;
}
