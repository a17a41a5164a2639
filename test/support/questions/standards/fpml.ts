/** Foreign exchange in FpML 5-10, confirmation view. */
import type { Standard } from '../kinds.ts';

const folder = 'fpml/files-fpml/examples/fpml5-10/confirmation/products/fx-derivatives';

export const fpml: Standard = {
  name: 'fpml',
  title: 'FpML 5-10',
  xsd: 'fpml/files-fpml/schemas/fpml5-10/confirmation/fpml-main-5-10.xsd',
  documents: [
    `${folder}/fx-ex01-fx-spot.xml`,
    `${folder}/fx-ex03-fx-fwd.xml`,
    `${folder}/fx-ex07-non-deliverable-forward.xml`,
    `${folder}/fx-ex08-fx-swap.xml`,
    `${folder}/fx-ex09-euro-opt.xml`,
    `${folder}/fx-ex10-amer-opt.xml`,
    `${folder}/fx-ex12-fx-barrier-option.xml`,
  ],
  namespaces: { f: 'http://www.fpml.org/FpML-5/confirmation' },
  questions: [
    {
      text: 'Which trades were agreed: message, trade date, id of the trade at each party, id of that party?',
      rows: '//f:tradeHeader/f:partyTradeIdentifier',
      columns: {
        message: '/*/f:header/f:messageId',
        traded: '../f:tradeDate',
        trade: 'f:tradeId',
        party: {
          key: 'f:partyReference/@href',
          among: '/*/f:party',
          by: '@id',
          take: 'f:partyId',
        },
      },
    },
    {
      text: 'What does each leg of spots, forwards and swaps exchange: value date, both currencies and amounts, rate, payer of the first?',
      rows: '//f:exchangedCurrency1/..',
      columns: {
        message: '/*/f:header/f:messageId',
        valued: 'f:valueDate',
        currency_1: 'f:exchangedCurrency1/f:paymentAmount/f:currency',
        amount_1: 'f:exchangedCurrency1/f:paymentAmount/f:amount',
        currency_2: 'f:exchangedCurrency2/f:paymentAmount/f:currency',
        amount_2: 'f:exchangedCurrency2/f:paymentAmount/f:amount',
        rate: 'f:exchangeRate/f:rate',
        payer: {
          key: 'f:exchangedCurrency1/f:payerPartyReference/@href',
          among: '/*/f:party',
          by: '@id',
          take: 'f:partyId',
        },
      },
    },
    {
      text: 'What do options give and cost: put and call currencies and amounts, strike, premium and its currency?',
      rows: '//f:fxOption',
      columns: {
        message: '/*/f:header/f:messageId',
        put_currency: 'f:putCurrencyAmount/f:currency',
        put_amount: 'f:putCurrencyAmount/f:amount',
        call_currency: 'f:callCurrencyAmount/f:currency',
        call_amount: 'f:callCurrencyAmount/f:amount',
        strike: 'f:strike/f:rate',
        premium: 'f:premium/f:paymentAmount/f:amount',
        premium_currency: 'f:premium/f:paymentAmount/f:currency',
      },
    },
  ],
};
