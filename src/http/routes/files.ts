/** Upload tokens and uploads: /v2/file. */
import { createRoute, z } from '@hono/zod-openapi';
import { issueUploadToken, type UploadKind } from '../../service/access/tokens.ts';
import type { Config } from '../../config/shape.ts';
import { createDiskSpace } from '../../service/files/disk-space.ts';
import { storeUpload } from '../../service/files/upload.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { uploadTokenSchemeName, type Guards } from '../auth.ts';
import { creatingOperation, type IdempotencyAdapters } from '../idempotency.ts';
import { jsonBody } from '../json-body.ts';
import {
  createGroup,
  json,
  notSent,
  operation,
  problems,
  problemsOnly,
  queryParametersOf,
  refuseUnknownParameters,
  removed,
} from '../operation.ts';
import { demoFiles } from '../openapi/demo-files.ts';

const tags = ['files'];

export const UploadToken = z
  .object({
    token: z.string(),
    expires_at: z.int().openapi({ format: 'int64' }),
    max_bytes: z.int().openapi({ format: 'int64' }),
  })
  .openapi('UploadToken', {
    description: 'A token for one upload of its kind, valid for five minutes.',
    example: {
      token: 'l6CmTQ0r1J1rZk3yL0Y2W9p3F7hV5oQ8xN2bA4cD6eU',
      expires_at: 1790000300000,
      max_bytes: 1048576,
    },
  });

function uploadTokenRequest(uploadBytes: number) {
  return z
    .strictObject({
      kind: z.enum(['xml', 'xsd']),
      max_bytes: z.int().min(1).max(uploadBytes).optional().openapi({ format: 'int64' }),
    })
    .openapi('UploadTokenRequest', { example: { kind: 'xml', max_bytes: 1048576 } });
}

const StoredPath = z.string().openapi('StoredPath', {
  description: 'Path of the stored file, for `source.file.command` and CreateSchemaRequest.',
  example: 'uploads/7f3c9a5240b14c8e/orders.xml.gz',
});

const queryParameters = [
  {
    name: 'token',
    in: 'query' as const,
    required: true,
    description: 'An unused upload token of this kind.',
    schema: { type: 'string' as const },
    example: 'l6CmTQ0r1J1rZk3yL0Y2W9p3F7hV5oQ8xN2bA4cD6eU',
  },
  {
    name: 'name',
    in: 'query' as const,
    required: false,
    description: "The file's name; unsafe characters are replaced.",
    schema: { type: 'string' as const },
    example: 'orders.xml.gz',
  },
];

/**
 * The same bytes, in the two forms of OpenAPI. With the first form in both places, some generated clients cannot distinguish the media
 * types, and write the bytes as JSON.
 */
const binary = { schema: { type: 'string' as const, format: 'binary' } };
const binaryAsJson = { schema: { type: 'string' as const, contentMediaType: 'application/octet-stream' } };

export function createFileRoutes(
  adapters: Pick<Adapters, 'access' | 'files' | 'logs' | 'jobs' | 'clock'> & IdempotencyAdapters,
  config: Config,
  guards: Guards,
) {
  const maxUpload = config.limits.uploadBytes;
  const guard = guards.require('files:upload');
  const space = createDiskSpace(adapters, adapters.clock, config.limits.diskBytes);

  const token = creatingOperation(
    adapters,
    createRoute({
      method: 'post',
      path: '/v2/file/upload/token',
      operationId: 'createUploadToken',
      summary: 'Get a token for one upload',
      description:
        'The token goes into the address of one upload, so that a browser or a script without the key can send the file. It is valid once, for five minutes, for the given kind of file.',
      tags,
      security: guard.security,
      middleware: [...guard.middleware, jsonBody(config.limits.jsonBodyBytes)],
      request: {
        body: { required: true, content: { 'application/json': { schema: uploadTokenRequest(maxUpload) } } },
      },
      responses: {
        201: json(UploadToken, 'The token.'),
        ...problems(400, 413, 415),
      },
    }),
    async (c) => {
      const { kind, max_bytes: maxBytes = maxUpload } = c.req.valid('json');
      const issued = await issueUploadToken(adapters.access, {
        principal: c.get('principal'),
        kind,
        maxBytes,
      });
      return c.json({ token: issued.token, expires_at: issued.expiresAt, max_bytes: maxBytes }, 201);
    },
  );

  const remove = operation(
    createRoute({
      method: 'delete',
      path: '/v2/file',
      operationId: 'removeFile',
      summary: 'Remove a file',
      description: 'By the path that the upload returned. 404 if the file does not exist.',
      tags,
      ...guard,
      request: {
        query: z.object({
          path: z.string().min(1).openapi({
            description: 'Path as the upload returned it.',
            example: demoFiles.document,
          }),
        }),
      },
      responses: { ...removed, ...problems(400) },
    }),
    async (c) => {
      await adapters.files.removeFile(c.get('principal').idOrg, c.req.valid('query').path);
      return c.body(null, 204);
    },
  );

  return createGroup([
    remove,
    token,
    uploadOperation('xml', 'uploadXml'),
    uploadOperation('xsd', 'uploadXsd'),
  ]);

  function uploadOperation(kind: UploadKind, operationId: string) {
    return operation(
      createRoute({
        method: 'post',
        path: `/v2/file/upload/${kind}`,
        operationId,
        summary: `Upload one ${kind.toUpperCase()} file, or an archive of them`,
        description:
          'The body is the bytes of the file, whatever the content type. The token alone authorises the upload. Generated clients that ' +
          'take JSON where they can are told application/octet-stream as the content type of this call.',
        tags,
        security: [{ [uploadTokenSchemeName]: [] }],
        // Read by hand, not by a validator: a missing token is 401, as every other wrong one.
        parameters: queryParameters,
        request: {
          body: {
            required: true,
            content: { 'application/octet-stream': binary, 'application/json': binaryAsJson },
          },
        },
        responses: {
          200: json(StoredPath, 'The path of the stored file.'),
          201: notSent,
          ...problemsOnly(400, 401, 403, 404, 413, 500, 503),
        },
      }),
      async (c) => {
        const length = c.req.header('Content-Length');
        const path = await storeUpload(
          adapters.access,
          adapters.files,
          { uploadBytes: maxUpload, space },
          {
            kind,
            token: c.req.query('token'),
            name: c.req.query('name'),
            declaredBytes: length === undefined ? null : Number(length),
            body: () => {
              refuseUnknownParameters(c, queryParametersOf({ parameters: queryParameters }));
              return c.req.raw.body;
            },
          },
        );
        return c.json(path, 200);
      },
    );
  }
}
