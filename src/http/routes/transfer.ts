/** Schemas between installations: /v2/schema/export, /v2/schema/import. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Config } from '../../config/shape.ts';
import { fixedLimits } from '../../config/limits.ts';
import { exportSchema, importSchema } from '../../service/transfer/schema-transfer.ts';
import { createSlots, type TransferAdapters } from '../../service/transfer/run-transfer.ts';
import type { Guards } from '../auth.ts';
import { creatingOperation, type IdempotencyAdapters } from '../idempotency.ts';
import { jsonBody } from '../json-body.ts';
import { createGroup, json, notSent, problems } from '../operation.ts';

const tags = ['schemas'];

/** '' means an absent member, because clients send forms that were not filled in. */
function optional(form: RegExp, error: string) {
  return z
    .string()
    .refine((value) => value === '' || form.test(value), { error })
    .optional();
}

const location = () =>
  z
    .string()
    .max(8192)
    .optional()
    .openapi({ example: 'https://account.blob.core.example/container/schema/?sv=…&sig=…' });
const path = z.string().max(4096);

const metadb = {
  metadb_host: optional(
    /^(?:[A-Za-z0-9._-]{1,253}|\[?[0-9A-Fa-f:.]{2,45}\]?)$/,
    'must be the name or address of one host',
  ).openapi({
    description: 'Host of the metadata database; default: the service’s own database.',
    example: 'db.example',
  }),
  metadb_port: optional(/^(?!0+$)\d{1,5}$/, 'must be the digits of a port')
    .refine((value) => Number(value || 1) <= 65_535, { error: 'must be the digits of a port' })
    .openapi({ example: '5432' }),
  metadb_user: optional(/^[^\p{Cc}]{1,128}$/u, 'must be the name of a user').openapi({ example: 'svc' }),
  metadb_db: optional(/^[^\p{Cc}]{1,128}$/u, 'must be the name of a database').openapi({ example: 'svc' }),
  metadb_password: optional(/^[^\p{Cc}]{1,1024}$/u, 'must be a password').openapi({
    description: 'Default: PGPASSWORD of the service, or the password of its own database.',
    example: '***',
  }),
};

const given = (value: string | undefined): boolean => value !== undefined && value !== '';

const ExportSchemaRequest = z
  .strictObject({
    origin_id: z
      .string()
      .regex(/^\d{1,19}$/, { error: 'must be the digits of an origin id' })
      .openapi({ description: 'The schema, which is exported with all its versions.', example: '1' }),
    output_path: path.optional().openapi({ description: 'Folder to write to.', example: 'exports/orders' }),
    az_output_path: location(),
    ...metadb,
  })
  .refine((body) => given(body.output_path) !== given(body.az_output_path), {
    error: 'must name exactly one of output_path and az_output_path',
  })
  .openapi('ExportSchemaRequest', {
    description: 'Exactly one of `output_path` and `az_output_path` is given.',
    example: { origin_id: '1', output_path: 'exports/orders' },
  });

const ImportSchemaRequest = z
  .strictObject({
    input_path: path.min(1).openapi({
      description:
        'Folder that holds the package; with `az_input_path`, the folder that it is copied to first.',
      example: 'exports/orders',
    }),
    az_input_path: location(),
    ...metadb,
  })
  .openapi('ImportSchemaRequest', {
    description:
      '`input_path` alone is the folder of the package. With `az_input_path`, the package is copied from there to `input_path` first.',
    example: { input_path: 'exports/orders' },
  });

const ExportedSchema = z
  .object({
    error: z.boolean(),
    az_output_path: z
      .string()
      .openapi({ description: 'The location without its query; empty for a folder.' }),
  })
  .openapi('ExportedSchema', { example: { error: false, az_output_path: '' } });

const ImportedSchemas = z
  .object({
    error: z.boolean(),
    origin_ids: z
      .string()
      .openapi({ description: 'Every version, oldest first, by comma and space; empty on error.' }),
  })
  .openapi('ImportedSchemas', { example: { error: false, origin_ids: '12, 13' } });

export function createTransferRoutes(
  adapters: TransferAdapters & IdempotencyAdapters,
  config: Config,
  guards: Guards,
) {
  const guard = guards.require('migrate');
  const shared = {
    method: 'post' as const,
    tags,
    security: guard.security,
    middleware: [...guard.middleware, jsonBody(config.limits.jsonBodyBytes)],
  };
  const statuses = problems(400, 413, 415, 501);
  const slots = createSlots({
    running: config.limits.runningJobs,
    waiting: fixedLimits.waitingTransfers,
  });

  const exported = creatingOperation(
    adapters,
    createRoute({
      ...shared,
      path: '/v2/schema/export',
      operationId: 'exportSchema',
      summary: 'Export a schema',
      description:
        'Source models, files, logical schemas, mappings with their activation, statistics, keys and diagrams of every version. ' +
        '`error` true: the run failed; the log of the service has the reason, under the request id.',
      request: { body: { required: true, content: { 'application/json': { schema: ExportSchemaRequest } } } },
      responses: {
        200: json(ExportedSchema, 'How the run ended.'),
        201: notSent,
        ...statuses,
      },
    }),
    async (c) => {
      const caller = { idOrg: c.get('principal').idOrg, requestId: c.get('requestId') };
      const run = () => exportSchema(adapters, config, caller, c.req.valid('json'));
      return c.json(await slots.within(caller.idOrg, run), 200);
    },
  );

  const imported = creatingOperation(
    adapters,
    createRoute({
      ...shared,
      path: '/v2/schema/import',
      operationId: 'importSchema',
      summary: 'Import a schema',
      description:
        'Everything is checked first, then stored in one transaction under new ids. A name that is already in use gets a number. ' +
        '`error` true: the run failed and nothing was changed; the log of the service has the reason, under the request id.',
      request: { body: { required: true, content: { 'application/json': { schema: ImportSchemaRequest } } } },
      responses: {
        200: json(ImportedSchemas, 'How the run ended.'),
        201: notSent,
        ...statuses,
      },
    }),
    async (c) => {
      const caller = { idOrg: c.get('principal').idOrg, requestId: c.get('requestId') };
      const run = () => importSchema(adapters, config, caller, c.req.valid('json'));
      return c.json(await slots.within(caller.idOrg, run), 200);
    },
  );

  return createGroup([exported, imported]);
}
