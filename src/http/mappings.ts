/** The source-to-target map: /v2/mapping. */
import { createRoute, z } from '@hono/zod-openapi';
import { listMappings } from '../catalog/logical-schema.ts';
import type { Adapters } from '../ports/adapters.ts';
import type { Guards } from './auth.ts';
import { createGroup, json, operation, problems } from './operation.ts';
import { int64, logicalSchemaQuery } from './parameters.ts';
import { Mapping } from './schema-structures.ts';
import { wire } from './wire.ts';

export function createMappingRoutes(adapters: Pick<Adapters, 'catalog'>, guards: Guards) {
  const get = operation(
    createRoute({
      method: 'get',
      path: '/v2/mapping/get/{idSch}',
      operationId: 'listMappings',
      summary: 'List the mappings of a schema',
      tags: ['mappings'],
      ...guards.require('schemas:read'),
      request: { params: z.object({ idSch: int64('The schema.', 11) }), query: logicalSchemaQuery },
      responses: { 200: json(z.array(Mapping), 'The mappings, table by table.'), ...problems(400) },
    }),
    async (c) => {
      const { id_lschma: idLschma } = c.req.valid('query');
      const mappings = await listMappings(
        adapters.catalog,
        c.get('principal').idOrg,
        c.req.valid('param').idSch,
        idLschma,
      );
      return c.json(wire(mappings), 200);
    },
  );

  return createGroup([get]);
}
