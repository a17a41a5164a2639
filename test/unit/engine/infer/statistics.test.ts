/** Statistics say the same in whatever order and in how many parts documents were met. */
import { describe, expect, it } from 'vitest';
import { mergeStatistics } from '../../../../src/engine/infer/merge-statistics.ts';
import { uniteNestedElements } from '../../../../src/engine/infer/source-model.ts';
import { isLess } from '../../../../src/engine/infer/statistics.ts';
import { statisticsOf } from '../../../support/models/shredding.ts';
import { isHere } from '../../../support/needs.ts';

function valuesOf(documents: readonly string[]) {
  const { min, max, wholeDigits, minFraction, maxFraction } = statisticsOf(documents).elements[0]!.text;
  return { min, max, wholeDigits, minFraction, maxFraction };
}

describe('the order of values', () => {
  it('is one for all: numbers by size, then texts by their characters', () => {
    const numbers = [
      '-10',
      '-9.5',
      '-0.25',
      '0',
      '0.1',
      '2',
      '9',
      '9.0',
      '10',
      '10000000000000000',
      '10000000000000001.5',
    ];
    const texts = ['', '1a', '2024-01-01', '9z', 'b', 'é', '\uFFFD', '😀'];
    const ordered = [...numbers, ...texts];
    for (const [at, text] of ordered.entries()) {
      expect(ordered.filter((other) => isLess(text, other))).toEqual(ordered.slice(at + 1));
    }
  });

  it('finds the same extremes from either end', () => {
    const values = ['2', '10', '1a', '9', '8', 'b', '2024-01-01', '0.5'];
    const documents = values.map((value) => `<v>${value}</v>`);
    expect(valuesOf(documents)).toEqual(valuesOf(documents.toReversed()));
    expect(valuesOf(documents)).toMatchObject({ min: '0.5', max: 'b' });
  });
});

describe('digits', () => {
  it('are forgotten where not all values are numbers, whichever comes first', () => {
    const none = { wholeDigits: 0, minFraction: 0, maxFraction: 0 };
    expect(valuesOf(['<v>12.5</v>', '<v>5.</v>'])).toMatchObject(none);
    expect(valuesOf(['<v>5.</v>', '<v>12.5</v>'])).toMatchObject(none);
    const merged = mergeStatistics(statisticsOf(['<v>5.</v>']), statisticsOf(['<v>12.5</v>']));
    expect(merged.elements[0]!.text).toMatchObject(none);
  });
});

describe('children of an element that contains itself', () => {
  it('are always there when all have them, although the outer one still waits for its own', () => {
    const { elements } = uniteNestedElements(
      statisticsOf(['<part><part><name>inner</name></part><name>outer</name></part>']),
    );
    expect(elements[0]!.children.map(({ minOccurs, maxOccurs }) => [minOccurs, maxOccurs])).toEqual([
      [0, 1],
      [1, 1],
    ]);
  });
});

/** a document of few names, so that they nest in every way, themselves included */
function randomDocument(next: (below: number) => number): string {
  const element = (depth: number): string => {
    const name = 'abcd'[next(4)]!;
    const attributes = next(4) === 0 ? ` k${next(3)}="${next(20) - 10}"` : '';
    const values = [
      '',
      '7',
      '-0.50',
      '12.25',
      'x',
      '2024-01-01',
      'x'.repeat(next(2)) + '\u{1F600}'.repeat(next(2) * 150),
      '007',
    ];
    const text = next(6) === 0 ? 'mixed' : '';
    const children = depth > 6 ? [] : Array.from({ length: next(4) }, () => element(depth + 1));
    return `<${name}${attributes}>${children.length === 0 ? values[next(values.length)]! : text + children.join('')}</${name}>`;
  };
  return element(0);
}

describe('parts of a run, merged in their order', () => {
  it('are the whole run’s to the last byte, also where elements contain each other', () => {
    let state = 1;
    const next = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 16) % below;
    };
    const rounds = isHere('whole run') ? 100 : 25;
    for (let round = 0; round < rounds; round += 1) {
      const documents = Array.from({ length: 6 }, () => randomDocument(next));
      const whole = JSON.stringify(statisticsOf(documents));
      const cut = next(7);
      const parts = [documents.slice(0, cut), documents.slice(cut)].map((part) => statisticsOf(part));
      expect(JSON.stringify(parts.reduce(mergeStatistics))).toBe(whole);
      const single = documents.map((document) => statisticsOf([document]));
      expect(JSON.stringify(single.reduce(mergeStatistics))).toBe(whole);
    }
  });
});
