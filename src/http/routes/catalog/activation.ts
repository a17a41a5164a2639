/** Switching mappings on and off: /v2/mapping/activate, /v2/mapping/deactivate. */
import { createRoute, z } from '@hono/zod-openapi';
import { setActivation } from '../../../catalog/mappings/activation.ts';
import type { Config } from '../../../config/shape.ts';
import type { CatalogStore } from '../../../ports/stores/catalog.ts';
import type { Guards } from '../../middleware/auth.ts';
import { jsonBody } from '../../requests/json-body.ts';
import { json, notSent, operation, problems } from '../../requests/operation.ts';
import { bodyId } from '../../requests/parameters.ts';

const id = z.int().min(0).openapi({ format: 'int64' });
const maxSelected = 10_000;

const members = {
  id_sch: bodyId(),
  ids: z.array(bodyId()).max(maxSelected).optional(),
  xpaths: z.array(z.string().min(1)).max(maxSelected).optional(),
};

const example = { id_sch: 11, ids: [31], xpaths: ['/items/item/topping'] };

function selection(name: string, verb: string) {
  return z
    .strictObject(members)
    .refine(({ ids = [], xpaths = [] }) => ids.length + xpaths.length > 0, {
      error: 'must name ids or xpaths',
    })
    .openapi(name, {
      description: `Which lines of the map that is shown to ${verb}: at least one of \`ids\` and \`xpaths\` has items. An element takes with it all that lies below it.`,
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

export function activationOperations(catalog: CatalogStore, config: Config, guards: Guards) {
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
        'All or nothing. The elements above are switched on with them. The target has the content from the next `schema/generate` on.',
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
        'All or nothing; key columns are refused. From the next `schema/generate` on the target is without the content, and loads count it as ignored. Where several paths lead to one place of the model, its content is left out once all of them are off.',
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
