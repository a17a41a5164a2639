/** Documents that deviate from a random XSD set: nothing of them is lost. */
import { describe, expect, it } from 'vitest';
import { compiled, shred } from '../../support/models/shredding.ts';
import { deviate } from '../documents/deviations.ts';
import { expectRoundTrip, mapLevels, modelFor } from '../loading.ts';
import { holds, propertyTimeoutMs } from '../choices/settings.ts';
import { xsdCases } from './cases.ts';

describe('documents that deviate from their XSD', { timeout: propertyTimeoutMs }, () => {
  it.each(mapLevels)('load, and come back whole (level %i)', async (mapLevel) => {
    await holds(
      xsdCases({ extreme: true, change: deviate }),
      async ({ files, documents, trees }) => {
        const source = compiled(files);
        const model = modelFor(
          source,
          mapLevel,
          trees.map(({ name }) => name),
        );
        await expectRoundTrip(source, model, documents);
      },
      { runs: 100 },
    );
  });

  it('load the same whatever is done with what has no place', async () => {
    await holds(
      xsdCases({ extreme: false, change: deviate }),
      ({ files, documents, trees }) => {
        const model = modelFor(
          compiled(files),
          3,
          trees.map(({ name }) => name),
        );
        const { _unmapped: kept, ...captured } = shred(model, documents).rows;
        const { _unmapped: none, ...reported } = shred(model, documents, { unmapped: 'report' }).rows;
        expect(reported).toEqual(captured);
        expect(none).toBeUndefined();
        expect(kept ?? []).toBeInstanceOf(Array);
      },
      { runs: 50 },
    );
  });
});
