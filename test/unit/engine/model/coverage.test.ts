/** Whether one model reads what another wrote. */
import { expect, it } from 'vitest';
import { coversModel } from '../../../../src/engine/model/coverage.ts';
import type { Column, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { at, libraryModel } from '../sql/library-model.ts';

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

const inNamespace = (uri: string): RelationalModel => ({ ...libraryModel, namespaces: { lib: uri } });
const withPaths = (path: string): RelationalModel => ({
  ...libraryModel,
  tables: libraryModel.tables.map((table) => ({
    ...table,
    path: table.xpath,
    columns: table.columns.map((column) => ({
      ...column,
      path: column.role === 'value' ? path : table.xpath,
    })),
  })),
});

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

it('it does not cover one whose rows hang together by other columns', () => {
  expect(coversModel(libraryModel, renamed('parent_key'))).toBe(false);
});

it('it does not cover one of another namespace', () => {
  expect(coversModel(inNamespace('urn:a'), inNamespace('urn:a'))).toBe(true);
  expect(coversModel(inNamespace('urn:a'), inNamespace('urn:b'))).toBe(false);
});

it('it does not cover one that meant something else by a name', () => {
  expect(coversModel(withPaths('/library'), withPaths('/library'))).toBe(true);
  expect(coversModel(withPaths('/library'), withPaths('/shelf'))).toBe(false);
});

it('columns that were asked for beside do not count', () => {
  expect(coversModel(libraryModel, renamed('extra'))).toBe(true);
});
