/** The integration catalogue as it goes over the wire (docs/decisions/service/catalogue.md). */
import { z } from '@hono/zod-openapi';
import { JobStatus } from './jobs.ts';
import { pageOf } from '../requests/paging.ts';

const int = z.int().openapi({ format: 'int64' });

const exampleRun = {
  cfxml: 'donuts',
  pid: 7,
  status: 'C' as const,
  job_type: 'Parse' as const,
  start_date: 1790000000996,
  end_date: 1790000001301,
  documents: 2,
  rows: 19,
  rejected: 0,
  unmapped: 1,
};

const CILJob = z
  .object({
    cfxml: z.string(),
    pid: int,
    status: JobStatus,
    job_type: z.enum(['Schema', 'Parse', 'Write', 'Unload', 'Export', 'Import']),
    start_date: int.nullable(),
    end_date: int.nullable(),
    documents: int,
    rows: int,
    rejected: int,
    unmapped: int,
  })
  .openapi('CILJob', {
    description: 'One run of a feed. `pid` is the number of its job.',
    example: exampleRun,
  });

export const CILJobsDto = pageOf(CILJob).openapi('CILJobsDto', {
  example: { content: [exampleRun], page: 0, size: 20, total_elements: 1, total_pages: 1 },
});

const CILTableRows = z
  .object({ table_name: z.string(), rows: int })
  .openapi('CILTableRows', { example: { table_name: 'item', rows: 6 } });

const CILUnmappedXpath = z.object({ xpath: z.string(), count: int }).openapi('CILUnmappedXpath', {
  description: 'What had no place in the map, and how often it was met.',
  example: { xpath: '/items/item/allergen', count: 1 },
});

const CILReject = z
  .object({
    document: z.string().nullable(),
    line: int.nullable(),
    column: int.nullable(),
    code: z.string().nullable(),
    message: z.string(),
  })
  .openapi('CILReject', {
    description: 'A document that was refused; `code` says why, such as `unknown_root`.',
    example: {
      document: 'donut-3.xml',
      line: 12,
      column: 4,
      code: 'xml_not_well_formed',
      message: 'a document ends before its root does',
    },
  });

const CILVersion = z.object({ id_sch: int, version: z.int() }).openapi('CILVersion', {
  description: 'A version of the schema family.',
  example: { id_sch: 11, version: 1 },
});

const CILBrokenKey = z
  .object({ table_name: z.string(), columns: z.array(z.string()) })
  .openapi('CILBrokenKey', {
    description: 'A natural key that the target does not have, as values of the run broke it.',
    example: { table_name: 'item', columns: ['id'] },
  });

export const CILJobDetailsDto = z
  .object({
    ...CILJob.shape,
    tables: z.array(CILTableRows),
    unmapped_xpaths: z.array(CILUnmappedXpath),
    ignored: int,
    rejects: z.array(CILReject),
    broken_keys: z.array(CILBrokenKey),
    versions: z.array(CILVersion),
  })
  .openapi('CILJobDetailsDto', {
    description:
      'A run with its rows per table, what had no place in the map, what was left out because its mappings are inactive, and the documents that were refused: `code` says why, such as `unknown_root`.',
    example: {
      ...exampleRun,
      tables: [
        { table_name: 'item', rows: 6 },
        { table_name: 'topping', rows: 13 },
      ],
      unmapped_xpaths: [{ xpath: '/items/item/allergen', count: 1 }],
      ignored: 0,
      rejects: [],
      broken_keys: [],
      versions: [{ id_sch: 11, version: 1 }],
    },
  });

export const CILMapping = z
  .object({
    cfxml: z.string(),
    mapping: z.string(),
    group: z.string(),
    source_xpath: z.string(),
    target_table: z.string(),
    column_count: z.int(),
    rows: int,
  })
  .openapi('CILMapping', {
    description:
      'A table that a feed loads. `rows`: what completed runs loaded into it, less what was overwritten or unloaded since.',
    example: {
      cfxml: 'donuts',
      mapping: 'item',
      group: 'donuts',
      source_xpath: '/items/item',
      target_table: 'item',
      column_count: 5,
      rows: 6,
    },
  });

export const CILMappingGroups = z.record(z.string(), int).openapi('CILMappingGroups', {
  description: 'How many mappings each group has; the groups are the feeds.',
  example: { donuts: 3 },
});

export const CILLineage = z
  .object({
    cfxml: z.string(),
    mapping: z.string(),
    source_xpath: z.string().nullable(),
    source_type: z.string().nullable(),
    target_table: z.string(),
    target_column: z.string(),
    target_type: z.string(),
    transformation: z.string(),
    pid: int.nullable(),
  })
  .openapi('CILLineage', {
    description: 'Where the values of a column come from. Keys and positions have no source.',
    example: {
      cfxml: 'donuts',
      mapping: 'item',
      source_xpath: '/items/item/@id',
      source_type: 'xs:int',
      target_table: 'item',
      target_column: 'id',
      target_type: 'integer',
      transformation: 'converted to integer',
      pid: 7,
    },
  });

export const CILSequence = z
  .object({
    cfxml: z.string(),
    sequence: z.string(),
    target_table: z.string(),
    target_column: z.string(),
    load_order: z.int(),
    last_value: int,
    increment: z.int(),
  })
  .openapi('CILSequence', {
    description:
      'The numbers that row keys take. `last_value`: the highest that was given out in the target that the feed was loaded into last; where the service cannot look into that, how many rows completed runs loaded.',
    example: {
      cfxml: 'donuts',
      sequence: 'item_item_key_seq',
      target_table: 'item',
      target_column: 'item_key',
      load_order: 2,
      last_value: 6,
      increment: 1,
    },
  });

const exampleKey = {
  id_col: 21,
  cfxml: 'donuts',
  table_name: 'item',
  column_name: 'id',
  key_type: 'NK' as const,
  references: null,
  position: 1,
};

const CILKey = z
  .object({
    id_col: int,
    cfxml: z.string(),
    table_name: z.string(),
    column_name: z.string(),
    key_type: z.enum(['PK', 'FK', 'NK']),
    references: z.string().nullable(),
    position: z.int(),
  })
  .openapi('CILKey', { description: 'PK row keys, FK parent keys, NK natural keys.', example: exampleKey });

export const KeysResponse = pageOf(CILKey).openapi('KeysResponse', {
  example: { content: [exampleKey], page: 0, size: 20, total_elements: 1, total_pages: 1 },
});

const CILKeyUpdate = z
  .strictObject({
    table_name: z.string().min(1),
    column_name: z.string().min(1),
    key_type: z.enum(['NK'], { error: 'must be "NK" or null' }).nullable(),
    position: z.int().min(1).max(1600).optional(),
  })
  .openapi('CILKeyUpdate', {
    description: '`key_type` NK makes the column a part of the natural key of its table, null ends that.',
    example: { table_name: 'item', column_name: 'id', key_type: 'NK', position: 1 },
  });

export const UpdateKeysRequest = z
  .strictObject({ cfxml: z.string().min(1), keys: z.array(CILKeyUpdate).min(1).max(2000) })
  .openapi('UpdateKeysRequest', {
    description:
      'Columns that become part of the natural key of their table (`NK`), or are no part of it any more (null).',
    example: {
      cfxml: 'donuts',
      keys: [{ table_name: 'item', column_name: 'id', key_type: 'NK', position: 1 }],
    },
  });
