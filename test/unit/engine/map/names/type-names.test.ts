/** What standards write into names and a person leaves out: the set, the version, that it is a type, a wrapper around everything. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import { typeNames } from '../../../../../src/engine/map/names/type-names.ts';
import { pruneSourceModel } from '../../../../../src/engine/map/prune.ts';
import type { RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../../src/engine/model/source-model.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { bytesOf, compiled, modelOf, statisticsOf } from '../../../../support/models/shredding.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;

/** Each type has its own attribute, and is used by two elements: `a0`, `b0`, `a1`, `b1` … */
function typed(names: readonly string[], more = ''): SourceModel {
  const uses = names.flatMap((name, at) =>
    ['a', 'b'].map((word) => `<xs:element name="${word}${at}x" type="${name}" maxOccurs="9"/>`),
  );
  const types = names.map(
    (name, at) => `<xs:complexType name="${name}"><xs:attribute name="own${at}"/></xs:complexType>`,
  );
  return compiled(
    xs(
      `<xs:element name="r"><xs:complexType><xs:sequence>${uses.join('')}${more}</xs:sequence></xs:complexType></xs:element>${types.join('')}`,
    ),
  );
}

const namesOf = (names: readonly string[], more?: string): string[] => {
  const source = typed(names, more);
  const given = typeNames(source);
  return names.map((name) => given.get(source.types.findIndex((type) => type.name?.localName === name))!);
};

const rename = (name: string): string =>
  name.replace(/^party_identification/, 'party_identification32').replace(/^rate/, 'rate1');

const nameBeside = (type: string, more: string): string => {
  const source = compiled(
    xs(`<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="way" type="${type}" maxOccurs="9"/>${more}</xs:sequence></xs:complexType></xs:element>
    <xs:complexType name="${type}"><xs:attribute name="n"/></xs:complexType><xs:complexType name="Other"><xs:attribute name="m"/></xs:complexType>
    <xs:complexType name="Product"><xs:attribute name="p"/></xs:complexType>`),
  );
  return typeNames(source).get(source.types.findIndex((one) => one.name?.localName === type))!;
};

describe('a shared type', () => {
  it('is called without the letter that says it is a type', () => {
    const names = ['TEndereco', 'TVeiculo', 'TLocal', 'TNFe', 'TProtNFe', 'Transport', 'TIpi'];
    expect(namesOf(names)).toEqual(['Endereco', 'Veiculo', 'Local', 'NFe', 'ProtNFe', 'Transport', 'Ipi']);
    expect(namesOf(['tEndEvent', 'tUserTask', 'tLane', 'tError', 'tGroup', 'Text']).slice(3)).toEqual([
      'Error',
      'Group',
      'Text',
    ]);
    // of few names it may be a letter of theirs
    expect(namesOf(['TEndereco', 'Veiculo', 'XBar'])).toEqual(['TEndereco', 'Veiculo', 'XBar']);
    expect(namesOf(['XMLName', 'XMLText', 'XMLMark', 'XMLNode', 'XMLUnit'])[0]).toBe('XMLName');
    expect(['TWay', 'tWay', 'Tway', 'TWays'].map((type) => nameBeside(type, ''))).toEqual([
      'way',
      'way',
      'Tway',
      'TWays',
    ]);
  });

  it('is called as its elements rather than as a type, or as another', () => {
    const other = '<xs:element name="ViaName" type="Other"/>';
    expect(nameBeside('ViaNameStructure', '')).toBe('ViaName');
    expect(nameBeside('ViaNameStructure', other)).toBe('way');
    expect(nameBeside('ViaNameStructure', `${other}<xs:element name="via" type="ViaNameStructure"/>`)).toBe(
      'ViaNameStructure',
    );
    expect(nameBeside('ProductType', '<xs:element name="product" type="Product"/>')).toBe('way');
    expect(nameBeside('ProductType', '')).toBe('way');
    expect(nameBeside('Call_VersionedChildStructure', '')).toBe('Call');
  });

  it.each([
    [
      ['PartyIdentification32', 'Amount2Choice', 'Rate1'],
      ['PartyIdentification', 'AmountChoice', 'Rate'],
    ],
    [
      [
        'POCD_MT000040.Act',
        'POCD_MT000040.Author',
        'POCD_MT000040.Entry',
        'POCD_MT000040.Place',
        'POCD_MT000040.Person',
      ],
      ['Act', 'Author', 'Entry', 'Place', 'Person'],
    ],
    [
      ['Line_VersionStructure', 'linesInFrame_RelStructure', 'AddressType'],
      ['Line', 'linesInFrame', 'Address'],
    ],
    // what two could be called neither is
    [
      ['Party8', 'Party9', 'Data_VersionStructure', 'Data_RelStructure'],
      ['Party8', 'Party9', 'Data_VersionStructure', 'Data_RelStructure'],
    ],
    // a short word with its number, a year, words of their own
    [
      ['Iso4', 'CP1252', 'Report2024', 'prototype', 'Type7Type'],
      ['Iso4', 'CP1252', 'Report2024', 'prototype', 'Type'],
    ],
    // too few to be a prefix of the set
    [
      ['a_One', 'a_Two', 'b_One'],
      ['a_One', 'a_Two', 'b_One'],
    ],
  ])('%j is called %j', (types, expected) => {
    expect(namesOf(types)).toEqual(expected);
    expect(namesOf(types.toReversed())).toEqual(expected.toReversed());
  });

  it('leaves an element of another type its name', () => {
    const line =
      '<xs:element name="line" maxOccurs="9"><xs:complexType><xs:attribute name="z"/></xs:complexType></xs:element>';
    expect(namesOf(['Line_VersionStructure'])).toEqual(['Line']);
    expect(namesOf(['Line_VersionStructure'], line)).toEqual(['Line_VersionStructure']);
  });

  it('has that name as a table', () => {
    const { tables } = modelOf(typed(['PartyIdentification32', 'Rate1']), 3);
    expect(tables.map(({ name }) => name)).toEqual(['r', 'party_identification', 'rate']);
    expect(tables[1]!.columns[0]!.name).toBe('party_identification_key');
  });

  it('keeps the name that it has in the earlier version of the model', () => {
    const source = typed(['PartyIdentification32', 'Rate1']);
    const model = modelOf(source, 3);
    const earlier: RelationalModel = {
      ...model,
      tables: model.tables.map((table) => ({
        ...table,
        name: rename(table.name),
        columns: table.columns.map((column) => ({ ...column, name: rename(column.name) })),
      })),
    };
    const later = buildRelationalModel(typed(['PartyIdentification32', 'Rate1', 'Charge3']), {
      mapLevel: 3,
      previous: earlier,
    });
    expect(later.tables.map(({ name }) => name)).toEqual(['r', 'party_identification32', 'rate1', 'charge']);
    expect(later.tables[1]!.columns[0]!.name).toBe('party_identification32_key');
  });
});

const statement = (more = '', attribute = ''): string =>
  xs(`<xs:element name="Document"><xs:complexType><xs:sequence><xs:element name="Stmt"><xs:complexType><xs:sequence>
    <xs:element name="GrpHdr"><xs:complexType><xs:sequence><xs:element name="MsgId" type="xs:string"/><xs:element name="Note" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="Ntry" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="amt" type="xs:decimal"/></xs:complexType></xs:element>
    </xs:sequence><xs:attribute name="lang"/></xs:complexType></xs:element>${more}</xs:sequence>${attribute}</xs:complexType></xs:element>`);

const columnsOf = ({ tables }: RelationalModel, table: number): (readonly [string, string | null])[] =>
  tables[table]!.columns.filter(({ role }) => role === 'value').map(
    ({ name, xpath }) => [name, xpath] as const,
  );

describe('a wrapper around all that an element holds', () => {
  it('is left out of names, here and in keys, and comes back', async () => {
    const source = compiled(statement());
    for (const level of [1, 3] as const) {
      const model = modelOf(source, level);
      expect(columnsOf(model, 0)).toEqual([
        ['lang', '/Document/Stmt/@lang'],
        ['grp_hdr_msg_id', '/Document/Stmt/GrpHdr/MsgId'],
        ['grp_hdr_note', '/Document/Stmt/GrpHdr/Note'],
      ]);
      expect(model.tables[1]!.columns.map(({ name }) => name)).toEqual([
        'ntry_key',
        'document_key',
        'document_row_key',
        'position',
        'amt',
      ]);
      const document =
        '<Document><Stmt lang="en"><GrpHdr><MsgId>1</MsgId></GrpHdr><Ntry amt="2.5"/><Ntry/></Stmt></Document>';
      const [written] = await roundTrip(model, [document]);
      expect(compareXml(bytesOf(document), written!, { source })).toEqual([]);
    }
  });

  it('is told where something may stand beside it, though no document has it', () => {
    const told = (xsd: string): string => columnsOf(modelOf(compiled(xsd), 3), 0).at(-1)![0];
    expect(
      told(statement('<xs:element name="Sgntr" type="xs:string" minOccurs="0"/>').replace('MsgId', 'MsgNb')),
    ).toBe('sgntr');
    expect(columnsOf(modelOf(compiled(statement('', '<xs:attribute name="version"/>')), 3), 0)[1]![0]).toBe(
      'stmt_lang',
    );
    const source = compiled(statement('<xs:element name="Sgntr" type="xs:string" minOccurs="0"/>'));
    const statistics = statisticsOf(['<Document><Stmt><GrpHdr><MsgId>1</MsgId></GrpHdr></Stmt></Document>']);
    const pruned = buildRelationalModel(pruneSourceModel(source, statistics), {
      mapLevel: 3,
      met: { statistics, declared: source },
    });
    expect(columnsOf(pruned, 0)).toEqual([['stmt_grp_hdr_msg_id', '/Document/Stmt/GrpHdr/MsgId']]);
  });
});
