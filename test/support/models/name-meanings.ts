/** What names of models stand for, compared table by table and column by column. */
import { expect } from 'vitest';
import { useOf } from '../../../src/engine/model/column-uses.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';

/** By table, and by table and column: path, or role and path. */
export function meaningsOf(model: RelationalModel): Map<string, string> {
  const meanings = new Map<string, string>();
  for (const { name, path, columns } of model.tables) {
    meanings.set(name.toLowerCase(), path!);
    for (const column of columns) {
      const place = `${name}.${column.name}`.toLowerCase();
      meanings.set(place, column.role === 'row_key' ? `row_key ${path}` : useOf(column, model.tables)!);
      if (column.listNames !== undefined) {
        meanings.set(`${name}.${column.listNames.count}`.toLowerCase(), `count ${column.path}`);
        meanings.set(column.listNames.table.toLowerCase(), `items ${column.path}`);
      }
    }
  }
  return meanings;
}

/** Names that both models have; answers how many those are. `said`: what counts of a meaning, where versions say the same in other words. */
export function expectSameMeanings(
  before: RelationalModel,
  after: RelationalModel,
  said: (meaning: string) => string = (meaning) => meaning,
): number {
  const later = meaningsOf(after);
  const common = [...meaningsOf(before)].filter(([name]) => later.has(name));
  expect(common.filter(([name, meaning]) => said(later.get(name)!) !== said(meaning))).toEqual([]);
  return common.length;
}

/** An earlier version without any table: what goes on from it has no name of a history. */
export function emptyModel(mapLevel: RelationalModel['mapLevel']): RelationalModel {
  return {
    mapLevel,
    nameMaxLength: 63,
    tables: [],
    nodes: [],
    roots: [],
    mappings: [],
    namespaces: {},
    keptBeside: [],
  };
}
