/** Figures of the map: at each column as many values, and at each table as many rows, as a load puts there. */
import { describe, expect, it } from 'vitest';
import {
  declaredStatistics,
  drawModel,
  loadJob,
  type LoadedJob,
} from '../../../../scripts/random/engine/load.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { manyMappings } from '../../../../src/engine/map/mappings.ts';
import { modelSize } from '../../../../src/tools/schemas/build-model.ts';
import { compiled } from '../../../support/models/shredding.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;
const complex = (name: string, body: string): string =>
  `<xs:complexType name="${name}">${body}</xs:complexType>`;
const sequence = (body: string): string => `<xs:sequence>${body}</xs:sequence>`;
const pad = (prefix: string): string =>
  Array.from({ length: 150 }, (_, at) => `<xs:attribute name="${prefix}${at}"/>`).join('');
const extension = (name: string, base: string, body: string): string =>
  complex(name, `<xs:complexContent><xs:extension base="${base}">${body}</xs:extension></xs:complexContent>`);

/** Members have more attributes than one table takes, so that rows of the head come before theirs. */
const wideGroup = xs(
  `<xs:element name="r"><xs:complexType>${sequence('<xs:element ref="head" maxOccurs="9"/>')}</xs:complexType></xs:element><xs:element name="head" type="H" abstract="true"/><xs:element name="one" type="One" substitutionGroup="head"/><xs:element name="two" type="Two" substitutionGroup="head"/>${complex('H', '<xs:attribute name="h"/>')}${extension('One', 'H', `${sequence('<xs:element ref="head" minOccurs="0"/>')}${pad('a')}`)}${extension('Two', 'H', pad('b'))}`,
);

const elements = (prefix: string, type: string): string =>
  Array.from(
    { length: 42 },
    (_, at) => `<xs:element name="${prefix}${at}" type="${type}" minOccurs="0" maxOccurs="9"/>`,
  ).join('');

/** A map of more than 40,000 lines, and elements of a type that holds itself, of which derived types have tables of their own. */
const longMap = xs(
  `<xs:element name="r"><xs:complexType>${sequence(`${elements('g', 'G')}<xs:element name="n" type="N" maxOccurs="9"/>`)}</xs:complexType></xs:element>${complex('G', sequence(elements('p', 'P')))}${complex('P', sequence(elements('f', 'F')))}<xs:complexType name="F"><xs:attribute name="f"/></xs:complexType>${complex('N', sequence('<xs:element name="v" type="xs:int" minOccurs="0" maxOccurs="9"/><xs:element name="n" type="N" minOccurs="0" maxOccurs="9"/>'))}${extension('M', 'N', pad('m'))}${extension('L', 'N', pad('l'))}`,
);

const cases = {
  'attributes that only a wildcard allows': [
    xs(
      `<xs:element name="r"><xs:complexType>${sequence('<xs:element name="i" type="I" maxOccurs="9"/>')}</xs:complexType></xs:element>${complex('I', '<xs:attribute name="own"/><xs:anyAttribute namespace="urn:w" processContents="skip"/>')}`,
    ),
    '<r xmlns:w="urn:w"><i w:a="1"/><i w:b="1"/><i w:a="1" w:b="2" own="3"/><i/><i w:c="1"/></r>',
  ],
  'text of a fixed length that is empty': [
    xs(
      `<xs:element name="r"><xs:complexType>${sequence('<xs:element name="c" type="C" default="AB1" maxOccurs="9"/>')}</xs:complexType></xs:element><xs:simpleType name="C"><xs:restriction base="xs:string"><xs:pattern value="[A-Z]{2}\\d"/></xs:restriction></xs:simpleType>`,
    ),
    '<r><c/><c>XY2</c><c/></r>',
  ],
  'members of a group too wide for one table': [
    wideGroup,
    '<r><one h="1" a1="x"><two b2="y"/></one><two/><one><one a3="z"/></one></r>',
  ],
  'a root that stands again below, behind a row of its head': [
    wideGroup,
    '<one h="1" a1="x"><two b2="y"/></one>',
    '<one><one a2="y"><one a3="z"/></one></one>',
  ],
  'text that lies in rows of the declared type and in a column of another': [
    xs(
      `<xs:element name="r"><xs:complexType>${sequence('<xs:element name="m" type="M" maxOccurs="9"/>')}</xs:complexType></xs:element><xs:complexType name="M" mixed="true"/><xs:complexType name="Alone" mixed="true"><xs:complexContent mixed="true"><xs:restriction base="M"/></xs:complexContent></xs:complexType><xs:complexType name="More"><xs:complexContent mixed="true"><xs:extension base="M">${sequence('<xs:element name="b" type="xs:string" minOccurs="0" maxOccurs="9"/>')}</xs:extension></xs:complexContent></xs:complexType>`,
    ),
    '<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><m>one</m><m xsi:type="Alone">two</m><m xsi:type="More">three<b>4</b>five</m><m/></r>',
  ],
  'places of a recursion that a long map leaves out': [
    longMap,
    '<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><n><v>1</v><n xsi:type="M" m1="a"><v>2</v><n xsi:type="L" l1="b"><v>3</v><v>4</v></n><n><v>5</v></n></n><n><n><v>6</v></n></n></n></r>',
  ],
} as const;

describe('figures of the map are what a load puts there, for', () => {
  it.each(
    Object.entries(cases).flatMap(([name, [xsd, ...documents]]) =>
      [0, 1, 2, 3].map((level) => [name, level, xsd, documents] as const),
    ),
  )('%s (level %i)', async (_, level, xsd, documents) => {
    const source = compiled(xsd);
    const model = buildRelationalModel(source, {
      mapLevel: level as 0,
      roots: [{ namespaceUri: '', localName: documents[0]!.slice(1).match(/^\w+/)![0] }],
    });
    expectFigures(await loadJob(source, model, [...documents, ...documents]));
  });
});

function expectFigures({ model, lines, occurrences, rows, unmapped }: LoadedJob): void {
  expect(unmapped).toEqual([]);
  const told = new Map<string, number>();
  for (const line of lines) {
    const place = `${line.table_name} ${line.column_name ?? '*'}`;
    told.set(place, (told.get(place) ?? 0) + (occurrences!.get(line) ?? 0));
  }
  const loaded = new Map<string, number>();
  for (const { name, columns, kind } of model.tables) {
    if (kind === 'element') loaded.set(`${name} *`, (rows[name] ?? []).length);
    for (const { name: column, role } of columns)
      if (role === 'value' || role === 'content')
        loaded.set(`${name} ${column}`, (rows[name] ?? []).filter((row) => row[column] !== null).length);
  }
  for (const [place, count] of loaded) expect([place, told.get(place) ?? 0]).toEqual([place, count]);
}

/** Counts the figures as for a pruned model: its documents are read, and counted, before there is a plan. */
async function expectPrunedFigures(xsd: string, documents: readonly string[]): Promise<void> {
  const source = compiled(xsd);
  const roots = [{ namespaceUri: '', localName: 'r' }];
  for (const mapLevel of [0, 1, 2, 3] as const) {
    const model = drawModel(source, documents, { mapLevel, roots, prune: true });
    expectFigures(await loadJob(source, model, documents, declaredStatistics(source, documents)));
  }
}

const ownS = (body: string): string => `<s xsi:type="Own" own="1"><code>a</code>${body}</s>`;

describe('figures of a pruned map', () => {
  it('tell an element from the member of a group that it holds, of its name and type', async () => {
    const xsd = xs(
      `<xs:element name="r"><xs:complexType>${sequence('<xs:element name="basket" type="Basket"/>')}</xs:complexType></xs:element>
      <xs:element name="asset" type="Asset" abstract="true"/><xs:element name="basket" type="Basket" substitutionGroup="asset"/>
      <xs:complexType name="Asset">${sequence('<xs:element name="id" type="xs:string"/>')}</xs:complexType>
      ${extension('Basket', 'Asset', sequence('<xs:element ref="asset" minOccurs="0" maxOccurs="9"/>'))}`,
    );
    const document =
      '<r><basket><id>a</id><basket><id>b</id></basket><basket><id>c</id><basket><id>d</id></basket></basket></basket></r>';
    await expectPrunedFigures(xsd, [document]);
  });

  it('tell an element of a derived type from one within it that is declared with this type', async () => {
    const xsd = xs(
      `<xs:element name="r"><xs:complexType>${sequence('<xs:element name="s" type="S" maxOccurs="9"/>')}</xs:complexType></xs:element>
      ${complex('S', `${sequence('<xs:element name="s" type="Own" minOccurs="0" maxOccurs="9"/><xs:element name="code" type="xs:string" minOccurs="0" maxOccurs="9"/>')}`)}
      ${extension('Own', 'S', '<xs:attribute name="own"/>')}`,
    );
    const documents = [`${ownS(ownS(ownS('')))}<s><s/><code/></s>`, `<s>${ownS('')}</s>`];
    await expectPrunedFigures(
      xsd,
      documents.map((body) => `<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${body}</r>`),
    );
  });

  it('count elements with any of many attributes that only a wildcard allows', async () => {
    const xsd = xs(
      `<xs:element name="r"><xs:complexType>${sequence('<xs:element name="i" type="I" maxOccurs="999"/>')}</xs:complexType></xs:element>${complex('I', '<xs:attribute name="own"/><xs:anyAttribute namespace="urn:w" processContents="skip"/>')}`,
    );
    const items = Array.from({ length: 60 }, (_, at) => `<i own="1" w:a${at}="1" w:b${at}="2"/><i own="1"/>`);
    await expectPrunedFigures(xsd, [`<r xmlns:w="urn:w">${items.join('')}</r>`]);
  });
});

it('a long map gets lines for the rounds of a recursion that a map writes out, and for no more', async () => {
  const [xsd, document] = cases['places of a recursion that a long map leaves out'];
  const model = buildRelationalModel(compiled(xsd), { mapLevel: 3 });
  expect(model.mappings.length).toBeGreaterThan(manyMappings);
  expect(modelSize(model)).toContain('leaves out further paths to shared tables');
  const { lines, occurrences } = await loadJob(compiled(xsd), model, [document]);
  const below = lines.filter(({ xpath }) => xpath!.startsWith('/r/n'));
  expect(below.map(({ xpath }) => xpath).filter((xpath) => xpath!.startsWith('/r/n/n/n'))).toEqual([]);
  const told = below
    .filter((line) => occurrences!.has(line) && line.node_type !== 'attribute' && line.column_name === null)
    .map((line) => [line.xpath, line.table_name, occurrences!.get(line)]);
  expect(told.toSorted()).toEqual([
    ['/r/n', 'n', 2],
    ['/r/n/n', 'l', 1],
    ['/r/n/n', 'm', 1],
    ['/r/n/n', 'n', 4],
    ['/r/n/n/v', 'l_v', 2],
    ['/r/n/n/v', 'm_v', 1],
    ['/r/n/v', 'n_v', 3],
  ]);
});
