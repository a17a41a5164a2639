/** Names of tables and columns. */
import { describe, expect, it } from 'vitest';
import {
  byteLength,
  defaultNaming,
  fittingName,
  identifierOf,
  joinedSteps,
  NameScope,
  shortenName,
  type NamingOptions,
} from '../../../../src/engine/map/names/identifiers.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { hasOwnPrefix, sideTableNames } from '../../../../src/engine/model/side-tables.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';
import { createStepChooser } from '../../../../src/engine/map/names/distinctive-steps.ts';

const shorten = (steps: readonly string[], maxBytes: number): string =>
  fittingName(steps.join('_'), maxBytes - 9, steps);

describe('names of tables and columns', () => {
  it.each([
    ['shipTo', 'ship_to'],
    ['HTTPStatus-Code', 'http_status_code'],
    ['IBAN', 'iban'],
    ['GrpHdr', 'grp_hdr'],
    ['UBLVersionID', 'ubl_version_id'],
    ['größe', 'größe'],
    ['a.b', 'a_b'],
    ['_x_', 'x'],
    ['Line2Text', 'line2_text'],
  ])('%s becomes %s', (local, name) => {
    expect(identifierOf(local, 'l')).toBe(name);
  });

  it('keeps the source spelling or goes upper case on request', () => {
    expect(identifierOf('shipTo', 'c')).toBe('shipTo');
    expect(identifierOf('shipTo', 'u')).toBe('SHIP_TO');
  });

  it('shortens by bytes, with a suffix that depends on the path alone', () => {
    const long = 'ü'.repeat(60);
    const short = shortenName(long, '/a/b', 63);
    expect(byteLength(short)).toBeLessThanOrEqual(63);
    expect(short).toBe(shortenName(long, '/a/b', 63));
    expect(short).not.toBe(shortenName(long, '/a/c', 63));
    expect(shortenName('plain', '/a/b', 63)).toBe('plain');
  });

  it('leaves out steps in the middle: what a value is stands at the end, whose it is at the start', () => {
    const buyer = ['buyer', 'tax_representative', 'postal_address', 'country_code'];
    expect(shorten(buyer, 44)).toBe('buyer_postal_address_country_code');
    expect(shorten(buyer, 40)).toBe('buyer_postal_country_code');
    expect(shorten(buyer, 30)).toBe('buyer_country_code');
    // words of a step that is too long alone, from its start and its end
    expect(shorten(['third_intermediary_or_issuing_party', 'party', 'tax_code'], 40)).toBe(
      'third_intermediary_or_tax_code',
    );
    expect(shorten(['party', 'identification_of_the_registered_office'], 40)).toBe(
      'identification_of_the_office',
    );
    expect(shorten([`${'x'.repeat(60)}`], 40)).toBe('x'.repeat(31));
    for (let limit = 10; limit < 60; limit += 1)
      expect(byteLength(fittingName(buyer.join('_'), limit, buyer))).toBeLessThanOrEqual(limit);
  });

  it('keep the steps that tell which of the columns it is, where those are known', () => {
    const invoice = 'supply_chain_trade_transaction';
    const columns = ['agreement', 'delivery', 'settlement'].flatMap((part) => [
      [invoice, `header_trade_${part}`, 'buyer_order_document', 'issue_date_time', 'format'],
      [invoice, `header_trade_${part}`, 'contract_document', 'issue_date_time', 'format'],
      [invoice, `header_trade_${part}`, 'code'],
    ]);
    columns.push(
      ['exchanged_document', 'code'],
      [invoice, 'header_trade_settlement', 'monetary_summation', 'total'],
    );
    const choose = createStepChooser({ paths: () => columns });
    const chosen = (path: readonly string[], maxBytes: number): string =>
      choose.shorten(path, maxBytes).join('_');
    expect(columns.map((path) => chosen(path, 54))).toEqual([
      'header_trade_agreement_buyer_order_document_format',
      'header_trade_agreement_contract_document_format',
      'header_trade_agreement_code',
      'header_trade_delivery_buyer_order_document_format',
      'header_trade_delivery_contract_document_format',
      'header_trade_delivery_code',
      'header_trade_settlement_buyer_order_document_format',
      'header_trade_settlement_contract_document_format',
      'header_trade_settlement_code',
      'exchanged_document_code',
      'header_trade_settlement_monetary_summation_total',
    ]);
    expect(chosen(columns.at(-1)!, 30)).toBe('monetary_summation_total');
    expect(chosen(columns.at(-1)!, 18)).toBe('monetary_total');
    expect(chosen(columns.at(-1)!, 4)).toBe('total');
  });

  it('tells names apart whatever their case', () => {
    const scope = new NameScope(63);
    expect(scope.claimName(['Name'], '/a')).toBe('Name');
    expect(scope.claimName(['name', 'name_2'], '/b')).toBe('name_2');
    expect(scope.claimName(['NAME'], '/c')).toBe('NAME_3');
    expect(scope.claimName(['names'], '/d')).toBe('names');
  });

  it('number names that are alike within the limit, and say the path of more than 99 by a hash', () => {
    const scope = new NameScope(12);
    const names = Array.from({ length: 101 }, (_, at) => scope.claimName(['party_name_key'], `/p${at}`));
    expect(new Set(names).size).toBe(101);
    expect(names.slice(0, 3)).toEqual(['party_key', 'party_key_2', 'party_key_3']);
    expect(names.filter((name) => /_[0-9a-f]{8}$/.test(name))).toHaveLength(2);
    expect(names.filter((name) => byteLength(name) > 12)).toEqual([]);
  });

  it('say words once that one step ends and the next begins with', () => {
    expect(joinedSteps(['notice_sub_type', 'sub_type_code', 'list_name'])).toBe(
      'notice_sub_type_code_list_name',
    );
    expect(joinedSteps(['party', 'party'])).toBe('party');
    expect(joinedSteps(['party', 'name', 'party'])).toBe('party_name_party');
  });
});

const party = (name: string, more = ''): string =>
  `<xs:element name="${name}" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="ResponsiblePartyIdentification"><xs:complexType><xs:sequence>
      <xs:element name="RegisteredCountryCode" type="xs:string"/><xs:element name="RegisteredCityName" type="xs:string" minOccurs="0"/>${more}
    </xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>`;
const postalDistrict = '<xs:element name="RegisteredPostalDistrictCode" type="xs:string"/>';
const deal = (more = ''): SourceModel =>
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="Deal"><xs:complexType><xs:sequence>
      <xs:element name="Id" type="xs:string"/>${party('SellerOrItsAgent', postalDistrict)}${party('BuyerOrItsAgent')}${more}
    </xs:sequence></xs:complexType></xs:element></xs:schema>`);
const namedValues = ({ tables }: RelationalModel): (readonly [string, string | null])[] =>
  tables[0]!.columns.filter(({ role }) => role === 'value').map(({ name, xpath }) => [name, xpath] as const);

/** As it was made of all steps. */
function longName(xpath: string): string {
  const name = xpath
    .slice('/Deal/'.length)
    .split('/')
    .map((step) => identifierOf(step, 'l'))
    .join('_');
  return shortenName(name, xpath, 63);
}

const described = (name: string): string =>
  `<xs:element name="${name}" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="QualifyingDescription"><xs:complexType><xs:sequence>
    <xs:element name="TranslatedText" type="xs:string" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>`;

describe('names of long paths', () => {
  const expected = [
    ['id', '/Deal/Id'],
    [
      'seller_or_its_agent_registered_country_code',
      '/Deal/SellerOrItsAgent/ResponsiblePartyIdentification/RegisteredCountryCode',
    ],
    [
      'seller_or_its_agent_registered_city_name',
      '/Deal/SellerOrItsAgent/ResponsiblePartyIdentification/RegisteredCityName',
    ],
    [
      'seller_or_its_agent_registered_postal_district_code',
      '/Deal/SellerOrItsAgent/ResponsiblePartyIdentification/RegisteredPostalDistrictCode',
    ],
    [
      'buyer_or_its_agent_registered_country_code',
      '/Deal/BuyerOrItsAgent/ResponsiblePartyIdentification/RegisteredCountryCode',
    ],
    [
      'buyer_or_its_agent_registered_city_name',
      '/Deal/BuyerOrItsAgent/ResponsiblePartyIdentification/RegisteredCityName',
    ],
  ];

  it('leave out what tells nothing, and say all that tells columns apart', () => {
    expect(namedValues(buildRelationalModel(deal(), { mapLevel: 3 }))).toEqual(expected);
  });

  it('are shortened alike where they lie in one element, as far as that tells all of them apart', () => {
    const address = (name: string, more = ''): string =>
      element(name, element('PostalAddress', text('City') + text('SubordinateDivision') + more));
    const company = (more = ''): string => element('RegisteredCompany', address('Headquarters') + more);
    expect(namesOf(company())).toEqual(['postal_address_city', 'postal_address_subordinate_division']);
    // the city of another could be meant
    expect(namesOf(company(element('PostalAddress', text('City'))))).toEqual([
      'headquarters_postal_address_city',
      'headquarters_subordinate_division',
      'registered_company_postal_address_city',
    ]);
  });

  it('of tables leave out steps that no other table could be meant without', () => {
    const source =
      compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="Study"><xs:complexType><xs:sequence>
      ${described('TransitionTimingConstraint')}${described('ItemGroup')}</xs:sequence></xs:complexType></xs:element></xs:schema>`);
    expect(buildRelationalModel(source, { mapLevel: 1 }).tables.map(({ name }) => name)).toEqual([
      'study',
      'transition_timing_constraint',
      'item_group',
      'transition_timing_constraint_translated_text',
      'item_group_translated_text',
    ]);
  });

  it('are renamed by the name that they have', () => {
    const rename = new Map([['seller_or_its_agent_registered_city_name', 'seller_city']]);
    const model = buildRelationalModel(deal(), { mapLevel: 3, naming: { ...defaultNaming, rename } });
    expect(namedValues(model)[2]).toEqual(['seller_city', expected[2]![1]]);
  });

  it('stay as the earlier version of the model has them, whatever comes beside them', () => {
    const model = buildRelationalModel(deal(), { mapLevel: 3 });
    const earlier: RelationalModel = {
      ...model,
      tables: model.tables.map((table) => ({
        ...table,
        columns: table.columns.map((column) =>
          column.role === 'value' ? { ...column, name: longName(column.xpath!) } : column,
        ),
      })),
    };
    expect(namedValues(earlier)[1]![0]).toMatch(/_[0-9a-f]{8}$/);
    const later = buildRelationalModel(deal(party('BrokerOrItsAgent')), { mapLevel: 3, previous: earlier });
    expect(namedValues(later).slice(0, expected.length)).toEqual(namedValues(earlier));
    expect(
      namedValues(later)
        .slice(expected.length)
        .map(([name]) => name),
    ).toEqual(['broker_or_its_agent_registered_country_code', 'broker_or_its_agent_registered_city_name']);
  });
});

const element = (name: string, within: string): string =>
  `<xs:element name="${name}" minOccurs="0"><xs:complexType><xs:choice>${within}</xs:choice></xs:complexType></xs:element>`;
const text = (name: string): string => `<xs:element name="${name}" type="xs:string" minOccurs="0"/>`;
const namesOf = (within: string): string[] =>
  buildRelationalModel(
    compiled(
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="Entry"><xs:complexType><xs:sequence>${within}</xs:sequence></xs:complexType></xs:element></xs:schema>`,
    ),
    { mapLevel: 3 },
  )
    .tables[0]!.columns.filter(({ role }) => role === 'value')
    .map(({ name }) => name);

describe('words that names would repeat', () => {
  it('are said once', () => {
    expect(namesOf(element('BookgDt', text('Dt') + text('DtTm')))).toEqual(['bookg_dt', 'bookg_dt_tm']);
    expect(namesOf(element('StatusCode', text('Code') + text('CodeSystem') + text('DisplayName')))).toEqual([
      'status_code',
      'status_code_system',
      'status_code_display_name',
    ]);
  });

  it.each([
    [
      'another column has that name',
      element('BookgDt', text('Dt')) + text('bookgDt'),
      ['bookg_dt_dt', 'bookg_dt'],
    ],
    [
      'a sibling could have it',
      element('FrToDt', text('FrDtTm') + text('ToDtTm')),
      ['fr_to_dt_fr_dt_tm', 'fr_to_dt_to_dt_tm'],
    ],
    [
      'they say which of several it is',
      element('CdOrPrtry', text('Cd') + text('Prtry')),
      ['cd_or_prtry_cd', 'cd_or_prtry_prtry'],
    ],
  ])('are repeated where %s', (_, within, names) => {
    expect(namesOf(within)).toEqual(names);
  });
});

describe('a name of structure that a value has', () => {
  it('makes way with a name of its own', () => {
    const { tables } = modelOf(
      compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>
        <xs:element name="i" maxOccurs="9"><xs:complexType><xs:attribute name="position"/><xs:attribute name="i_key"/><xs:attribute name="r_key"/></xs:complexType></xs:element>
      </xs:sequence></xs:complexType></xs:element></xs:schema>`),
      3,
    );
    expect(tables[1]!.columns.map(({ role, name }) => [role, name])).toEqual([
      ['row_key', 'i_row_key'],
      ['document', 'document_key'],
      ['parent_key', 'r_i_key'],
      ['position', '_position'],
      ['value', 'position'],
      ['value', 'i_key'],
      ['value', 'r_key'],
    ]);
  });
});

describe('names that mean something else', () => {
  const attributes = ['document_key', 'document-key', 'DocumentKey']
    .map((name) => `<xs:attribute name="${name}"/>`)
    .join('');
  const repeated = ['_svc_staging_1_deadbeef_x', '_SVC_', '_Documents', 'document_key', 'Key']
    .map(
      (name) =>
        `<xs:element name="${name}" maxOccurs="3"><xs:complexType>${attributes}</xs:complexType></xs:element>`,
    )
    .join('');
  const roots = ['Document', 'document', '_svc_staging_7_0123abcd', '_svc', '_keys', 'order'];
  const source = (root: string) =>
    compiled(
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="${root}"><xs:complexType><xs:sequence>${repeated}</xs:sequence>${attributes}</xs:complexType></xs:element></xs:schema>`,
    );
  const namings = [
    {},
    { nameMode: 'u' },
    { nameMode: 'c' },
    { maxBytes: 12 },
    { maxBytes: 13, nameMode: 'c' },
    { tablePrefix: '_' },
    { tablePrefix: '_svc', nameMode: 'c' },
    { tablePrefix: 'in_', maxBytes: 12 },
    { tableSuffix: '_document', maxBytes: 14 },
    { rename: new Map([['order', 'document']]) },
    {
      rename: new Map([
        ['order', '_svc_order'],
        ['key', '_SVC_key'],
      ]),
    },
    { rename: new Map([['document_key_2', 'document_key']]) },
  ] as const;

  it.each(namings.map((naming) => [naming]))('are nobody else’s, with %o', (given) => {
    for (const root of roots) {
      for (const mapLevel of [0, 3] as const) {
        const naming = { ...defaultNaming, ...given };
        const { tables } = buildRelationalModel(source(root), { mapLevel, naming });
        const reserved = new Set<string>(Object.values(sideTableNames));
        for (const { name, columns } of tables) {
          expect(hasOwnPrefix(name) || reserved.has(name.toLowerCase()), name).toBe(false);
          expect(byteLength(name)).toBeLessThanOrEqual(naming.maxBytes);
          for (const column of columns)
            expect(column.name.toLowerCase() === 'document_key', `${root}: ${name}.${column.name}`).toBe(
              column.role === 'document',
            );
        }
      }
    }
  });

  it('leave a table’s own key, and the keys to it, the name of the table and of the row', () => {
    const naming = { ...defaultNaming, nameMode: 'u' } as const;
    const [root, child] = buildRelationalModel(source('Document'), { mapLevel: 0, naming }).tables;
    expect(root!.columns.slice(0, 2).map(({ name }) => name)).toEqual(['DOCUMENT_ROW_KEY', 'DOCUMENT_KEY']);
    expect(child!.columns.slice(1, 3).map(({ name }) => name)).toEqual(['DOCUMENT_KEY', 'DOCUMENT_ROW_KEY']);
  });
});

const columnsOf = (elements: readonly string[], options: Partial<NamingOptions> = {}) =>
  buildRelationalModel(
    compiled(
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>${elements
        .map((name) => `<xs:element name="${name}" type="xs:string"/>`)
        .join('')}</xs:sequence></xs:complexType></xs:element></xs:schema>`,
    ),
    { mapLevel: 3, naming: { ...defaultNaming, ...options } },
  )
    .tables[0]!.columns.filter(({ role }) => role === 'value')
    .map(({ name }) => name);

describe('names that targets keep for columns of their own', () => {
  it('are given to no column', () => {
    expect(
      columnsOf(['ctid', 'xmin', 'xmax', 'ymin', 'tableoid', 'oid', 'rowid', 'DB_ROW_ID', 'level']),
    ).toEqual([
      'ctid_value',
      'xmin_value',
      'xmax_value',
      'ymin',
      'tableoid_value',
      'oid',
      'rowid_value',
      'db_row_id_value',
      'level',
    ]);
  });

  it('are none in any case of letters, nor with underscores as in the source', () => {
    expect(columnsOf(['XMin', 'cMax'], { nameMode: 'u' })).toEqual(['X_MIN', 'C_MAX']);
    expect(columnsOf(['XMIN', 'Ctid'], { nameMode: 'u' })).toEqual(['XMIN_VALUE', 'CTID_VALUE']);
    expect(
      columnsOf(['Ctid', '_file', '_FILE_NAME', '__root__', '_PARTITIONTIME', '_metadata', '_mine'], {
        nameMode: 'c',
      }),
    ).toEqual(['Ctid_value', 'file', 'FILE_NAME', 'root__', 'PARTITIONTIME', 'metadata', '_mine']);
  });

  it('leave a name that is taken to whoever has it, and fit the shortest limit', () => {
    expect(columnsOf(['xmin_value', 'xmin'])).toEqual(['xmin_value', 'xmin_2']);
    expect(columnsOf(['tableoid', 'cmin'], { maxBytes: 12 })).toEqual(['tableoid_2', 'cmin_value']);
  });
});

const tablesOf = (options: Partial<NamingOptions> = {}) =>
  buildRelationalModel(
    compiled(
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="sqlite_master"><xs:complexType><xs:sequence>
        <xs:element name="SQLite_Seq" type="xs:string" maxOccurs="9"/><xs:element name="sqlitemaster" type="xs:string" maxOccurs="9"/>
        <xs:element name="sqlite" type="xs:string" maxOccurs="9"/><xs:element name="my_sqlite_x" type="xs:string" maxOccurs="9"/>
      </xs:sequence></xs:complexType></xs:element></xs:schema>`,
    ),
    { mapLevel: 3, naming: { ...defaultNaming, ...options } },
  ).tables.map(({ name }) => name);

describe('names that SQLite keeps for tables of its own', () => {
  it('are given to no table', () => {
    expect(tablesOf()).toEqual(['xml_sqlite_master', 'sq_lite_seq', 'sqlitemaster', 'sqlite', 'my_sqlite_x']);
    expect(tablesOf({ nameMode: 'c' })[1]).toBe('xml_SQLite_Seq');
    expect(tablesOf({ tablePrefix: 'x_' })[0]).toBe('x_sqlite_master');
    expect(tablesOf({ maxBytes: 14 })[0]).toBe('xml_sqlite_mas');
  });
});
