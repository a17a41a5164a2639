/** What a careful person would not draw, as found by reading the models of real standards beside their documents. */
import { describe, expect, it } from 'vitest';
import type { MapLevel } from '../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import { compileXsdSet } from '../../../../src/engine/xsd/compile-set.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { bytesOf, compiled, modelOf, outline } from '../../../support/models/shredding.ts';

const set = (body: string): SourceModel =>
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`);
const sequence = (body: string): string => `<xs:sequence>${body}</xs:sequence>`;
const root = (name: string, body: string): string =>
  `<xs:element name="${name}"><xs:complexType>${sequence(body)}</xs:complexType></xs:element>`;
const tablesOf = (source: SourceModel, level: MapLevel): string[] =>
  outline(modelOf(source, level)).split('\n');
const namesOf = (source: SourceModel, level: MapLevel): string[] =>
  modelOf(source, level).tables.map((table) => table.name);

async function differences(source: SourceModel, level: MapLevel, document: string): Promise<unknown[]> {
  const [written] = await roundTrip(modelOf(source, level), [document]);
  return compareXml(document, written!, { source });
}

describe('a folded element', () => {
  const account = set(`${root(
    'payment',
    '<xs:element name="from" type="Account" minOccurs="0"/><xs:element name="notes" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="note" type="xs:string" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element><xs:element name="place" type="Place" minOccurs="0"/>',
  )}
  <xs:complexType name="Account"><xs:choice><xs:element name="iban" type="xs:string"/><xs:element name="other" type="Other"/></xs:choice></xs:complexType>
  <xs:complexType name="Other"><xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType>
  <xs:complexType name="Place"><xs:sequence><xs:element name="city" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>`);

  it('needs no column to say that it is there where its content always does', () => {
    expect(tablesOf(account, 1)).toEqual([
      'payment: payment_key bigint!, document_key bigint!, from_iban text, from_other_id integer, place_present boolean, place_city text',
      'note: note_key bigint!, document_key bigint!, payment_key bigint! -> payment, position integer!, value text!',
    ]);
  });

  it.each([
    '<payment><from><iban>1</iban></from><notes><note>a</note><note/></notes><place/></payment>',
    '<payment><from><other><id>1</id></other></from></payment>',
    // against the XSD
    '<payment><from/><notes/><place/></payment>',
    '<payment><notes><from/><note/></notes></payment>',
    '<payment><from><other/></from></payment>',
  ])('comes back: %s', async (document) => {
    for (const level of [0, 1, 2, 3] as const)
      expect(await differences(account, level, document)).toEqual([]);
  });
});

describe('an element that is referred to', () => {
  const changes =
    set(`<xs:element name="column"><xs:complexType>${sequence('<xs:element name="use" type="xs:string" maxOccurs="unbounded"/>')}<xs:attribute name="name"/></xs:complexType></xs:element>
  ${root(
    'changes',
    ['addColumn', 'createTable']
      .map(
        (name) =>
          `<xs:element name="${name}" maxOccurs="unbounded"><xs:complexType>${sequence('<xs:element ref="column" maxOccurs="unbounded"/>')}</xs:complexType></xs:element>`,
      )
      .join(''),
  )}`);

  it('is one table wherever it stands, although its type has no name', () => {
    expect(namesOf(changes, 3)).toEqual(['changes', 'add_column', 'create_table', 'column', 'use']);
    expect(namesOf(changes, 2)).toEqual(namesOf(changes, 3));
    expect(namesOf(changes, 1)).toEqual([
      'changes',
      'add_column',
      'create_table',
      'add_column_column',
      'create_table_column',
      'add_column_column_use',
      'create_table_column_use',
    ]);
  });

  it('comes back from there', async () => {
    const document =
      '<changes><addColumn><column name="a"><use>1</use></column></addColumn><createTable><column><use/><use>2</use></column><column name="b"><use/></column></createTable></changes>';
    for (const level of [1, 2, 3] as const) expect(await differences(changes, level, document)).toEqual([]);
  });
});

describe('a substitution group', () => {
  const kinds = Array.from({ length: 30 }, (_, at) => `Part${at}`);
  const members = kinds
    .map(
      (name, at) => `<xs:element name="${name}" type="${name}" substitutionGroup="Part"/>
      <xs:complexType name="${name}"><xs:complexContent><xs:extension base="Part">${sequence(at === 0 ? '<xs:element name="axis" type="xs:string"/>' : '')}</xs:extension></xs:complexContent></xs:complexType>`,
    )
    .join('');
  const machine = set(`${root('machine', '<xs:element ref="Part" maxOccurs="unbounded"/>')}
  <xs:element name="Part" type="Part" abstract="true"/>
  <xs:complexType name="Part">${sequence(
    Array.from(
      { length: 12 },
      (_, at) => `<xs:element name="value${at}" type="xs:string" minOccurs="0"/>`,
    ).join(''),
  )}</xs:complexType>${members}`);

  it('is one table where its members have the same columns, however many they are', () => {
    for (const level of [0, 1, 2, 3] as const)
      expect(namesOf(machine, level).filter((name) => !/value/.test(name))).toEqual(['machine', 'part']);
    expect(modelOf(machine, 1).tables[1]!.columns.map((column) => column.name)).toEqual([
      'part_key',
      'document_key',
      'machine_key',
      'position',
      'element',
      ...(modelOf(machine, 1).tables[1]!.columns.some((column) => column.name === 'type') ? ['type'] : []),
      ...Array.from({ length: 12 }, (_, at) => `value${at}`),
      'axis',
    ]);
  });

  it('comes back', async () => {
    const document =
      '<machine><Part3><value0>a</value0></Part3><Part0><value11/><axis>x</axis></Part0><Part29/></machine>';
    for (const level of [0, 1, 2, 3] as const)
      expect(await differences(machine, level, document)).toEqual([]);
  });
});

describe('a root that another may name as its type', () => {
  const wide = Array.from({ length: 220 }, (_, at) => `<xs:attribute name="w${at}"/>`).join('');
  const objects = set(`<xs:element name="Thing" type="Thing"/><xs:element name="Meter" type="Meter"/>
  <xs:complexType name="Thing"><xs:attribute name="id"/></xs:complexType>
  <xs:complexType name="Meter"><xs:complexContent><xs:extension base="Thing">${sequence('<xs:element name="reading" type="xs:int" minOccurs="0" maxOccurs="unbounded"/>')}${wide}</xs:extension></xs:complexContent></xs:complexType>`);

  it('has one table where types are reused', () => {
    expect(namesOf(objects, 3)).toEqual(['thing', 'meter', 'reading']);
  });

  it('comes back from there', async () => {
    for (const document of [
      '<Meter id="1" w5="2"><reading>3</reading></Meter>',
      '<Thing xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="Meter" id="1" w7="8"><reading>3</reading><reading>4</reading></Thing>',
      '<Thing id="9"/>',
    ])
      expect(await differences(objects, 3, document)).toEqual([]);
  });
});

describe('names that would be too long', () => {
  const long = 'SettlementInstructionsOfThePaymentTransaction';
  const message = set(`${root('Document', `<xs:element name="${long}" type="Message"/>`)}
  <xs:complexType name="Message">${sequence('<xs:element name="GroupHeader" type="Header"/><xs:element name="Transaction" type="Transaction" maxOccurs="unbounded"/>')}</xs:complexType>
  <xs:complexType name="Header">${sequence('<xs:element name="MessageIdentification" type="xs:string"/><xs:element name="CreationDateTime" type="xs:dateTime"/>')}</xs:complexType>
  <xs:complexType name="Transaction">${sequence('<xs:element name="Amount" type="xs:decimal"/>')}</xs:complexType>`);

  it('leave out the steps that all columns of the table have', () => {
    expect(modelOf(message, 3).tables[0]!.columns.map((column) => column.name)).toEqual([
      'document_row_key',
      'document_key',
      'group_header_message_identification',
      'group_header_creation_date_time',
    ]);
  });

  it('of keys leave out what the columns there do', () => {
    const wrapped = set(`${root('Document', `<xs:element name="${long}" type="Message"/>`)}
    <xs:complexType name="Message">${sequence('<xs:element name="InstructingAgent" type="Agent"/><xs:element name="InstructedAgent" type="Agent"/><xs:element name="MessageIdentification" type="xs:string"/>')}</xs:complexType>
    <xs:complexType name="Agent">${sequence('<xs:element name="Name" type="xs:string" maxOccurs="unbounded"/>')}<xs:attribute name="id"/></xs:complexType>`);
    const names = modelOf(wrapped, 3).tables.map(({ columns }) => columns.map((column) => column.name));
    expect(names[0]).toEqual([
      'document_row_key',
      'document_key',
      'instructing_agent_key',
      'instructed_agent_key',
      'message_identification',
    ]);
    expect(names[1]).toEqual(['agent_key', 'document_key', 'position', 'id']);
  });

  it('of keys are not those of another table', () => {
    const source =
      set(`${root('files', `<xs:element name="file" maxOccurs="unbounded"><xs:complexType>${sequence('<xs:element name="person" type="Organisation"/><xs:element name="owner" type="Organisation"/><xs:element name="reader" type="Person"/><xs:element name="writer" type="Person"/>')}</xs:complexType></xs:element>`)}
    <xs:complexType name="Organisation">${sequence('<xs:element name="Name" type="xs:string" maxOccurs="unbounded"/>')}<xs:attribute name="id"/></xs:complexType>
    <xs:complexType name="Person">${sequence('<xs:element name="Nick" type="xs:string" maxOccurs="unbounded"/>')}<xs:attribute name="id"/></xs:complexType>`);
    const { tables } = modelOf(source, 3);
    const file = tables.find(({ name }) => name === 'file')!;
    expect(
      file.columns.flatMap(({ name, role, references }) =>
        role === 'child_key' ? [`${name} -> ${tables[references!]!.name}`] : [],
      ),
    ).toEqual([
      'person_organisation_key -> organisation',
      'owner_key -> organisation',
      'reader_key -> person',
      'writer_key -> person',
    ]);
  });

  it('of keys end with what their table is called', () => {
    const name = 'DevelopmentOfEnvironmentalMeasurementsBySitesAndYears';
    const source = set(
      root(
        'list',
        `<xs:element name="${name}" maxOccurs="unbounded"><xs:complexType>${sequence('<xs:element name="site" type="xs:string" maxOccurs="unbounded"/>')}</xs:complexType></xs:element>`,
      ),
    );
    const key = 'of_environmental_measurements_by_sites_and_years_key';
    const { tables } = modelOf(source, 0);
    expect(tables[1]!.columns[0]!.name).toBe(key);
    expect(tables[2]!.columns[2]!.name).toBe(key);
  });
});

describe('a decimal', () => {
  it.each([
    [18, 2, 'numeric(18,2)'],
    [11, 10, 'numeric(21,10)'],
    [18, 17, 'numeric(35,17)'],
    [3, 3, 'numeric(6,3)'],
    [36, 30, 'numeric'],
    [9, 0, 'integer'],
  ])(
    'of %i digits, %i of them after the point, fits its column however they are divided',
    (total, fraction, type) => {
      const facets = `<xs:totalDigits value="${total}"/><xs:fractionDigits value="${fraction}"/>`;
      const source = set(
        root(
          'r',
          `<xs:element name="rate"><xs:simpleType><xs:restriction base="xs:decimal">${facets}</xs:restriction></xs:simpleType></xs:element>`,
        ),
      );
      expect(outline(modelOf(source, 1))).toContain(`rate ${type}!`);
    },
  );
});

const schemaOf = (namespace: string, prefix: string, body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:${prefix}="${namespace}" targetNamespace="${namespace}" elementFormDefault="qualified">${body}</xs:schema>`;

describe('elements that are called alike in several namespaces', () => {
  const checks = compileXsdSet(
    [
      {
        name: 'main.xsd',
        bytes: bytesOf(
          '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:main" xmlns:unix="urn:unix" xmlns:linux="urn:linux" targetNamespace="urn:main" elementFormDefault="qualified"><xs:import namespace="urn:unix" schemaLocation="unix.xsd"/><xs:import namespace="urn:linux" schemaLocation="linux.xsd"/><xs:element name="test"><xs:complexType><xs:sequence><xs:element name="file" type="xs:string" minOccurs="0"/><xs:element ref="unix:file" minOccurs="0"/><xs:element ref="linux:file" minOccurs="0"/><xs:element ref="linux:kernel" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:schema>',
        ),
      },
      {
        name: 'unix.xsd',
        bytes: bytesOf(
          schemaOf(
            'urn:unix',
            'unix',
            '<xs:element name="file"><xs:complexType><xs:attribute name="file_ref"/><xs:attribute name="mask"/></xs:complexType></xs:element>',
          ),
        ),
      },
      {
        name: 'linux.xsd',
        bytes: bytesOf(
          schemaOf(
            'urn:linux',
            'linux',
            '<xs:element name="file"><xs:complexType><xs:attribute name="file_ref"/></xs:complexType></xs:element><xs:element name="kernel" type="xs:string"/>',
          ),
        ),
      },
    ],
    { entries: ['main.xsd'] },
  ).model;

  it.each([1, 3] as const)(
    'have the prefix of theirs in names, and that of the root none (level %i)',
    (level) => {
      expect(
        modelOf(checks, level)
          .tables[0]!.columns.slice(2)
          .map(({ name }) => name),
      ).toEqual([
        'file',
        'unix_file_present',
        'unix_file_ref',
        'unix_file_mask',
        'linux_file_present',
        'linux_file_ref',
        'kernel',
      ]);
    },
  );
});
