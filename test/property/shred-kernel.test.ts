/** WebAssembly and TypeScript make the same rows of a document, byte for byte, wherever its batches end. */
import { describe, expect, it } from 'vitest';
import { compiled, inferred, modelOf } from '../support/models/shredding.ts';
import { shredPartsToBytes, shredToBytes, type ShreddingWay } from '../support/models/shredded-bytes.ts';
import { deviate } from './documents/deviations.ts';
import { mapLevels, modelFor } from './loading.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';
import { xsdCases } from './xsd/cases.ts';

const plain: ShreddingWay = { encoding: 'copy-text', kernelFrom: Infinity, tokenizer: 'plain' };

/** parts that were taken at once, of all cases */
let met = 0;

function withoutDeclaration(document: string): string {
  return document.replace(/^\uFEFF?<\?xml[^>]*\?>/, '');
}

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

  it('are the same of parts that are taken at once, as far as that can be', async () => {
    await holds(
      xsdCases({ extreme: true, change: deviate }),
      ({ files, documents, trees, choices }) => {
        const source = compiled(files);
        const roots = trees.map(({ name }) => name);
        const model = modelFor(source, mapLevels[choices.below(4)]!, roots);
        const parts = documents.filter((text) => !text.includes('<!DOCTYPE')).map(withoutDeclaration);
        const between = (): string =>
          choices.pick(['', '\n', ' \t', '\n', 'text', '<!-- x -->', '<other a="1"/>']);
        const all = choices.several(0, 20, () => `${choices.pick(['', ...parts])}${between()}`);
        const document = `<all xmlns:t="urn:t">${all.join('')}</all>`;
        const way: ShreddingWay = {
          encoding: choices.pick(['copy-text', 'csv', 'json-lines']),
          kernelFrom: 0,
          tokenizer: choices.pick(['shared', 'shared', 'plain']),
          windowBytes: choices.between(16, 4000),
          extra: choices.pick([[], ['x', null]]),
          ...(choices.chance(50) ? {} : { hashes: ['ab'.repeat(32)] }),
        };
        const { localName } = roots[0]!;
        const { taken, ...shredded } = shredPartsToBytes(model, document, localName, way, true);
        const expected = shredPartsToBytes(
          model,
          document,
          localName,
          { ...plain, ...way, kernelFrom: Infinity },
          false,
        );
        expect({ ...shredded, taken: 0 }).toEqual(expected);
        met += taken;
      },
      { runs: 150 },
    );
    expect(met).toBeGreaterThan(0);
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
