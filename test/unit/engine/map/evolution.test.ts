/** Models of next versions, and pruned ones. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { defaultNaming } from '../../../../src/engine/map/names/identifiers.ts';
import type { MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { coversModel } from '../../../../src/engine/model/coverage.ts';
import { pruneSourceModel } from '../../../../src/engine/map/prune.ts';
import { expectSameMeanings } from '../../../support/models/name-meanings.ts';
import { compiled, modelOf, outline, shred, statisticsOf } from '../../../support/models/shredding.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;

const first = xs(`<xs:element name="order"><xs:complexType><xs:sequence>
  <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="tax" maxOccurs="unbounded"><xs:complexType><xs:attribute name="rate" type="xs:int"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element>`);
const second = xs(`<xs:element name="order"><xs:complexType><xs:sequence>
  <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="tax" maxOccurs="unbounded"><xs:complexType><xs:attribute name="rate" type="xs:decimal"/><xs:attribute name="code" type="xs:string"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
  <xs:element name="tax" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="rate" type="xs:int"/></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element>`);

const party = `<xs:complexType name="Party"><xs:sequence><xs:element name="name" type="xs:string"/><xs:element name="tag" maxOccurs="9"/></xs:sequence></xs:complexType>`;

const bill = (children: string): string =>
  xs(
    `<xs:element name="bill"><xs:complexType><xs:sequence>${children}</xs:sequence></xs:complexType></xs:element>${party}`,
  );

const of = (name: string, occurs = ''): string => `<xs:element name="${name}" type="Party" ${occurs}/>`;

const nested = (use: string): string =>
  bill(
    `${of(use, 'maxOccurs="9"')}<xs:element name="more" minOccurs="0" maxOccurs="9"><xs:complexType><xs:sequence>${of('agent', 'maxOccurs="9"')}</xs:sequence></xs:complexType></xs:element>`,
  );

const next = (xsd: string, previous: RelationalModel, mapLevel: MapLevel = 3): RelationalModel =>
  buildRelationalModel(compiled(xsd), { mapLevel, previous });

const columnsOf = (model: RelationalModel, table: string): string[] =>
  model.tables.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? [];

/** Of keys of children: the tables that they lead to. */
const leadsTo = ({ tables }: RelationalModel, table: string): Record<string, string> =>
  Object.fromEntries(
    tables
      .find(({ name }) => name === table)!
      .columns.flatMap(({ name, role, references }) =>
        role === 'child_key' ? [[name, tables[references!]!.name]] : [],
      ),
  );

const twoPrefixes = (main: string, a: string, b: string): Record<string, string> => ({
  'main.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:${a}="urn:a" xmlns:${b}="urn:b" targetNamespace="${main}" elementFormDefault="qualified">
    <xs:import namespace="urn:a" schemaLocation="a.xsd"/><xs:import namespace="urn:b" schemaLocation="b.xsd"/>
    <xs:element name="r"><xs:complexType><xs:sequence><xs:element ref="${a}:v"/><xs:element ref="${b}:v"/><xs:element name="own" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
  'a.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:a"><xs:element name="v" type="xs:string"/></xs:schema>`,
  'b.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:b"><xs:element name="v" type="xs:string"/></xs:schema>`,
});

const rowOf = (model: RelationalModel, root: string): (readonly [string, string | null])[] => {
  const text = `<r xmlns="${root}" xmlns:a="urn:a" xmlns:b="urn:b"><a:v>A</a:v><b:v>B</b:v><own>O</own></r>`;
  const [row] = shred(model, [text]).rows['r']!;
  return Object.entries(row!).filter(([name]) => !name.endsWith('_key'));
};

const withList = (more: string): string =>
  xs(
    `<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="row" maxOccurs="9"><xs:complexType>${more}<xs:attribute name="codes" type="xs:NMTOKENS"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>`,
  );

const rootOf = (children: string): string =>
  xs(
    `<xs:element name="r"><xs:complexType><xs:sequence>${children}</xs:sequence></xs:complexType></xs:element>`,
  );

const optional = (name: string): string =>
  `<xs:element name="${name}" minOccurs="0"><xs:complexType><xs:attribute name="x"/></xs:complexType></xs:element>`;

describe('a next version', () => {
  const before = modelOf(compiled(first), 1);

  it('keeps the names of what was there, though by itself it would choose others', () => {
    expect(before.tables.map((table) => table.name)).toEqual(['order', 'line', 'tax']);
    expect(modelOf(compiled(second), 1).tables.map((table) => table.name)).toEqual([
      'order',
      'line',
      'order_tax',
      'line_tax',
    ]);
    const after = buildRelationalModel(compiled(second), { mapLevel: 1, previous: before });
    expect(after.tables.map((table) => table.name)).toEqual(['order', 'line', 'order_tax', 'tax']);
    expect(outline(after)).toContain(
      'tax: tax_key bigint!, document_key bigint!, line_key bigint! -> line, position integer!, rate numeric, code text',
    );
  });

  it('is the same model when nothing changed', () => {
    const after = buildRelationalModel(compiled(first), { mapLevel: 1, previous: before });
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
  });
});

describe('shorter names', () => {
  const renamed = 'consignmentOfAnotherCarrier';
  const kept = `<xs:element name="b" maxOccurs="9"><xs:complexType><xs:attribute name="dateOfArrivalAtTheTerminal"/></xs:complexType></xs:element>`;
  const source = compiled(
    rootOf(
      `<xs:element name="${renamed}" maxOccurs="9"><xs:complexType><xs:attribute name="x"/></xs:complexType></xs:element>${kept}`,
    ),
  );
  const shorter = { mapLevel: 3, naming: { ...defaultNaming, maxBytes: 16 } } as const;

  it('are the same model when made again', () => {
    const long = buildRelationalModel(source, { mapLevel: 3 });
    const short = buildRelationalModel(source, { ...shorter, previous: long, keepNames: false });
    expect(short.formerTables?.map(({ name }) => name)).toEqual(['consignment_of_another_carrier', 'b']);
    expect(JSON.stringify(buildRelationalModel(source, { ...shorter, previous: short }))).toBe(
      JSON.stringify(short),
    );
    const previous = { ...short, formerTables: short.formerTables!.toReversed() };
    expect(buildRelationalModel(source, { ...shorter, previous })).toEqual(previous);
  });
});

describe('pruning', () => {
  const source = compiled(
    xs(`<xs:element name="r"><xs:complexType><xs:sequence><xs:element ref="shape" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="a" type="T" minOccurs="0"/><xs:element name="b" type="T" minOccurs="0" maxOccurs="9"/></xs:sequence><xs:attribute name="x"/><xs:attribute name="y"/></xs:complexType></xs:element>
      <xs:complexType name="T"><xs:sequence><xs:element name="u" type="xs:int" minOccurs="0"/><xs:element name="v" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType>
      <xs:element name="shape" type="S" abstract="true"/><xs:complexType name="S"><xs:attribute name="id"/></xs:complexType>
      <xs:element name="circle" type="S" substitutionGroup="shape"/>
      <xs:element name="box" substitutionGroup="shape"><xs:complexType><xs:complexContent><xs:extension base="S"><xs:attribute name="w"/></xs:extension></xs:complexContent></xs:complexType></xs:element>`),
  );
  const document = '<r x="1"><circle id="c"/><a><u>5</u></a></r>';

  it('leaves out what documents never used, and loads what they do', () => {
    const pruned = pruneSourceModel(source, statisticsOf([document]));
    const model = modelOf(pruned, 1);
    expect(outline(model)).toBe(
      [
        'r: r_key bigint!, document_key bigint!, x text, a_present boolean, a_u integer',
        'shape: shape_key bigint!, document_key bigint!, r_key bigint! -> r, position integer!, element text!, id text',
      ].join('\n'),
    );
    expect(shred(model, [document]).deviations.total).toBe(0);
  });

  it('keeps later content as unmapped', () => {
    const model = modelOf(pruneSourceModel(source, statisticsOf([document])), 1);
    const { rows } = shred(model, ['<r y="2"><box w="3"/></r>']);
    expect(rows['_unmapped']!.map((row) => row['xpath'])).toEqual(['/r/@y', '/r/box']);
  });
});

/** Keys of other rows, but for those of tags. */
const keys = (model: RelationalModel): string[] =>
  model.tables.flatMap(({ name, columns }) =>
    columns.flatMap((column) =>
      column.references !== null && !name.startsWith('tag') ? [`${name}.${column.name}`] : [],
    ),
  );

describe('a name never stands for something else', () => {
  it('one key of several uses goes on to be that of them and of what comes, and a key of one use to be its alone', () => {
    const several = 'minOccurs="0" maxOccurs="9"';
    const [seller, payee] = [of('seller', several), of('payee', several)];
    const both = modelOf(compiled(bill(seller + payee)), 3);
    expect(keys(both)).toEqual(['party.bill_key']);
    expect(keys(next(bill(seller), both))).toEqual(['party.bill_key']);
    const third = next(bill(of('buyer', several) + seller + of('payee')), both);
    expect(keys(third)).toEqual(['party.bill_key']);
    const document =
      '<bill><buyer><name>B</name><tag/></buyer><seller><name>S</name><tag/></seller><payee><name>P</name><tag/></payee></bill>';
    expect(shred(third, [document]).rows['party']!.map(({ name, role }) => [name, role])).toEqual([
      ['B', 'buyer'],
      ['S', 'seller'],
      ['P', 'payee'],
    ]);
    expect(coversModel(third, both)).toBe(true);
    expectSameMeanings(both, third);
    // runs of text hang by a key of their own kind
    expect(both.tables.map(({ kind }) => kind)).toContain('text');
    expect(next(bill(seller + payee), both)).toEqual(both);
    // rows that lie in a target do not say what they are
    const nestedOnce = modelOf(compiled(nested('seller')), 3);
    const nestedTwice = next(
      bill(
        `${seller + payee}<xs:element name="more" minOccurs="0" maxOccurs="9"><xs:complexType><xs:sequence>${of('agent', 'maxOccurs="9"')}</xs:sequence></xs:complexType></xs:element>`,
      ),
      nestedOnce,
    );
    expect(columnsOf(nestedOnce, 'party')).toContain('bill_key');
    expect(columnsOf(nestedTwice, 'party')).toEqual(expect.arrayContaining(['bill_key', 'bill_payee_key']));
    expect(columnsOf(nestedTwice, 'party')).not.toContain('role');
  });

  it('a key of a child that stands once stays where it is as long as it may, and so does one of a parent', () => {
    const [once, often] = [of('seller') + of('payee'), of('seller', 'maxOccurs="9"') + of('payee')];
    const first = modelOf(compiled(bill(once)), 3);
    expect(keys(first)).toEqual(['bill.seller_key', 'bill.payee_key']);
    const second = next(bill(of('buyer', 'minOccurs="0"') + once), first);
    expect(keys(second)).toEqual(['bill.buyer_key', 'bill.seller_key', 'bill.payee_key']);
    expect(coversModel(second, first)).toBe(true);
    // one place is left: what has its key still has it
    const unfolded = modelOf(compiled(bill(once)), 2);
    expect(keys(next(bill(of('seller')), unfolded, 2))).toEqual(['bill.seller_key']);
    const third = next(bill(often), first);
    expect(keys(third)).toEqual(['bill.payee_key', 'party.bill_key']);
    expect(coversModel(third, first)).toBe(false);
    // what hangs from its parent goes on so, whatever it might do in a model of its own
    expect(keys(next(bill(once), third))).toEqual(['bill.payee_key', 'party.bill_key']);
  });

  it('a place whose type is another now keeps its table, and its key', () => {
    const uses = of('seller') + of('payee');
    const first = modelOf(compiled(bill(uses)), 3);
    const other = party.replace('"Party"', '"Firm"').replace('name="tag"', 'name="branch"');
    const firms = (of('payee') + of('drawee')).replaceAll('"Party"', '"Firm"');
    const second = next(
      bill(`${of('seller')}${of('agent')}${firms}`).replace('</xs:schema>', `${other}</xs:schema>`),
      first,
    );
    expect(leadsTo(second, 'bill')).toEqual({
      seller_key: 'party',
      agent_key: 'party',
      payee_key: 'party',
      drawee_key: 'firm',
    });
    const third = next(bill(uses), second);
    expect(leadsTo(third, 'bill')).toEqual({ seller_key: 'party', payee_key: 'party' });
    for (const [a, b] of [
      [first, second],
      [second, third],
      [first, third],
    ] as const)
      expectSameMeanings(a, b);
  });

  it('a type whose version is at the end of its name goes on in the table of the one before', () => {
    const uses = of('seller') + of('payee') + of('buyer', 'maxOccurs="9"');
    const of32 = bill(uses).replaceAll('"Party"', '"Party32"');
    const of135 = bill(uses)
      .replaceAll('"Party"', '"Party135"')
      .replace('name="tag"', 'name="phone" type="xs:string" minOccurs="0"/><xs:element name="tag"');
    const first = modelOf(compiled(of32), 3);
    const second = next(of135, first);
    expect(leadsTo(second, 'bill')).toEqual(leadsTo(first, 'bill'));
    expect(columnsOf(second, 'party')).toEqual(
      expect.arrayContaining([...columnsOf(first, 'party'), 'phone']),
    );
    expect(second.formerTables).toBeUndefined();
    expectSameMeanings(first, second, (meaning) => meaning.replaceAll(/Party(?:32|135)/g, 'Party'));
    expect(next(of135, second)).toEqual(second);
    // where both are there, each has a table of its own
    const both = bill(uses + (of('agent') + of('drawee')).replaceAll('"Party"', '"Party135"')).replaceAll(
      '"Party"',
      '"Party32"',
    );
    const type = party.replace('"Party"', '"Party135"');
    const apart = next(both.replace('</xs:schema>', `${type}</xs:schema>`), first);
    expect(leadsTo(apart, 'bill')).toMatchObject({ seller_key: 'party', agent_key: 'party135' });
  });

  it('the name of what is gone is not given to what comes, and is there again when it comes back', () => {
    const first = bill(of('seller', 'maxOccurs="9"'));
    const before = modelOf(compiled(first), 2);
    const after = next(bill(of('payee', 'maxOccurs="9"')), before, 2);
    const third = next(first, after, 2);
    for (const [a, b] of [
      [before, after],
      [after, third],
      [before, third],
    ] as const)
      expectSameMeanings(a, b);
    expect(columnsOf(third, before.tables[1]!.name)).toEqual(columnsOf(before, before.tables[1]!.name));
    expect(after.formerTables!.map(({ name }) => name)).toContain(before.tables[1]!.name);
  });

  it('one use of a key is not taken over by another', () => {
    const before = modelOf(compiled(nested('seller')), 3);
    expect(columnsOf(before, 'party')).toContain('bill_key');
    const after = next(nested('payee'), before);
    expect(columnsOf(after, 'party')).not.toContain('bill_key');
    expect(expectSameMeanings(before, after)).toBeGreaterThan(8);
  });

  it('prefixes and namespaces may change places', () => {
    const before = modelOf(compiled(twoPrefixes('urn:r:1', 'x', 'y')), 3);
    const after = buildRelationalModel(compiled(twoPrefixes('urn:r:2', 'y', 'x')), {
      mapLevel: 3,
      previous: before,
    });
    expect(rowOf(after, 'urn:r:2')).toEqual(rowOf(before, 'urn:r:1'));
    expect(coversModel(after, before)).toBe(false);
  });

  it('the number of items beside a list keeps its name, and gives it to nothing', () => {
    const before = modelOf(compiled(withList('')), 3);
    const after = next(withList('<xs:attribute name="codes_count" type="xs:string"/>'), before);
    expect(columnsOf(after, 'row')).toContain('codes_count_2');
    expectSameMeanings(before, after);
    const again = next(
      withList(''),
      modelOf(compiled(withList('<xs:attribute name="codes_count" type="xs:string"/>')), 3),
    );
    expect(again.tables[1]!.columns.find(({ name }) => name === 'codes')!.listNames!.count).toBe(
      'codes_count_2',
    );
  });
});

describe('what says that an element is there', () => {
  it('has the name of a new model and the path of its element, here and in the map', () => {
    const before = modelOf(compiled(rootOf(optional('slicing'))), 1);
    const after = buildRelationalModel(compiled(rootOf(optional('definition') + optional('slicing'))), {
      mapLevel: 1,
      previous: before,
    });
    const present = after.tables[0]!.columns.filter(({ role }) => role === 'presence');
    expect(present.map(({ name, xpath }) => [name, xpath])).toEqual([
      ['definition_present', '/r/definition'],
      ['slicing_present', '/r/slicing'],
    ]);
    const lines = after.mappings.filter(
      ({ column }) => column !== null && after.tables[0]!.columns[column]!.role === 'presence',
    );
    expect(lines.map(({ xpath, nodeType }) => [xpath, nodeType])).toEqual([
      ['/r/definition', 'element'],
      ['/r/slicing', 'element'],
    ]);
  });
});

describe('rows that were dealt out over tables', () => {
  const wide = compiled(
    xs(
      `<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="row" maxOccurs="9"><xs:complexType>${Array.from({ length: 400 }, (_, at) => `<xs:attribute name="v${at}"/>`).join('')}</xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>`,
    ),
  );

  it('lie in one where a target of its own has room for them', () => {
    const whole = modelOf(wide, 3);
    expect(whole.tables.map(({ name }) => name)).toEqual(['r', 'row', 'row_2']);
    const source = pruneSourceModel(wide, statisticsOf(['<r><row v3="1" v399="2"/></r>']));
    const pruned = buildRelationalModel(source, { mapLevel: 3, previous: whole, keepSplits: false });
    expect(pruned.tables.map(({ name }) => name)).toEqual(['r', 'row']);
    const again = buildRelationalModel(wide, { mapLevel: 3, previous: pruned });
    expectSameMeanings(whole, again);
    expectSameMeanings(pruned, again);
    expect(columnsByTable(again)).toEqual(400);
  });
});

function columnsByTable({ tables }: RelationalModel): number {
  return tables.flatMap(({ columns }) => columns.filter(({ role }) => role === 'value')).length;
}
