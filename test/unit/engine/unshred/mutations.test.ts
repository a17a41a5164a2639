/** Documents that break their XSD in any way come back whole: order, elements, attributes, values and text of all kinds. */
import { describe, expect, it } from 'vitest';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { mutated } from '../../../support/documents/mutated.ts';
import { groupModel } from '../../../support/round-trip/corpus.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { bytesOf, compiled, inferred } from '../../../support/models/shredding.ts';
import { constructs } from './constructs.ts';
import { isHere } from '../../../support/needs.ts';

const seeds = Array.from({ length: isHere('whole run') ? 8 : 1 }, (_, at) => at + 1);

describe.each(constructs)('$name', ({ xsd, documents }) => {
  const bytes = documents.filter((document) => document.length < 5000).map(bytesOf);

  it.each([
    ['the XSD', compiled(xsd), false],
    ['the sound documents alone', inferred(bytes), true],
  ] as const)('with the model of %s', async (_, source, asText) => {
    for (const mapLevel of [0, 1, 3] as const) {
      const model = groupModel(source, mapLevel, bytes);
      for (const [at, document] of bytes.entries()) {
        for (const seed of seeds) {
          const changed = mutated(document, seed * 31 + at, 1 + (seed % 6));
          const [written] = await roundTrip(model, [changed]);
          expect([changed, compareXml(changed, written!, { source, asText })]).toEqual([changed, []]);
        }
      }
    }
  });
});
