/** Every value of real documents arrives in the column its path is mapped to, at every map level. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { compileXsdSet } from '../../../../src/engine/xsd/compile-set.ts';
import { compareCensus, treesOf } from '../../../support/round-trip/census.ts';
import { corpusXsdSet, readCorpus } from '../../../support/corpus.ts';
import { inferred, modelOf, shred } from '../../../support/models/shredding.ts';
import { isHere, needs } from '../../../support/needs.ts';

/** sets that compile quickly, with up to `maxDocuments` of their documents */
const sets = [
  'entsoe',
  'junit',
  'iso20022',
  'eforms',
  'fpml5-10-confirmation',
  'siri',
  'cdisc-odm',
  'musicxml',
  'sumo',
  'xmark',
];
const maxDocuments = 4;

const manifest = isHere('corpus')
  ? new TextDecoder()
      .decode(readCorpus('MANIFEST.tsv'))
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t'))
  : [];

const cases = sets.flatMap((corpus) => {
  const lines = manifest.filter(([name]) => name === corpus);
  return [...Map.groupBy(lines, ([, xsd]) => xsd!)].map(([xsd, documents]) => ({
    xsd,
    documents: documents.slice(0, maxDocuments).map(([, , document]) => document!),
  }));
});

describe('documents of the corpus', needs(['corpus', 'whole run']), () => {
  it.each(cases)('$xsd, as the XSD says', ({ xsd, documents }) => {
    const { files, entries } = corpusXsdSet(xsd);
    const { model: source } = compileXsdSet(files, { missing: 'wildcard', entries });
    const bytes = documents.map((document) => readCorpus(document));
    const trees = treesOf(bytes);
    const roots = trees.map(({ name }) => name);
    for (const mapLevel of [0, 1, 3] as const) {
      const model = buildRelationalModel(source, { mapLevel, roots });
      expect(compareCensus(shred(model, bytes), trees)).toEqual([]);
    }
  });

  it.each(cases)('$xsd, inferred from the documents', ({ documents }) => {
    const bytes = documents.map((document) => readCorpus(document));
    const trees = treesOf(bytes);
    const source = inferred(bytes);
    for (const mapLevel of [0, 1, 3] as const) {
      const shredded = shred(modelOf(source, mapLevel), bytes);
      expect(compareCensus(shredded, trees)).toEqual([]);
      expect(shredded.deviations.total).toBe(0);
      expect(shredded.unconvertedValues).toEqual([]);
    }
  });
});
