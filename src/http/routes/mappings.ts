/** The source-to-target map: /v2/mapping. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Slots } from '../../service/transfer/run-transfer.ts';
import { compareMappings } from '../../service/catalog/comparison.ts';
import { listMappings } from '../../service/catalog/mapping-figures.ts';
import { downloadFormats, downloadMappings } from '../../service/catalog/mapping-download.ts';
import { mappingStatistics } from '../../service/catalog/mapping-statistics.ts';
import type { Config } from '../../config/shape.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { ListSlice, CatalogStore } from '../../ports/stores/catalog.ts';
import type { AppEnv } from '../env.ts';
import { conditionalGet } from '../validators.ts';
import type { Guards } from '../auth.ts';
import { bytesType, chooseFormat, savedFile, dispositionHeader } from '../download.ts';
import { jsonArray } from '../long-answers.ts';
import { createGroup, json, problems, rawOperation, notSent, operation } from '../operation.ts';
import { linkHeader, linkSlice, sliceOf, sliceQuery, int64, logicalSchemaQuery, bodyId } from '../paging.ts';
import { ByteArrayResource, Mapping, MappingComparison, StatsMapping } from './catalog-shapes.ts';
import { setActivation } from '../../service/catalog/activation.ts';
import { jsonBody } from '../json-body.ts';

const tags = ['mappings'];
const schemaParam = z.object({ idSch: int64('The schema.', 1) });

const compareQuery = z.object({
  all: z
    .enum(['true', 'false'])
    .optional()
    .openapi({ description: 'true: also list the lines that are the same.', example: 'false' }),
  from_lschma: int64(
    'Logical schema of `from`; default: the one that the last load used or that was made since.',
    4,
  ).optional(),
  to_lschma: int64(
    'Logical schema of `to`; default: the one that the last load used or that was made since.',
    5,
  ).optional(),
});

const downloadQuery = logicalSchemaQuery.extend({
  format: z.enum(downloadFormats).optional().openapi({
    description: 'Restricts `Accept` to the media types of one format.',
    example: 'xlsx',
  }),
});

/** Media types by format; the first format is sent if `Accept` has no preference. */
const mediaTypes = {
  xlsx: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  csv: ['text/csv; charset=utf-8'],
  json: ['application/json'],
} as const;

export function createMappingRoutes(
  adapters: Pick<Adapters, 'catalog'>,
  config: Config,
  guards: Guards,
  renderings: Slots,
) {
  const shared = { catalog: adapters.catalog, guard: guards.require('schemas:read'), renderings };
  const { catalog } = shared;
  return createGroup([
    getOperation(shared),
    statisticsOperation(shared),
    statisticsOfJobOperation(shared),
    compareOperation(shared),
    downloadOperation(shared),
    ...activationOperations(catalog, config, guards),
  ]);
}

/** The dependencies that the operations of this group share. */
interface Shared extends Pick<Adapters, 'catalog'> {
  readonly guard: ReturnType<Guards['require']>;
  readonly renderings: Slots;
}

function getOperation({ catalog, guard, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/mapping/get/{idSch}',
      operationId: 'listMappings',
      summary: 'List the mappings of a schema',
      description:
        'Each line maps an element or attribute (`xpath`) to a table and column. Streamed: a large standard has tens of thousands of lines.',
      tags,
      ...guard,
      request: { params: schemaParam, query: logicalSchemaQuery },
      responses: { 200: json(z.array(Mapping), 'The mappings, table by table.'), ...problems(400) },
    }),
    async (c) => {
      const { id_lschma: idLschma } = c.req.valid('query');
      const { idSch } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      return jsonArray(
        c,
        await renderings.within(idOrg, () => listMappings(catalog, idOrg, idSch, idLschma)),
      );
    },
  );
}

function statisticsOperation({ catalog, guard, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/mapping/get_stats/{idSch}',
      operationId: 'listMappingStatistics',
      summary: 'List the statistics of documents for each mapping',
      description: 'The statistics of all runs together, joined with the map by path.',
      tags,
      ...guard,
      request: { params: schemaParam, query: logicalSchemaQuery.extend(sliceQuery.shape) },
      responses: {
        200: {
          ...json(z.array(StatsMapping), 'The statistics, in the order of the map.'),
          headers: linkHeader,
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const { id_lschma: idLschma, ...query } = c.req.valid('query');
      const { idSch } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const found = await renderings.within(idOrg, () =>
        mappingStatistics(catalog, idOrg, idSch, { idLschma }),
      );
      return jsonArray(c, sliced(c, found, sliceOf(query)));
    },
  );
}

function statisticsOfJobOperation({ catalog, guard, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/mapping/get_stats/{idSch}/{idJob}',
      operationId: 'listMappingStatisticsOfJob',
      summary: 'List the statistics of the documents of one job for each mapping',
      description:
        'For an imported schema, the import job (`id_job` of the schema) has the statistics of all jobs in the package.',
      tags,
      ...guard,
      request: {
        params: schemaParam.extend({ idJob: int64('The job that read the documents.') }),
        query: logicalSchemaQuery.extend(sliceQuery.shape),
      },
      responses: {
        200: { ...json(z.array(StatsMapping), "That job's figures alone."), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { id_lschma: idLschma, ...query } = c.req.valid('query');
      const { idSch, idJob } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const found = await renderings.within(idOrg, () =>
        mappingStatistics(catalog, idOrg, idSch, { idLschma, idJob }),
      );
      return jsonArray(c, sliced(c, found, sliceOf(query)));
    },
  );
}

function compareOperation({ catalog, guard, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/mapping/compare/{from}/{to}',
      operationId: 'compareMappings',
      summary: 'Compare the mappings of two schemas',
      description:
        'By path: lines that only one of the two has, and lines that differ, with their differences. For two versions, it shows how an update of the standard changes the tables.',
      tags,
      ...guard,
      request: {
        params: z.object({ from: int64('The first schema.', 1), to: int64('The second schema.', 2) }),
        query: compareQuery,
      },
      responses: {
        200: json(z.array(MappingComparison), 'The lines that differ, path by path.'),
        ...problems(400),
      },
    }),
    async (c) => {
      const { from, to } = c.req.valid('param');
      const { all, from_lschma: fromLschma, to_lschma: toLschma } = c.req.valid('query');
      const { idOrg } = c.get('principal');
      const sides = [
        { idSch: from, idLschma: fromLschma },
        { idSch: to, idLschma: toLschma },
      ] as const;
      const compared = await renderings.within(idOrg, () =>
        compareMappings(catalog, idOrg, ...sides, { all: all === 'true' }),
      );
      return jsonArray(c, compared);
    },
  );
}

function downloadOperation({ catalog, guard, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/mapping/download/{idSch}',
      operationId: 'downloadMappings',
      summary: 'Download the source-to-target map',
      description:
        '`Accept` or `format` chooses a workbook (the default), CSV or JSON. Cells that a spreadsheet program would run as formulas are escaped by an apostrophe. A workbook (xlsx) has the mappings first, then a sheet of the tables and one of the values that the schema enumerates, with their type, label and meaning; content that is too long for a sheet continues on further sheets.',
      tags,
      ...guard,
      request: { params: schemaParam, query: downloadQuery },
      responses: {
        200: {
          description: 'The file.',
          headers: dispositionHeader,
          content: {
            [mediaTypes.xlsx[0]]: { schema: ByteArrayResource },
            [bytesType]: { schema: ByteArrayResource },
            'text/csv': { schema: ByteArrayResource },
            'application/json': { schema: z.array(Mapping) },
          },
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const { format: asked, id_lschma: idLschma } = c.req.valid('query');
      const { format, mediaType } = chooseFormat(c, asked, mediaTypes);
      const { idSch } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const file = await renderings.within(idOrg, () =>
        downloadMappings(catalog, idOrg, idSch, { format, idLschma }),
      );
      return savedFile(c, file, mediaType);
    },
  );
}

/** Returns the requested part; the answer links to the next one. */
function sliced<T>(c: Context<AppEnv>, all: readonly T[], slice: ListSlice | undefined): readonly T[] {
  if (slice === undefined) return all;
  const end = slice.offset + slice.limit;
  linkSlice(c, slice, all.length > end);
  return all.slice(slice.offset, end);
}

// Switching mappings on and off: /v2/mapping/activate, /v2/mapping/deactivate.

const id = z.int().min(0).openapi({ format: 'int64' });
const maxSelected = 10_000;

// an empty list means none: some generated clients send one for an absent member
const members = {
  id_sch: bodyId(),
  ids: z.array(bodyId()).max(maxSelected).optional(),
  xpaths: z.array(z.string().min(1)).max(maxSelected).optional(),
};

const example = { id_sch: 1, xpaths: ['/orders/order/note'] };

function selection(name: string, verb: string) {
  return z
    .strictObject(members)
    .refine(({ ids = [], xpaths = [] }) => ids.length + xpaths.length > 0, {
      error: 'must name ids or xpaths',
    })
    .openapi(name, {
      description: `Lines of the shown map to ${verb}: at least one of \`ids\` and \`xpaths\` must have items. An element includes everything below it.`,
      minProperties: 2,
      example,
    });
}

const ActivateMappingRequest = selection('ActivateMappingRequest', 'switch on');
const DeactivateMappingRequest = selection('DeactivateMappingRequest', 'switch off');

const counts = { id_sch: id, changed: z.int(), active_count: z.int(), inactive_count: z.int() };
const countsExample = { id_sch: 11, changed: 3, active_count: 14, inactive_count: 3 };

const ActivateMappingResponse = z.object(counts).openapi('ActivateMappingResponse', {
  example: { ...countsExample, active_count: 17, inactive_count: 0 },
});
const DeactivateMappingResponse = z
  .object(counts)
  .openapi('DeactivateMappingResponse', { example: countsExample });

function activationOperations(catalog: CatalogStore, config: Config, guards: Guards) {
  const guard = guards.require('schemas:write');
  const shared = {
    method: 'post' as const,
    tags: ['mappings'],
    security: guard.security,
    middleware: [...guard.middleware, jsonBody(config.limits.jsonBodyBytes)],
  };

  const activate = operation(
    createRoute({
      ...shared,
      path: '/v2/mapping/activate',
      operationId: 'activateMappings',
      summary: 'Switch mappings on',
      description:
        'All or nothing. The elements above are switched on, too. The target gets the content after the next `schema/generate`.',
      request: {
        body: { required: true, content: { 'application/json': { schema: ActivateMappingRequest } } },
      },
      responses: {
        200: json(ActivateMappingResponse, 'What changed.'),
        201: notSent,
        ...problems(400, 409, 413, 415),
      },
    }),
    async (c) => {
      const { id_sch: idSch, ids = [], xpaths = [] } = c.req.valid('json');
      return c.json(
        await setActivation(catalog, c.get('principal').idOrg, { idSch, ids, xpaths }, true),
        200,
      );
    },
  );

  const deactivate = operation(
    createRoute({
      ...shared,
      path: '/v2/mapping/deactivate',
      operationId: 'deactivateMappings',
      summary: 'Switch mappings off',
      description:
        'All or nothing; key columns are refused. After the next `schema/generate` the target does not get the content, and loads count it as ignored. If several paths lead to one place of the model, its content is omitted once all of them are off.',
      request: {
        body: { required: true, content: { 'application/json': { schema: DeactivateMappingRequest } } },
      },
      responses: {
        200: json(DeactivateMappingResponse, 'What changed.'),
        201: notSent,
        ...problems(400, 409, 413, 415),
      },
    }),
    async (c) => {
      const { id_sch: idSch, ids = [], xpaths = [] } = c.req.valid('json');
      return c.json(
        await setActivation(catalog, c.get('principal').idOrg, { idSch, ids, xpaths }, false),
        200,
      );
    },
  );

  return [activate, deactivate] as const;
}
