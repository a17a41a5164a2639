/** What must hold when documents are loaded by a model and written back. */
import { expect } from 'vitest';
import { buildRelationalModel } from '../../src/engine/map/build-model.ts';
import type { MapLevel, RelationalModel } from '../../src/engine/model/relational-model.ts';
import { clarkName, type QName, type SourceModel } from '../../src/engine/model/source-model.ts';
import { compareXml } from '../support/documents/canonical-xml.ts';
import { compareCensus, treesOf } from '../support/round-trip/census.ts';
import { roundTrip } from '../support/round-trip/in-memory.ts';
import type { Shredded } from '../support/models/shredding.ts';

export const mapLevels = [0, 1, 2, 3] as const;

/** The model that a person would get: the likeliest roots, or those the documents have where these are others. */
export function modelFor(source: SourceModel, mapLevel: MapLevel, roots: readonly QName[]): RelationalModel {
  const likely = new Set(
    source.roots.slice(0, source.primaryRoots).map((index) => clarkName(source.elements[index]!.name)),
  );
  const areLikely = roots.every((name) => likely.has(clarkName(name)));
  return buildRelationalModel(source, { mapLevel, ...(areLikely ? {} : { roots }) });
}

/** Nothing of valid documents may be without a place. */
export function expectNoDeviation(
  { deviations, unconvertedValues, nullAllowed, model }: Shredded,
  mayBeUnconverted: boolean,
): void {
  expect([...deviations.paths.values()]).toEqual([]);
  const column = (table: number, at: number): string =>
    `${model.tables[table]!.name}.${model.tables[table]!.columns[at]!.name}`;
  if (mayBeUnconverted) return;
  expect(
    unconvertedValues.map(
      (unconverted) => `${column(unconverted.table, unconverted.column)} ${unconverted.text}`,
    ),
  ).toEqual([]);
  expect(nullAllowed.map((one) => column(one.table, one.column))).toEqual([]);
}

export function expectCompleteCensus(shredded: Shredded, documents: readonly string[]): void {
  expect(compareCensus(shredded, treesOf(documents))).toEqual([]);
}

/** The rows give the documents back; `asText`: values just as they were, whatever their type. */
export async function expectRoundTrip(
  source: SourceModel,
  model: RelationalModel,
  documents: readonly string[],
  asText = false,
): Promise<void> {
  const written = await roundTrip(model, documents);
  for (const [index, document] of documents.entries()) {
    const again = new TextDecoder().decode(written[index]!);
    expect(compareXml(document, again, { source, asText }), again).toEqual([]);
  }
}
