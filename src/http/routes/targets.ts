/** Targets: rows of them, and names of the metadata database: /v2/target. */
import { createRoute, z } from '@hono/zod-openapi';
import { fixedLimits } from '../../config/limits.ts';
import type { Config } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { AnswerValue } from '../../ports/target-reader.ts';
import { queryTarget, targetRows } from '../../service/catalog/read-target.ts';
import type { Guards } from '../auth.ts';
import { jsonBody } from '../json-body.ts';
import { createGroup, json, operation, problems, removed } from '../operation.ts';
import { defaultPageSize, int32, linkedPage, linkHeader, sizeQuery } from '../paging.ts';
import { wire } from '../problem.ts';

const RowColumn = z.object({ name: z.string(), type: z.string() }).openapi('RowColumn', {
  description: 'A column of rows.',
  example: { name: 'order_key', type: 'bigint' },
});

const RowValues = z.array(z.any()).openapi('RowValues', {
  description:
    'The values of a row, in the order of the columns. Whole numbers up to 2^53 and floating-point numbers are JSON numbers. Larger whole numbers, decimals, NaN and infinities are strings, so that no digit is lost. Dates and times are strings in ISO 8601; a time with a zone is in UTC and ends in Z. Bytes are Base64. Lists are arrays, and structures are objects. NULL is null.',
  example: [1, 'SO-4102', '150.00', null],
});

function wireRows(rows: readonly (readonly AnswerValue[])[]): z.infer<typeof RowValues>[] {
  return rows as unknown as z.infer<typeof RowValues>[];
}

const TargetRowPage = z
  .object({
    columns: z.array(RowColumn),
    content: z.array(RowValues),
    page: z.int(),
    size: z.int(),
    total_elements: z.int(),
    total_pages: z.int(),
  })
  .openapi('TargetRowPage', {
    description: 'A page of the rows of a table.',
    example: {
      columns: [
        { name: 'order_key', type: 'bigint' },
        { name: 'number', type: 'text' },
      ],
      content: [[1, 'SO-4102']],
      page: 0,
      size: 1,
      total_elements: 24,
      total_pages: 24,
    },
  });

const TargetQuery = z
  .strictObject({
    target: z.string().min(1).max(4096),
    sql: z.string().min(1).max(fixedLimits.querySqlLength),
  })
  .openapi('TargetQuery', {
    description: 'A statement that reads a target.',
    example: {
      target: 'metadb:orders',
      sql: 'select number, count(*) as lines from "order" join line using (order_key) group by number',
    },
  });

const TargetQueryResult = z
  .object({ columns: z.array(RowColumn), rows: z.array(RowValues), truncated: z.boolean() })
  .openapi('TargetQueryResult', {
    description: 'The rows of a statement.',
    example: {
      columns: [{ name: 'number', type: 'text' }],
      rows: [['SO-4102'], ['SO-4107']],
      truncated: false,
    },
  });

const tags = ['schemas'];

const targetMeaning =
  'Target as `-o` names it, or as `parm_path_output` of a job does: `metadb:NAME`, `duckdb:FILE`, `sqlite:FILE` or a folder.';

export function createTargetRoutes(
  adapters: Pick<Adapters, 'catalog' | 'files' | 'jobs' | 'targetReader'>,
  { limits }: Pick<Config, 'limits'>,
  guards: Guards,
) {
  const { catalog } = adapters;
  const remove = operation(
    createRoute({
      method: 'delete',
      path: '/v2/target',
      operationId: 'removeTarget',
      summary: 'Remove a target of the metadata database',
      description:
        'Drops the SQL schema `metadb:NAME` with all its rows and frees the name. Refused while a job loads into it.',
      tags,
      ...guards.require('schemas:write'),
      request: {
        query: z.object({
          name: z
            .string()
            .min(1)
            .max(63)
            .openapi({ description: 'NAME of `metadb:NAME`.', example: 'orders' }),
        }),
      },
      responses: { ...removed, ...problems(400, 409) },
    }),
    async (c) => {
      const { name } = c.req.valid('query');
      if (!(await catalog.removeTargetSchema(c.get('principal').idOrg, name)))
        throw new AppError('not_found', 'there is no such target');
      return c.body(null, 204);
    },
  );

  const rows = operation(
    createRoute({
      method: 'get',
      path: '/v2/target/rows',
      operationId: 'listTargetRows',
      summary: 'List rows of a table',
      description: `Rows of a table or view of a target that a job of the organisation loaded, ordered by the row key, or by all columns if the table has none. A page has at most ${fixedLimits.answerRowBytes / 1024 ** 2} MiB of rows and ${fixedLimits.queryMs / 1000} seconds; otherwise the status is 422. Targets on other servers and in buckets are not read: 422.`,
      tags,
      ...guards.require('rows:read'),
      request: {
        query: z.object({
          target: z
            .string()
            .min(1)
            .max(4096)
            .openapi({ description: targetMeaning, example: 'metadb:orders' }),
          table: z
            .string()
            .min(1)
            .max(255)
            .openapi({ description: 'Name of the table or view in the target.', example: 'order' }),
          page: int32('Number of the page, from 0; default 0.').optional(),
          size: sizeQuery.shape.size,
        }),
      },
      responses: {
        200: { ...json(TargetRowPage, 'The page, empty past the end.'), headers: linkHeader },
        // a long target makes a long URL
        ...problems(400, 409, 422, 431, 501),
      },
    }),
    async (c) => {
      const { target, table, page = 0, size = defaultPageSize } = c.req.valid('query');
      const found = await targetRows(adapters, c.get('principal').idOrg, target, { table, page, size });
      const paged = linkedPage(c, 'query', found);
      return c.json({ ...paged, columns: wire(found.columns), content: wireRows(found.content) }, 200);
    },
  );

  const query = operation(
    createRoute({
      method: 'post',
      path: '/v2/target/query',
      operationId: 'queryTarget',
      summary: 'Query a target',
      description: `Runs one SELECT in the SQL of the target: PostgreSQL for \`metadb:\`, SQLite for \`sqlite:\`, DuckDB for \`duckdb:\` and for folders, whose files are its tables. It may read the tables and views of the target, and use functions that compute with their values; 400 for anything else, with the message of the database, the place and its hint. It may take ${fixedLimits.queryMs / 1000} seconds; otherwise the status is 422. The answer has at most ${fixedLimits.queryRows} rows and ${fixedLimits.answerRowBytes / 1024 ** 2} MiB; \`truncated\` says that there are more.`,
      tags,
      ...guards.require('rows:read'),
      request: { body: { content: { 'application/json': { schema: TargetQuery } }, required: true } },
      middleware: [...guards.require('rows:read').middleware, jsonBody(limits.jsonBodyBytes)],
      responses: { 200: json(TargetQueryResult, 'The rows.'), ...problems(400, 409, 413, 415, 422, 501) },
    }),
    async (c) => {
      const { target, sql } = c.req.valid('json');
      const found = await queryTarget(adapters, c.get('principal').idOrg, target, sql);
      return c.json(wire({ ...found, rows: wireRows(found.rows) }), 200);
    },
  );

  return createGroup([remove, rows, query]);
}
