/** The tables of a model by their names; none of a large model is made for it. */
import { membersOf } from './lazy-array.ts';
import type { RelationalModel } from '../relational-model.ts';

const known = new WeakMap<RelationalModel['tables'], ReadonlyMap<string, number>>();

/** Indexes by name, in the order of the model. */
export function tableIndexes({ tables }: Pick<RelationalModel, 'tables'>): ReadonlyMap<string, number> {
  let indexes = known.get(tables);
  if (indexes === undefined) {
    indexes = new Map(membersOf(tables, 'name').map((name, index) => [name, index]));
    known.set(tables, indexes);
  }
  return indexes;
}
