/** Schemas in a WSDL, the entries of a set, and catalogues that are given with a file. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import {
  compileOptions,
  followAnywhere,
  readXsdSet,
  type XsdSetFiles,
} from '../../../src/inputs/xsd-files.ts';
import { defaultLimits } from '../../../src/config/limits.ts';
import { setFingerprint } from '../../../src/tools/schemas/set-fingerprint.ts';
import { parseToolArguments } from '../../../src/service/jobs/request/read-request.ts';

const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';
const catalogOf = (content: string): string =>
  `<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">${content}</catalog>`;
const shell = (name: string): string =>
  `<xs:schema ${xs}><xs:redefine schemaLocation="urn:x:topic.xsd:1"><xs:complexType name="body"><xs:complexContent><xs:extension base="body"><xs:sequence><xs:element name="of-${name}" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:redefine><xs:element name="doc" type="body"/></xs:schema>`;
const wsdl = (root: string, namespace: string): string => `<?xml version="1.0"?>
<${root} xmlns="${namespace}" ${xs} xmlns:c="urn:common" xmlns:s="urn:shared">
  <import location="lib/shared.wsdl"/>
  <types>
    <xs:schema targetNamespace="urn:orders" elementFormDefault="qualified">
      <xs:import namespace="urn:common"/><xs:import namespace="urn:shared"/>
      <xs:element name="order"><xs:complexType><xs:sequence>
        <xs:element name="total" type="c:Amount"/><xs:element name="cc" type="c:Country"/><xs:element name="who" type="s:Name"/>
      </xs:sequence></xs:complexType></xs:element>
    </xs:schema>
    <schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:common">
      <import namespace="urn:orders"/>
      <simpleType name="Amount"><restriction base="decimal"><totalDigits value="9"/></restriction></simpleType>
    </schema>
    <xs:schema targetNamespace="urn:common"><xs:simpleType name="Country"><xs:restriction base="xs:string"><xs:length value="2"/></xs:restriction></xs:simpleType></xs:schema>
  </types>
</${root}>`;
const files: Readonly<Record<string, string>> = {
  'one.wsdl': wsdl('definitions', 'http://schemas.xmlsoap.org/wsdl/'),
  'two.wsdl': wsdl('description', 'http://www.w3.org/ns/wsdl'),
  'lib/shared.wsdl': `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" ${xs}><w:types><xs:schema targetNamespace="urn:shared"><xs:include schemaLocation="name.xsd"/></xs:schema></w:types></w:definitions>`,
  'lib/name.xsd': `<xs:schema ${xs} targetNamespace="urn:shared"><xs:simpleType name="Name"><xs:restriction base="xs:string"><xs:maxLength value="20"/></xs:restriction></xs:simpleType></xs:schema>`,
  'none.wsdl': '<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"/>',
  'dita/base/topic.xsd': `<xs:schema ${xs}><xs:complexType name="body"><xs:sequence><xs:element name="p" type="xs:string"/></xs:sequence></xs:complexType></xs:schema>`,
  'dita/catalog.xml': catalogOf('<group xml:base="base/"><nextCatalog catalog="catalog.xml"/></group>'),
  'dita/base/catalog.xml': catalogOf('<uri name="urn:x:topic.xsd:1" uri="topic.xsd"/>'),
  'dita/tech/reference.xsd': shell('reference'),
  'dita/tech/concept.xsd': shell('concept'),
  'dita/other/concept.xsd': shell('other'),
};

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wsdl-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const read = (names: readonly string[], entry?: readonly string[]): Promise<XsdSetFiles> =>
  readXsdSet(
    names.map((name) => join(folder, name)),
    { follow: followAnywhere, links: 'follow', entry },
  );
const compiled = (set: XsdSetFiles) =>
  compileXsdSet(set.files, compileOptions(set, { missing: 'fail' }, defaultLimits.engine));
/** Local names of the elements that documents start with, and of those within them. */
const elementsOf = (set: XsdSetFiles): string[] => {
  const { model } = compiled(set);
  return model.elements.map(({ name }) => name.localName).toSorted();
};

describe('a WSDL', () => {
  it.each(['one.wsdl', 'two.wsdl'])('brings its schemas and those of what it imports: %s', async (name) => {
    const set = await read([name]);
    expect(set.files.map((file) => file.name)).toEqual([
      `${name}-1.xsd`,
      `${name}-2.xsd`,
      `${name}-3.xsd`,
      `${name}-all-1.xsd`,
      'lib/shared.wsdl-1.xsd',
      'lib/name.xsd',
    ]);
    const { model, diagnostics } = compiled(set);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(model.roots.map((root) => model.elements[root]!.name.localName)).toEqual(['order']);
    expect(model.types.map((type) => type.name?.localName)).toEqual(
      expect.arrayContaining(['Amount', 'Country', 'Name']),
    );
  });

  it('has faults at the lines of the WSDL', async () => {
    const broken = files['one.wsdl']!.replace('base="decimal"', 'base="nothing"').replace(
      / {2}<import.*\n/,
      '\n',
    );
    await writeFile(
      join(folder, 'broken.wsdl'),
      broken.replace('<xs:import namespace="urn:shared"/>', '').replace('s:Name', 'xs:string'),
    );
    const set = await read(['broken.wsdl']);
    expect(() => compiled(set)).toThrow(/broken\.wsdl-2\.xsd: line 13/);
  });

  it('without a schema says so', async () => {
    await expect(read(['none.wsdl'])).rejects.toThrow('none.wsdl: this WSDL has no xs:schema in its types');
  });
});

describe('the entry of a set', () => {
  it.each([
    ['tech/reference.xsd', 'of-reference'],
    ['reference.xsd', 'of-reference'],
    ['./tech/concept.xsd', 'of-concept'],
    ['dita/other/concept.xsd', 'of-other'],
  ])('is found by its name or the end of it: %s', async (entry, element) => {
    const set = await read(['dita'], [entry]);
    const elements = elementsOf(set);
    expect(elements).toContain(element);
    expect(elements.filter((name) => name.startsWith('of-'))).toEqual([element]);
  });

  it('that is none is refused with those that there are', async () => {
    await expect(read(['dita'], ['topics.xsd'])).rejects.toThrow(
      '--entry topics.xsd: is not a file of the set, which has base/topic.xsd, other/concept.xsd, tech/concept.xsd, tech/reference.xsd',
    );
    await expect(read(['dita'], ['concept.xsd'])).rejects.toThrow(
      '--entry concept.xsd: several files of the set have this name: other/concept.xsd, tech/concept.xsd',
    );
  });

  it('is part of the fingerprint of the set', async () => {
    const request = parseToolArguments('xsd2er', ['dita']);
    const prints = await Promise.all(
      [undefined, ['tech/concept.xsd'], ['tech/reference.xsd']].map(async (entry) =>
        setFingerprint(await read(['dita'], entry), request, defaultLimits.engine),
      ),
    );
    expect(new Set(prints).size).toBe(3);
  });

  it('is named where shells are in conflict', async () => {
    const { diagnostics } = compiled(await read(['dita']));
    expect(diagnostics.map(({ message }) => message).join('\n')).toContain(
      '--entry FILE names the file at which to enter the set',
    );
  });
});

describe('a catalogue that is given with a file', () => {
  it('brings the files that it maps', async () => {
    const set = await read(['dita/tech/reference.xsd', 'dita/catalog.xml']);
    expect(set.files.map(({ name }) => name).toSorted()).toEqual([
      'base/catalog.xml',
      'base/topic.xsd',
      'catalog.xml',
      'tech/reference.xsd',
    ]);
    expect(set.entries).toEqual(['tech/reference.xsd']);
    expect(elementsOf(set)).toContain('of-reference');
  });
});
