/** Schemas and mappings as they go over the wire (docs/decisions/service/catalogue.md). */
import { demoFiles } from '../openapi/demo-files.ts';
import { z } from '@hono/zod-openapi';
import { bodyId, displayName, plainText } from '../paging.ts';

const id = z.int().openapi({ format: 'int64' });

const exampleFile = {
  name: 'donut.xsd',
  bytes: 2310,
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
};

const SchemaFile = z.object({ name: z.string(), bytes: id, sha256: z.string() }).openapi('SchemaFile', {
  description: 'A file that the schema was made of.',
  example: exampleFile,
});

export const XMLSchema = z
  .object({
    id_sch: id,
    id_org: id,
    id_parent_sch: id.nullable(),
    id_lschma: id.nullable(),
    id_job: id.nullable(),
    name: z.string(),
    version: z.int(),
    source_type: z.enum(['xsd', 'xml', 'xsd+xml']),
    root_elements: z.array(z.string()),
    target_namespace: z.string().nullable(),
    namespaces: z.record(z.string(), z.string()),
    files: z.array(SchemaFile),
    map_level: z.int().min(0).max(3),
    max_length: z.int(),
    table_count: z.int(),
    mapping_count: z.int(),
    created: id,
  })
  .openapi('XMLSchema', {
    description:
      'An origin (source schema) with the selected logical schema, or the one that the last load used.',
    example: {
      id_sch: 11,
      id_org: 1,
      id_parent_sch: null,
      id_lschma: 4,
      id_job: 7,
      name: 'donuts',
      version: 1,
      source_type: 'xsd',
      root_elements: ['items'],
      target_namespace: 'urn:example:donuts',
      namespaces: { d: 'urn:example:donuts' },
      files: [exampleFile],
      map_level: 3,
      max_length: 63,
      table_count: 3,
      mapping_count: 17,
      created: 1790000000306,
    },
  });

export const SchemaShortInfoResponse = z
  .object({ id_sch: id, name: z.string(), max_length: z.int(), longest_name: z.string().nullable() })
  .openapi('SchemaShortInfoResponse', {
    description:
      '`max_length`: how many bytes a name of the logical schema may have; `longest_name`: the longest table or column name in it, null if there is none yet.',
    example: { id_sch: 11, name: 'donuts', max_length: 63, longest_name: 'topping_description' },
  });

export const Mapping = z
  .object({
    id_map: id,
    id_sch: id,
    id_lschma: id,
    xpath: z.string().nullable(),
    node_type: z.enum(['element', 'attribute', 'text', 'mixed', 'any']).nullable(),
    source_type: z.string(),
    min_occurs: z.int(),
    max_occurs: z.int().nullable(),
    id_tab: id,
    table_name: z.string(),
    column_name: z.string().nullable(),
    data_type: z.string().nullable(),
    length: z.int().nullable(),
    nullable: z.boolean(),
    key: z.enum(['PK', 'FK']).nullable(),
    active: z.boolean(),
    documentation: z.string().nullable(),
  })
  .openapi('Mapping', {
    description:
      'One line of the source-to-target map. `xpath` is null for row keys, parent keys and positions.',
    example: {
      id_map: 31,
      id_sch: 11,
      id_lschma: 4,
      xpath: '/items/item/@id',
      node_type: 'attribute',
      source_type: 'string',
      min_occurs: 1,
      max_occurs: 1,
      id_tab: 6,
      table_name: 'item',
      column_name: 'id',
      data_type: 'text',
      length: null,
      nullable: false,
      key: null,
      active: true,
      documentation: null,
    },
  });

const exampleMapping = {
  id_map: 31,
  id_sch: 11,
  id_lschma: 4,
  xpath: '/items/item/@id',
  node_type: 'attribute' as const,
  source_type: 'xs:string',
  min_occurs: 1,
  max_occurs: 1,
  id_tab: 6,
  table_name: 'item',
  column_name: 'id',
  data_type: 'text',
  length: 40,
  nullable: false,
  key: null,
  active: true,
  documentation: null,
};

export const StatsMapping = z
  .object({
    id_map: id,
    xpath: z.string(),
    table_name: z.string(),
    column_name: z.string().nullable(),
    documents: id,
    occurrences: id,
    min_occurs: id,
    max_occurs: id,
    min_length: id,
    max_length: id,
    inferred_type: z.string(),
    min_value: z.string().nullable(),
    max_value: z.string().nullable(),
    distinct_estimate: id,
  })
  .openapi('StatsMapping', {
    description:
      'Statistics of the documents for one line of the map. Occurrences are per parent; lengths are characters; a path that no document had has zeros and the type `none`. For recursive elements, the figures cover all depths.',
    example: {
      id_map: 31,
      xpath: '/items/item/@id',
      table_name: 'item',
      column_name: 'id',
      documents: 2,
      occurrences: 6,
      min_occurs: 1,
      max_occurs: 1,
      min_length: 4,
      max_length: 4,
      inferred_type: 'integer',
      min_value: '1001',
      max_value: '1006',
      distinct_estimate: 6,
    },
  });

const fieldValue = z.union([z.string(), z.int(), z.boolean(), z.null()]);

const exampleDifference = { field: 'length', from: 40, to: 60 };

const MappingDifference = z
  .object({ field: z.string(), from: fieldValue, to: fieldValue })
  .openapi('MappingDifference', {
    description: 'A member of the line that differs, and its two values.',
    example: exampleDifference,
  });

export const MappingComparison = z
  .object({
    xpath: z.string(),
    change: z.enum(['added', 'removed', 'changed', 'same']),
    differences: z.array(MappingDifference),
    // `nullable()` would refer to the structure and not let null pass
    from: z.union([Mapping, z.null()]),
    to: z.union([Mapping, z.null()]),
  })
  .openapi('MappingComparison', {
    description:
      'The same line in two maps. Row keys, parent keys and positions have no path and are omitted.',
    example: {
      xpath: '/items/item/@id',
      change: 'changed',
      differences: [exampleDifference],
      from: exampleMapping,
      to: { ...exampleMapping, id_map: 71, id_sch: 12, id_lschma: 5, id_tab: 9, length: 60 },
    },
  });

export const ByteArrayResource = z
  .string()
  .openapi('ByteArrayResource', { format: 'binary', description: 'The bytes of a file.', example: 'PK…' });

const exampleColumn = {
  id_col: 21,
  name: 'item_key',
  data_type: 'bigint',
  length: null,
  precision: null,
  scale: null,
  nullable: false,
  key: 'PK' as const,
  references: null,
  xpath: null,
};

const SchemaColumn = z
  .object({
    id_col: id,
    name: z.string(),
    data_type: z.string(),
    length: z.int().nullable(),
    precision: z.int().nullable(),
    scale: z.int().nullable(),
    nullable: z.boolean(),
    key: z.enum(['PK', 'FK']).nullable(),
    references: z.string().nullable(),
    xpath: z.string().nullable(),
  })
  .openapi('SchemaColumn', {
    description:
      'A column. `references`: the table that a parent key refers to; `xpath` is null for keys and positions.',
    example: exampleColumn,
  });

const exampleTable = {
  id_tab: 6,
  name: 'item',
  xpath: '/items/item',
  parent_table: null,
  columns: [exampleColumn],
};

const SchemaTable = z
  .object({
    id_tab: id,
    name: z.string(),
    xpath: z.string(),
    parent_table: z.string().nullable(),
    columns: z.array(SchemaColumn),
  })
  .openapi('SchemaTable', { description: 'A table with its columns.', example: exampleTable });

/** The interface's structure `Schema`, which is an alias of this one: a generated class of that name hides Java's annotation. */
export const SchemaDetails = z
  .object({ ...XMLSchema.shape, tables: z.array(SchemaTable) })
  .openapi('SchemaDetails', {
    description: 'A schema with the tables and columns of its logical schema.',
    example: {
      id_sch: 11,
      id_org: 1,
      id_parent_sch: null,
      id_lschma: 4,
      id_job: null,
      name: 'donuts',
      version: 1,
      source_type: 'xsd',
      root_elements: ['items'],
      target_namespace: null,
      namespaces: {},
      files: [exampleFile],
      map_level: 3,
      max_length: 63,
      table_count: 1,
      mapping_count: 3,
      created: 1790000000306,
      tables: [exampleTable],
    },
  });

/** An empty list means none: some generated clients send one for an absent member. */
const paths = z.array(plainText(4096)).max(1000).optional();

export const CreateSchemaRequest = z
  .strictObject({
    name: displayName(200),
    xsd: paths,
    xml: paths,
    credential: plainText(64).optional(),
    root: plainText(2000).optional(),
    map_level: z
      .union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)], { error: 'must be 0, 1, 2 or 3' })
      .optional()
      .openapi({ type: 'integer', format: 'int32' }),
    name_max_len: z.int().min(12).max(128).optional().openapi({ format: 'int32' }),
    default_varchar_len: z.int().min(1).max(1_000_000).optional().openapi({ format: 'int32' }),
    id_parent_sch: bodyId().optional(),
  })
  .refine(({ xsd = [], xml = [] }) => xsd.length + xml.length > 0, { error: 'must name xsd or xml' })
  .openapi('CreateSchemaRequest', {
    description:
      'Paths are those that uploads returned, or addresses such as `s3://BUCKET/PREFIX/` and `https://HOST/set.xsd`, read with `credential` or a source of the operator; at least one of `xsd` and `xml`. With `id_parent_sch` it becomes the next version of that schema.',
    example: { name: 'orders of an XSD set', xsd: [...demoFiles.xsdFiles], map_level: 3 },
  });
