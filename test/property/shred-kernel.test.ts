/** WebAssembly and TypeScript make the same rows of a document, byte for byte, wherever its batches end. */
import { describe, expect, it } from 'vitest';
import { compiled, inferred, modelOf } from '../support/models/shredding.ts';
import { shredToBytes, type ShreddingWay } from '../support/models/shredded-bytes.ts';
import { deviate } from './documents/deviations.ts';
import { mapLevels, modelFor } from './loading.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';
import { xsdCases } from './xsd/cases.ts';

const plain: ShreddingWay = { encoding: 'copy-text', kernelFrom: Infinity, tokenizer: 'plain' };

describe('rows by WebAssembly', { timeout: propertyTimeoutMs }, () => {
  it('are those by TypeScript, of documents that deviate, at every map level', async () => {
    await holds(
      xsdCases({ extreme: true, change: deviate }),
      ({ files, documents, trees, choices }) => {
        const source = compiled(files);
        const mapLevel = mapLevels[choices.below(4)]!;
        const model = modelFor(
          source,
          mapLevel,
          trees.map(({ name }) => name),
        );
        const hashes = documents.map((_, index) => `${index}`.repeat(64));
        const common = {
          encoding: (['copy-text', 'csv', 'json-lines'] as const)[choices.below(3)]!,
          widensInPlace: choices.below(2) === 0,
          ...(choices.below(2) === 0 ? {} : { hashes }),
        } as const;
        const expected = shredToBytes(model, documents, { ...plain, ...common });
        for (const tokenizer of ['plain', 'shared'] as const) {
          const windowBytes = choices.between(16, 400);
          const way = { ...common, tokenizer, windowBytes, kernelFrom: 0 };
          expect(shredToBytes(model, documents, way)).toEqual(expected);
        }
      },
      { runs: 150 },
    );
  });

  it('are those by TypeScript, where the model is made from the documents', async () => {
    await holds(
      xsdCases({ extreme: true }),
      ({ documents, choices }) => {
        const model = modelOf(inferred(documents), mapLevels[choices.below(4)]!);
        const way = {
          ...plain,
          kernelFrom: 0,
          tokenizer: 'shared',
          windowBytes: choices.between(16, 400),
        } as const;
        expect(shredToBytes(model, documents, way)).toEqual(shredToBytes(model, documents, plain));
      },
      { runs: 80 },
    );
  });
});
