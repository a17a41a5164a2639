/** What the contract of catalog stores stores: an origin, its logical schema, and what they are made of. */
import { firstTableIsRoot } from '../../../support/models/first-table.ts';
import type {
  Column,
  ColumnRole,
  RelationalModel,
  Table,
} from '../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import type { CatalogStore, NewOrigin } from '../../../../src/ports/stores/catalog.ts';

export interface CatalogStoreFixture {
  readonly store: CatalogStore;
  createOrg(): Promise<number>;
  /** a job of that organisation */
  createJob(idOrg: number): Promise<number>;
  /** a job of that organisation that reads the origin and has not ended */
  createJobOf(idOrg: number, idSch: number): Promise<number>;
  close(): Promise<void>;
}

export const emptySourceModel: SourceModel = {
  elements: [],
  types: [],
  roots: [],
  primaryRoots: 0,
  targetNamespace: null,
  namespaces: {},
};

export const stays: SourceModel = {
  elements: [
    {
      name: { namespaceUri: 'urn:stay', localName: 'stays' },
      type: 0,
      global: true,
      nillable: false,
      abstract: false,
      substitutes: [],
      identityConstraints: [],
    },
    {
      name: { namespaceUri: 'urn:x', localName: 'note' },
      type: 0,
      global: true,
      nillable: false,
      abstract: false,
      substitutes: [],
      identityConstraints: [],
    },
    {
      name: { namespaceUri: 'urn:stay', localName: 'stay' },
      type: 0,
      global: true,
      nillable: false,
      abstract: false,
      substitutes: [],
      identityConstraints: [],
    },
  ],
  types: [
    {
      name: null,
      complex: true,
      abstract: false,
      content: 'empty',
      value: null,
      attributes: [],
      children: [],
      anyElement: null,
      anyAttribute: null,
      base: null,
      derivation: null,
      derived: [],
    },
  ],
  roots: [0, 1, 2],
  primaryRoots: 2,
  targetNamespace: 'urn:stay',
  namespaces: { s: 'urn:stay', x: 'urn:x' },
};

export function column(name: string, role: ColumnRole, more: Partial<Column> = {}): Column {
  return {
    name,
    role,
    type: { kind: 'bigint' },
    nullable: false,
    xpath: null,
    path: more.xpath ?? '',
    sourceType: null,
    references: null,
    ...more,
  };
}

export function table(name: string, xpath: string, columns: readonly Column[]): Table {
  return { name, kind: 'element', xpath, path: xpath, columns, uniqueKeys: [] };
}

export const relational: RelationalModel = {
  mapLevel: 1,
  nameMaxLength: 63,
  tables: [
    table('stays', '/stays', [column('stays_key', 'row_key'), column('document_key', 'document')]),
    table('stay', '/stays/stay', [
      column('stay_key', 'row_key'),
      column('stays_key', 'parent_key', { references: 0 }),
      column('outer_key', 'parent_key', { references: 1, nullable: true }),
      column('position', 'position', { type: { kind: 'integer' } }),
      column('price', 'value', {
        type: { kind: 'numeric', precision: 10, scale: 2 },
        xpath: '/stays/stay/price',
        sourceType: 'decimal',
      }),
      column('tags', 'value', {
        type: { kind: 'text', length: 20, list: true },
        nullable: true,
        xpath: '/stays/stay/@tags',
        listNames: { count: 'tags_count', table: 'stay_tags' },
        sourceType: 'NMTOKENS',
      }),
    ]),
  ],
  ...firstTableIsRoot('urn:stay', 'stays'),
  mappings: [
    {
      xpath: '/stays/stay/@tags',
      nodeType: 'attribute',
      sourceType: 'NMTOKENS',
      minOccurs: 0,
      maxOccurs: 1,
      table: 1,
      column: 5,
    },
    {
      xpath: '/stays',
      nodeType: 'element',
      sourceType: '',
      minOccurs: 1,
      maxOccurs: 1,
      table: 0,
      column: null,
    },
    {
      xpath: '/stays/stay',
      nodeType: 'element',
      sourceType: '',
      minOccurs: 0,
      maxOccurs: null,
      table: 1,
      column: null,
    },
    {
      xpath: '/stays/stay/price',
      nodeType: 'element',
      sourceType: 'decimal',
      minOccurs: 1,
      maxOccurs: 1,
      table: 1,
      column: 4,
      documentation: 'per night',
    },
  ],
  namespaces: {},
};

export function origin(idOrg: number, more: Partial<NewOrigin> = {}): NewOrigin {
  return {
    idOrg,
    idParentSch: null,
    idJob: null,
    name: 'stays',
    sourceType: 'xsd',
    model: stays,
    files: [],
    ...more,
  };
}
