/** Targets in the metadata database: /v2/target. */
import { createRoute, z } from '@hono/zod-openapi';
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Guards } from '../auth.ts';
import { createGroup, operation, problems, removed } from '../operation.ts';

export function createTargetRoutes({ catalog }: Pick<Adapters, 'catalog'>, guards: Guards) {
  const remove = operation(
    createRoute({
      method: 'delete',
      path: '/v2/target',
      operationId: 'removeTarget',
      summary: 'Remove a target of the metadata database',
      description:
        'Drops the SQL schema `metadb:NAME` with all its rows and gives the name back. Refused while a job loads into it.',
      tags: ['schemas'],
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

  return createGroup([remove]);
}
