/** The integration-catalogue view: /v2/extensions/cil. */
import { createRoute, z } from '@hono/zod-openapi';
import { listFeedKeys, updateFeedKeys } from '../../../catalog/feeds/keys.ts';
import { findFeedRun, listFeedRuns } from '../../../catalog/feeds/runs.ts';
import {
  countFeedMappings,
  feedLineage,
  listFeedMappings,
  listFeedSequences,
  createModelFacts,
} from '../../../catalog/feeds/lineage.ts';
import type { Config } from '../../../config/shape.ts';
import { withStatusLetter } from '../../../jobs/status-letters.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import type { Slots } from '../../../transfer/run-transfer.ts';
import type { Guards } from '../../middleware/auth.ts';
import {
  CILJobDetailsDto,
  CILJobsDto,
  CILLineage,
  CILMapping,
  CILMappingGroups,
  CILSequence,
  KeysResponse,
  UpdateKeysRequest,
} from '../../schemas/cil.ts';
import { jsonArray } from '../../answers/long-answers.ts';
import { jsonBody } from '../../requests/json-body.ts';
import {
  createGroup,
  json,
  notSent,
  operation,
  problems,
  undeclared,
  rawOperation,
} from '../../requests/operation.ts';
import {
  defaultPageSize,
  linkHeader,
  linkNext,
  mapPage,
  pageParam,
  sizeQuery,
  sliceOf,
  sliceQuery,
  toWirePage,
  bigDigits,
} from '../../requests/paging.ts';
import { wire } from '../../answers/wire.ts';

const prefix = '/v2/extensions/cil';
const tags = ['cil'];
const cfxml = z.string().openapi({ description: 'Name of a feed: of a schema family.', example: 'donuts' });
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
        'A feed is a schema; its runs are the jobs that loaded it, in whichever version. Page 0 of twenty a page.',
      request: { query: sizeQuery },
      responses: { 200: json(CILJobsDto, 'A page of runs.'), ...problems(400) },
    }),
    async (c) => {
      const { size = defaultPageSize } = c.req.valid('query');
      return c.json(
        wire(
          toWirePage(
            mapPage(await listFeedRuns(adapters, c.get('principal').idOrg, 0, size), withStatusLetter),
          ),
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
      request: { params: pageParam, query: sizeQuery },
      responses: { 200: json(CILJobsDto, 'A page of runs, empty past the end.'), ...problems(400) },
    }),
    async (c) => {
      const { size = defaultPageSize } = c.req.valid('query');
      const { page } = c.req.valid('param');
      return c.json(
        wire(
          toWirePage(
            mapPage(await listFeedRuns(adapters, c.get('principal').idOrg, page, size), withStatusLetter),
          ),
        ),
        200,
      );
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
      description: 'The run that began last, whatever came of it; 404 for a feed that was never loaded.',
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
      request: { params: feedParam.extend({ pid: bigDigits('Number of the run; any size is understood.') }) },
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
        200: undeclared('The keys are kept.'),
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
      responses: { 200: json(KeysResponse, 'A page of keys, empty past the end.'), ...problems(400) },
    }),
    async (c) => {
      const { size = defaultPageSize } = c.req.valid('query');
      const { cfxml: name, page } = c.req.valid('param');
      return c.json(
        wire(
          toWirePage(
            await renderings.within(c.get('principal').idOrg, () =>
              listFeedKeys(feeds, c.get('principal').idOrg, name, page, size),
            ),
          ),
        ),
        200,
      );
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
      responses: { 200: json(KeysResponse, 'A page of keys, empty past the end.'), ...problems(400) },
    }),
    async (c) => {
      const { size = defaultPageSize } = c.req.valid('query');
      const { page } = c.req.valid('param');
      const found = await renderings.within(c.get('principal').idOrg, () =>
        listFeedKeys(feeds, c.get('principal').idOrg, undefined, page, size),
      );
      return c.json(wire(toWirePage(found)), 200);
    },
  );
}

function lineageOperation({ adapters, get, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: `${prefix}/lineage/{cfxml}/{mapping}`,
      operationId: 'listCilLineage',
      summary: 'Tell where each column of a table comes from',
      description:
        'For each column of the table the path that it is filled from, and the last run that did so.',
      request: {
        params: feedParam.extend({
          mapping: z.string().openapi({ description: 'Name of a target table.', example: 'item' }),
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
      linkNext(c, slice, more);
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
      description: 'The highest row key that was given out, by table of this feed.',
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
      description: 'The highest row key that was given out, by table: the next load goes on from there.',
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
      linkNext(c, slice, more);
      return jsonArray(c, content);
    },
  );
}
