/** The source-to-target map: /v2/mapping. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Slots } from '../../../transfer/turns.ts';
import { compareMappings } from '../../../catalog/mappings/comparison.ts';
import { listMappings } from '../../../catalog/mappings/document-map.ts';
import { downloadFormats, downloadMappings } from '../../../catalog/mappings/download.ts';
import { mappingStatistics } from '../../../catalog/mappings/statistics.ts';
import type { Config } from '../../../config/shape.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import { activationOperations } from './activation.ts';
import type { ListSlice } from '../../../ports/stores/catalog.ts';
import type { AppEnv } from '../../env.ts';
import type { Guards } from '../../middleware/auth.ts';
import { bytesType, savedFile } from '../../answers/attachment.ts';
import { jsonArray } from '../../answers/long-answers.ts';
import { createGroup, json, problems, rawOperation } from '../../requests/operation.ts';
import { linkHeader, linkNext, sliceOf, sliceQuery } from '../../requests/paging.ts';
import { int64, logicalSchemaQuery } from '../../requests/parameters.ts';
import { ByteArrayResource, Mapping, MappingComparison, StatsMapping } from '../../schemas/catalog.ts';

const tags = ['mappings'];
const schemaParam = z.object({ idSch: int64('The schema.', 11) });

const compareQuery = z.object({
  all: z
    .enum(['true', 'false'])
    .optional()
    .openapi({ description: 'true: also the lines that are the same.', example: 'false' }),
  from_lschma: int64(
    'Logical schema of `from`; without it, the one that the last load used, or that was made since.',
    4,
  ).optional(),
  to_lschma: int64(
    'Logical schema of `to`; without it, the one that the last load used, or that was made since.',
    5,
  ).optional(),
});

const downloadQuery = logicalSchemaQuery.extend({
  format: z.enum(downloadFormats).optional().openapi({ description: 'xlsx without it.', example: 'xlsx' }),
});

const contentTypes = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
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
      method: 'get',
      path: '/v2/mapping/get/{idSch}',
      operationId: 'listMappings',
      summary: 'List the mappings of a schema',
      description:
        'Each line tells which element or attribute (`xpath`) goes to which table and column. Streamed: a large standard has tens of thousands of lines.',
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
      method: 'get',
      path: '/v2/mapping/get_stats/{idSch}',
      operationId: 'listMappingStatistics',
      summary: 'List what documents held at each mapping',
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
      method: 'get',
      path: '/v2/mapping/get_stats/{idSch}/{idJob}',
      operationId: 'listMappingStatisticsOfJob',
      summary: 'List what the documents of one job held at each mapping',
      description:
        'Of an imported schema, the import (`id_job` of the schema) stands for all jobs whose statistics came with the package.',
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
      method: 'get',
      path: '/v2/mapping/compare/{from}/{to}',
      operationId: 'compareMappings',
      summary: 'Compare the mappings of two schemas',
      description:
        'By path: lines that only one of the two has, and lines that differ, with what differs. Of two versions it tells what an update of the standard changes in the tables.',
      tags,
      ...guard,
      request: {
        params: z.object({ from: int64('The one schema.', 11), to: int64('The other schema.', 12) }),
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
      method: 'get',
      path: '/v2/mapping/download/{idSch}',
      operationId: 'downloadMappings',
      summary: 'Download the source-to-target map',
      description:
        'Cells that a spreadsheet program would run as formulas are escaped by an apostrophe. A workbook (xlsx) has the mappings first, then a sheet of the tables and one of the values that the schema enumerates, with their type, label and meaning; what is too long for a sheet goes on in further ones.',
      tags,
      ...guard,
      request: { params: schemaParam, query: downloadQuery },
      responses: {
        200: {
          description: 'The file.',
          headers: z.object({
            'Content-Disposition': z
              .string()
              .openapi({ example: 'attachment; filename="donuts-mapping.xlsx"' }),
          }),
          content: {
            [contentTypes.xlsx]: { schema: ByteArrayResource },
            [bytesType]: { schema: ByteArrayResource },
            'text/csv': { schema: ByteArrayResource },
            'application/json': { schema: z.array(Mapping) },
          },
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const { format = 'xlsx', id_lschma: idLschma } = c.req.valid('query');
      const { idSch } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const file = await renderings.within(idOrg, () =>
        downloadMappings(catalog, idOrg, idSch, { format, idLschma }),
      );
      return savedFile(c, file, [contentTypes[format]]);
    },
  );
}

/** Returns the requested part; the answer links to the next one. */
function sliced<T>(c: Context<AppEnv>, all: readonly T[], slice: ListSlice | undefined): readonly T[] {
  if (slice === undefined) return all;
  const end = slice.offset + slice.limit;
  linkNext(c, slice, all.length > end);
  return all.slice(slice.offset, end);
}
