/** A document gives the same rows however its bytes are cut into pieces. */
import { describe, expect, it } from 'vitest';
import { bytesOf, compiled, shred, statisticsOf } from '../support/models/shredding.ts';
import { createStatisticsCollector } from '../../src/engine/infer/collector.ts';
import { createNameTable } from '../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../src/engine/xml/tokenizer/portable.ts';
import { deviate } from './documents/deviations.ts';
import { modelFor } from './loading.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';
import { xsdCases } from './xsd/cases.ts';

describe('documents cut anywhere', { timeout: propertyTimeoutMs }, () => {
  it('give the same rows, at every byte and in pieces of every size', async () => {
    await holds(
      xsdCases({ extreme: true, change: deviate }),
      ({ files, documents, trees, choices }) => {
        const model = modelFor(
          compiled(files),
          3,
          trees.map(({ name }) => name),
        );
        const whole = shred(model, documents);
        for (const pieceBytes of [1, 2, 3, 7, choices.between(4, 40)]) {
          const cut = shred(model, documents, { pieceBytes });
          expect(cut.rows).toEqual(whole.rows);
          expect(cut.unconvertedValues).toEqual(whole.unconvertedValues);
          expect([...cut.deviations.paths]).toEqual([...whole.deviations.paths]);
        }
      },
      { runs: 60 },
    );
  });

  it('give the same statistics', async () => {
    await holds(
      xsdCases({ extreme: true, change: deviate }),
      ({ documents, choices }) => {
        const names = createNameTable();
        const collector = createStatisticsCollector(names, { samples: true });
        for (const document of documents) {
          const bytes = bytesOf(document);
          collector.beginDocument();
          const tokenizer = createXmlTokenizer({
            names,
            windowBytes: 64,
            onBatch: (batch) => collector.consume(batch),
          });
          for (let at = 0; at < bytes.length;) {
            const end = at + choices.between(1, 30);
            tokenizer.write(bytes.slice(at, end));
            at = end;
          }
          tokenizer.end();
          collector.endDocument(bytes.length);
        }
        expect(structuredClone(collector.statistics)).toEqual(statisticsOf(documents));
      },
      { runs: 100 },
    );
  });
});
