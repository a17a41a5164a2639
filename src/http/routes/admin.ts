/** Keys, organisations and the audit log: /v2/admin. A key of organisation 1 speaks for all of them, any other for its own. */
import { createRoute, z } from '@hono/zod-openapi';
import { issueKey, type Principal, grantableScopes } from '../../service/access/keys.ts';
import type { Config } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { Org } from './about.ts';
import type { Guards } from '../auth.ts';
import { creatingOperation, type IdempotencyAdapters } from '../idempotency.ts';
import { jsonBody } from '../json-body.ts';
import { createGroup, json, operation, problems, removed } from '../operation.ts';
import {
  bodyId,
  displayName,
  plainText,
  defaultPageSize,
  pageOf,
  pageParam,
  sizeQuery,
  linkedPage,
  linkHeader,
} from '../paging.ts';
import { wire } from '../problem.ts';

const tags = ['admin'];
const int = z.int().openapi({ format: 'int64' });
const scopes = z.array(z.enum(grantableScopes)).max(grantableScopes.length);
/** the last millisecond of the year 9999: later times do not fit everywhere they go */
const latestTime = 253_402_300_799_999;
/** organisation whose keys may administer the installation */
const operatorOrg = 1;

const exampleKey = {
  id_key: '0f3c9a7d5b21e6448a10',
  id_org: 1,
  name: 'nightly load',
  scopes: ['jobs:run' as const, 'jobs:read' as const],
  created: 1790000000000,
  expires_at: null,
  revoked_at: null,
};

const ApiKey = z
  .object({
    id_key: z.string(),
    id_org: int,
    name: z.string(),
    scopes,
    created: int,
    expires_at: int.nullable(),
    revoked_at: int.nullable(),
  })
  .openapi('ApiKey', {
    description: 'A key without its secret, which is not stored.',
    example: exampleKey,
  });

const IssuedApiKey = z.object({ id_key: z.string(), id_org: int, key: z.string() }).openapi('IssuedApiKey', {
  description: 'A new key. No other operation returns its text.',
  example: {
    id_key: exampleKey.id_key,
    id_org: 1,
    key: 'svk_0f3c9a7d5b21e6448a10_l6CmTQ0r1J1rZk3yL0Y2W9p3F7hV5oQ8xN2bA4cD6eU',
  },
});

const NewApiKey = z
  .strictObject({
    name: displayName(200),
    scopes: scopes.min(1),
    id_org: bodyId().optional(),
    expires_at: int.min(0).max(latestTime).nullable().optional(),
  })
  .openapi('NewApiKey', {
    description:
      'Without `id_org`, the key is for the organisation of the caller. `expires_at` is in epoch milliseconds.',
    example: { name: 'nightly load', scopes: ['jobs:run', 'jobs:read'], expires_at: 1798761600000 },
  });

const NewOrg = z
  .strictObject({ name: displayName(200), description: plainText(2000, 0).nullable().optional() })
  .openapi('NewOrg', { example: { name: 'research', description: 'Laboratory feeds' } });

const exampleLine = {
  id_audit: 12,
  time: 1790000000000,
  id_org: 1,
  actor: 'key 0f3c9a7d5b21e6448a10',
  action: 'POST /v2/run/cmd',
  subject: '/v2/run/cmd',
  status: 200,
  request_id: '6b0f6f4e-0c5c-4a55-9d5c-3c8b9a7f1d10',
};

const AuditLine = z
  .object({
    id_audit: int,
    time: int,
    id_org: int,
    actor: z.string(),
    action: z.string(),
    subject: z.string().nullable(),
    status: z.int().nullable(),
    request_id: z.string().nullable(),
  })
  .openapi('AuditLine', {
    description:
      'Who did what: `actor` is a key, a subject of the identity provider, or the command line; `status` is null for a command.',
    example: exampleLine,
  });

const AuditPage = pageOf(AuditLine).openapi('AuditPage', {
  description: 'A page of the audit log.',
  example: { content: [exampleLine], page: 0, size: 20, total_elements: 1, total_pages: 1 },
});

/** The organisation whose keys and whose self the key may see; null: all. */
function reach({ idOrg }: Principal): number | null {
  return idOrg === operatorOrg ? null : idOrg;
}

export function createAdminRoutes(
  adapters: Pick<Adapters, 'access' | 'clock'> & IdempotencyAdapters,
  config: Config,
  guards: Guards,
) {
  const shared = sharedOf(adapters, config, guards);
  return createGroup([
    createKeyOperation(shared),
    listKeysOperation(shared),
    revokeKeyOperation(shared),
    createOrgOperation(shared),
    listOrgsOperation(shared),
    listAuditOperation(shared),
    listAuditPageOperation(shared),
  ]);
}

/** Returns the dependencies that the operations of this group share. */
function sharedOf(
  adapters: Pick<Adapters, 'access' | 'clock'> & IdempotencyAdapters,
  config: Config,
  guards: Guards,
) {
  const { access, clock } = adapters;
  const guard = guards.require('admin');
  const withBody = {
    security: guard.security,
    middleware: [...guard.middleware, jsonBody(config.limits.jsonBodyBytes)],
  };

  async function auditPage(principal: Principal, page: number, size = defaultPageSize) {
    const found = await access.listAudit(reach(principal), page, size);
    const content = found.content.map((line) => ({
      id_audit: line.idAudit,
      time: line.at,
      id_org: line.idOrg,
      actor: line.actor,
      action: line.action,
      subject: line.subject,
      status: line.status,
      request_id: line.requestId,
    }));
    return { ...found, content };
  }

  return { adapters, guards, access, clock, guard, withBody, auditPage };
}

type Shared = ReturnType<typeof sharedOf>;

function createKeyOperation({ adapters, access, clock, withBody }: Shared) {
  return creatingOperation(
    adapters,
    createRoute({
      method: 'post',
      path: '/v2/admin/keys',
      operationId: 'createApiKey',
      summary: 'Make an API key',
      description:
        'Only this answer contains the key; the service stores only its hash. With `Idempotency-Key`, the answer is stored encrypted, and repetitions of the request get it too.',
      tags,
      ...withBody,
      request: { body: { required: true, content: { 'application/json': { schema: NewApiKey } } } },
      responses: {
        201: json(IssuedApiKey, 'The key.'),
        ...problems(400, 413, 415),
      },
    }),
    async (c) => {
      const body = c.req.valid('json');
      const principal = c.get('principal');
      const idOrg = body.id_org ?? principal.idOrg;
      const outOfReach = reach(principal) !== null && idOrg !== principal.idOrg;
      if (outOfReach || (await access.findOrg(idOrg)) === null)
        throw new AppError('not_found', 'there is no such organisation');
      const expiresAt = body.expires_at ?? null;
      if (expiresAt !== null && expiresAt <= clock.nowMs())
        throw new AppError('invalid_body', 'expires_at is in the past', {
          errors: [{ pointer: '/expires_at', detail: 'is in the past' }],
        });
      const { idKey, key } = await issueKey(access, {
        idOrg,
        name: body.name,
        scopes: body.scopes,
        expiresAt,
      });
      c.set('auditSubject', `key ${idKey} of organisation ${idOrg}: ${body.scopes.join(' ')}`);
      return c.json({ id_key: idKey, id_org: idOrg, key }, 201);
    },
  );
}

function listKeysOperation({ access, guard }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/admin/keys',
      operationId: 'listApiKeys',
      summary: 'List API keys, oldest first',
      description: 'Names, scopes, and when each was made, ends or was revoked; never the keys themselves.',
      tags,
      ...guard,
      responses: {
        200: json(z.array(ApiKey), 'All keys, including expired and revoked ones.'),
        ...problems(),
      },
    }),
    async (c) => {
      const keys = await access.listKeys(reach(c.get('principal')));
      return c.json(
        keys.map((key) => ({
          id_key: key.idKey,
          id_org: key.idOrg,
          name: key.name,
          scopes: [...key.scopes],
          created: key.created,
          expires_at: key.expiresAt,
          revoked_at: key.revokedAt,
        })),
        200,
      );
    },
  );
}

function revokeKeyOperation({ guards, access, guard }: Shared) {
  return operation(
    createRoute({
      method: 'delete',
      path: '/v2/admin/keys/{id_key}',
      operationId: 'revokeApiKey',
      summary: 'End an API key',
      description:
        'Permanent: in effect at once in this process, and within a second in all others. A key cannot revoke itself.',
      tags,
      ...guard,
      request: { params: z.object({ id_key: z.string().openapi({ example: exampleKey.id_key }) }) },
      responses: { ...removed, ...problems(409) },
    }),
    async (c) => {
      const principal = c.get('principal');
      const { id_key: idKey } = c.req.valid('param');
      if (idKey === principal.idKey) throw new AppError('conflict', 'a key cannot revoke itself');
      // the database would reject characters that no key id has
      if (!/^[\x21-\x7e]+$/.test(idKey) || !(await access.revoke(reach(principal), idKey)))
        throw new AppError('not_found', 'there is no such key');
      guards.forgetKeys();
      return c.body(null, 204);
    },
  );
}

function createOrgOperation({ adapters, access, withBody }: Shared) {
  return creatingOperation(
    adapters,
    createRoute({
      method: 'post',
      path: '/v2/admin/orgs',
      operationId: 'createOrganisation',
      summary: 'Make an organisation',
      description: 'Only for keys of organisation 1.',
      tags,
      ...withBody,
      request: { body: { required: true, content: { 'application/json': { schema: NewOrg } } } },
      responses: {
        201: json(Org, 'The organisation.'),
        ...problems(400, 409, 413, 415),
      },
    }),
    async (c) => {
      if (reach(c.get('principal')) !== null)
        throw new AppError('forbidden', 'only keys of organisation 1 may make organisations');
      const { name, description = null } = c.req.valid('json');
      const org = await access.createOrg({ name, description });
      c.set('auditSubject', `organisation ${org.id_org}`);
      return c.json(wire(org), 201);
    },
  );
}

function listOrgsOperation({ access, guard }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/admin/orgs',
      operationId: 'listOrganisations',
      summary: 'List organisations',
      description: 'Keys of organisation 1 see all organisations, other keys only their own.',
      tags,
      ...guard,
      responses: { 200: json(z.array(Org), 'The organisations.'), ...problems() },
    }),
    async (c) => {
      const idOrg = reach(c.get('principal'));
      const orgs = await access.listOrgs();
      return c.json(wire(orgs.filter((org) => idOrg === null || org.id_org === idOrg)), 200);
    },
  );
}

function listAuditOperation({ guard, auditPage }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/admin/audit',
      operationId: 'listAudit',
      summary: 'Read the audit log, newest first: the first page',
      description:
        'Changes, and requests refused because the key lacked a scope. Entries are never changed or removed.',
      tags,
      ...guard,
      request: { query: sizeQuery },
      responses: { 200: { ...json(AuditPage, 'A page of lines.'), headers: linkHeader }, ...problems(400) },
    }),
    async (c) => {
      const found = await auditPage(c.get('principal'), 0, c.req.valid('query').size);
      return c.json(linkedPage(c, 'further step', found), 200);
    },
  );
}

function listAuditPageOperation({ guard, auditPage }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/admin/audit/{page}',
      operationId: 'listAuditPage',
      summary: 'Read the audit log, newest first: one page',
      description: 'Who did what and when. Pages count from 0.',
      tags,
      ...guard,
      request: { params: pageParam, query: sizeQuery },
      responses: {
        200: { ...json(AuditPage, 'A page of lines, empty past the end.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { page } = c.req.valid('param');
      const found = await auditPage(c.get('principal'), page, c.req.valid('query').size);
      return c.json(linkedPage(c, 'step', found), 200);
    },
  );
}
