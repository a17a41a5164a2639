/** Models in packed form: the same again, whether all of one is read or a part. */
import { describe, expect, test } from 'vitest';
import { factsOf } from '../../../../src/engine/model/facts.ts';
import {
  packRelationalModel,
  packSourceModel,
  unpackRelationalModel,
  unpackSourceModel,
} from '../../../../src/engine/model/packed/models.ts';
import { donutRelationalModel, donutSourceModel } from '../../../support/models/donut.ts';

describe('packed models', () => {
  test('a relational model comes back the same, its mappings when somebody asks for them', () => {
    const { plan, mappings } = packRelationalModel(donutRelationalModel);
    let asked = 0;
    const model = unpackRelationalModel(plan, () => ((asked += 1), mappings));
    expect(model.tables[1]).toEqual(donutRelationalModel.tables[1]);
    expect(asked).toBe(0);
    expect(model).toEqual(donutRelationalModel);
    expect(model.mappings).toBe(model.mappings);
    expect(asked).toBe(1);
  });

  test('a model that was unpacked is packed without reading it; a changed copy is packed anew', () => {
    const packed = packRelationalModel(donutRelationalModel);
    const model = unpackRelationalModel(packed.plan, () => packed.mappings);
    expect(packRelationalModel(model).plan).toBe(packed.plan);
    expect(packRelationalModel(model).mappings).toBe(packed.mappings);
    const renamed = { ...model, nameMaxLength: 20 };
    expect(packRelationalModel(renamed)).toEqual(
      packRelationalModel({ ...donutRelationalModel, nameMaxLength: 20 }),
    );
  });

  test('what follows from a model comes with its plan', () => {
    const facts = factsOf(donutRelationalModel);
    expect(facts.mappedPaths).toBe(new Set(donutRelationalModel.mappings.map(({ xpath }) => xpath)).size);
    expect(facts.marks.length).toBe(donutRelationalModel.nodes.length);
    const { plan } = packRelationalModel(donutRelationalModel);
    const model = unpackRelationalModel(plan, () => {
      throw new Error('the mappings were read');
    });
    expect(factsOf(model)).toEqual(facts);
  });

  test('a source model comes back the same', () => {
    const packed = packSourceModel(donutSourceModel);
    const model = unpackSourceModel(packed);
    expect(model).toEqual(donutSourceModel);
    expect(packSourceModel(model)).toBe(packed);
  });
});
