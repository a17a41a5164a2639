/** Diagrams: /v2/diagram. */
import { createRoute, z } from '@hono/zod-openapi';
import { diagramDrawing, readDiagram, saveDrawing } from '../../service/catalog/diagram.ts';
import type { Config } from '../../config/shape.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Slots } from '../../service/transfer/run-transfer.ts';
import { jsonRecord, longText } from '../long-answers.ts';
import type { Guards } from '../auth.ts';
import { jsonBody } from '../json-body.ts';
import {
  acceptedType,
  createGroup,
  notSent,
  operation,
  problems,
  undeclared,
  rawOperation,
} from '../operation.ts';
import { conditionalGet } from '../validators.ts';
import { bodyId, int64, logicalSchemaQuery } from '../paging.ts';

const tags = ['diagrams'];
const id = z.int().openapi({ format: 'int64' });
const pixels = z.number();
const names = z.array(z.string());

const exampleSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><rect width="200" height="100"/></svg>';

const exampleTable = {
  id_tab: 6,
  name: 'item',
  x: 24,
  y: 24,
  width: 190,
  height: 68,
  columns: [{ name: 'item_key', data_type: 'bigint', key: 'PK' as const }],
};

const exampleRelation = {
  from_table: 'topping',
  from_columns: ['item_key'],
  to_table: 'item',
  to_columns: ['item_key'],
  cardinality: '1:n' as const,
};

const DiagramColumn = z
  .object({ name: z.string(), data_type: z.string(), key: z.enum(['PK', 'FK']).nullable() })
  .openapi('DiagramColumn', { example: exampleTable.columns[0]! });

const DiagramTable = z
  .object({
    id_tab: id.nullable(),
    name: z.string(),
    x: pixels,
    y: pixels,
    width: pixels,
    height: pixels,
    columns: z.array(DiagramColumn),
  })
  .openapi('DiagramTable', { description: 'A table and its position, in pixels.', example: exampleTable });

const DiagramRelation = z
  .object({
    from_table: z.string(),
    from_columns: names,
    to_table: z.string(),
    to_columns: names,
    cardinality: z.enum(['1:1', '1:n', '0..1:n']),
  })
  .openapi('DiagramRelation', {
    description:
      'A foreign key and the key it refers to. `cardinality` counts the rows of `to_table` and `from_table`.',
    example: exampleRelation,
  });

const Diagram = z
  .object({
    id_sch: id,
    id_lschma: id,
    width: pixels,
    height: pixels,
    tables: z.array(DiagramTable),
    relations: z.array(DiagramRelation),
    svg: z.string().nullable(),
  })
  .openapi('Diagram', {
    description:
      'Tables and their positions in pixels, including `_documents` (whose `id_tab` is null); the relations from each foreign key to the key it refers to. `svg`: the drawing that was saved, if any.',
    example: {
      id_sch: 11,
      id_lschma: 4,
      width: 560,
      height: 160,
      tables: [exampleTable],
      relations: [exampleRelation],
      svg: null,
    },
  });

const SvgRequest = z.strictObject({ id_sch: bodyId(), svg: z.string().min(1) }).openapi('SvgRequest', {
  description:
    'A well-formed SVG without scripts, event handlers, style sheets, images or references that leave it.',
  example: { id_sch: 11, svg: exampleSvg },
});

export function createDiagramRoutes(
  adapters: Pick<Adapters, 'catalog'>,
  config: Config,
  guards: Guards,
  renderings: Slots,
) {
  const { catalog } = adapters;
  const saveGuard = guards.require('schemas:write');

  const get = rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/v2/diagram/get/{idSch}',
      operationId: 'getDiagram',
      summary: 'Get the diagram of a schema',
      description: 'By `Accept`: its data as JSON, or the drawing as SVG: the saved one, if there is one.',
      tags,
      ...guards.require('schemas:read'),
      request: { params: z.object({ idSch: int64('The schema.', 1) }), query: logicalSchemaQuery },
      responses: {
        200: {
          description: 'The diagram.',
          content: {
            'application/json': { schema: Diagram },
            'image/svg+xml': { schema: z.string().openapi({ example: exampleSvg }) },
          },
        },
        ...problems(400),
      },
    }),
    async (c) => {
      const type = acceptedType(c, ['application/json', 'image/svg+xml']);
      const { idOrg } = c.get('principal');
      const { idSch } = c.req.valid('param');
      const { id_lschma: idLschma } = c.req.valid('query');
      c.header('Vary', 'Accept');
      if (type === 'application/json')
        return jsonRecord(
          c,
          await renderings.within(idOrg, () => readDiagram(catalog, idOrg, idSch, idLschma)),
        );
      const svg = await renderings.within(idOrg, () => diagramDrawing(catalog, idOrg, idSch, idLschma));
      return longText(c, svg, 'image/svg+xml; charset=utf-8');
    },
  );

  const save = operation(
    createRoute({
      method: 'post',
      path: '/v2/diagram/svg',
      operationId: 'saveDiagram',
      summary: 'Keep a drawing of a schema',
      description:
        'It is stored with the newest logical schema, replacing an earlier drawing, and is also shown for later logical schemas.',
      tags,
      security: saveGuard.security,
      middleware: [...saveGuard.middleware, jsonBody(config.limits.svgBytes)],
      request: { body: { required: true, content: { 'application/json': { schema: SvgRequest } } } },
      responses: {
        200: undeclared('The drawing is stored.'),
        201: notSent,
        ...problems(400, 413, 415),
      },
    }),
    async (c) => {
      const { id_sch: idSch, svg } = c.req.valid('json');
      const saved = await saveDrawing(catalog, c.get('principal').idOrg, idSch, svg);
      return c.json({ id_sch: saved.idSch, id_lschma: saved.idLschma }, 200);
    },
  );

  return createGroup([get, save]);
}
