/** Whether one model reads what another wrote. */
import { expect, it } from 'vitest';
import { coversModel } from '../../../../src/engine/model/coverage.ts';
import type { Column, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../src/engine/map/prune.ts';
import { compiled, statisticsOf } from '../../../support/models/shredding.ts';
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

it('it does not cover one whose rows do not say which member of a group they hold', () => {
  const source = compiled(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="head" type="xs:string"/><xs:element name="member" type="xs:string" substitutionGroup="head"/>
      <xs:element name="r"><xs:complexType><xs:sequence><xs:element ref="head" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
  );
  const pruned = (texts: readonly string[], previous?: RelationalModel): RelationalModel => {
    const statistics = statisticsOf(texts);
    return buildRelationalModel(pruneSourceModel(source, statistics), {
      mapLevel: 3,
      roots: [{ namespaceUri: '', localName: 'r' }],
      ...(previous === undefined ? {} : { previous }),
    });
  };
  const first = pruned(['<r><head>a</head></r>']);
  const second = pruned(['<r><head>a</head></r>', '<r><member>b</member></r>'], first);
  expect(second.nodes.some(({ elementNameColumn, opensRow }) => elementNameColumn >= 0 && !opensRow)).toBe(
    true,
  );
  expect(coversModel(second, first)).toBe(false);
  expect(coversModel(second, second)).toBe(true);
});
