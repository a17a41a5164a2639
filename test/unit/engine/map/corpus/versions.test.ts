/** Versions of real standards, each made with the names of the one before: no name comes to stand for something else. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import { withoutVersion } from '../../../../../src/engine/map/names/type-names.ts';
import type { MapLevel, RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compileXsdSet } from '../../../../../src/engine/xsd/compile-set.ts';
import { needs, some } from '../../../../support/needs.ts';
import { expectSameMeanings } from '../../../../support/models/name-meanings.ts';
import { standardSeries } from '../../../../support/versions/standards.ts';

const levels: readonly MapLevel[] = [3, 0, 1, 2];

// without it there is none, and a file that has no test is a fault
it('there are versions of standards where the corpus is', needs('corpus'), () => {
  expect(standardSeries()).not.toEqual([]);
});

describe.each(some(standardSeries(), 2))(
  '$name',
  { timeout: 300_000, ...needs('corpus') },
  ({ versions }) => {
    it('keep what their names stand for', () => {
      const stored = versions().map(({ files, entry, root }) => ({
        root,
        source: compileXsdSet([...files], { entries: [entry], missing: 'wildcard' }).model,
      }));
      for (const mapLevel of some(levels, 2)) {
        let previous: RelationalModel | undefined;
        for (const { source, root } of stored) {
          const model = buildRelationalModel(source, {
            mapLevel,
            roots: [root],
            ...(previous === undefined ? {} : { previous }),
          });
          if (previous !== undefined)
            expect(expectSameMeanings(previous, model, withoutVersions)).toBeGreaterThan(0);
          previous = model;
        }
      }
    });
  },
);

/** Types are called by their version, and prefixes say which namespace is meant in one version alone. */
function withoutVersions(meaning: string): string {
  return meaning
    .replace(/(?<=\((?:type|as) )[^()]+(?=\))/g, withoutVersion)
    .replace(/(?<=[/@( ])[\w.-]+:/g, '');
}
