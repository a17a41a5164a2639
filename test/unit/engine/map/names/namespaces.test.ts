/** Tables of elements that are called alike in several namespaces are told apart by what the namespaces are called. */
import { describe, expect, it } from 'vitest';
import { namespaceWords } from '../../../../../src/engine/map/names/words.ts';
import { defaultNaming, identifierOf } from '../../../../../src/engine/map/names/identifiers.ts';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import { compiled, modelOf } from '../../../../support/models/shredding.ts';

const identifiers = (name: string): string => identifierOf(name, defaultNaming.nameMode);

describe('words of namespaces', () => {
  it.each<[string, Record<string, string>, string[] | null]>([
    [
      'prefixes that an author gave',
      { 'urn:a': 'linux-def', 'urn:b': 'unix-def' },
      ['linux_def', 'unix_def'],
    ],
    [
      'versions of a message',
      {
        'urn:iso:std:iso:20022:tech:xsd:pain.001.001.03': '',
        'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09': '',
      },
      ['03', '09'],
    ],
    [
      'several messages, where prefixes were numbered',
      {
        'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08': 'ns1',
        'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09': 'ns2',
      },
      ['camt', 'pain'],
    ],
    [
      'a version within the path, of which no lone digit is said',
      { 'http://ns.editeur.org/onix/3.0/reference': '', 'http://ns.editeur.org/onix/3.1/reference': '' },
      ['3_0', '3_1'],
    ],
    [
      'what a common end does not tell',
      { 'urn:oasis:ubl:schema:xsd:Invoice-2': '', 'urn:oasis:ubl:schema:xsd:Order-2': '' },
      ['invoice', 'order'],
    ],
    [
      'messages of which some share more',
      {
        'urn:xsd:camt.053.001.08': '',
        'urn:xsd:camt.054.001.08': '',
        'urn:xsd:pain.001.001.09': '',
      },
      ['camt_053', 'camt_054', 'pain_001'],
    ],
    [
      'nothing, where words would be long',
      { 'urn:internationalization': '', 'urn:telecommunications': '' },
      null,
    ],
    ['nothing, where words are one', { 'urn:x/a': '', 'urn:x:a': '' }, null],
  ])('%s', (_, uris, expected) => {
    const words = namespaceWords(Object.keys(uris), new Map(Object.entries(uris)), identifiers);
    expect(words === null ? null : [...words.values()].map(({ word }) => word)).toEqual(expected);
  });
});

const message = (namespace: string, more: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="${namespace}" targetNamespace="${namespace}" elementFormDefault="qualified">
    <xs:element name="Document"><xs:complexType><xs:sequence>
      <xs:element name="Entry" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="Amt" type="xs:decimal"/><xs:element name="Note" type="xs:string" maxOccurs="9"/>${more}
      </xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
const ward = (namespace: string, prefix: string, body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:${prefix}="${namespace}" xmlns:ext="urn:x" targetNamespace="${namespace}" elementFormDefault="qualified">${body}</xs:schema>`;

const line = (name: string): string =>
  `<xs:element name="${name}"><xs:complexType><xs:sequence><xs:element name="stop" type="xs:string" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>`;

describe('tables of elements that are called alike', () => {
  it('have the version of the message in their names', () => {
    const source = compiled({
      'v3.xsd': message('urn:xsd:acct.001.03', ''),
      'v9.xsd': message('urn:xsd:acct.001.09', '<xs:element name="Ref" type="xs:string" maxOccurs="9"/>'),
    });
    const names = modelOf(source, 3).tables.map(({ name }) => name);
    expect(names.toSorted()).toEqual([
      'document_03',
      'document_09',
      'entry_03',
      'entry_09',
      'note_03',
      'note_09',
      'ref',
    ]);
  });

  it('have the prefix of a namespace that documents do not start with', () => {
    const source = compiled({
      'main.xsd': ward(
        'urn:main',
        'm',
        `<xs:import namespace="urn:x" schemaLocation="x.xsd"/><xs:element name="net"><xs:complexType><xs:sequence><xs:element ref="m:line" maxOccurs="9"/><xs:element ref="ext:line" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>${line('line')}`,
      ),
      'x.xsd': ward('urn:x', 'own', line('line')),
    });
    const model = buildRelationalModel(source, {
      mapLevel: 3,
      roots: [{ namespaceUri: 'urn:main', localName: 'net' }],
    });
    expect(model.tables.map(({ name }) => name).toSorted()).toEqual(
      ['ext_line', 'ext_stop', 'line', 'net', 'stop'].toSorted(),
    );
  });
});
