/** Documents whose names hold data end with a reason: their statistics would fill any memory. */
import { describe, expect, it } from 'vitest';
import { createStatisticsCollector } from '../../../../src/engine/infer/collector.ts';
import { pathLimits } from '../../../../src/engine/infer/path-tree.ts';
import type { DocumentStatistics } from '../../../../src/engine/infer/statistics.ts';
import { createFastXmlTokenizer } from '../../../../src/engine/xml/tokenizer/fast.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { needs } from '../../../support/needs.ts';

const limit = expect.objectContaining({ diagnostic: expect.objectContaining({ code: 'path_count_limit' }) });
const times = (count: number, text: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => text(at)).join('');
const children = (count: number): string => `<a>${times(count, (at) => `<n${at}/>`)}</a>`;
const attributes = (count: number): string => `<a>${times(count, (at) => `<n a${at}=""/>`)}</a>`;

function statisticsOf(document: string): DocumentStatistics {
  const names = createNameTable();
  const collector = createStatisticsCollector(names, { samples: true });
  const bytes = new TextEncoder().encode(document);
  collector.beginDocument();
  const tokenizer = createFastXmlTokenizer({ names, onBatch: (batch) => collector.consume(batch) });
  tokenizer.write(bytes);
  tokenizer.end();
  collector.endDocument(bytes.length);
  return collector.statistics;
}

describe('paths of documents', () => {
  it('have so many children of one element, and no more', () => {
    expect(statisticsOf(children(2_000)).elements).toHaveLength(2_001);
    expect(() => statisticsOf(children(pathLimits.childrenOfOne + 1))).toThrow(limit);
    expect(() => statisticsOf(children(100_000))).toThrow(limit);
  });

  it('have so many attributes of one element, spread over many of its name', needs('whole run'), () => {
    expect(statisticsOf(attributes(2_000)).elements[1]!.attributes).toHaveLength(2_000);
    expect(() => statisticsOf(attributes(pathLimits.attributesOfOne + 1))).toThrow(limit);
  });

  it('are so many in all, however few their names are', needs('whole run'), () => {
    const below = times(50, (inner) => `<y${inner}>${times(100, (leaf) => `<z${leaf}/>`)}</y${inner}>`);
    const document = `<a>${times(40, (at) => `<x${at}>${below}</x${at}>`)}</a>`;
    expect(() => statisticsOf(document)).toThrow(limit);
  });
});
