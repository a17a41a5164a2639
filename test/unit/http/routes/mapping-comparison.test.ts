/** GET /v2/mapping/compare: elements that move between tables. */
import { describe, expect, it } from 'vitest';
import { inferSourceModel } from '../../../../src/engine/infer/source-model.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { MappingComparison } from '../../../../src/http/routes/catalog-shapes.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';
import { statisticsOf } from '../../../support/models/shredding.ts';

describe('elements that get a row of their own', () => {
  const cases: readonly (readonly [string, string, string, readonly (readonly [string, string])[]])[] = [
    ['with a value', '<r><a>1</a><b/></r>', '<r><a>1</a><a>2</a><b/></r>', [['/r/a', 'changed']]],
    [
      'with a value and an attribute',
      '<r><a k="x">1</a></r>',
      '<r><a k="x">1</a><a k="y">2</a></r>',
      [
        ['/r/a/@k', 'changed'],
        ['/r/a', 'changed'],
      ],
    ],
  ];
  it.each(cases)('%s: one changed line, both ways', async (_, before, after, expected) => {
    const { send, adapters } = await createTestApp();
    const ids: number[] = [];
    for (const [at, text] of [before, after].entries()) {
      const model = inferSourceModel(statisticsOf([text]));
      const { id_sch } = await adapters.catalog.createOrigin({
        idOrg: 1,
        idParentSch: null,
        idJob: null,
        name: `n${at}`,
        sourceType: 'xml',
        model,
        files: [],
      });
      await adapters.catalog.createLogicalSchema(
        1,
        id_sch,
        buildRelationalModel(model, { mapLevel: 3 }),
        null,
      );
      ids.push(id_sch);
    }
    for (const path of [ids, ids.toReversed()]) {
      const answer = await send(`/v2/mapping/compare/${path.join('/')}`);
      const lines = MappingComparison.array().parse(await answer.json());
      const moved = lines.filter(({ xpath }) => xpath !== '/r');
      expect(moved.map(({ xpath, change }) => [xpath, change]).toSorted()).toEqual([...expected].toSorted());
      const columns = moved.map(({ from, to }) => [from?.table_name, to?.table_name].toSorted());
      for (const pair of columns) expect(pair).toEqual(['a', 'r']);
    }
  });
});
