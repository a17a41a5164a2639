/** What views tell of rows that hang from theirs, what they call it, and how many tables they join. */
import { describe, expect, it } from 'vitest';
import type { MapLevel } from '../../../../src/engine/model/relational-model.ts';
import { idsViewName, entityViews } from '../../../../src/engine/views/statements.ts';
import { dialectOf } from '../../../../src/engine/sql/dialects/every-dialect.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

const text = (name: string, more = ''): string => `<xs:element name="${name}" type="xs:string" ${more}/>`;
const group = (name: string, content: string, more = ''): string =>
  `<xs:element name="${name}" ${more}><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>`;
const type = (name: string, content: string): string =>
  `<xs:complexType name="${name}"><xs:sequence>${content}</xs:sequence></xs:complexType>`;
/** So many that a row of their own is drawn for them. */
const many = (start: string, count = 104): string =>
  Array.from({ length: count }, (_, at) => text(`${start}${at}`, 'minOccurs="0"')).join('');
const member = (name: string, of: string): string =>
  `<xs:element name="${name}" type="${of}" minOccurs="0"/>`;
const repeated = 'maxOccurs="unbounded"';

interface ReadView {
  readonly columns: readonly string[];
  readonly joins: number;
}

/** By name, views over all tables of the schema with these components. */
async function viewsOf(components: string, level: MapLevel = 3): Promise<ReadonlyMap<string, ReadView>> {
  const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${components}</xs:schema>`);
  const views = await entityViews(modelOf(source, level), { dialect: dialectOf('postgresql') });
  return new Map(
    views.flatMap(({ name, query }) => {
      if (name === idsViewName) return [];
      const [select, from] = query.split('\nFROM ', 2) as [string, string];
      const columns = [...select.matchAll(/ AS "([^"]*)",?$/gm)].map((match) => match[1]!);
      return [[name, { columns, joins: from.split('LEFT JOIN ').length - 1 }] as const];
    }),
  );
}

describe('the one row that others only wrap', () => {
  const note = group(
    'note',
    `${group('seller', text('called'))}${many('n')}${group('line', text('goods'), repeated)}`,
  );

  it('is told as theirs, however many rows that say nothing stand between', async () => {
    const views = await viewsOf(group('sealed', note));
    expect(views.get('sealed_view')!.columns).toEqual(
      expect.arrayContaining(['sealed_key', 'note_seller_called', 'note_n103']),
    );
    const deep = await viewsOf(
      group('sealed', group('a', group('b', group('c', group('d', group('e', note)))))),
      0,
    );
    expect(deep.get('sealed_view')!.columns).toContain('note_n103');
  });

  it('is none of several that may stand there', async () => {
    const other = group('other', `${many('o')}${group('entry', text('goods'), repeated)}`);
    const choice = `<xs:element name="sealed"><xs:complexType><xs:choice>${note}${other}</xs:choice></xs:complexType></xs:element>`;
    expect((await viewsOf(choice)).get('sealed_view')).toBeUndefined();
  });

  it('leaves out what is furthest away where there is too much', async () => {
    const far = group('far', group('further', text('last')));
    const wide = group(
      'note',
      `${group('total', '<xs:element name="due" type="xs:decimal"/>')}${far}${many('n', 130)}${group('line', text('goods'), repeated)}`,
    );
    const { columns } = (await viewsOf(group('sealed', `${text('seal')}${wide}`))).get('sealed_view')!;
    expect(columns.filter((name) => /^note_(?:n\d|total|far)/.test(name))).toHaveLength(120);
    expect(columns).toContain('note_total_due');
    expect(columns).not.toContain('note_far_further_last');
  });
});

describe('rows that hang from theirs', () => {
  const money = `<xs:complexType name="Money"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="ccy" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>`;

  it('tell dates, amounts and what these are in, of many values', async () => {
    const fees = group(
      'fees',
      `<xs:element name="due" type="Money"/>${group('net', `<xs:element name="sum" type="xs:decimal"/>${text('currency')}${text('remark')}`)}<xs:element name="until" type="xs:date"/>${many('f')}`,
    );
    const views = await viewsOf(
      `${money}${group('calls', group('call', `${text('vessel')}${text('berth')}${fees}`, repeated))}`,
    );
    expect(views.get('call_view')!.columns.slice(-5)).toEqual([
      'fees_due',
      'fees_due_ccy',
      'fees_net_sum',
      'fees_net_currency',
      'fees_until',
    ]);
  });

  const party = `${type('Address', `${text('id')}${text('street')}${text('streetName')}${many('a')}`)}${type('Party', `${group('partyName', text('name'), repeated)}${text('phone', 'minOccurs="0"')}${many('p', 60)}<xs:element name="address" type="Address"/>`)}${type('Customer', `${text('mood')}<xs:element name="party" type="Party"/>`)}`;
  it('tell names of parties that repeat, also of one in another, and of their addresses the id alone', async () => {
    const order = group(
      'order',
      `${text('number')}${many('k', 40)}${member('seller', 'Party')}${member('buyer', 'Customer')}${member('payer', 'Customer')}${member('site', 'Address')}`,
      repeated,
    );
    const { columns } = (await viewsOf(`${party}${group('orders', order)}`)).get('order_view')!;
    expect(columns).toEqual(
      expect.arrayContaining([
        'seller_party_name',
        'buyer_party_name',
        'payer_party_name',
        'site_street_name',
      ]),
    );
    expect(columns.filter((name) => name.startsWith('seller_address'))).toEqual(['seller_address_id']);
  });

  it('are joined as long as databases take so many tables', async () => {
    const parties = Array.from({ length: 40 }, (_, at) => member(`party${at}`, 'Party')).join('');
    const views = await viewsOf(
      `${party}${group('orders', group('order', `${text('number')}${parties}`, repeated))}`,
      1,
    );
    const shared = await viewsOf(
      `${party}${group('orders', group('order', `${text('number')}${parties}`, repeated))}`,
    );
    for (const all of [views, shared])
      for (const { joins, columns } of all.values()) {
        expect(joins).toBeLessThan(60);
        expect(new Set(columns).size).toBe(columns.length);
      }
  });
});

const date = (name: string, more = ''): string => `<xs:element name="${name}" type="xs:date" ${more}/>`;

describe('rows above', () => {
  const optional = 'minOccurs="0"';
  const line = group('line', `${text('article')}<xs:element name="amount" type="xs:decimal"/>`, repeated);
  const party = type(
    'Party',
    `${text('taxId')}${text('companyName')}${text('email', repeated)}${group('address', `${text('streetName')}${text('postCode')}`, optional)}`,
  );
  const parties = `<xs:element name="seller" type="Party"/><xs:element name="buyer" type="Party"/>`;
  const header = group(
    'header',
    `${date('previous', optional)}${group('document', `${text('number')}${date('issued')}${text('currency')}`)}`,
  );

  it('tell who sells and buys, also if names repeat in a table of parties', async () => {
    const named = type(
      'Firm',
      `${group('firmName', text('name'), repeated)}${group('legalEntity', text('registrationName'), repeated)}${group('contact', text('street'), repeated)}${many('f', 60)}`,
    );
    const firms = ['vendor', 'client'].map((who) => group(who, `<xs:element name="firm" type="Firm"/>`));
    const views = await viewsOf(
      `${named}${group('bills', group('bill', `${text('number')}${date('issued')}${firms.join('')}${line}`, repeated))}`,
    );
    const { columns, joins } = views.get('line_view')!;
    expect(columns.slice(-4)).toEqual([
      'bill_vendor_firm_name',
      'bill_vendor_firm_legal_entity',
      'bill_client_firm_name',
      'bill_client_firm_legal_entity',
    ]);
    // documents, bill, bills, two firms and their four names
    expect(joins).toBeLessThanOrEqual(9);
  });

  it('tell who sells and buys, by names and ids, and not where', async () => {
    const head = group('head', `${text('version')}${parties}`);
    for (const level of [1, 3] as const) {
      const views = await viewsOf(
        `${party}${group('batches', group('batch', `${head}${group('invoice', `${header}${line}`, repeated)}`, repeated))}`,
        level,
      );
      const { columns } = views.get('invoice_view')!;
      const own = columns.indexOf('invoice_key');
      expect(columns.slice(0, own)).toEqual([
        'document_key',
        'document_name',
        'batch_key',
        ...(['seller', 'buyer'] as const).flatMap((who) =>
          ['tax_id', 'company_name'].map((of) => `batch_${level === 1 ? 'head_' : ''}${who}_${of}`),
        ),
      ]);
      expect(columns.slice(own + 1)).toEqual(
        expect.arrayContaining(['header_document_number', 'header_document_issued']),
      );
    }
  });

  it('tell lines the number, the date and the currency of their document, before what it may have', async () => {
    const vehicle = group(
      'vehicle',
      `${date('registered')}<xs:element name="power" type="xs:decimal"/>`,
      optional,
    );
    const views = await viewsOf(group('invoices', group('invoice', `${vehicle}${header}${line}`, repeated)));
    expect(views.get('line_view')!.columns).toEqual([
      'document_key',
      'document_name',
      'invoice_key',
      'invoice_header_document_number',
      'invoice_header_document_issued',
      'invoice_header_document_currency',
      'invoice_vehicle_registered',
      'invoice_header_previous',
      'line_key',
      'article',
      'amount',
    ]);
  });

  it('have names without hashes: steps are left out', async () => {
    const deep = group(
      'generalDocumentInformationOfTheSeller',
      group('documentIdentification', text('consecutiveNumber')),
    );
    const views = await viewsOf(
      group('electronicInvoices', group('electronicInvoiceOfTheRegion', `${deep}${line}`, repeated)),
    );
    const { columns } = views.get('line_view')!;
    expect(columns).toContain('electronic_invoice_of_the_region_document_consecutive_number');
  });
});

describe('names of columns', () => {
  it('leave out steps instead of having hashes, and tell texts of one name apart', async () => {
    const place = 'placeOfTheTransportOfTheGoods';
    const stop = (name: string): string =>
      group(
        name,
        `${group('stopName', text('text', repeated))}${group(place, group('detailedAddress', text('additionalStreetName')))}`,
      );
    const { columns } = (
      await viewsOf(
        group(
          'trip',
          group(
            'leg',
            `${text('number')}${text('mode')}${group('ride', `${stop('boarding')}${stop('alighting')}${many('r')}`)}`,
            repeated,
          ),
        ),
      )
    ).get('leg_view')!;
    expect(columns.filter((name) => /_[0-9a-f]{8}$|_2$/.test(name))).toEqual([]);
    expect(columns.filter((name) => name.includes('stop_name'))).toEqual([
      'boarding_stop_name_text',
      'alighting_stop_name_text',
    ]);
  });
});

const attributeOf = (name: string, of: string): string => `<xs:attribute name="${name}" type="${of}"/>`;
const elementOf = (name: string, of: string): string =>
  `<xs:element name="${name}" maxOccurs="unbounded"><xs:complexType><xs:sequence>${text('title')}${text('place')}${group('step', text('told'), repeated)}</xs:sequence>${of}</xs:complexType></xs:element>`;
const planOf = (machine: string): string =>
  `<xs:element name="plan"><xs:complexType><xs:sequence>${elementOf('machine', machine)}${elementOf('task', attributeOf('uses', 'xs:IDREF'))}</xs:sequence></xs:complexType></xs:element>`;

describe('a reference by id', () => {
  it('has the key of the row beside it, where ids are of one table alone', async () => {
    const views = await viewsOf(planOf(attributeOf('id', 'xs:ID')));
    expect(views.get('task_view')!.columns).toEqual(expect.arrayContaining(['uses', 'uses_key']));
    expect(views.get('machine_view')!.columns).not.toContain('id_key');
  });

  it('has the table and the key, where it may mean rows of several tables; nothing where there are no ids', async () => {
    const other = `<xs:element name="other"><xs:complexType>${attributeOf('id', 'xs:ID')}</xs:complexType></xs:element>`;
    const several = (await viewsOf(`${planOf(attributeOf('id', 'xs:ID'))}${other}`)).get('task_view')!;
    const at = several.columns.indexOf('uses');
    expect(several.columns.slice(at, at + 3)).toEqual(['uses', 'uses_table', 'uses_key']);
    const none = (await viewsOf(planOf(''))).get('task_view')!;
    expect(none.columns.filter((name) => name.startsWith('uses_'))).toEqual([]);
    expect(several.joins).toBe(none.joins + 1);
  });

  it('is followed as far as there is room for joins, those of the rows themselves first', async () => {
    const references = Array.from({ length: 20 }, (_, at) => attributeOf(`r${at}`, 'xs:IDREF')).join('');
    const told = group(
      'told',
      `<xs:element name="of"><xs:complexType>${attributeOf('ref', 'xs:IDREF')}</xs:complexType></xs:element>${many('n')}`,
    );
    const task = `<xs:element name="task" maxOccurs="unbounded"><xs:complexType><xs:sequence>${told}${text('place')}</xs:sequence>${attributeOf('id', 'xs:ID')}${references}</xs:complexType></xs:element>`;
    const { columns, joins } = (
      await viewsOf(
        `${group('plan', task)}<xs:element name="other"><xs:complexType>${attributeOf('id', 'xs:ID')}</xs:complexType></xs:element>`,
      )
    ).get('task_view')!;
    expect(columns.filter((name) => name.endsWith('_table'))).toEqual(
      Array.from({ length: 12 }, (_, at) => `r${at}_table`),
    );
    expect(joins).toBeLessThan(60);
  });

  it('gives a view to tables that say little but what they refer to', async () => {
    const edge = `<xs:element name="edge" ${repeated}><xs:complexType>${attributeOf('from', 'xs:IDREF')}</xs:complexType></xs:element>`;
    const node = `<xs:element name="node" ${repeated}><xs:complexType><xs:sequence>${many('n', 40)}${group('step', text('told'), repeated)}</xs:sequence>${attributeOf('id', 'xs:ID')}</xs:complexType></xs:element>`;
    const views = await viewsOf(group('net', `${node}${edge}`));
    expect(views.get('edge_view')!.columns).toEqual(expect.arrayContaining(['from', 'from_key']));
  });
});
