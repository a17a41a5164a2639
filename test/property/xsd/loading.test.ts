/** Valid documents of random XSD sets, loaded at every map level. */
import { describe, it } from 'vitest';
import { compiled, shred } from '../../support/models/shredding.ts';
import { expectNoDeviation, expectRoundTrip, mapLevels, modelFor } from '../loading.ts';
import { holds, propertyTimeoutMs } from '../choices/settings.ts';
import { xsdCases } from './cases.ts';

describe('valid documents', { timeout: propertyTimeoutMs }, () => {
  it.each(mapLevels)(
    'load without deviations, unconverted values and NULLs where none may be, and come back (level %i)',
    async (mapLevel) => {
      await holds(
        xsdCases({ extreme: true }),
        async ({ files, documents, trees, extreme }) => {
          const source = compiled(files);
          const model = modelFor(
            source,
            mapLevel,
            trees.map(({ name }) => name),
          );
          expectNoDeviation(shred(model, documents), extreme);
          await expectRoundTrip(source, model, documents);
        },
        { runs: 100 },
      );
    },
  );
});
