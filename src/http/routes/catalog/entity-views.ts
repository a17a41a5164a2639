/** Views of business entities: /v2/schema/views. */
import { createRoute, z } from '@hono/zod-openapi';
import { logicalSchemaViews } from '../../../catalog/schemas/entity-views.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import type { Slots } from '../../../transfer/turns.ts';
import { longText } from '../../answers/long-answers.ts';
import type { Guards } from '../../middleware/auth.ts';
import { problems, rawOperation } from '../../requests/operation.ts';
import { dialectQuery, int64 } from '../../requests/parameters.ts';

/** `renderings`: of one organisation at a time. */
export function viewsOperation(adapters: Pick<Adapters, 'catalog'>, guards: Guards, renderings: Slots) {
  return rawOperation(
    createRoute({
      method: 'get',
      path: '/v2/schema/views/{idSch}',
      operationId: 'getSchemaViews',
      summary: 'Get views of the business entities of a schema',
      description:
        'CREATE VIEW statements, one for each entity: rows that repeat and have much to say. A view has a row for each row of its table, with the name of the document, what identifies and dates the rows above, all values of the rows themselves, amounts with the sign that a credit or debit beside them gives, names and identifiers of what hangs from them once (parties by their role), and texts that repeat below them, joined by line ends. The comment says what a row is.',
      tags: ['schemas'],
      ...guards.require('schemas:read'),
      request: { params: z.object({ idSch: int64('The schema.', 11) }), query: dialectQuery },
      responses: {
        200: {
          description: 'The statements; none where the schema has no entity of weight.',
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
