/** The integration catalogue, /v2/extensions/cil: the shapes of its answers, and its routes (docs/decisions/service/catalogue.md). */
import { z, createRoute } from '@hono/zod-openapi';
import { jobFilter, jobListQuery, jobPageQuery, JobStatus } from './job-shapes.ts';
import {
  pageOf,
  defaultPageSize,
  linkHeader,
  linkSlice,
  mapPage,
  pageParam,
  sizeQuery,
  sliceOf,
  sliceQuery,
  cursorPage,
  linkedPage,
  bigDigits,
} from '../paging.ts';
import { listFeedKeys, updateFeedKeys } from '../../service/catalog/key-feed.ts';
import { findFeedRun, listFeedRuns } from '../../service/catalog/run-feed.ts';
import {
  countFeedMappings,
  feedLineage,
  listFeedMappings,
  listFeedSequences,
  createModelFacts,
} from '../../service/catalog/lineage.ts';
import type { Config } from '../../config/shape.ts';
import { withStatusLetter } from '../../service/jobs/record.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Slots } from '../../service/transfer/run-transfer.ts';
import type { Guards } from '../auth.ts';
import { jsonArray } from '../long-answers.ts';
import { jsonBody } from '../json-body.ts';
import { createGroup, json, notSent, operation, problems, undeclared, rawOperation } from '../operation.ts';
import { wire } from '../problem.ts';

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
  description: 'A path that had no place in the map, and its number of occurrences.',
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
    description: 'A rejected document; `code` is the reason, such as `unknown_root`.',
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
    description: 'A natural key that the target does not have because values of the run violated it.',
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
      'A run with its rows per table, the content that had no place in the map, the content of inactive mappings, and the rejected documents (`code` is the reason, such as `unknown_root`).',
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
      'A table that a feed loads. `rows`: rows that completed runs loaded into it, less rows overwritten or unloaded since.',
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

const CILMappingGroups = z.record(z.string(), int).openapi('CILMappingGroups', {
  description: 'Number of mappings in each group; the groups are the feeds.',
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
    description: 'The source of the values of a column. Keys and positions have no source.',
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
      'The sequence of a row key. `last_value`: the highest number assigned in the target that the feed loaded last; if the service cannot read that target, the number of rows that completed runs loaded.',
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
    description: '`key_type` NK adds the column to the natural key of its table, null removes it.',
    example: { table_name: 'item', column_name: 'id', key_type: 'NK', position: 1 },
  });

const UpdateKeysRequest = z
  .strictObject({ cfxml: z.string().min(1), keys: z.array(CILKeyUpdate).min(1).max(2000) })
  .openapi('UpdateKeysRequest', {
    description: 'Columns to add to the natural key of their table (`NK`) or to remove from it (null).',
    example: {
      cfxml: 'donuts',
      keys: [{ table_name: 'item', column_name: 'id', key_type: 'NK', position: 1 }],
    },
  });

// The routes.

const prefix = '/v2/extensions/cil';
const tags = ['cil'];
const cfxml = z.string().openapi({ description: 'Name of a feed: of a schema family.', example: 'orders' });
const feedParam = z.object({ cfxml });

export function createCilRoutes(
  adapters: Pick<Adapters, 'catalog' | 'jobs'>,
  config: Config,
  guards: Guards,
  renderings: Slots,
) {
  const shared = sharedOf(adapters, config, guards, renderings);
  return createGroup([
    jobsOperation(shared),
    jobsPageOperation(shared),
    jobOperation(shared),
    jobOfPidOperation(shared),
    updateKeysOperation(shared),
    keysOfFeedOperation(shared),
    keysOperation(shared),
    lineageOperation(shared),
    groupsOperation(shared),
    mappingsOfFeedOperation(shared),
    mappingsOperation(shared),
    sequencesOfFeedOperation(shared),
    sequencesOperation(shared),
  ]);
}

/** Returns the dependencies that the operations of this group share. */
function sharedOf(
  adapters: Pick<Adapters, 'catalog' | 'jobs'>,
  config: Config,
  guards: Guards,
  renderings: Slots,
) {
  const { catalog } = adapters;
  const feeds = {
    ...adapters,
    models: createModelFacts(catalog),
  };
  const get = { method: 'get' as const, tags, ...guards.require('jobs:read') };
  const updateGuard = guards.require('schemas:write');

  return { adapters, config, catalog, feeds, get, updateGuard, renderings };
}

type Shared = ReturnType<typeof sharedOf>;

function jobsOperation({ adapters, get }: Shared) {
  return operation(
    createRoute({
      ...get,
      path: `${prefix}/jobs`,
      operationId: 'listCilJobs',
      summary: 'List runs of all feeds, newest first: the first page',
      description:
        'A feed is a schema; its runs are the jobs that loaded any of its versions. The `Link` header leads to the next page, and shows each run once while others are added.',
      request: { query: jobListQuery('runs') },
      responses: {
        200: { ...json(CILJobsDto, 'A page of runs.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const query = c.req.valid('query');
      const { idOrg } = c.get('principal');
      const filter = await jobFilter(adapters.catalog, idOrg, query);
      return c.json(
        await cursorPage(
          c,
          'runs',
          query,
          (run) => run.pid,
          async (page, size, position) => {
            const selection = { filter, ...(position === undefined ? {} : { position }) };
            return wire(
              mapPage(await listFeedRuns(adapters, idOrg, page, size, selection), withStatusLetter),
            );
          },
        ),
        200,
      );
    },
  );
}

function jobsPageOperation({ adapters, get }: Shared) {
  return operation(
    createRoute({
      ...get,
      path: `${prefix}/jobs/{page}`,
      operationId: 'listCilJobsPage',
      summary: 'List runs of all feeds, newest first: one page',
      description: 'Pages count from 0; the newest run comes first.',
      request: { params: pageParam, query: jobPageQuery },
      responses: {
        200: { ...json(CILJobsDto, 'A page of runs, empty past the end.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { size = defaultPageSize, ...query } = c.req.valid('query');
      const { page } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const filter = await jobFilter(adapters.catalog, idOrg, query);
      const found = await listFeedRuns(adapters, idOrg, page, size, { filter });
      return c.json(linkedPage(c, 'step', mapPage(found, withStatusLetter)), 200);
    },
  );
}

function jobOperation({ adapters, get }: Shared) {
  return operation(
    createRoute({
      ...get,
      path: `${prefix}/job/{cfxml}`,
      operationId: 'getCilLatestJob',
      summary: 'Get the latest run of a feed',
      description: 'The run that began last, whatever its result; 404 for a feed that was never loaded.',
      request: { params: feedParam },
      responses: { 200: json(CILJobDetailsDto, 'The run.'), ...problems(400) },
    }),
    async (c) =>
      c.json(
        wire(
          withStatusLetter(await findFeedRun(adapters, c.get('principal').idOrg, c.req.valid('param').cfxml)),
        ),
        200,
      ),
  );
}

function jobOfPidOperation({ adapters, get }: Shared) {
  return operation(
    createRoute({
      ...get,
      path: `${prefix}/job/{cfxml}/{pid}`,
      operationId: 'getCilJob',
      summary: 'Get one run of a feed',
      description:
        'The run by its process id, which is the id of its job: documents, rows and rejects of that run.',
      request: { params: feedParam.extend({ pid: bigDigits('Number of the run.') }) },
      responses: { 200: json(CILJobDetailsDto, 'The run.'), ...problems(400) },
    }),
    async (c) => {
      const { cfxml: name, pid } = c.req.valid('param');
      return c.json(
        wire(withStatusLetter(await findFeedRun(adapters, c.get('principal').idOrg, name, pid))),
        200,
      );
    },
  );
}

function updateKeysOperation({ config, catalog, updateGuard, renderings }: Shared) {
  return operation(
    createRoute({
      method: 'post',
      path: `${prefix}/keys/update`,
      operationId: 'updateCilKeys',
      summary: 'Declare or drop natural keys',
      description: 'All or nothing. The next DDL has their unique constraints.',
      tags,
      security: updateGuard.security,
      middleware: [...updateGuard.middleware, jsonBody(config.limits.jsonBodyBytes)],
      request: { body: { required: true, content: { 'application/json': { schema: UpdateKeysRequest } } } },
      responses: {
        200: undeclared('The keys are stored.'),
        201: notSent,
        ...problems(400, 413, 415),
      },
    }),
    async (c) => {
      const body = c.req.valid('json');
      const changes = body.keys.map((key) => ({
        tableName: key.table_name,
        columnName: key.column_name,
        natural: key.key_type === 'NK',
        ...(key.position === undefined ? {} : { position: key.position }),
      }));
      await renderings.within(c.get('principal').idOrg, () =>
        updateFeedKeys(catalog, c.get('principal').idOrg, body.cfxml, changes),
      );
      return c.json({ cfxml: body.cfxml, changed: changes.length }, 200);
    },
  );
}

function keysOfFeedOperation({ feeds, get, renderings }: Shared) {
  return operation(
    createRoute({
      ...get,
      path: `${prefix}/keys/{cfxml}/{page}`,
      operationId: 'listCilKeysOfFeed',
      summary: 'List the keys of the tables of a feed: one page',
      description: 'Keys of the tables of this feed with their columns, page by page from 0.',
      request: { params: feedParam.extend(pageParam.shape), query: sizeQuery },
      responses: {
        200: { ...json(KeysResponse, 'A page of keys, empty past the end.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { size = defaultPageSize } = c.req.valid('query');
      const { cfxml: name, page } = c.req.valid('param');
      const found = await renderings.within(c.get('principal').idOrg, () =>
        listFeedKeys(feeds, c.get('principal').idOrg, name, page, size),
      );
      return c.json(linkedPage(c, 'step', found), 200);
    },
  );
}

function keysOperation({ feeds, get, renderings }: Shared) {
  return operation(
    createRoute({
      ...get,
      path: `${prefix}/keys/{page}`,
      operationId: 'listCilKeys',
      summary: 'List the keys of the tables of all feeds: one page',
      description: 'Keys of the tables with their columns, page by page from 0.',
      request: { params: pageParam, query: sizeQuery },
      responses: {
        200: { ...json(KeysResponse, 'A page of keys, empty past the end.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { size = defaultPageSize } = c.req.valid('query');
      const { page } = c.req.valid('param');
      const found = await renderings.within(c.get('principal').idOrg, () =>
        listFeedKeys(feeds, c.get('principal').idOrg, undefined, page, size),
      );
      return c.json(linkedPage(c, 'step', found), 200);
    },
  );
}

function lineageOperation({ adapters, get, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: `${prefix}/lineage/{cfxml}/{mapping}`,
      operationId: 'listCilLineage',
      summary: 'List the sources of the columns of a table',
      description: 'For each column of the table, the source path and the last run that loaded it.',
      request: {
        params: feedParam.extend({
          mapping: z.string().openapi({ description: 'Name of a target table.', example: 'order' }),
        }),
      },
      responses: { 200: json(z.array(CILLineage), 'The columns in their order.'), ...problems(400) },
    }),
    async (c) => {
      const { cfxml: name, mapping } = c.req.valid('param');
      return jsonArray(
        c,
        await renderings.within(c.get('principal').idOrg, () =>
          feedLineage(adapters, c.get('principal').idOrg, name, mapping),
        ),
      );
    },
  );
}

function groupsOperation({ adapters, get }: Shared) {
  return operation(
    createRoute({
      ...get,
      path: `${prefix}/mapping/group`,
      operationId: 'countCilMappings',
      summary: 'Count the mappings of each group',
      description: 'How many tables each feed has, for an overview.',
      responses: { 200: json(CILMappingGroups, 'The counts.'), ...problems() },
    }),
    async (c) => c.json(await countFeedMappings(adapters, c.get('principal').idOrg), 200),
  );
}

function mappingsOfFeedOperation({ adapters, get, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: `${prefix}/mapping/{cfxml}`,
      operationId: 'listCilMappingsOfFeed',
      summary: 'List the tables that a feed loads',
      description: 'One line for each table, with the path whose elements are its rows.',
      request: { params: feedParam },
      responses: { 200: json(z.array(CILMapping), 'The mappings, in load order.'), ...problems(400) },
    }),
    async (c) => {
      const { idOrg } = c.get('principal');
      const { cfxml: name } = c.req.valid('param');
      const { content } = await renderings.within(idOrg, () => listFeedMappings(adapters, idOrg, name));
      return jsonArray(c, content);
    },
  );
}

function mappingsOperation({ adapters, get, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: `${prefix}/mappings`,
      operationId: 'listCilMappings',
      summary: 'List the tables that all feeds load',
      description: 'One line for each table of each feed, with the path whose elements are its rows.',
      request: { query: sliceQuery },
      responses: {
        200: { ...json(z.array(CILMapping), 'The mappings, feed by feed.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { idOrg } = c.get('principal');
      const slice = sliceOf(c.req.valid('query'));
      const { content, more } = await renderings.within(idOrg, () =>
        listFeedMappings(adapters, idOrg, undefined, slice),
      );
      linkSlice(c, slice, more);
      return jsonArray(c, content);
    },
  );
}

function sequencesOfFeedOperation({ adapters, get, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: `${prefix}/sequence/{cfxml}`,
      operationId: 'listCilSequencesOfFeed',
      summary: 'List the surrogate-key sequences of a feed',
      description: 'The highest assigned row key of each table of this feed.',
      request: { params: feedParam },
      responses: { 200: json(z.array(CILSequence), 'The sequences, in load order.'), ...problems(400) },
    }),
    async (c) => {
      const { idOrg } = c.get('principal');
      const { cfxml: name } = c.req.valid('param');
      const { content } = await renderings.within(idOrg, () => listFeedSequences(adapters, idOrg, name));
      return jsonArray(c, content);
    },
  );
}

function sequencesOperation({ adapters, get, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: `${prefix}/sequences`,
      operationId: 'listCilSequences',
      summary: 'List the surrogate-key sequences of all feeds',
      description: 'The highest assigned row key of each table. The next load continues from it.',
      request: { query: sliceQuery },
      responses: {
        200: {
          ...json(z.array(CILSequence), 'The sequences, feed by feed in load order.'),
          headers: linkHeader,
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const { idOrg } = c.get('principal');
      const slice = sliceOf(c.req.valid('query'));
      const { content, more } = await renderings.within(idOrg, () =>
        listFeedSequences(adapters, idOrg, undefined, slice),
      );
      linkSlice(c, slice, more);
      return jsonArray(c, content);
    },
  );
}
