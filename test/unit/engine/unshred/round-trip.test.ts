/** Every construct goes to rows and comes back the same, at every map level, from the rows alone. */
import { describe, expect, it } from 'vitest';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { groupModel } from '../../../support/round-trip/corpus.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { bytesOf, compiled, inferred } from '../../../support/models/shredding.ts';
import { constructs } from './constructs.ts';
import { some } from '../../../support/needs.ts';

const levels = some([3, 0, 1, 2] as const, 1);

describe.each(constructs)('$name', ({ xsd, documents }) => {
  const bytes = documents.map(bytesOf);
  const source = compiled(xsd);

  it.each(levels)('as the XSD says, at level %i', async (mapLevel) => {
    const written = await roundTrip(groupModel(source, mapLevel, bytes), bytes);
    const differences = bytes.map((document, at) => compareXml(document, written[at]!, { source }));
    expect(differences.flat()).toEqual([]);
  });

  it.each(levels)('inferred from the documents, at level %i', async (mapLevel) => {
    const model = inferred(bytes);
    const written = await roundTrip(groupModel(model, mapLevel, bytes), bytes);
    const differences = bytes.map((document, at) =>
      compareXml(document, written[at]!, { source: model, asText: true }),
    );
    expect(differences.flat()).toEqual([]);
  });

  it.each(levels)('loaded with the model of another document, at level %i', async (mapLevel) => {
    for (const [at, document] of bytes.entries()) {
      const roots = bytes.filter((other) => rootOf(other) === rootOf(document));
      const model = inferred([roots[(roots.indexOf(document) + 1) % roots.length]!]);
      const [written] = await roundTrip(groupModel(model, mapLevel, [document]), [document]);
      expect([at, compareXml(document, written!, { source: model, asText: true })]).toEqual([at, []]);
    }
  });
});

function rootOf(document: Uint8Array): string {
  return /<([\w:]+)[ />]/.exec(new TextDecoder().decode(document).replace(/<!DOCTYPE.*?\]>/s, ''))![1]!;
}
