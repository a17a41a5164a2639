/** Models of real standards, pruned by documents: what a careful data modeller would look at first stays within its goals. */
import { describe, expect, it } from 'vitest';
import type { MapLevel } from '../../../../../src/engine/model/relational-model.ts';
import { figuresOfCorpus, totalFigures } from '../../../../support/models/corpus-figures.ts';
import { needs } from '../../../../support/needs.ts';

describe('models of the corpus', { timeout: 300_000, ...needs('corpus') }, () => {
  it.each<MapLevel>([3, 1])(
    'name documents, index keys, and have few odd names at level %i',
    needs('whole run'),
    (level) => {
      const { tables, counted } = totalFigures(figuresOfCorpus(level, 4));
      expect(tables).toBeGreaterThan(300);
      expect(counted.filter(({ isMet }) => !isMet).map(({ name }) => name)).toEqual([]);
    },
  );
});
