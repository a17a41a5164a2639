/** Orders and trades of energy as they are reported: REMIT table 1. */
import type { Standard, Value } from '../kinds.ts';

const contract = (take: string): Value => ({
  key: 'r:contractInfo/r:contractId',
  among: '/r:REMITTable1/r:contractList/r:contract',
  by: 'r:contractId',
  take,
});

export const remit: Standard = {
  name: 'remit',
  title: 'REMIT table 1',
  xsd: 'entsoe/table1/Table1_V2.xsd',
  documents: ['0102', '0104', '0209', '0304', '0310', '0313'].map(
    (number) => `entsoe/table1/xml/EXAMPLE.${number}.xml`,
  ),
  namespaces: { r: 'http://www.acer.europa.eu/REMIT/REMITTable1_V2.xsd' },
  questions: [
    {
      text: 'Which orders were placed: order, trader, side, name of the contract, its zone, price, currency, quantity and unit?',
      rows: '//r:OrderReport',
      columns: {
        order: 'r:orderId/r:uniqueOrderIdentifier',
        trader: 'r:traderID/r:traderIdForOrganisedMarket',
        side: 'r:buySellIndicator',
        contract: contract('r:contractName'),
        zone: contract('r:deliveryPointOrZone'),
        price: 'r:priceDetails/r:price',
        currency: 'r:priceDetails/r:priceCurrency',
        quantity: 'r:quantity/r:value',
        unit: 'r:quantity/r:unit',
      },
    },
    {
      text: 'Which trades were made: transaction, time, participant and the other one, notional amount and currency, linked order?',
      rows: '//r:TradeReport',
      columns: {
        transaction: 'r:uniqueTransactionIdentifier/r:uniqueTransactionIdentifier',
        at: 'r:transactionTime',
        participant: 'r:idOfMarketParticipant/*',
        other: 'r:otherMarketParticipant/*',
        notional: 'r:notionalAmountDetails/r:notionalAmount',
        currency: 'r:notionalAmountDetails/r:notionalCurrency',
        order: 'r:linkedOrderId',
      },
    },
    {
      text: 'When and where is energy delivered: contract, name, load, zone, first and last day, begin and end of each time of the day?',
      // an end stands behind its begin
      rows: '//r:contract/r:deliveryProfile/r:loadDeliveryStartTime',
      columns: {
        contract: '../../r:contractId',
        name: '../../r:contractName',
        load: '../../r:loadType',
        zone: '../../r:deliveryPointOrZone',
        first: '../../r:deliveryStartDate',
        last: '../../r:deliveryEndDate',
        begin: '.',
        end: 'following-sibling::*[1][self::r:loadDeliveryEndTime]',
      },
    },
  ],
};
