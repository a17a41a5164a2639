/** Models inferred from random documents alone. */
import { describe, expect, it } from 'vitest';
import { inferSourceModel } from '../../src/engine/infer/source-model.ts';
import { mergeStatistics } from '../../src/engine/infer/merge-statistics.ts';
import { inferred, modelOf, shred, statisticsOf, type Shredded } from '../support/models/shredding.ts';
import { expectCompleteCensus, expectNoDeviation, expectRoundTrip, mapLevels } from './loading.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';
import { shapeOf } from './choices/statistics-shape.ts';
import { treeCases } from './choices/tree-cases.ts';

/** times, whose zones and digits behind the microsecond are no column's, and decimals with an exponent, or with none before the point */
const keptBeside = /\d\d:\d\d:\d\d|[+-]\d\d:\d\d|^-?(?:\.\d+|\d+(?:\.\d+)?[eE][+-]?\d+)$/;

/** A type that was inferred holds every value it was inferred from, form and all, but for the forms that are kept beside. */
function expectNoTextsBeside({ rows }: Shredded): void {
  const texts = (rows['_lexical'] ?? []).map((row) => row['content'] ?? '');
  expect(texts.filter((text) => text !== '' && !keptBeside.test(text))).toEqual([]);
}

/** name of the root element, as text */
function rootNameOf(document: string): string {
  return JSON.stringify(inferred([document]).elements[0]!.name);
}

describe('models inferred from documents', { timeout: propertyTimeoutMs }, () => {
  it.each(mapLevels)(
    'hold these documents without deviations or unconverted values, and give their text back (level %i)',
    async (mapLevel) => {
      await holds(
        treeCases,
        async ({ documents }) => {
          const source = inferred(documents);
          const model = modelOf(source, mapLevel);
          const shredded = shred(model, documents);
          expectNoDeviation(shredded, false);
          expectCompleteCensus(shredded, documents);
          await expectRoundTrip(source, model, documents, true);
          expectNoTextsBeside(shredded);
        },
        { runs: 100 },
      );
    },
  );

  it('lose nothing of other documents', async () => {
    await holds(
      treeCases,
      async ({ documents }) => {
        const source = inferred(documents.slice(0, 1));
        const alike = documents.filter((document) => rootNameOf(document) === rootNameOf(documents[0]!));
        for (const mapLevel of mapLevels) await expectRoundTrip(source, modelOf(source, mapLevel), alike);
      },
      { runs: 100 },
    );
  });

  it('are the same whether WebAssembly takes the statistics or TypeScript alone', async () => {
    await holds(
      treeCases,
      ({ documents, choices }) => {
        const expected = statisticsOf(documents, { kernelFrom: Infinity });
        const windowBytes = choices.between(1, 300);
        const sharesMemory = choices.chance(50);
        expect(statisticsOf(documents, { kernelFrom: 1, windowBytes, sharesMemory })).toEqual(expected);
      },
      { runs: 100 },
    );
  });

  it('are those of the statistics of their parts, merged', async () => {
    await holds(
      treeCases,
      ({ documents, choices }) => {
        const cut = choices.between(1, documents.length);
        const parts = [documents.slice(0, cut), documents.slice(cut)];
        const merged = mergeStatistics(statisticsOf(parts[0]!), statisticsOf(parts[1]!));
        const whole = statisticsOf(documents);
        expect(JSON.stringify(merged)).toBe(JSON.stringify(whole));
        expect(mergeStatistics(whole, statisticsOf([]))).toEqual(whole);
        const backwards = mergeStatistics(statisticsOf(parts[1]!), statisticsOf(parts[0]!));
        expect(shapeOf(backwards)).toEqual(shapeOf(whole));
        const model = modelOf(inferSourceModel(merged), 3);
        expectNoDeviation(shred(model, documents), false);
      },
      { runs: 150 },
    );
  });
});
