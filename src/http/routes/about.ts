/** Describes the organisation and the features of the service: /v2/about, /v2/extensions. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Config } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import { saveModeLetters } from '../../service/jobs/option-table.ts';
import { requestDefaults } from '../../service/jobs/request/tool-request.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Guards } from '../auth.ts';
import { createGroup, json, operation, problems } from '../operation.ts';

/** level of a mapping that is made without `--map`: elevate and reuse */
const defaultMapLevel = 3;

const int = z.int().openapi({ format: 'int64' });

export const Org = z
  .object({
    id_org: int,
    name: z.string(),
    description: z.string().nullable(),
    created: int,
    schema_count: z.int(),
    job_count: z.int(),
  })
  .openapi('Org', {
    example: {
      id_org: 1,
      name: 'default',
      description: null,
      created: 1790000000000,
      schema_count: 3,
      job_count: 17,
    },
  });

const ActionParams = z
  .object({
    commands: z.boolean(),
    levels: z.int().openapi({ format: 'int32' }),
    levels_type: z.int().openapi({ format: 'int32' }),
    loadConfig: z.record(z.string(), z.union([z.string(), z.int(), z.boolean()])),
  })
  .openapi('ActionParams', {
    description:
      "`commands`: whether commands can be run; `levels`: the default map level; `levels_type`: 0 levels by table, 1 by type; `loadConfig`: the loader's settings.",
    example: { commands: false, levels: 3, levels_type: 0, loadConfig: { savemode: 'a', keys: 'sequence' } },
  });

const catalogueExtension = {
  name: 'cil',
  title: 'Integration catalogue',
  path: '/v2/extensions/cil',
  enabled: true,
};

const Extension = z
  .object({ name: z.string(), title: z.string(), path: z.string(), enabled: z.boolean() })
  .openapi('Extension', {
    description: 'A group of endpoints beside the others, below `path`.',
    example: catalogueExtension,
  });

const Extensions = z
  .object({ extensions: z.array(Extension), action_params: ActionParams })
  .openapi('Extensions', {
    example: {
      extensions: [catalogueExtension],
      action_params: {
        commands: false,
        levels: 3,
        levels_type: 0,
        loadConfig: { savemode: 'a', keys: 'sequence' },
      },
    },
  });

export function createAboutRoutes(
  adapters: Pick<Adapters, 'access' | 'runtime'>,
  config: Config,
  guards: Guards,
) {
  const org = operation(
    createRoute({
      method: 'get',
      path: '/v2/about/org',
      operationId: 'getOrganisation',
      summary: 'Get the organisation of the key',
      description: 'The organisation that the key belongs to. The other operations show only its data.',
      tags: ['about'],
      ...guards.require(null),
      responses: { 200: json(Org, 'The organisation.'), ...problems() },
    }),
    async (c) => {
      const found = await adapters.access.findOrg(c.get('principal').idOrg);
      if (found === null) throw new AppError('not_found', 'there is no such organisation');
      return c.json(found, 200);
    },
  );

  const extensions = operation(
    createRoute({
      method: 'get',
      path: '/v2/extensions/list',
      operationId: 'listExtensions',
      summary: 'List extensions and settings of the tools',
      description: 'Extensions of this installation, and the settings of its tools.',
      tags: ['extensions'],
      ...guards.require(null),
      responses: { 200: json(Extensions, 'The extensions.'), ...problems() },
    }),
    (c) =>
      c.json(
        {
          extensions: [catalogueExtension],
          action_params: {
            commands: config.commandsEnabled && adapters.runtime.capabilities.commands,
            levels: defaultMapLevel,
            levels_type: 0,
            loadConfig: loadSettings(),
          },
        },
        200,
      ),
  );

  return createGroup([org, extensions]);
}

/** Returns the default settings of a load, by the tools' long names. */
function loadSettings(): Record<string, string | boolean> {
  return {
    savemode: saveModeLetters[requestDefaults.saveMode],
    keys: requestDefaults.keys,
    tables: requestDefaults.tables,
    unmapped: requestDefaults.unmapped,
    'on-drift': 'keep',
    'on-error': requestDefaults.onError,
    validate: requestDefaults.validate,
    prune: requestDefaults.prune,
    'skip-loaded': requestDefaults.skipLoaded,
  };
}
