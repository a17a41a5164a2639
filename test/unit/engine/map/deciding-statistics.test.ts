/** What of statistics decides how a pruned model is drawn: the rest may be what it likes. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { decidingStatistics, pruneSourceModel } from '../../../../src/engine/map/prune.ts';
import { mergeStatistics } from '../../../../src/engine/infer/merge-statistics.ts';
import type { DocumentStatistics } from '../../../../src/engine/infer/statistics.ts';
import type { MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import { readCorpus } from '../../../support/corpus.ts';
import { compiled, statisticsOf } from '../../../support/models/shredding.ts';
import { needs, some } from '../../../support/needs.ts';
import { corpusGroups, groupSource } from '../../../support/round-trip/corpus.ts';

function drawn(
  source: SourceModel,
  statistics: DocumentStatistics,
  mapLevel: MapLevel,
  previous?: RelationalModel,
): RelationalModel {
  return buildRelationalModel(pruneSourceModel(source, statistics), {
    mapLevel,
    met: { statistics, declared: source },
    ...(previous === undefined ? {} : { previous }),
  });
}

const orders = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:simpleType name="moment"><xs:union memberTypes="xs:integer xs:decimal xs:date xs:gYear"/></xs:simpleType>
  <xs:complexType name="party"><xs:sequence>
    <xs:element name="name" type="xs:string" minOccurs="0" nillable="true"/><xs:element name="born" type="moment" minOccurs="0"/>
    <xs:element name="address" minOccurs="0"><xs:complexType><xs:sequence>
      <xs:element name="city" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="since" type="xs:dateTime"/><xs:anyAttribute processContents="lax"/></xs:complexType>
  <xs:element name="order"><xs:complexType><xs:sequence>
    <xs:element name="buyer" type="party"/><xs:element name="seller" type="party" minOccurs="0" maxOccurs="9"/>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`);
const order = (buyer: string, more = ''): string => `<order><buyer${buyer}</buyer>${more}</order>`;
const plain = order('><name>Ada</name><born>1815</born>');
const whole = order(
  ' since="2001-02-03T04:05:06" x="12"><name>Ada</name><born>1815</born><address><city>Rom</city></address>',
);
const deciding = (...documents: readonly string[]): DocumentStatistics =>
  decidingStatistics(statisticsOf(documents), orders);

describe('what decides of statistics', () => {
  it.each([
    ['other values', plain, order('><name>Grace Hopper</name><born>1906</born>')],
    ['more of the same', plain, `${plain.replace('Ada', 'Bo')}`],
    ['other times', whole, whole.replace('2001-02-03T04', '1999-12-31T23')],
  ])('is the same for %s', (_name, one, another) => {
    expect(deciding(one, another)).toEqual(deciding(one));
    expect(deciding(another)).toEqual(deciding(one));
  });

  it.each([
    ['another element', plain, order('><name>Ada</name><born>1815</born><address/>')],
    [
      'another place of a type',
      plain,
      order('><name>Ada</name><born>1815</born>', '<seller><name>B</name></seller>'),
    ],
    ['an attribute', plain, order(' since="2001-02-03T04:05:06"><name>Ada</name><born>1815</born>')],
    ['another member of a union', plain, order('><name>Ada</name><born>1815-12-10</born>')],
    ['more digits than an integer has', plain, order('><name>Ada</name><born>18150000000000000000</born>')],
    ['a time zone', whole, whole.replace('04:05:06"', '04:05:06Z"')],
    [
      'a longer value of an attribute that a wildcard lets in',
      whole,
      whole.replace('x="12"', 'x="1234567890123"'),
    ],
    [
      'a nil',
      plain,
      order('><name xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/><born>1815</born>'),
    ],
    ['an element without content', whole, whole.replace('<city>Rom</city>', '')],
  ])('is another with %s', (_name, one, another) => {
    const before = deciding(one);
    const after = deciding(one, another);
    expect(after).not.toEqual(before);
    for (const mapLevel of [0, 1, 2, 3] as const)
      expect(drawn(orders, after, mapLevel)).toEqual(drawn(orders, statisticsOf([one, another]), mapLevel));
  });

  it(
    'draws the models of real documents, one after the other, and the same again from each',
    needs('corpus'),
    () => {
      const groups = corpusGroups().filter(({ xsd }) => xsd !== null && !/netex|scap|siri/.test(xsd));
      for (const group of some(groups, 3)) {
        const { source } = groupSource(group);
        const levels = some([3, 2, 1, 0] as const, 1);
        for (const mapLevel of levels) {
          let earlier: DocumentStatistics | null = null;
          let previous = buildRelationalModel(source, { mapLevel });
          for (const name of some(group.documents, 2)) {
            const met = statisticsOf([readCorpus(name)]);
            earlier = earlier === null ? met : mergeStatistics(earlier, met);
            const model = drawn(source, decidingStatistics(earlier, source), mapLevel, previous);
            expect(model, name).toEqual(drawn(source, earlier, mapLevel, previous));
            expect(drawn(source, decidingStatistics(earlier, source), mapLevel, model), name).toEqual(model);
            previous = model;
          }
        }
      }
    },
  );
});
