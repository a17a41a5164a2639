/** Public procurement in UBL 2.3: award notices of eForms. */
import type { Standard } from '../kinds.ts';

export const eforms: Standard = {
  name: 'eforms',
  title: 'UBL 2.3 award notice',
  xsd: 'eforms/schemas/maindoc/UBL-ContractAwardNotice-2.3.xsd',
  documents: [
    'eforms/examples/notices/can_24_maximal.xml',
    'eforms/examples/notices/can_24_UKRI.xml',
    'eforms/examples/notices/can_24_LSBU.xml',
    'eforms/examples/notices/can_25_withheld.xml',
    'eforms/examples/notices/can_24_FRA_comments.xml',
  ],
  namespaces: {
    cac: 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2',
    cbc: 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2',
    efac: 'http://data.europa.eu/p27/eforms-ubl-extension-aggregate-components/1',
  },
  questions: [
    {
      text: 'Which lots does each notice have: notice, lot, name, nature, main class of goods, estimated amount and currency?',
      rows: '/*/cac:ProcurementProjectLot',
      columns: {
        notice: '/*/cbc:ID',
        lot: 'cbc:ID',
        name: 'cac:ProcurementProject/cbc:Name',
        nature: 'cac:ProcurementProject/cbc:ProcurementTypeCode',
        goods: 'cac:ProcurementProject/cac:MainCommodityClassification/cbc:ItemClassificationCode',
        estimated: 'cac:ProcurementProject/cac:RequestedTenderTotal/cbc:EstimatedOverallContractAmount',
        currency:
          'cac:ProcurementProject/cac:RequestedTenderTotal/cbc:EstimatedOverallContractAmount/@currencyID',
      },
    },
    {
      text: 'What was offered: notice, tender, rank, amount and currency, lot, tendering party?',
      rows: '//efac:NoticeResult/efac:LotTender',
      columns: {
        notice: '/*/cbc:ID',
        tender: 'cbc:ID',
        rank: 'cbc:RankCode',
        amount: 'cac:LegalMonetaryTotal/cbc:PayableAmount',
        currency: 'cac:LegalMonetaryTotal/cbc:PayableAmount/@currencyID',
        lot: 'efac:TenderLot/cbc:ID',
        party: 'efac:TenderingParty/cbc:ID',
      },
    },
    {
      text: 'Who stands behind each tendering party: party, organisation, its name, town and country?',
      rows: '//efac:NoticeResult/efac:TenderingParty/efac:Tenderer',
      columns: {
        party: '../cbc:ID',
        organisation: 'cbc:ID',
        name: company('cac:PartyName/cbc:Name'),
        town: company('cac:PostalAddress/cbc:CityName'),
        country: company('cac:PostalAddress/cac:Country/cbc:IdentificationCode'),
      },
    },
  ],
};

function company(take: string): { key: string; among: string; by: string; take: string } {
  return {
    key: 'cbc:ID',
    among: '//efac:Organization/efac:Company',
    by: 'cac:PartyIdentification/cbc:ID',
    take,
  };
}
