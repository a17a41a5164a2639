/** A small source model and the relational model made from it: items with an id and toppings. */
import type { Column, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { SourceModel, SourceType, ValueType } from '../../../src/engine/model/source-model.ts';

const text: ValueType = { variety: 'atomic', base: 'string', facets: {} };
const complex: Omit<SourceType, 'content' | 'value' | 'attributes' | 'children'> = {
  name: null,
  complex: true,
  abstract: false,
  anyElement: null,
  anyAttribute: null,
  base: null,
  derivation: null,
  derived: [],
};
const element = { nillable: false, abstract: false, substitutes: [], identityConstraints: [] };
const name = (localName: string) => ({ namespaceUri: 'urn:example:donuts', localName });

export const donutSourceModel: SourceModel = {
  elements: [
    { ...element, name: name('items'), type: 0, global: true },
    { ...element, name: name('item'), type: 1, global: false },
    { ...element, name: name('topping'), type: 2, global: false },
  ],
  types: [
    {
      ...complex,
      content: 'elements',
      value: null,
      attributes: [],
      children: [{ element: 1, minOccurs: 1, maxOccurs: null, orderImplied: true }],
    },
    {
      ...complex,
      content: 'elements',
      value: null,
      attributes: [{ name: { namespaceUri: '', localName: 'id' }, type: text, required: true }],
      children: [{ element: 2, minOccurs: 0, maxOccurs: null, orderImplied: true }],
    },
    { ...complex, complex: false, content: 'simple', value: text, attributes: [], children: [] },
  ],
  roots: [0],
  primaryRoots: 1,
  targetNamespace: 'urn:example:donuts',
  namespaces: { d: 'urn:example:donuts' },
};

const key = (columnName: string): Column => ({
  name: columnName,
  role: 'row_key',
  type: { kind: 'bigint' },
  nullable: false,
  xpath: null,
  path: '',
  sourceType: null,
  references: null,
});
const parentKey = (columnName: string, references: number): Column => ({
  ...key(columnName),
  role: 'parent_key',
  references,
});
const value = (columnName: string, xpath: string): Column => ({
  ...key(columnName),
  role: 'value',
  type: { kind: 'text', length: 40 },
  xpath,
  path: xpath,
  sourceType: 'string',
});

const plan = {
  opensRow: true,
  textColumn: -1,
  presenceColumn: -1,
  nilColumn: -1,
  elementNameColumn: -1,
  typeNameColumn: -1,
  foldedPositionColumn: -1,
  attributes: [],
  textTable: -1,
  wildcardTable: -1,
  anyAttributeColumn: -1,
  typeEdges: [],
};

export const donutRelationalModel: RelationalModel = {
  mapLevel: 3,
  nameMaxLength: 63,
  tables: [
    {
      name: 'item',
      kind: 'element',
      xpath: '/items/item',
      path: '/items/item',
      columns: [key('item_key'), value('id', '/items/item/@id')],
      uniqueKeys: [],
    },
    {
      name: 'topping',
      kind: 'element',
      xpath: '/items/item/topping',
      path: '/items/item/topping',
      columns: [
        key('topping_key'),
        parentKey('item_key', 0),
        value('topping_description', '/items/item/topping'),
      ],
      uniqueKeys: [],
    },
  ],
  nodes: [
    {
      ...plan,
      name: name('item'),
      table: 0,
      content: 'elements',
      attributes: [{ name: { namespaceUri: '', localName: 'id' }, column: 1 }],
      edges: [{ name: name('topping'), node: 1, parentKeyColumn: 1, minOccurs: 0, maxOccurs: null }],
      sourceElement: 1,
      sourceType: 1,
    },
    {
      ...plan,
      name: name('topping'),
      table: 1,
      content: 'simple',
      textColumn: 2,
      edges: [],
      sourceElement: 2,
      sourceType: 2,
    },
  ],
  roots: [{ name: name('item'), node: 0, parentKeyColumn: -1, minOccurs: 1, maxOccurs: null }],
  mappings: [
    {
      xpath: '/items/item',
      nodeType: 'element',
      sourceType: 'item',
      minOccurs: 1,
      maxOccurs: null,
      table: 0,
      column: null,
    },
    {
      xpath: '/items/item/@id',
      nodeType: 'attribute',
      sourceType: 'string',
      minOccurs: 1,
      maxOccurs: 1,
      table: 0,
      column: 1,
    },
    {
      xpath: '/items/item/topping',
      nodeType: 'element',
      sourceType: 'string',
      minOccurs: 0,
      maxOccurs: null,
      table: 1,
      column: 2,
    },
  ],
  namespaces: { d: 'urn:example:donuts' },
};
