/** Bank statements of ISO 20022: camt.053.001.02. */
import type { Standard } from '../kinds.ts';

export const camt053: Standard = {
  name: 'camt053',
  title: 'ISO 20022 camt.053',
  xsd: 'iso20022/assets/camt.053.001.02.xsd',
  documents: [
    'iso20022/test/data/camt053.v2.all-balance-types.xml',
    'iso20022/test/data/camt053.v2.five.decimals.xml',
    'iso20022/test/data/camt053.v2.minimal.ultimate.xml',
    'iso20022/test/data/camt053.v2.minimal.xml',
    'iso20022/test/data/camt053.v2.multi.statement.xml',
    'iso20022/test/data/camt053.v2.with-account-name.xml',
    'iso20022/test/data/camt053.v2.with-party-ids.xml',
    'iso20022/test/data/camt53.only-Dt-with-DtTm.xml',
  ],
  namespaces: { c: 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.02' },
  questions: [
    {
      text: 'Which entries were booked: message, statement, account, booking and value date, amount, currency, direction?',
      rows: '//c:Ntry',
      columns: {
        message: '/c:Document/c:BkToCstmrStmt/c:GrpHdr/c:MsgId',
        statement: '../c:Id',
        iban: '../c:Acct/c:Id/c:IBAN',
        booked: 'c:BookgDt/c:Dt',
        valued: 'c:ValDt/c:Dt',
        amount: 'c:Amt',
        currency: 'c:Amt/@Ccy',
        direction: 'c:CdtDbtInd',
      },
    },
    {
      text: 'Who paid whom in each transaction: its amount, debtor, creditor, their accounts, the text and the reference of the remittance?',
      rows: '//c:TxDtls',
      columns: {
        amount: 'ancestor::c:Ntry/c:Amt',
        debtor: 'c:RltdPties/c:Dbtr/c:Nm',
        debtor_iban: 'c:RltdPties/c:DbtrAcct/c:Id/c:IBAN',
        creditor: 'c:RltdPties/c:Cdtr/c:Nm',
        creditor_iban: 'c:RltdPties/c:CdtrAcct/c:Id/c:IBAN',
        text: 'c:RmtInf/c:Ustrd',
        reference: 'c:RmtInf/c:Strd/c:CdtrRefInf/c:Ref',
      },
    },
    {
      text: 'How does each statement stand: opening and closing booked balance, number of entries, sum of credits?',
      rows: '//c:Stmt',
      columns: {
        statement: 'c:Id',
        opening: 'c:Bal[c:Tp/c:CdOrPrtry/c:Cd = "OPBD"]/c:Amt',
        closing: 'c:Bal[c:Tp/c:CdOrPrtry/c:Cd = "CLBD"]/c:Amt',
        entries: 'count(c:Ntry)',
        credits: 'sum(c:Ntry[c:CdtDbtInd = "CRDT"]/c:Amt)',
      },
    },
  ],
};
