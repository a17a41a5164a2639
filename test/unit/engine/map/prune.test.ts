/** `--prune`: what documents never had at a place is not drawn there, and kept should it come later. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../src/engine/map/prune.ts';
import type { MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import { readCorpus } from '../../../support/corpus.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { bytesOf, compiled, outline, shred, statisticsOf } from '../../../support/models/shredding.ts';
import { needs } from '../../../support/needs.ts';
import { corpusGroups, groupSource } from '../../../support/round-trip/corpus.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';

const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="deal"><xs:complexType><xs:sequence>
    <xs:element name="buyer" type="Party"/>
    <xs:element name="seller" type="Party"/>
    <xs:element name="agent" type="Party" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element name="asset" type="Asset" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element name="price" type="xs:decimal" nillable="true" minOccurs="0"/>
    <xs:element name="terms" minOccurs="0"><xs:complexType><xs:choice>
      <xs:element name="cash" type="xs:string"/><xs:element name="swap" type="xs:string"/>
    </xs:choice></xs:complexType></xs:element>
    <xs:element name="memo" type="Memo" minOccurs="0"/>
    <xs:any namespace="##other" processContents="lax" minOccurs="0"/>
  </xs:sequence><xs:attribute name="id" type="xs:string"/><xs:anyAttribute namespace="##other" processContents="lax"/></xs:complexType></xs:element>
  <xs:element name="cancel"><xs:complexType><xs:attribute name="of" type="xs:string"/></xs:complexType></xs:element>
  <xs:complexType name="Party"><xs:sequence>
    <xs:element name="name" type="xs:string" minOccurs="0"/><xs:element name="lei" type="xs:string" minOccurs="0"/>
    <xs:element name="contact" type="Contact" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence><xs:attribute name="vip" type="xs:boolean"/></xs:complexType>
  <xs:complexType name="Contact"><xs:sequence><xs:element name="mail" type="xs:string" minOccurs="0"/><xs:element name="phone" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>
  <xs:complexType name="Memo"><xs:sequence><xs:element name="line" type="xs:string" minOccurs="0"/></xs:sequence><xs:attribute name="by" type="xs:string"/></xs:complexType>
  <xs:complexType name="LongMemo"><xs:complexContent><xs:extension base="Memo"><xs:attribute name="pages" type="xs:int"/></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Asset"><xs:attribute name="code" type="xs:string"/></xs:complexType>
  <xs:complexType name="Bond"><xs:complexContent><xs:extension base="Asset"><xs:attribute name="coupon" type="xs:decimal"/></xs:extension></xs:complexContent></xs:complexType>
</xs:schema>`);

const known = [
  '<deal><buyer><name>B</name></buyer><seller vip="true"><lei>S</lei><contact><mail>m</mail></contact></seller><asset code="x"/><price>5</price><terms><cash>now</cash></terms><memo by="me"/></deal>',
  '<deal><buyer><name>C</name></buyer><seller><lei>T</lei></seller><memo by="you"><line>l</line></memo></deal>',
];
const later = [
  '<deal id="7" xmlns:o="urn:o" o:seen="yes"><buyer vip="false"><name>B</name><lei>L</lei><contact><phone>1</phone></contact></buyer><seller><name>S</name><contact><mail>m</mail><phone>2</phone></contact></seller><agent><name>A</name></agent><asset xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="Bond" code="y" coupon="1.5"/><price xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/><terms><swap>later</swap></terms><memo xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="LongMemo" pages="3"/><o:note>n</o:note></deal>',
  '<deal><buyer/><seller/><terms/><memo/></deal>',
  '<deal><buyer/><seller><lei/></seller><terms><cash/></terms></deal>',
];

function pruned(
  from: SourceModel,
  documents: readonly (string | Uint8Array)[],
  mapLevel: MapLevel,
): RelationalModel {
  const statistics = statisticsOf(documents);
  const met = { statistics, declared: from };
  return buildRelationalModel(pruneSourceModel(from, statistics), { mapLevel, met });
}

/** Tables without rows, and columns without a value. */
function unused(model: RelationalModel, documents: readonly (string | Uint8Array)[]): string[] {
  const { rows } = shred(model, documents);
  return model.tables.flatMap(({ name, columns }) => {
    const own = rows[name] ?? [];
    if (own.length === 0) return [name];
    return columns.flatMap((column) =>
      own.every((row) => row[column.name] === null) ? [`${name}.${column.name}`] : [],
    );
  });
}

describe('what documents had at one place', () => {
  it('is drawn there, and not where the type is used otherwise', () => {
    expect(outline(pruned(source, known, 1)).split('\n')).toEqual([
      'deal: deal_key bigint!, document_key bigint!, buyer_name text, seller_vip boolean, seller_lei text, price numeric, terms_cash text, memo_by text, memo_line text',
      'contact: contact_key bigint!, document_key bigint!, deal_key bigint! -> deal, position integer!, mail text',
      'asset: asset_key bigint!, document_key bigint!, deal_key bigint! -> deal, position integer!, code text',
    ]);
  });

  it('is told with a path at which it was met, in a table of several places, too', () => {
    const model = pruned(source, known, 2);
    const party = model.tables.find(({ name }) => name === 'party')!;
    expect(
      party.columns.filter(({ role }) => role === 'value').map(({ name, xpath }) => [name, xpath]),
    ).toEqual([
      ['vip', '/deal/seller/@vip'],
      ['name', '/deal/buyer/name'],
      ['lei', '/deal/seller/lei'],
    ]);
    expect(model.tables.find(({ name }) => name === 'contact')!.xpath).toBe('/deal/seller/contact');
    const lines = new Set(model.mappings.map(({ xpath }) => xpath));
    for (const { columns } of model.tables)
      for (const { xpath, role } of columns) if (role === 'value') expect(lines).toContain(xpath);
  });

  it('is told with its own type, where attributes before it were never met', () => {
    const stays = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:complexType name="Stay"><xs:attribute name="ward" type="xs:int"/><xs:attribute name="since" type="xs:date"/></xs:complexType>
      <xs:element name="case"><xs:complexType><xs:sequence><xs:element name="first" type="Stay"/><xs:element name="last" type="Stay"/></xs:sequence></xs:complexType></xs:element>
    </xs:schema>`);
    const { mappings } = pruned(stays, ['<case><first ward="7"/><last since="2026-01-31"/></case>'], 3);
    expect(mappings.map(({ xpath, sourceType }) => [xpath, sourceType])).toEqual(
      expect.arrayContaining([
        ['/case/first/@ward', 'xs:int'],
        ['/case/last/@since', 'xs:date'],
      ]),
    );
  });

  it.each([0, 1, 2, 3] as const)(
    'leaves nothing empty, and all that comes later comes back (level %i)',
    async (level) => {
      const model = pruned(source, known, level);
      expect(unused(model, known)).toEqual([]);
      expect(model.roots.map(({ name }) => name.localName)).toEqual(['deal']);
      expect(shred(model, known).deviations.total).toBe(0);
      const documents = [...known, ...later];
      const written = await roundTrip(model, documents);
      expect(
        documents.flatMap((document, at) => compareXml(bytesOf(document), written[at]!, { source })),
      ).toEqual([]);
    },
  );

  it('says which of several a value is of, where documents have but one, and the name is long', () => {
    const agents =
      compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="payment"><xs:complexType><xs:sequence>
      <xs:element name="agents"><xs:complexType><xs:sequence>
        <xs:element name="debtorAgent" type="Agent" minOccurs="0"/><xs:element name="creditorAgent" type="Agent" minOccurs="0"/>
      </xs:sequence></xs:complexType></xs:element><xs:element name="id" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
      <xs:complexType name="Agent"><xs:sequence><xs:element name="financialInstitution"><xs:complexType><xs:sequence><xs:element name="clearingMember" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:schema>`);
    const document =
      '<payment><agents><creditorAgent><financialInstitution><clearingMember>1</clearingMember></financialInstitution></creditorAgent></agents><id>7</id></payment>';
    const [table] = pruned(agents, [document], 1).tables;
    const { name } = table!.columns.find(({ xpath }) => xpath?.endsWith('Member') === true)!;
    expect(name).toBe('creditor_agent_clearing_member');
  });

  it('leaves wrappers out of long names that nothing that is declared could be taken for', () => {
    const invoices =
      compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="invoice"><xs:complexType><xs:sequence>
      <xs:element name="supplyChainTransaction"><xs:complexType><xs:sequence>
        <xs:element name="headerTradeSettlement"><xs:complexType><xs:sequence><xs:element name="invoiceCurrencyCode" type="xs:string"/><xs:element name="paymentReference" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
        <xs:element name="lineTradeSettlement" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="paymentReference" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
      </xs:sequence></xs:complexType></xs:element><xs:element name="id" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:schema>`);
    const document =
      '<invoice><supplyChainTransaction><headerTradeSettlement><invoiceCurrencyCode>EUR</invoiceCurrencyCode><paymentReference>9</paymentReference></headerTradeSettlement></supplyChainTransaction><id>7</id></invoice>';
    const [table] = pruned(invoices, [document], 3).tables;
    expect(table!.columns.filter(({ role }) => role === 'value').map(({ name }) => name)).toEqual([
      'header_trade_settlement_invoice_currency_code',
      // not that of the line
      'header_trade_settlement_payment_reference',
      'id',
    ]);
  });

  it('draws no table for other content where types that xsi:type names hold what was met', () => {
    const values = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:complexType name="Any"><xs:sequence><xs:any minOccurs="0" maxOccurs="unbounded" processContents="lax"/></xs:sequence><xs:anyAttribute processContents="lax"/></xs:complexType>
      <xs:complexType name="Coded"><xs:complexContent><xs:restriction base="Any"><xs:sequence><xs:element name="original" type="xs:string"/></xs:sequence><xs:attribute name="code" type="xs:string"/></xs:restriction></xs:complexContent></xs:complexType>
      <xs:element name="note"><xs:complexType><xs:sequence><xs:element name="value" type="Any" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
    </xs:schema>`);
    const coded = `<note xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><value xsi:type="Coded" code="7"><original>x</original></value></note>`;
    const other = `<note><value>${'<stray/>'}</value></note>`;
    const tablesOf = (documents: readonly string[]): string[] =>
      pruned(values, documents, 3).tables.map(({ name }) => name);
    expect(tablesOf([coded])).toEqual(['note', 'value']);
    expect(tablesOf([coded, other])).toEqual(['note', 'value', 'value_any']);
  });

  it('stays when it was met before, and has its name again when it comes', () => {
    const model = pruned(source, known, 3);
    const statistics = statisticsOf([...known, ...later]);
    const wider = buildRelationalModel(pruneSourceModel(source, statistics), {
      mapLevel: 3,
      met: { statistics, declared: source },
      previous: model,
    });
    for (const { name, columns } of model.tables) {
      const now = wider.tables.find((table) => table.name === name)!.columns;
      for (const { name: column, path } of columns)
        expect(now.find((other) => other.name === column)?.path).toBe(path);
    }
    expect(unused(wider, [...known, ...later])).toEqual([]);
  });
});

const sets = [
  'camt.053.001.02',
  'musicxml',
  'ODM.xsd',
  'UBL-ContractNotice',
  'NeTEx_publication',
  'xccdf_1.2',
  'fpml-main',
];
const groups = corpusGroups().filter(({ xsd }) => xsd !== null && sets.some((set) => xsd.includes(set)));

describe.each(groups)('$xsd', (group) => {
  it.each([0, 1, 2, 3] as const)(
    'four documents leave nothing empty, and come back (level %i)',
    needs('whole run'),
    async (level) => {
      const documents = group.documents.slice(0, 4).map((name) => readCorpus(name));
      const { source: whole } = groupSource(group);
      const statistics = statisticsOf(documents);
      const roots = statistics.roots.map((root) => statistics.elements[root]!);
      const model = buildRelationalModel(pruneSourceModel(whole, statistics), {
        mapLevel: level,
        met: { statistics, declared: whole },
        roots,
      });
      expect(unused(model, documents)).toEqual([]);
      const written = await roundTrip(model, documents);
      const unequal = documents.flatMap((document, at) =>
        compareXml(document, written[at]!, { source: whole, limit: 1 }),
      );
      expect(unequal).toEqual([]);
    },
  );
});

describe('attributes that a wildcard lets in', () => {
  const observations = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:element name="data"><xs:complexType><xs:sequence>
      <xs:element name="series" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="obs" maxOccurs="unbounded"><xs:complexType><xs:attribute name="kind" type="xs:string"/><xs:anyAttribute namespace="##any" processContents="lax"/></xs:complexType></xs:element>
      </xs:sequence><xs:anyAttribute namespace="##local" processContents="skip"/></xs:complexType></xs:element>
      <xs:element name="none" minOccurs="0"><xs:complexType><xs:anyAttribute/></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element></xs:schema>`);
  const documents = [
    '<data xmlns:q="urn:quality"><series FREQ="A" REF_AREA="CH"><obs kind="x" TIME_PERIOD="2020" OBS_VALUE="1.50" q:flag="ok"/><obs TIME_PERIOD="2021" OBS_VALUE="2"/></series><none/></data>',
    '<data><series FREQ="M"><obs TIME_PERIOD="2022" OBS_VALUE="-3.25"/></series></data>',
  ];

  it.each([0, 1, 2, 3] as const)('are columns of what their values are (level %i)', async (level) => {
    const model = pruned(observations, documents, level);
    const told = model.tables.flatMap(({ columns }) =>
      columns
        .filter(({ path }) => path?.includes('@') ?? false)
        .map(({ name, type }) => `${name} ${type.kind}`),
    );
    expect(told).toEqual([
      'freq text',
      'ref_area text',
      'kind text',
      'time_period integer',
      'obs_value numeric',
      'flag text',
    ]);
    for (const document of documents) {
      const [written] = await roundTrip(model, [bytesOf(document)]);
      expect(compareXml(bytesOf(document), written!, { source: observations })).toEqual([]);
    }
  });

  it('and come later are kept, as whatever else was never met', async () => {
    const model = pruned(observations, documents, 3);
    const document = '<data><series FREQ="D"><obs UNIT="kg" OBS_VALUE="n/a"/></series><none at="7"/></data>';
    const [written] = await roundTrip(model, [bytesOf(document)]);
    expect(compareXml(bytesOf(document), written!, { source: observations })).toEqual([]);
  });
});

const valueNames = (model: RelationalModel): string[] =>
  model.tables[0]!.columns.slice(2).map(({ name }) => name);

describe('text that documents left empty', () => {
  const journeys = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:complexType name="Ref"><xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="ref" use="required"/><xs:attribute name="version"/></xs:extension></xs:simpleContent></xs:complexType>
    <xs:element name="journey"><xs:complexType><xs:sequence><xs:element name="RouteRef" type="Ref"/><xs:element name="LineRef" type="Ref" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:schema>`);
  const empty = ['<journey><RouteRef ref="r1" version="2"/></journey>'];
  const full = ['<journey><RouteRef ref="r2">Ring</RouteRef><LineRef ref="l">5</LineRef></journey>'];

  it('leaves the name of the element to the attribute that says the same', async () => {
    const first = pruned(journeys, empty, 3);
    expect(valueNames(first)).toEqual(['route_ref_text', 'route_ref', 'route_ref_version']);
    expect(valueNames(pruned(journeys, [...empty, ...full], 3))).toEqual([
      'route_ref',
      'route_ref_ref',
      'route_ref_version',
      'line_ref',
      'line_ref_ref',
    ]);
    const next = buildRelationalModel(journeys, { mapLevel: 3, previous: first });
    expect(valueNames(next).slice(0, 3)).toEqual(valueNames(first));
    for (const model of [first, next])
      for (const document of [...empty, ...full]) {
        const [written] = await roundTrip(model, [bytesOf(document)]);
        expect(compareXml(bytesOf(document), written!, { source: journeys })).toEqual([]);
      }
  });
});
