/** Long names of what an element is in a role, of values that say all themselves, and of what is said about ids and codes. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import type { MapLevel, RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compiled } from '../../../../support/models/shredding.ts';

const field = (name: string, type = 'xs:string'): string =>
  `<xs:element name="${name}" type="${type}" minOccurs="0"/>`;
const kind = (name: string, ...fields: string[]): string =>
  `<xs:complexType name="${name}"><xs:sequence>${fields.join('')}</xs:sequence></xs:complexType>`;

const types = [
  kind('MonetaryTotalType', field('LineExtensionAmount'), field('PayableAmount')),
  kind('CountryType', field('IdentificationCode', 'CodeType'), field('NameOfTheCountryInFull')),
  kind('AddressType', field('Country', 'CountryType'), field('AdditionalStreetName', 'CodeType')),
  kind('DocumentReferenceType', field('IssueDate')),
  kind('ContractTermsType', field('MaximumNumberNumeric'), field('ContractConstraintIndicator')),
  '<xs:complexType name="CodeType"><xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="listAgencyID"/></xs:extension></xs:simpleContent></xs:complexType>',
];

function modelWith(within: string, more = '', mapLevel: MapLevel = 3): RelationalModel {
  const root = `<xs:element name="Invoice"><xs:complexType><xs:sequence>${within}</xs:sequence></xs:complexType></xs:element>`;
  const source = compiled(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${types.join('')}${more}${root}</xs:schema>`,
  );
  return buildRelationalModel(source, { mapLevel });
}

/** By path of the value. */
function namesOf(model: RelationalModel): Record<string, string> {
  return Object.fromEntries(
    model.tables.flatMap(({ columns }) =>
      columns.flatMap(({ role, xpath, name }) =>
        role === 'value' ? [[xpath!.replace('/Invoice/', ''), name]] : [],
      ),
    ),
  );
}

describe('a long name', () => {
  it('says no role where the row has one of that kind', () => {
    const total = field('AnticipatedMonetaryTotal', 'MonetaryTotalType');
    expect(namesOf(modelWith(total))).toEqual({
      'AnticipatedMonetaryTotal/LineExtensionAmount': 'monetary_total_line_extension_amount',
      'AnticipatedMonetaryTotal/PayableAmount': 'monetary_total_payable_amount',
    });
  });

  it('says the role where there are several, as far as it tells them apart', () => {
    const countries =
      field('OriginalDepartureCountry', 'CountryType') + field('FinalDestinationCountry', 'CountryType');
    const names = namesOf(modelWith(countries));
    expect(names['OriginalDepartureCountry/IdentificationCode']).toBe(
      'departure_country_identification_code',
    );
    expect(names['FinalDestinationCountry/IdentificationCode']).toBe(
      'destination_country_identification_code',
    );
    const alike = namesOf(
      modelWith(
        field('PlannedDepartureCountry', 'CountryType') + field('OriginalDepartureCountry', 'CountryType'),
      ),
    );
    expect(alike['OriginalDepartureCountry/IdentificationCode']).toBe(
      'original_departure_country_identification_code',
    );
  });

  it('keeps a role whose words a short one joins: a part of it would be another', () => {
    const reference = field('RequestForQuotationDocumentReference', 'DocumentReferenceType');
    expect(Object.values(namesOf(modelWith(reference)))).toEqual([
      'request_for_quotation_document_reference_issue_date',
    ]);
  });

  it('is the value’s own where that says what holds it, and no other', () => {
    const terms = field('ContractTermsOfTheAuctionInQuestion', 'ContractTermsType');
    expect(namesOf(modelWith(terms))).toEqual({
      'ContractTermsOfTheAuctionInQuestion/ContractConstraintIndicator': 'contract_constraint_indicator',
      // within the limit of the database
      'ContractTermsOfTheAuctionInQuestion/MaximumNumberNumeric':
        'contract_terms_of_the_auction_in_maximum_number_numeric',
    });
  });

  it('of an attribute says not that it is of an id or code, but of what that is of', () => {
    const names = namesOf(modelWith(field('RegistrationPostalAddress', 'AddressType')));
    expect(names).toMatchObject({
      'RegistrationPostalAddress/Country/IdentificationCode': 'country_identification_code',
      'RegistrationPostalAddress/Country/IdentificationCode/@listAgencyID': 'country_list_agency_id',
      'RegistrationPostalAddress/AdditionalStreetName/@listAgencyID': 'additional_street_name_list_agency_id',
    });
  });

  it('of a table says no role where the set has nothing else of its kind', () => {
    const line = kind('SupplyChainTradeLineItemType', field('Note'), field('Amount'));
    const lines = ['Included', 'Previously'].map(
      (role) =>
        `<xs:element name="${role}SuppliedSupplyChainTradeLineItem" type="SupplyChainTradeLineItemType" maxOccurs="unbounded"/>`,
    );
    const tablesOf = (within: string): string[] => modelWith(within, line, 1).tables.map(({ name }) => name);
    expect(tablesOf(lines[0]!)).toEqual(['invoice', 'supply_chain_trade_line_item']);
    expect(tablesOf(lines.join(''))).toEqual([
      'invoice',
      'included_supplied_supply_chain_trade_line_item',
      'previously_supplied_supply_chain_trade_line_item',
    ]);
  });
});

describe('a name that no steps tell from all others', () => {
  const organization = kind('OrganizationKeyType', field('ResponsibleOrganizationNumber'));
  const both = kind(
    'OrganizationReferenceType',
    field('ResponsibleOrganizationIdentity', 'OrganizationKeyType'),
    field('ResponsibleOrganizationLookup', 'OrganizationKeyType'),
  );
  const agreement = kind(
    'AgreementKeyType',
    field('ResponsibleOrganizationReference', 'OrganizationReferenceType'),
  );
  const reference = kind(
    'AgreementReferenceType',
    field('InsuranceBrokerAgreementIdentity', 'AgreementKeyType'),
  );
  const names = namesOf(
    modelWith(
      field('InsuranceBrokerAgreementReference', 'AgreementReferenceType') +
        field('ResponsibleOrganizationReference', 'OrganizationReferenceType'),
      organization + both + agreement + reference,
      1,
    ),
  );
  const within = 'InsuranceBrokerAgreementReference/InsuranceBrokerAgreementIdentity/';
  const own =
    'ResponsibleOrganizationReference/ResponsibleOrganizationIdentity/ResponsibleOrganizationNumber';

  it('says what it is within, and is not that of what has no more steps', () => {
    expect(names[`${within}${own}`]).toBe('insurance_broker_agreement_responsible_organization_number');
    expect(names[own]).toBe('responsible_organization_responsible_organization_number');
  });

  it('says what the value is, also where it has a number', () => {
    for (const name of Object.values(names)) expect(name).toMatch(/responsible_organization_number(_\d)?$/);
    expect(new Set(Object.values(names)).size).toBe(4);
  });
});
