import { expect, it } from 'vitest';
import { coversModel } from '../../../src/engine/model/model-coverage.ts';
import type { Column, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { at, libraryModel } from '../dialects/library-model.ts';

const changed = (change: (columns: readonly Column[]) => readonly Column[]): RelationalModel => ({
  ...libraryModel,
  tables: libraryModel.tables.map((table, index) =>
    index === at.book ? { ...table, columns: change(table.columns) } : table,
  ),
});
const renamed = (role: Column['role']): RelationalModel =>
  changed((columns) =>
    columns.map((column) => (column.role === role ? { ...column, name: 'other' } : column)),
  );

it('a model covers itself, and one that knows less', () => {
  expect(coversModel(libraryModel, libraryModel)).toBe(true);
  expect(
    coversModel(libraryModel, { ...libraryModel, tables: libraryModel.tables.slice(0, 1), mappings: [] }),
  ).toBe(true);
});

it('it does not cover one that has values elsewhere', () => {
  expect(coversModel(libraryModel, renamed('value'))).toBe(false);
  expect(
    coversModel(
      changed((columns) => columns.filter(({ role }) => role !== 'value')),
      libraryModel,
    ),
  ).toBe(false);
});

it('columns that hold nothing of documents do not count', () => {
  expect(coversModel(libraryModel, renamed('parent_key'))).toBe(true);
});
