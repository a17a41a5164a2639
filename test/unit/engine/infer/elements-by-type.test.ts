/** Elements that xsi:type gives a type of their own, in statistics of their own. */
import { describe, expect, test } from 'vitest';
import {
  placesOfDeclarations,
  placesOfPlan,
  type DeclaredPlaces,
} from '../../../../src/engine/infer/declared-places.ts';
import { UnitStatistics, mergeStatistics } from '../../../../src/engine/infer/merge-statistics.ts';
import type { DocumentStatistics } from '../../../../src/engine/infer/statistics.ts';
import type { NameTable } from '../../../../src/engine/xml/tokens.ts';
import { compiled, modelOf, statisticsOf } from '../../../support/models/shredding.ts';

const source =
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">
  <xs:element name="list"><xs:complexType><xs:sequence><xs:element name="thing" type="Thing" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Thing"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType>
  <xs:complexType name="Long"><xs:complexContent><xs:extension base="Thing"><xs:sequence><xs:element name="size" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Wide"><xs:complexContent><xs:extension base="Thing"><xs:sequence><xs:element name="size"><xs:complexType><xs:attribute name="unit"/></xs:complexType></xs:element></xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:schema>`);
const plan = modelOf(source, 3);
const placesWith = (names: NameTable): DeclaredPlaces => placesOfPlan(plan, names);

const head = '<list xmlns="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">';
const things = [
  '<thing><name>a</name></thing>',
  '<thing xsi:type="Long"><name>b</name><size>5</size></thing>',
  '<q:thing xsi:type=" q:Wide " xmlns:q="urn:t"><q:name>c</q:name><q:size unit="m"/></q:thing>',
  '<thing xmlns:q="urn:u" xsi:type="q:Wide"><name>d</name></thing>',
  '<thing xsi:type="Long"><name>e</name><size>7</size></thing>',
];
const documentOf = (some: readonly string[]): string => `${head}${some.join('')}</list>`;

function countsOf({ byType }: DocumentStatistics): Record<string, number> {
  return Object.fromEntries(byType!.elements.map(({ localName, count }) => [localName, count]));
}

describe('elements of types that have columns of their own', () => {
  test.each([
    ['the plan', placesWith],
    ['declarations', (names: NameTable) => placesOfDeclarations(source, names)],
  ])('are counted by type, by the names in scope, as %s says', (_, way) => {
    const statistics = statisticsOf([documentOf(things)], { placesWith: way });
    expect(countsOf(statistics)).toMatchObject({ thing: 2, 'thing {urn:t}Long': 2, 'thing {urn:t}Wide': 1 });
    const { byType: _byType, ...byName } = statistics;
    const withoutTypes = (names: NameTable): DeclaredPlaces => ({ ...way(names), types: new Set() });
    expect(byName).toEqual(statisticsOf([documentOf(things)], { placesWith: withoutTypes }));
  });

  test('are counted alike by WebAssembly and in any windows', () => {
    const expected = statisticsOf([documentOf(things)], { placesWith, kernelFrom: Infinity });
    for (const windowBytes of [7, 61, 4096])
      expect(statisticsOf([documentOf(things)], { placesWith, kernelFrom: 1, windowBytes })).toEqual(
        expected,
      );
  });

  test('are not counted a second time where no document has one', () => {
    expect(statisticsOf([documentOf(things.slice(0, 1))], { placesWith }).byType).toBeUndefined();
    const samePlaces = modelOf(
      compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r" type="A"/><xs:complexType name="A"><xs:sequence><xs:element name="n" type="xs:int"/></xs:sequence></xs:complexType>
        <xs:complexType name="B"><xs:complexContent><xs:extension base="A"><xs:attribute name="x"/></xs:extension></xs:complexContent></xs:complexType></xs:schema>`),
      3,
    );
    const documents = [
      '<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="B" x="1"><n>1</n></r>',
    ];
    const statistics = statisticsOf(documents, { placesWith: (names) => placesOfPlan(samePlaces, names) });
    expect(statistics.byType).toBeUndefined();
  });

  test('are the same over several runs, and over ranges of a document', () => {
    const [first, second] = [documentOf(things.slice(0, 1)), documentOf(things.slice(1))];
    const each = [first, second].map((document) => statisticsOf([document], { placesWith }));
    const all = statisticsOf([first, second], { placesWith });
    expect(mergeStatistics(each[0]!, each[1]!)).toEqual(all);
    expect(mergeStatistics(each[1]!, each[0]!)).toEqual(statisticsOf([second, first], { placesWith }));

    const whole = statisticsOf([documentOf(things)], { placesWith });
    for (const cut of [1, 2, 4]) {
      const units = new UnitStatistics();
      const ranges = [things.slice(0, cut), things.slice(cut)].map((some) =>
        statisticsOf([documentOf(some)], { placesWith }),
      );
      const list = { namespaceUri: 'urn:t', localName: 'list' };
      units.add({ ...ranges[0]!, documents: 1 }, []);
      units.add({ ...ranges[1]!, documents: 0 }, [list]);
      expect(countsOf(units.result()), String(cut)).toEqual(countsOf(whole));
    }
  });
});
