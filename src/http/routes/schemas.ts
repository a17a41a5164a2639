/** Schemas: /v2/schema. */
import { createRoute, z } from '@hono/zod-openapi';
import {
  logicalSchemaDdl,
  nameLengths,
  findOrigin,
  originFamily,
  removeOrigin,
} from '../../service/catalog/logical-schema.ts';
import { createSchema } from '../../service/catalog/create-schema.ts';
import {
  generateLogicalSchema,
  dictionaryFile,
  dictionaryFormats,
  logicalSchemaViews,
  exportSchemaAs,
} from '../../service/catalog/dictionary.ts';
import type { Config } from '../../config/shape.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Slots } from '../../service/transfer/run-transfer.ts';
import { type Guards } from '../auth.ts';
import { creatingOperation, type IdempotencyAdapters } from '../idempotency.ts';
import { jsonBody } from '../json-body.ts';
import {
  createGroup,
  effectfulGet,
  json,
  notSent,
  operation,
  problems,
  rawOperation,
  removed,
  undeclared,
} from '../operation.ts';
import {
  linkHeader,
  linkSlice,
  sliceOf,
  sliceQuery,
  dialectQuery,
  int64,
  integerBetween,
  logicalSchemaQuery,
} from '../paging.ts';
import {
  CreateSchemaRequest,
  SchemaDetails,
  SchemaShortInfoResponse,
  XMLSchema,
  ByteArrayResource,
} from './catalog-shapes.ts';
import { longText } from '../long-answers.ts';
import { wire } from '../problem.ts';
import { conditionalGet } from '../validators.ts';
import { bytesType, chooseFormat, savedFile, dispositionHeader } from '../download.ts';
import { exportFormats, formatSpecifications } from '../../engine/metadata/formats.ts';

const tags = ['schemas'];
const schemaParam = z.object({ idSch: int64('The schema.', 1) });

type SchemaRouteAdapters = Pick<
  Adapters,
  'catalog' | 'files' | 'compiler' | 'jobs' | 'credentials' | 'secrets'
> &
  IdempotencyAdapters;

export function createSchemaRoutes(
  adapters: SchemaRouteAdapters,
  config: Config,
  guards: Guards,
  renderings: Slots,
) {
  const shared = sharedOf(adapters, config, guards, renderings);
  return createGroup([
    createOperation(shared),
    removeOperation(shared),
    allOperation(shared),
    getOperation(shared),
    ddlOperation(shared),
    viewsOperation(adapters, guards, shared.renderings),
    exportAsOperation(adapters, guards, shared.renderings),
    dictionaryOperation(adapters, guards, shared.renderings),
    familyOperation(shared),
    maxLengthOperation(shared),
    generateOperation(shared),
    generateWithinOperation(shared),
  ]);
}

/** Returns the dependencies that the operations of this group share. */
function sharedOf(adapters: SchemaRouteAdapters, config: Config, guards: Guards, renderings: Slots) {
  const { catalog } = adapters;
  const guard = guards.require('schemas:read');

  const generateRoute = {
    ...effectfulGet,
    method: 'get' as const,
    summary: 'Make the next logical schema',
    description:
      'Made from the source model, the statistics and the activation of mappings, with the options of the present default. If nothing has changed, the present one is returned.',
    tags,
    ...guards.require('schemas:write'),
    responses: {
      200: undeclared('The logical schema is the newest one of its schema.'),
      ...problems(400, 422),
    },
  };

  const createGuard = guards.require('schemas:write');

  return { adapters, config, guards, catalog, guard, generateRoute, createGuard, renderings };
}

type Shared = ReturnType<typeof sharedOf>;

function allOperation({ catalog, guard }: Shared) {
  return operation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/schema/all',
      operationId: 'listSchemas',
      summary: 'List schemas',
      description:
        'Every version of every schema of the organisation, each with the logical schema that the last load used.',
      tags,
      ...guard,
      request: { query: sliceQuery },
      responses: {
        200: { ...json(z.array(XMLSchema), 'Every schema of the organisation.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const slice = sliceOf(c.req.valid('query'));
      const asked = slice === undefined ? undefined : { ...slice, limit: slice.limit + 1 };
      const origins = await catalog.listOrigins(c.get('principal').idOrg, asked);
      linkSlice(c, slice, slice !== undefined && origins.length > slice.limit);
      return c.json(wire(slice === undefined ? origins : origins.slice(0, slice.limit)), 200);
    },
  );
}

function getOperation({ catalog, guard }: Shared) {
  return operation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/schema/{id}',
      operationId: 'getSchema',
      summary: 'Get a schema',
      description:
        'The source schema, with the logical schema that the last load used (before any load, and after `schema/generate`, the newest), or the one that `id_lschma` names.',
      tags,
      ...guard,
      request: { params: z.object({ id: int64('The schema.', 1) }), query: logicalSchemaQuery },
      responses: { 200: json(XMLSchema, 'The schema.'), ...problems(400) },
    }),
    async (c) => {
      const { id_lschma: idLschma } = c.req.valid('query');
      return c.json(
        wire(await findOrigin(catalog, c.get('principal').idOrg, c.req.valid('param').id, idLschma)),
        200,
      );
    },
  );
}

const ddlQuery = dialectQuery.extend({
  codes: z.enum(['none', 'table', 'check']).optional().openapi({
    description: 'How enumerated values are stored; default none.',
    example: 'none',
  }),
});

function ddlOperation({ adapters, guard, renderings }: Shared) {
  return rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/schema/ddl/{idSch}',
      operationId: 'getSchemaDdl',
      summary: 'Get the DDL of a schema',
      description:
        'Every table and column is commented with its XPath. With `codes=table` the values that the schema enumerates are rows of a table `_codes` (type, code, label, documentation); with `codes=check` enumerated columns have checks, too, which are written for PostgreSQL.',
      tags,
      ...guard,
      request: { params: schemaParam, query: ddlQuery },
      responses: {
        200: {
          description: 'The DDL.',
          content: {
            'text/plain': {
              schema: z
                .string()
                .openapi({ example: 'CREATE TABLE item (\n  item_key bigint NOT NULL,\n  …\n);\n' }),
            },
          },
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const { dialect = 'postgresql', id_lschma: idLschma, codes } = c.req.valid('query');
      const { idSch } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const ddl = await renderings.within(idOrg, () =>
        logicalSchemaDdl(adapters, idOrg, idSch, {
          dialect,
          idLschma,
          ...(codes === undefined ? {} : { codes }),
        }),
      );
      return longText(c, ddl, 'text/plain; charset=UTF-8');
    },
  );
}

function familyOperation({ catalog, guard }: Shared) {
  return operation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/schema/family/{idSch}',
      operationId: 'listSchemaFamily',
      summary: 'List the versions of a schema',
      description:
        'A schema and all its versions (`--parent`), the oldest first. Names of tables and columns stay the same between versions.',
      tags,
      ...guard,
      request: { params: schemaParam },
      responses: {
        200: json(z.array(XMLSchema), 'Every version that shares the first ancestor, oldest first.'),
        ...problems(400),
      },
    }),
    async (c) =>
      c.json(wire(await originFamily(catalog, c.get('principal').idOrg, c.req.valid('param').idSch)), 200),
  );
}

function maxLengthOperation({ catalog, guard }: Shared) {
  return operation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/schema/get/max/length/{idSch}',
      operationId: 'getSchemaMaxLength',
      summary: 'Get the limit on names, and the longest name',
      description:
        'Names of tables and columns are shortened to that limit in bytes (`--name-max-len`), so that no database cuts them.',
      tags,
      ...guard,
      request: { params: schemaParam, query: logicalSchemaQuery },
      responses: { 200: json(SchemaShortInfoResponse, 'The lengths.'), ...problems(400) },
    }),
    async (c) => {
      const { id_lschma: idLschma } = c.req.valid('query');
      return c.json(
        await nameLengths(catalog, c.get('principal').idOrg, c.req.valid('param').idSch, idLschma),
        200,
      );
    },
  );
}

function generateOperation({ adapters, generateRoute }: Shared) {
  return operation(
    createRoute({
      ...generateRoute,
      path: '/v2/schema/generate/{idSch}',
      operationId: 'generateSchema',
      request: { params: schemaParam },
    }),
    async (c) =>
      c.json(
        wire(await generateLogicalSchema(adapters, c.get('principal').idOrg, c.req.valid('param').idSch)),
        200,
      ),
  );
}

function generateWithinOperation({ adapters, generateRoute }: Shared) {
  return operation(
    createRoute({
      ...generateRoute,
      path: '/v2/schema/generate/{idSch}/{maxLen}',
      operationId: 'generateSchemaWithin',
      summary: 'Make the next logical schema, with names of limited length',
      request: {
        params: schemaParam.extend({
          maxLen: integerBetween(12, 128, 'Maximum length of a name, in bytes.', 30),
        }),
      },
    }),
    async (c) => {
      const { idSch, maxLen } = c.req.valid('param');
      return c.json(
        wire(await generateLogicalSchema(adapters, c.get('principal').idOrg, idSch, maxLen)),
        200,
      );
    },
  );
}

function createOperation({ adapters, config, createGuard }: Shared) {
  return creatingOperation(
    adapters,
    createRoute({
      method: 'post',
      path: '/v2/schema/create',
      operationId: 'createSchema',
      summary: 'Make a schema from uploaded files',
      description:
        'Compiled in a separate process with limits on time and memory. References between files are resolved only among the given files.',
      tags,
      security: createGuard.security,
      middleware: [...createGuard.middleware, jsonBody(config.limits.jsonBodyBytes)],
      request: { body: { required: true, content: { 'application/json': { schema: CreateSchemaRequest } } } },
      responses: {
        200: notSent,
        201: {
          ...json(SchemaDetails, 'The schema.'),
          headers: {
            Location: {
              description: 'The schema; relative to the address of the request.',
              schema: { type: 'string' },
              example: '11',
            },
          },
        },
        ...problems(400, 403, 409, 413, 415, 422, 501),
      },
    }),
    async (c) => {
      const body = c.req.valid('json');
      const created = await createSchema(adapters, config, c.get('principal').idOrg, {
        name: body.name,
        xsd: body.xsd ?? [],
        xml: body.xml ?? [],
        ...(body.credential === undefined ? {} : { credential: body.credential }),
        root: body.root,
        mapLevel: body.map_level,
        nameMaxLength: body.name_max_len,
        defaultTextLength: body.default_varchar_len,
        idParentSch: body.id_parent_sch,
      });
      c.header('Location', String(created.id_sch));
      return c.json(wire(created), 201);
    },
  );
}

function removeOperation({ guards, catalog }: Shared) {
  return operation(
    createRoute({
      method: 'delete',
      path: '/v2/schema/{id}',
      operationId: 'removeSchema',
      summary: 'Remove a schema',
      description:
        'Removes its logical schemas, mappings and statistics, too. Loaded rows stay in their targets. Refused while a running or queued job uses it.',
      tags,
      ...guards.require('schemas:write'),
      request: { params: z.object({ id: int64('The schema.', 1) }) },
      responses: { ...removed, ...problems(400, 409) },
    }),
    async (c) => {
      await removeOrigin(catalog, c.get('principal').idOrg, c.req.valid('param').id);
      return c.body(null, 204);
    },
  );
}

// The data dictionary: /v2/schema/dictionary.

const dictionaryQuery = logicalSchemaQuery.extend({
  format: z.enum(dictionaryFormats).optional().openapi({
    description: 'A workbook (xlsx) or Markdown (md): restricts `Accept` to the media types of one format.',
    example: 'xlsx',
  }),
});

/** Media types by format; the first format is sent if `Accept` has no preference. */
const dictionaryTypes = {
  xlsx: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  md: ['text/markdown; charset=utf-8'],
} as const;

/** `renderings`: of one organisation at a time. */
function dictionaryOperation(
  adapters: Pick<Adapters, 'catalog' | 'jobs'>,
  guards: Guards,
  renderings: Slots,
) {
  return rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/schema/dictionary/{idSch}',
      operationId: 'getSchemaDictionary',
      summary: 'Get the data dictionary of a schema',
      description:
        '`Accept` or `format` chooses a workbook (the default) or Markdown. Every column of every table: its name in the business and its definition, as far as the source documents them, path, type (of PostgreSQL), key, codes if the schema enumerates them, and, if documents were read, a sample and the share of rows in which it is NULL. A sample is the least value; with `--no-samples` there is none. A separate sheet or section lists each enumerated type: code, label, documentation.',
      tags: ['schemas'],
      ...guards.require('schemas:read'),
      request: { params: z.object({ idSch: int64('The schema.', 1) }), query: dictionaryQuery },
      responses: {
        200: {
          description: 'The file.',
          headers: dispositionHeader,
          content: {
            [dictionaryTypes.xlsx[0]]: { schema: ByteArrayResource },
            [bytesType]: { schema: ByteArrayResource },
            'text/markdown': { schema: ByteArrayResource },
          },
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const { format: asked, id_lschma: idLschma } = c.req.valid('query');
      const { format, mediaType } = chooseFormat(c, asked, dictionaryTypes);
      const { idSch } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const file = await renderings.within(idOrg, () =>
        dictionaryFile(adapters, idOrg, idSch, { format, idLschma }),
      );
      return savedFile(c, file, mediaType);
    },
  );
}

// Views of business entities: /v2/schema/views.

/** `renderings`: of one organisation at a time. */
function viewsOperation(adapters: Pick<Adapters, 'catalog'>, guards: Guards, renderings: Slots) {
  return rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/schema/views/{idSch}',
      operationId: 'getSchemaViews',
      summary: 'Get views of the business entities of a schema',
      description:
        'CREATE VIEW statements, one for each entity: a table whose rows repeat and have many values. A view has a row for each row of its table, with the name of the document, identifiers and dates of the rows above, all values of the rows themselves, amounts with the sign of their credit or debit indicator, names and identifiers of child rows that occur once (parties by their role), and repeated child texts joined by line ends. The comment of a view describes its rows.',
      tags: ['schemas'],
      ...guards.require('schemas:read'),
      request: { params: z.object({ idSch: int64('The schema.', 1) }), query: dialectQuery },
      responses: {
        200: {
          description: 'The statements; none if the schema has no such entity.',
          content: {
            'text/plain': {
              schema: z
                .string()
                .openapi({ example: 'CREATE VIEW item_view AS\nSELECT\n  …\nFROM item e\n…;\n' }),
            },
          },
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const { dialect = 'postgresql', id_lschma: idLschma } = c.req.valid('query');
      const { idSch } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const views = await renderings.within(idOrg, () =>
        logicalSchemaViews(adapters, idOrg, idSch, { dialect, idLschma }),
      );
      return longText(c, views, 'text/plain; charset=UTF-8');
    },
  );
}

// Metadata for other tools: /v2/schema/export_as.

const exportQuery = logicalSchemaQuery.extend({
  format: z.enum(exportFormats).openapi({
    description:
      'dbt: a project that runs as it is, zipped; odcs: an Open Data Contract (v3.1, YAML); mermaid: an entity-relationship diagram; dbml: for dbdiagram.io and dbdocs.io; frictionless: a Data Package (JSON); jsonschema: of the rows as JSON, draft 2020-12; avro: a list of record schemas.',
    example: 'dbml',
  }),
});

const exportTypes = Object.fromEntries(
  exportFormats.map((format) => [format, formatSpecifications[format].mediaTypes]),
) as unknown as Readonly<Record<(typeof exportFormats)[number], readonly string[]>>;

const MetadataDocument = z.looseObject({}).openapi('MetadataDocument', {
  description: 'A Data Package, a JSON Schema, or Avro schemas: a document of that standard.',
  example: { profile: 'tabular-data-package', name: 'donuts', resources: [] },
});

/** `renderings`: of one organisation at a time. */
function exportAsOperation(adapters: Pick<Adapters, 'catalog' | 'jobs'>, guards: Guards, renderings: Slots) {
  return rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/schema/export_as/{idSch}',
      operationId: 'exportSchemaAs',
      summary: 'Get a schema as metadata for other tools',
      description:
        'The tables of a logical schema with their columns, keys, references, meanings (path and documentation) and, if the schema enumerates them, the allowed values. JSON Schema and Avro are sent as text unless `Accept` prefers JSON.',
      tags: ['schemas'],
      ...guards.require('schemas:read'),
      request: { params: z.object({ idSch: int64('The schema.', 1) }), query: exportQuery },
      responses: {
        200: {
          description: 'The file.',
          headers: dispositionHeader,
          content: {
            'application/zip': { schema: ByteArrayResource },
            [bytesType]: { schema: ByteArrayResource },
            'application/yaml': { schema: ByteArrayResource },
            'text/plain': { schema: ByteArrayResource },
            'application/json': { schema: MetadataDocument },
            'application/schema+json': { schema: MetadataDocument },
            'application/vnd.apache.avro+json': { schema: z.array(MetadataDocument) },
          },
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const { format, id_lschma: idLschma } = c.req.valid('query');
      const { mediaType } = chooseFormat(c, format, exportTypes);
      const { idSch } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const file = await renderings.within(idOrg, () =>
        exportSchemaAs(adapters, idOrg, idSch, { format, idLschma }),
      );
      return savedFile(c, file, mediaType);
    },
  );
}
