/** Metadata for other tools: /v2/schema/export_as. */
import { createRoute, z } from '@hono/zod-openapi';
import { exportSchemaAs } from '../../../catalog/schemas/export-as.ts';
import { exportFormats, formatSpecifications } from '../../../engine/metadata/formats.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import type { Slots } from '../../../transfer/turns.ts';
import { bytesType, savedFile } from '../../answers/attachment.ts';
import type { Guards } from '../../middleware/auth.ts';
import { problems, rawOperation } from '../../requests/operation.ts';
import { int64, logicalSchemaQuery } from '../../requests/parameters.ts';
import { ByteArrayResource } from '../../schemas/catalog.ts';

const exportQuery = logicalSchemaQuery.extend({
  format: z.enum(exportFormats).openapi({
    description:
      'dbt: a project that runs as it is, zipped; odcs: an Open Data Contract (v3.1, YAML); mermaid: an entity-relationship diagram; dbml: for dbdiagram.io and dbdocs.io; frictionless: a Data Package (JSON); jsonschema: of the rows as JSON, draft 2020-12; avro: a list of record schemas.',
    example: 'dbml',
  }),
});

const MetadataDocument = z.looseObject({}).openapi('MetadataDocument', {
  description: 'A Data Package, a JSON Schema, or Avro schemas: a document of that standard.',
  example: { profile: 'tabular-data-package', name: 'donuts', resources: [] },
});

/** `renderings`: of one organisation at a time. */
export function exportAsOperation(
  adapters: Pick<Adapters, 'catalog' | 'jobs'>,
  guards: Guards,
  renderings: Slots,
) {
  return rawOperation(
    createRoute({
      method: 'get',
      path: '/v2/schema/export_as/{idSch}',
      operationId: 'exportSchemaAs',
      summary: 'Get a schema as metadata for other tools',
      description:
        'The tables of a logical schema with their columns, keys, references, what they mean (path and documentation) and, where the schema enumerates them, the values that there can be. JSON Schema and Avro are texts unless JSON is asked for by `Accept`.',
      tags: ['schemas'],
      ...guards.require('schemas:read'),
      request: { params: z.object({ idSch: int64('The schema.', 11) }), query: exportQuery },
      responses: {
        200: {
          description: 'The file.',
          headers: z.object({
            'Content-Disposition': z.string().openapi({ example: 'attachment; filename="donuts.dbml"' }),
          }),
          content: {
            'application/zip': { schema: ByteArrayResource },
            [bytesType]: { schema: ByteArrayResource },
            'application/yaml': { schema: ByteArrayResource },
            'text/plain': { schema: ByteArrayResource },
            'application/json': { schema: MetadataDocument },
          },
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const { format, id_lschma: idLschma } = c.req.valid('query');
      const { idSch } = c.req.valid('param');
      const { idOrg } = c.get('principal');
      const file = await renderings.within(idOrg, () =>
        exportSchemaAs(adapters, idOrg, idSch, { format, idLschma }),
      );
      const { mediaTypes } = formatSpecifications[format];
      return savedFile(c, file, mediaTypes);
    },
  );
}
