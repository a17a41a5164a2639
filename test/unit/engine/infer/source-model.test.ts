/** Source models inferred from statistics. */
import { describe, expect, it } from 'vitest';
import { inferSourceModel, inferValue } from '../../../../src/engine/infer/source-model.ts';
import { mergeStatistics } from '../../../../src/engine/infer/merge-statistics.ts';
import { distinctEstimate, emptyStatistics } from '../../../../src/engine/infer/statistics.ts';
import { columnTypeOf } from '../../../../src/engine/map/tables/column-types.ts';
import { inferred, modelOf, outline, statisticsOf } from '../../../support/models/shredding.ts';

function typeOf(values: readonly string[]): string {
  const statistics = statisticsOf([`<r>${values.map((value) => `<v>${value}</v>`).join('')}</r>`]);
  const element = statistics.elements.find((candidate) => candidate.localName === 'v')!;
  const { kind, precision, scale } = columnTypeOf(inferValue(element.text));
  return precision === undefined ? kind : `${kind}(${precision},${scale})`;
}

describe('types are the narrowest that give the text back', () => {
  it.each([
    ['integer', ['1', '-20', '0']],
    ['bigint', ['12345678901']],
    ['numeric(38,0)', ['1234567890123456789']],
    ['numeric', ['123456789012345678901234567890123456789']],
    ['text', ['1', '01']],
    ['text', ['+1']],
    ['text', ['-0']],
    ['numeric', ['1', '1.5']],
    ['numeric(18,2)', ['1.50', '22.25']],
    ['text', ['1.', '2.5']],
    ['numeric(18,1)', ['.5']],
    ['numeric', ['.5', '-.25', '12', '1.50']],
    ['text', ['-.0']],
    ['text', ['.']],
    ['text', ['-.']],
    ['text', ['..5']],
    ['text', ['.5.']],
    ['text', ['1e5']],
    ['text', ['12E4', '1.5E3']],
    ['numeric', ['1.93E-4', '0e+000', '-12.50', '7']],
    ['numeric', ['12', '2.5E10']],
    ['text', ['1.5E-4', 'x']],
    ['text', ['1.E5']],
    ['text', ['00.5E5']],
    ['numeric', ['1.5E+038']],
    ['text', ['1.5E39']],
    ['text', ['1.5E1000']],
    ['text', ['1.5E', '1.5E+']],
    ['boolean', ['true', 'false']],
    ['integer', ['1', '0']],
    ['text', ['true', '1']],
    ['date', ['2024-02-29', '1999-12-31']],
    ['text', ['2023-02-29']],
    ['time', ['10:00:00', '23:59:59.5']],
    ['timestamp', ['2024-01-01T10:00:00']],
    ['timestamptz', ['2024-01-01T10:00:00Z', '2024-01-01T10:00:00+02:00']],
    ['timestamptz', ['2024-01-01T10:00:00.1234567Z', '2024-01-01T10:00:00.123456789+02:00']],
    ['text', ['2024-01-01T10:00:00.1234567891']],
    ['text', ['2024-01-01T10:00:00Z', '2024-01-01T10:00:00']],
    ['text', [' 1']],
    ['text', ['']],
    ['integer', ['', '5']],
  ])('%s for %j', (type, values) => {
    expect(typeOf(values)).toBe(type);
  });
});

describe('structure', () => {
  it('says how often children occur, and which are always there', () => {
    const source = inferred(['<r><a><x/><y>1</y></a><a><y>2</y><y>3</y></a></r>']);
    const type = source.types[source.elements.find((element) => element.name.localName === 'a')!.type]!;
    const children = type.children.map((child) => [
      source.elements[child.element]!.name.localName,
      child.minOccurs,
      child.maxOccurs,
    ]);
    expect(children).toEqual([
      ['x', 0, 1],
      ['y', 1, null],
    ]);
  });

  it('finds an order that no parent contradicts', () => {
    const source = inferred(['<r><a><x/><z/></a><a><x/><y/><z/></a><a><y/><z/></a></r>']);
    const type = source.types[source.elements.find((element) => element.name.localName === 'a')!.type]!;
    expect(
      type.children.map((child) => [source.elements[child.element]!.name.localName, child.orderImplied]),
    ).toEqual([
      ['x', true],
      ['y', true],
      ['z', true],
    ]);
  });

  it('keeps positions where parents disagree', () => {
    const source = inferred(['<r><a><x>1</x><y>1</y></a><a><y>1</y><x>1</x></a></r>']);
    expect(outline(modelOf(source, 1))).toContain(
      'x_position integer, x integer!, y_position integer, y integer!',
    );
  });

  it('closes recursion on the open ancestor', () => {
    const source = inferred([
      '<part><name>a</name><part><name>b</name><part><name>c</name></part></part></part>',
    ]);
    expect(source.elements.map((element) => element.name.localName)).toEqual(['part', 'name']);
    expect(modelOf(source, 1).tables.map((table) => table.name)).toEqual(['part']);
  });

  it('tells mixed content, attributes alone, and values with attributes apart', () => {
    const source = inferred(['<r><m>a<b/>c</m><e x="1"/><v x="1">2</v></r>']);
    const content = new Map(
      source.elements.map((element) => [element.name.localName, source.types[element.type]!.content]),
    );
    expect([content.get('m'), content.get('e'), content.get('v'), content.get('r')]).toEqual([
      'mixed',
      'empty',
      'simple',
      'elements',
    ]);
  });
});

describe('statistics', () => {
  const documents = [
    '<r><a k="1">x</a><b><c>1</c></b></r>',
    '<r><b><c>20</c><c>3</c></b><d/></r>',
    '<s xmlns="urn:s"><a>2024-01-01</a></s>',
    '<r><b/><a k="z">y</a></r>',
  ];

  it('merged over runs say what one run over all says', () => {
    const together = inferSourceModel(statisticsOf(documents));
    const merged = documents
      .map((document) => statisticsOf([document]))
      .reduce(mergeStatistics, emptyStatistics());
    expect(merged.documents).toBe(4);
    expect(outline(modelOf(inferSourceModel(merged), 1))).toBe(outline(modelOf(together, 1)));
  });

  it('survive storage as JSON', () => {
    const statistics = statisticsOf(documents);
    expect(JSON.parse(JSON.stringify(statistics))).toEqual(statistics);
  });

  it('estimate distinct values', () => {
    const few = statisticsOf([
      `<r>${Array.from({ length: 500 }, (_, i) => `<v>${i % 40}</v>`).join('')}</r>`,
    ]);
    expect(distinctEstimate(few.elements[1]!.text.sketch)).toBe(40);
    const many = statisticsOf([
      `<r>${Array.from({ length: 20_000 }, (_, i) => `<v>value ${i}</v>`).join('')}</r>`,
    ]);
    const estimate = distinctEstimate(many.elements[1]!.text.sketch);
    expect(estimate).toBeGreaterThan(13_000);
    expect(estimate).toBeLessThan(30_000);
  });
});
