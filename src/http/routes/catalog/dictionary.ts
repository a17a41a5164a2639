/** The data dictionary: /v2/schema/dictionary. */
import { createRoute, z } from '@hono/zod-openapi';
import { dictionaryFile, dictionaryFormats } from '../../../catalog/schemas/dictionary.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import type { Slots } from '../../../transfer/turns.ts';
import { bytesType, savedFile } from '../../answers/attachment.ts';
import type { Guards } from '../../middleware/auth.ts';
import { problems, rawOperation } from '../../requests/operation.ts';
import { int64, logicalSchemaQuery } from '../../requests/parameters.ts';
import { ByteArrayResource } from '../../schemas/catalog.ts';

const dictionaryQuery = logicalSchemaQuery.extend({
  format: z
    .enum(dictionaryFormats)
    .optional()
    .openapi({ description: 'A workbook (xlsx, without it) or Markdown.', example: 'xlsx' }),
});

const contentTypes = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  md: 'text/markdown; charset=utf-8',
} as const;

/** `renderings`: of one organisation at a time. */
export function dictionaryOperation(
  adapters: Pick<Adapters, 'catalog' | 'jobs'>,
  guards: Guards,
  renderings: Slots,
) {
  return rawOperation(
    createRoute({
      method: 'get',
      path: '/v2/schema/dictionary/{idSch}',
      operationId: 'getSchemaDictionary',
      summary: 'Get the data dictionary of a schema',
      description:
        'Every column of every table: its name in the business and its definition, as far as the source documents them, path, type (of PostgreSQL), key, codes where the schema enumerates them, and, where documents were read, a sample and the share of rows in which it is NULL. A sample is the least value; with `--no-samples` there is none. A sheet, or section, of its own has each enumerated type once: code, label, documentation.',
      tags: ['schemas'],
      ...guards.require('schemas:read'),
      request: { params: z.object({ idSch: int64('The schema.', 11) }), query: dictionaryQuery },
      responses: {
        200: {
          description: 'The file.',
          headers: z.object({
            'Content-Disposition': z
              .string()
              .openapi({ example: 'attachment; filename="donuts-dictionary.xlsx"' }),
          }),
          content: {
            [contentTypes.xlsx]: { schema: ByteArrayResource },
            [bytesType]: { schema: ByteArrayResource },
            'text/markdown': { schema: ByteArrayResource },
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
        dictionaryFile(adapters, idOrg, idSch, { format, idLschma }),
      );
      return savedFile(c, file, [contentTypes[format]]);
    },
  );
}
