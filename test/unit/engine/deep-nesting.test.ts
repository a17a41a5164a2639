/** Elements of different names, one inside the other, nearly as deep as documents may go: no step of the way nests as many calls. */
import { describe, expect, it } from 'vitest';
import { renderDdl } from '../../../src/engine/sql/ddl.ts';
import { mergeStatistics } from '../../../src/engine/infer/merge-statistics.ts';
import { inferSourceModel } from '../../../src/engine/infer/source-model.ts';
import { pruneSourceModel } from '../../../src/engine/map/prune.ts';
import {
  packRelationalModel,
  packSourceModel,
  unpackRelationalModel,
  unpackSourceModel,
} from '../../../src/engine/model/packed/models.ts';
import type { MapLevel } from '../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { roundTrip } from '../../support/round-trip/in-memory.ts';
import { compiled, modelOf, statisticsOf } from '../../support/models/shredding.ts';
import { needs, some } from '../../support/needs.ts';

const names = Array.from({ length: 4_000 }, (_, at) => `n${at}`);
const document = `${names.map((name) => `<${name}>`).join('')}end${names
  .toReversed()
  .map((name) => `</${name}>`)
  .join('')}`;

function chain(element: (name: string, at: number) => string): string {
  const all = names.map(element).join('');
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${all}</xs:schema>`;
}

const tags = (text: string): string => [...text.matchAll(/<\/?n\d+|end/g)].join(' ');

/** One element in the other, each of a type without a name. */
function nested(depth: number): string {
  const [start, end] = [
    '<xs:element name="a"><xs:complexType><xs:sequence>',
    '</xs:sequence></xs:complexType></xs:element>',
  ];
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${start.repeat(depth)}<xs:any/>${end.repeat(depth)}</xs:schema>`;
}

async function goesThrough(source: SourceModel, level: MapLevel): Promise<void> {
  const model = modelOf(unpackSourceModel(packSourceModel(source)), level);
  const deepest = model.mappings
    .filter(({ nodeType, column }) => nodeType !== 'any' && column !== null)
    .at(-1)!;
  expect(deepest.xpath).toBe(`/${names.join('/')}`);
  const packed = packRelationalModel(model);
  const stored = unpackRelationalModel(packed.plan, () => packed.mappings);
  expect(renderDdl(stored).length).toBeGreaterThan(1_000);
  const [written] = await roundTrip(stored, [document]);
  expect(tags(new TextDecoder().decode(written))).toBe(tags(document));
}

describe('4,000 nested elements of different names', { timeout: 120_000 }, () => {
  const levels: readonly MapLevel[] = [0, 1, 2, 3];

  it.each(some(levels, 1))('inferred, at level %i', async (level) => {
    const statistics = statisticsOf([document]);
    const all = mergeStatistics(statistics, statistics);
    const source = inferSourceModel(all);
    await goesThrough(pruneSourceModel(source, all), level);
  });

  it.each(some([0, 3] as const, 1))('declared by named types, at level %i', async (level) => {
    const xsd = chain((_, at) => {
      if (at === names.length - 1)
        return `<xs:simpleType name="T${at}"><xs:restriction base="xs:string"/></xs:simpleType>`;
      const next = `<xs:element name="n${at + 1}" type="T${at + 1}" minOccurs="0"/>`;
      const type = `<xs:complexType name="T${at}"><xs:sequence>${next}</xs:sequence></xs:complexType>`;
      return at === 0 ? `<xs:element name="n0" type="T0"/>${type}` : type;
    });
    await goesThrough(compiled(xsd), level);
  });

  it('declared by references', needs('whole run'), async () => {
    const xsd = chain((name, at) =>
      at === names.length - 1
        ? `<xs:element name="${name}" type="xs:string"/>`
        : `<xs:element name="${name}"><xs:complexType><xs:sequence><xs:element ref="n${at + 1}"/></xs:sequence></xs:complexType></xs:element>`,
    );
    await goesThrough(compiled(xsd), 3);
  });

  it('types without names nest as deep as a schema may, beyond which it is told what to do', () => {
    expect(compiled(nested(130)).elements).toHaveLength(130);
    for (const depth of [140, 1_300])
      expect(() => compiled(nested(depth))).toThrow(
        /line 1, column \d+: Elements nest more than 400 deep; give the types inside names, and refer to them$/,
      );
  });
});
