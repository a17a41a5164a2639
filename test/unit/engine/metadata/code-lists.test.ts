/** Lists of codes: the types that they are of, and what values are called and mean, against the XSDs themselves. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { enumerationsOf, type Code, type CodeList } from '../../../../src/engine/metadata/enumerations.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import { compileXsdSet } from '../../../../src/engine/xsd/compile-set.ts';
import { corpusFiles, readCorpus } from '../../../support/corpus.ts';
import { compiled } from '../../../support/models/shredding.ts';
import { needs, some } from '../../../support/needs.ts';
import { readXml, type ReadElement } from '../../../support/service/xml-reader.ts';

/** By type, those of all columns; columns by `table.column`. */
async function listsOf(source: SourceModel, mapLevel: 0 | 3 = 3) {
  const model = buildRelationalModel(source, { mapLevel });
  const at = await enumerationsOf(model, source);
  const lists = new Map<string, CodeList>();
  const columns = new Map<string, string[]>();
  for (const [table, { name, columns: own }] of model.tables.entries())
    for (const [column, one] of own.entries()) {
      const found = at(table, column);
      for (const list of found?.lists ?? []) lists.set(list.type, list);
      if (found !== null)
        columns.set(
          `${name}.${one.name}`,
          found.lists.map(({ type }) => type),
        );
    }
  return { lists, columns };
}

const head = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';
const annotated = (value: string, inside: string): string =>
  `<xs:enumeration value="${value}"><xs:annotation>${inside}</xs:annotation></xs:enumeration>`;

describe('what a value is called and means', () => {
  it.each<[string, string, Omit<Code, 'code'>]>([
    ['nothing', '', { label: null, documentation: null }],
    [
      'a sentence',
      '<xs:documentation>Paid by the buyer, in full.</xs:documentation>',
      { label: null, documentation: 'Paid by the buyer, in full.' },
    ],
    [
      'a name alone (FHIR), of several languages the English one',
      '<xs:documentation xml:lang="fr">Actif</xs:documentation><xs:documentation xml:lang="en">Active</xs:documentation>',
      { label: 'Active', documentation: 'Active' },
    ],
    [
      'ISO 20022',
      '<xs:documentation source="Name" xml:lang="EN">Credit</xs:documentation><xs:documentation source="Definition" xml:lang="EN">Operation is an increase.</xs:documentation>',
      { label: 'Credit', documentation: 'Operation is an increase.' },
    ],
    [
      'UN/CEFACT',
      '<xs:documentation xml:lang="en"><c:Name xmlns:c="urn:c">Netting</c:Name><c:Description xmlns:c="urn:c">The amounts are set off. All of them.</c:Description></xs:documentation>',
      { label: 'Netting', documentation: 'The amounts are set off. All of them.' },
    ],
    [
      'UBL',
      '<xs:documentation><CodeName>Andorran Peseta</CodeName></xs:documentation>',
      { label: 'Andorran Peseta', documentation: 'Andorran Peseta' },
    ],
    [
      'application information beside a text',
      '<xs:appinfo><shortName>Rain</shortName></xs:appinfo><xs:documentation>Water falls. From above.</xs:documentation>',
      { label: 'Rain', documentation: 'Water falls. From above.' },
    ],
    [
      'application information of another kind',
      '<xs:appinfo><Alias Name="C48660" Context="nci:ExtCodeID"/></xs:appinfo>',
      { label: null, documentation: null },
    ],
  ])('%s', async (_, inside, said) => {
    const source = compiled(
      `<xs:schema ${head}><xs:simpleType name="Kind"><xs:restriction base="xs:token">${annotated('A', inside)}</xs:restriction></xs:simpleType>
       <xs:element name="r"><xs:complexType><xs:attribute name="kind" type="Kind"/></xs:complexType></xs:element></xs:schema>`,
    );
    const { lists } = await listsOf(source);
    expect([...lists.values()]).toEqual([{ type: 'Kind', codes: [{ code: 'A', ...said }] }]);
  });
});

const one = (value: string): string =>
  `<xs:restriction base="xs:string"><xs:enumeration value="${value}"/></xs:restriction>`;

describe('which type a list is of', () => {
  it('names types by their names, those without by their path, of lists the type of the items', async () => {
    const source = compiled(`<xs:schema ${head}>
      <xs:simpleType name="Colour">${one('red')}</xs:simpleType>
      <xs:simpleType name="Colours"><xs:list itemType="Colour"/></xs:simpleType>
      <xs:simpleType name="Shade"><xs:union memberTypes="Colour"><xs:simpleType>${one('dark')}</xs:simpleType></xs:union></xs:simpleType>
      <xs:complexType name="Paint"><xs:simpleContent><xs:extension base="Colour"><xs:attribute name="gloss"><xs:simpleType>${one('matt')}</xs:simpleType></xs:attribute></xs:extension></xs:simpleContent></xs:complexType>
      <xs:element name="wall"><xs:complexType><xs:sequence>
        <xs:element name="paint" type="Paint" maxOccurs="9"/><xs:element name="trim" type="Paint"/><xs:element name="shade" type="Shade"/>
        <xs:element name="side"><xs:simpleType>${one('left')}</xs:simpleType></xs:element><xs:element name="open"><xs:simpleType><xs:union memberTypes="Colour xs:int"/></xs:simpleType></xs:element>
      </xs:sequence><xs:attribute name="all" type="Colours"/></xs:complexType></xs:element></xs:schema>`);
    for (const level of [0, 3] as const) {
      const { lists } = await listsOf(source, level);
      expect(
        Object.fromEntries(
          [...lists].map(([type, { codes }]) => [type, codes.map(({ code }) => code).join()]),
        ),
      ).toEqual({
        Colour: 'red',
        Shade: 'red,dark',
        'Paint/@gloss': 'matt',
        '/wall/side': 'left',
      });
    }
  });

  it('tells types of one local name apart by their namespaces', async () => {
    const source = compiled({
      'a.xsd': `<xs:schema ${head} targetNamespace="urn:a" xmlns:b="urn:b"><xs:import namespace="urn:b" schemaLocation="b.xsd"/>
        <xs:simpleType name="Unit">${one('kg')}</xs:simpleType><xs:element name="r"><xs:complexType><xs:attribute name="a" type="a:Unit" xmlns:a="urn:a"/><xs:attribute name="b" type="b:Unit"/></xs:complexType></xs:element></xs:schema>`,
      'b.xsd': `<xs:schema ${head} targetNamespace="urn:b"><xs:simpleType name="Unit">${one('m')}</xs:simpleType></xs:schema>`,
    });
    expect([...(await listsOf(source)).columns]).toEqual([
      ['r.a', ['{urn:a}Unit']],
      ['r.b', ['{urn:b}Unit']],
    ]);
  });
});

/** What the XSDs themselves say: codes and their texts by the name of their type. */
function written(
  files: readonly { readonly bytes: Uint8Array }[],
): Map<string, Map<string, string | null>[]> {
  const found = new Map<string, Map<string, string | null>[]>();
  for (const { bytes } of files)
    for (const type of children(readXml(new TextDecoder().decode(bytes)), 'simpleType')) {
      const restriction = children(type, 'restriction')[0];
      const name = type.attributes.find(({ localName }) => localName === 'name')?.value;
      if (restriction === undefined || name === undefined) continue;
      const codes = children(restriction, 'enumeration').map((facet) => {
        const texts = children(facet, 'annotation').flatMap((one) => children(one, 'documentation'));
        const said = texts.map((one) => collapsed(textOf(one))).filter((text) => text !== '');
        const code = facet.attributes.find(({ localName }) => localName === 'value')!.value;
        return [collapsed(code), said[0] ?? null] as const;
      });
      // some types repeat values
      const texts = new Map<string, string | null>();
      for (const [code, text] of codes) texts.set(code, text ?? texts.get(code) ?? null);
      if (codes.length > 0) found.set(name, [...(found.get(name) ?? []), texts]);
    }
  return found;
}

describe('of real sets', needs('corpus'), () => {
  it.each(
    some(
      [
        ['siri', 'siri/xsd'],
        ['fpml', 'fpml/files-fpml/schemas/fpml5-10/confirmation'],
        ['scap', 'scap/schemas/ocil'],
        ['iso20022', 'iso20022/assets/camt.053.001.08.xsd'],
        ['netex', 'netex/xsd'],
      ],
      1,
    ),
  )('%s: each list has the codes and texts of its type', { timeout: 120_000 }, async (_, path) => {
    const [set, ...inside] = path.split('/');
    const files = corpusFiles(set!, '.xsd')
      .filter((name) => name.startsWith(inside.join('/')) && !name.includes('wsdl'))
      .map((name) => ({ name, bytes: readCorpus(set!, name) }));
    const { model: source } = compileXsdSet(files, {});
    const { lists } = await listsOf(source);
    const types = written(files);
    const named = [...lists.values()].filter(({ type }) => types.has(type));
    expect(named.length).toBeGreaterThan(2);
    for (const { type, codes } of named) {
      const own = codes.map(({ code }) => code);
      // some sets define a type in several files
      const same = types.get(type)!.filter((one) => [...one.keys()].join('|') === own.join('|'));
      expect([type, same.length > 0]).toEqual([type, true]);
      for (const { code, documentation, label } of codes) {
        const own = same.map((one) => one.get(code) ?? null);
        // a type that restricts another need not say again what its values mean
        const isInherited = documentation !== null && own.every((text) => text === null);
        const said = isInherited
          ? [...types.values()].flatMap((all) => all.map((one) => one.get(code) ?? null))
          : own;
        const start = documentation?.slice(0, 100) ?? null;
        expect([type, code, said.map((text) => text?.slice(0, start?.length) ?? null)]).toEqual([
          type,
          code,
          expect.arrayContaining([start]),
        ]);
        if (label !== null) expect(said).toContain(label);
      }
    }
  });
});

function children({ children: all }: ReadElement, name: string): ReadElement[] {
  return all.filter((child) => typeof child !== 'string').filter(({ localName }) => localName === name);
}

function textOf({ children: all }: ReadElement): string {
  return all.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

function collapsed(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
