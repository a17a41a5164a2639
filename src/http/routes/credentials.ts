/**
 * The routes of credentials for remote inputs: /v2/admin/credentials. Each organisation has its own, and their secret parts are never
 * returned.
 */
import { createRoute, z } from '@hono/zod-openapi';
import type { Config } from '../../config/shape.ts';
import { kindNames } from '../../config/source-access.ts';
import { AppError } from '../../errors.ts';
import { createCredential } from '../../service/files/credentials.ts';
import { credentialName } from '../../service/files/remote-location.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { wire } from '../problem.ts';
import type { Guards } from '../auth.ts';
import { creatingOperation, type IdempotencyAdapters } from '../idempotency.ts';
import { jsonBody } from '../json-body.ts';
import { createGroup, json, operation, problems, removed } from '../operation.ts';
import { plainText } from '../paging.ts';

const tags = ['admin'];
const example = { name: 'bank-inbox', kind: 's3' as const, created: 1790000000000 };
const kind = z.enum(kindNames);
const text = plainText(4096).optional();
/** A private key has lines. */
const lines = z
  .string()
  .min(1)
  .max(16_384)
  // oxlint-disable-next-line no-control-regex -- what no key has
  .regex(/^[^\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f]*$/, {
    error: 'must not contain control characters',
  })
  .optional();

const CredentialInfo = z
  .object({
    name: z.string(),
    // kinds to come do not break clients
    kind: z.string(),
    created: z.int().openapi({ format: 'int64' }),
  })
  .openapi('CredentialInfo', {
    description: 'A credential without its secrets, which are stored encrypted.',
    example,
  });

const NewCredential = z
  .strictObject({
    name: z
      .string()
      .regex(credentialName, { error: 'has 1 to 64 of the characters A-Z, a-z, 0-9, ., _ and -' }),
    kind,
    endpoint: text,
    region: text,
    access_key: text,
    secret_key: lines,
    session_token: text,
    host: text,
    token: text,
    user: text,
    password: text,
    host_key: text,
  })
  .openapi('NewCredential', {
    description:
      'Of `s3`: `access_key` and `secret_key`, with `endpoint`, `region` and `session_token`; of `az`: `access_key`, the name of the account, and `secret_key`, its key, or `token`, a shared access signature, with `endpoint`; of `https`: `host`, and `token` or `user` and `password`; of `sftp`: `host`, `user`, and `password` or `secret_key`, a private key, with `host_key`, the public key of the server. Members of other kinds are refused.',
    example: {
      name: example.name,
      kind: example.kind,
      region: 'eu-central-1',
      access_key: 'AKIAIOSFODNN7EXAMPLE',
      secret_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
  });

export function createCredentialRoutes(
  adapters: Pick<Adapters, 'credentials'> & IdempotencyAdapters,
  config: Config,
  guards: Guards,
) {
  const { credentials } = adapters;
  const guard = guards.require('admin');

  const create = creatingOperation(
    adapters,
    createRoute({
      method: 'post',
      path: '/v2/admin/credentials',
      operationId: 'createCredential',
      summary: 'Store a credential for remote inputs',
      description:
        'Jobs of the caller’s organisation use it with `--credential NAME`. It is stored encrypted, and no operation returns it. Jobs can reach its hosts only if `svc.allow.hosts` allows it.',
      tags,
      security: guard.security,
      middleware: [...guard.middleware, jsonBody(config.limits.jsonBodyBytes)],
      request: { body: { required: true, content: { 'application/json': { schema: NewCredential } } } },
      responses: {
        201: json(CredentialInfo, 'The credential.'),
        ...problems(400, 409, 413, 415),
      },
    }),
    async (c) => {
      const { name, kind: ofKind, ...texts } = c.req.valid('json');
      const { idOrg } = c.get('principal');
      const made = await createCredential(adapters, idOrg, { name, kind: ofKind, texts });
      c.set('auditSubject', `credential ${name} (${ofKind})`);
      return c.json(wire(made), 201);
    },
  );

  const list = operation(
    createRoute({
      method: 'get',
      path: '/v2/admin/credentials',
      operationId: 'listCredentials',
      summary: 'List credentials by name',
      description: 'The credentials of the caller’s organisation: names and kinds, never secrets.',
      tags,
      ...guard,
      responses: { 200: json(z.array(CredentialInfo), 'The credentials.'), ...problems() },
    }),
    async (c) => c.json(wire(await credentials.list(c.get('principal').idOrg)), 200),
  );

  const remove = operation(
    createRoute({
      method: 'delete',
      path: '/v2/admin/credentials/{name}',
      operationId: 'removeCredential',
      summary: 'Remove a credential',
      description: 'Jobs that use it but have not begun to read will fail.',
      tags,
      ...guard,
      request: { params: z.object({ name: z.string().openapi({ example: example.name }) }) },
      responses: { ...removed, ...problems() },
    }),
    async (c) => {
      const { name } = c.req.valid('param');
      if (!credentialName.test(name) || !(await credentials.remove(c.get('principal').idOrg, name)))
        throw new AppError('not_found', 'there is no such credential');
      return c.body(null, 204);
    },
  );

  return createGroup([create, list, remove]);
}
