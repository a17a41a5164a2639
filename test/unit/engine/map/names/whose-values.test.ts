/** Names that are too long say all the same whose a value is, and presence columns which element there is. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import type { MapLevel, RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compiled } from '../../../../support/models/shredding.ts';

const optional = 'minOccurs="0"';
const text = (name: string, more = ''): string => `<xs:element name="${name}" type="xs:string" ${more}/>`;
const of = (name: string, type: string, more = ''): string =>
  `<xs:element name="${name}" type="${type}" ${more}/>`;
const within = (name: string, content: string, more = ''): string =>
  `<xs:element name="${name}" ${more}><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>`;
const type = (name: string, content: string): string =>
  `<xs:complexType name="${name}"><xs:sequence>${content}</xs:sequence></xs:complexType>`;

function modelOf(types: string, root: string, mapLevel: MapLevel = 3): RelationalModel {
  const source = compiled(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${types}${root}</xs:schema>`,
  );
  return buildRelationalModel(source, { mapLevel });
}

/** Names of values and of presence columns, by the path below the table's row. */
function namesOf({ tables }: RelationalModel, table: string): Record<string, string> {
  const { columns, xpath } = tables.find(({ name }) => name === table)!;
  return Object.fromEntries(
    columns
      .filter(({ role }) => role === 'value' || role === 'presence')
      .map((column) => [
        `${column.xpath!.slice(xpath.length + 1)}${column.role === 'presence' ? '?' : ''}`,
        column.name,
      ]),
  );
}

const register = type(
  'Register',
  within('identityDetails', text('companyName', optional) + text('familyName', optional)),
);

describe('a name that is too long', () => {
  const invoice = within(
    'invoiceDocument',
    within('invoiceDocumentHeader', within('supplierParty', text('since') + of('registerData', 'Register'))) +
      within(
        'invoiceDocumentBody',
        within(
          'generalDetails',
          text('date') +
            within(
              'transportDetails',
              of('registerDataOfHaulier', 'Register', optional) + text('vehicle', optional),
              optional,
            ),
        ),
      ),
  );

  it('says whose the value is, and which element there is', () => {
    const supplier = 'invoiceDocumentHeader/supplierParty';
    const transport = 'invoiceDocumentBody/generalDetails/transportDetails';
    expect(namesOf(modelOf(register, invoice), 'invoice_document')).toEqual({
      [`${supplier}/since`]: 'supplier_party_since',
      [`${supplier}/registerData/identityDetails/companyName`]: 'supplier_party_company_name',
      [`${supplier}/registerData/identityDetails/familyName`]: 'supplier_party_family_name',
      'invoiceDocumentBody/generalDetails/date': 'general_details_date',
      [`${transport}?`]: 'transport_details_present',
      [`${transport}/registerDataOfHaulier?`]: 'register_data_of_haulier_present',
      [`${transport}/registerDataOfHaulier/identityDetails/companyName`]:
        'register_data_of_haulier_company_name',
      [`${transport}/registerDataOfHaulier/identityDetails/familyName`]:
        'register_data_of_haulier_family_name',
      [`${transport}/vehicle`]: 'transport_details_vehicle',
    });
  });

  it('says it of the only party of a row, too, where another row has several', () => {
    const parties = ['sender', 'receiver'].map((name) => of(`${name}Party`, 'Register')).join('');
    const note = within(
      'deliveryNote',
      text('issued') +
        within(
          'generalTransportationDetails',
          of('contractedHaulierOfGoods', 'Register') + text('from'),
          optional,
        ),
      'maxOccurs="unbounded"',
    );
    const model = modelOf(register, within('notes', within('parties', parties) + note));
    expect(Object.values(namesOf(model, 'delivery_note'))).toEqual([
      'issued',
      'contracted_haulier_of_goods_company_name',
      'contracted_haulier_of_goods_family_name',
      'general_transportation_details_from',
    ]);
  });

  it('keeps the party in all columns of it where another party has the same parts', () => {
    const parts = of('masterDataOfThePerson', 'Register') + of('registeredAddress', 'Address');
    const parties =
      within(
        'transferringParty',
        parts + within('commercialRegisterEntry', text('office') + text('shareCapital')),
      ) + within('commissioningParty', parts);
    const types = register + type('Address', text('streetAndHouseNumber') + text('town'));
    const names = Object.values(namesOf(modelOf(types, within('deal', text('id') + parties)), 'deal'));
    expect(names.slice(1)).toEqual([
      'transferring_party_company_name',
      'transferring_party_family_name',
      'transferring_party_street_and_house_number',
      'transferring_party_town',
      'transferring_party_commercial_register_entry_office',
      'transferring_party_share_capital',
      'commissioning_party_company_name',
      'commissioning_party_family_name',
      'commissioning_party_street_and_house_number',
      'commissioning_party_town',
    ]);
  });

  it('is not one that readers could take for that of another party, as they see words alone', () => {
    const contact = type('Contact', text('electronicMailAddress'));
    const parties = ['contactInformation', 'privateContactInformation', 'emergencyContactInformation'];
    const root = within(
      'organisation',
      text('id') + within('administrationDetails', parties.map((name) => of(name, 'Contact')).join('')),
    );
    expect(Object.values(namesOf(modelOf(contact, root), 'organisation')).slice(1)).toEqual([
      'contact_information_electronic_mail_address',
      'private_contact_information_electronic_mail_address',
      'emergency_contact_information_electronic_mail_address',
    ]);
  });

  it('keeps the role of a party where rows have several parties, though this row has one', () => {
    const note = within(
      'note',
      text('id') + within('transportInformation', of('haulierParty', 'Party') + text('from')),
      'maxOccurs="9"',
    );
    const parties = of('sellerParty', 'Party') + of('buyerParty', 'Party');
    const types = type('Party', text('officialRegistrationNumber', optional) + text('taxNumber', optional));
    const names = namesOf(modelOf(types, within('notes', within('head', parties) + note)), 'note');
    expect(Object.values(names)).toContain('haulier_party_official_registration_number');
  });

  it('says what an id or a code is of', () => {
    const country = type('Country', text('IdentificationCode') + text('Name'));
    const root = within(
      'TouchPoint',
      text('Id') + within('CompanyPostalAddress', of('Country', 'Country') + text('City')),
    );
    expect(Object.values(namesOf(modelOf(country, root, 1), 'touch_point'))).toContain(
      'country_identification_code',
    );
  });

  it('of a column beside an element says which', () => {
    const nested = within(
      'organisationalStructure',
      within(
        'administrativeInformation',
        within('correspondenceAddress', text('town', optional), optional) + text('note', optional),
        optional,
      ),
    );
    const model = modelOf('', within('unit', text('id') + nested));
    const names = namesOf(model, 'unit');
    for (const [path, name] of Object.entries(names).filter(([one]) => one.endsWith('?')))
      expect(name).toBe(
        `${path.includes('correspondence') ? 'correspondence_address' : 'administrative_information'}_present`,
      );
    expect(Object.keys(names).filter((path) => path.endsWith('?'))).toHaveLength(2);
  });
});
