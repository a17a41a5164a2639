/** Authentication and scopes, operation by operation. */
import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/ports/stores/access.ts';
import { allScopes } from '../../../src/ports/stores/access.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import { submitJobs } from '../../support/memory/job-records.ts';

interface Described {
  readonly operationId: string;
  readonly security?: readonly Record<string, unknown>[];
  readonly responses: Record<string, unknown>;
}

/** Every operation that needs a key, with a path that can be asked for. */
async function securedOperations(send: (path: string) => Promise<Response>) {
  const document = (await (await send('/doc')).json()) as {
    paths: Record<string, Record<string, Described>>;
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security = [] }]) => security.length === 1 && 'apiKey' in security[0]!)
      .map(([method, described]) => ({
        ...described,
        method: method.toUpperCase(),
        path: path.replaceAll(/\{[^}]+\}/g, '1'),
      })),
  );
}

/** The scope of docs/decisions/service/secrets.md; null: any key. */
const scopes: Readonly<Record<string, Scope | null>> = {
  runCommands: 'jobs:run',
  rerunExecution: 'jobs:run',
  killExecution: 'jobs:run',
  createWatch: 'jobs:run',
  changeWatch: 'jobs:run',
  removeWatch: 'jobs:run',
  runWatch: 'jobs:run',
  listWatches: 'jobs:read',
  getWatch: 'jobs:read',
  listWatchFiles: 'jobs:read',
  listExecutions: 'jobs:read',
  listExecutionsPage: 'jobs:read',
  getExecution: 'jobs:read',
  getExecutionLog: 'jobs:read',
  listWorkflowExecutions: 'jobs:read',
  listWorkflowExecutionsPage: 'jobs:read',
  listWorkflows: 'jobs:read',
  listWorkflowsPage: 'jobs:read',
  readWorkflowName: 'jobs:read',
  getWorkflow: 'jobs:read',
  createUploadToken: 'files:upload',
  listSchemas: 'schemas:read',
  getSchema: 'schemas:read',
  getSchemaDdl: 'schemas:read',
  getSchemaViews: 'schemas:read',
  getSchemaDictionary: 'schemas:read',
  listSchemaFamily: 'schemas:read',
  getSchemaMaxLength: 'schemas:read',
  listMappings: 'schemas:read',
  listMappingStatistics: 'schemas:read',
  listMappingStatisticsOfJob: 'schemas:read',
  compareMappings: 'schemas:read',
  downloadMappings: 'schemas:read',
  exportSchemaAs: 'schemas:read',
  getDiagram: 'schemas:read',
  createSchema: 'schemas:write',
  generateSchema: 'schemas:write',
  generateSchemaWithin: 'schemas:write',
  removeSchema: 'schemas:write',
  activateMappings: 'schemas:write',
  deactivateMappings: 'schemas:write',
  saveDiagram: 'schemas:write',
  updateCilKeys: 'schemas:write',
  removeExecution: 'jobs:run',
  removeFile: 'files:upload',
  listCilJobs: 'jobs:read',
  listCilJobsPage: 'jobs:read',
  getCilLatestJob: 'jobs:read',
  getCilJob: 'jobs:read',
  listCilKeys: 'jobs:read',
  listCilKeysOfFeed: 'jobs:read',
  listCilLineage: 'jobs:read',
  countCilMappings: 'jobs:read',
  listCilMappings: 'jobs:read',
  listCilMappingsOfFeed: 'jobs:read',
  listCilSequences: 'jobs:read',
  listCilSequencesOfFeed: 'jobs:read',
  listMetrics: 'metrics:read',
  getMetric: 'metrics:read',
  getEnvironment: 'metrics:read',
  getEnvironmentSetting: 'metrics:read',
  listLoggers: 'metrics:read',
  getLogger: 'metrics:read',
  setLoggerLevel: 'admin',
  getLogfile: 'metrics:read',
  removeTarget: 'schemas:write',
  listTargetRows: 'rows:read',
  queryTarget: 'rows:read',
  exportSchema: 'migrate',
  importSchema: 'migrate',
  createApiKey: 'admin',
  listApiKeys: 'admin',
  revokeApiKey: 'admin',
  createOrganisation: 'admin',
  listOrganisations: 'admin',
  createCredential: 'admin',
  listCredentials: 'admin',
  removeCredential: 'admin',
  listAudit: 'admin',
  listAuditPage: 'admin',
  getMetrics: 'metrics:read',
  getOrganisation: null,
  listExtensions: null,
};

describe('API keys', () => {
  it('has a rule for every operation that needs one', async () => {
    const { send } = await createTestApp();
    const ids = (await securedOperations(send)).map(({ operationId }) => operationId);
    expect(ids.toSorted()).toEqual(Object.keys(scopes).toSorted());
  });

  it('refuses every operation without a valid key, before anything else is looked at', async () => {
    const { send, adapters, newKey } = await createTestApp();
    const expired = await newKey(1, allScopes, adapters.time.nowMs);
    const revoked = await newKey(1, allScopes);
    adapters.access.revokeKey(revoked.idKey, adapters.time.nowMs);
    const wrong = (await newKey(1, allScopes)).key.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const given = [null, expired.key, revoked.key, wrong, 'svk_nobody_secret', 'nonsense', 'svk__'];
    for (const { method, path, responses } of await securedOperations(send)) {
      for (const key of given) {
        const answer = await send(path, { method, key, body: method === 'POST' ? '{' : undefined });
        expect([method, path, key, answer.status]).toEqual([method, path, key, 401]);
        expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer realm="api"/);
        expect(((await answer.json()) as { code: string }).code).toBe('unauthorized');
      }
      expect(responses).toHaveProperty('401');
    }
  });

  it('lets a scope do what it is for and nothing else', async () => {
    const { send, newKey } = await createTestApp();
    for (const { operationId, method, path, responses } of await securedOperations(send)) {
      const needed = scopes[operationId]!;
      for (const scope of allScopes) {
        const { key } = await newKey(1, [scope]);
        const answer = await send(path, { method, key });
        const alsoAdmin = needed === 'metrics:read' && scope === 'admin';
        const refused = needed !== null && scope !== needed && !alsoAdmin;
        expect([operationId, scope, answer.status === 403]).toEqual([operationId, scope, refused]);
        expect([401, 405, 500]).not.toContain(answer.status);
        expect(Object.keys(responses)).toContain(String(answer.status));
      }
    }
  });

  it('takes the scheme in any case and nothing but a bearer', async () => {
    const { app, key } = await createTestApp();
    const status = async (authorization: string) =>
      (await app.request('/v2/about/org', { headers: { Authorization: authorization } })).status;
    expect(await status(`bearer ${key}`)).toBe(200);
    expect(await status(`Bearer   ${key} `)).toBe(200);
    expect(await status(key)).toBe(401);
    expect(await status(`Basic ${btoa(`${key}:`)}`)).toBe(401);
    expect(await status(`Bearer ${key} ${key}`)).toBe(401);
  });

  it('ends a key that was revoked elsewhere within a second', async () => {
    const { send, newKey, adapters } = await createTestApp();
    const { key, idKey } = await newKey(1, ['jobs:read']);
    expect((await send('/v2/executions/all', { key })).status).toBe(200);
    adapters.access.revokeKey(idKey, adapters.time.nowMs);
    adapters.time.nowMs += 900;
    expect((await send('/v2/executions/all', { key })).status).toBe(401);
  });

  it('ends a key that was revoked here at once, also where it is looked up at that moment', async () => {
    const { send, newKey, adapters } = await createTestApp();
    const { key, idKey } = await newKey(1, ['jobs:read']);
    const { findKey } = adapters.access;
    const asked = Promise.withResolvers<() => void>();
    adapters.access.findKey = async (id) => {
      const found = await findKey(id);
      if (id === idKey) await new Promise<void>((resolve) => asked.resolve(resolve));
      return found;
    };
    const begun = send('/v2/executions/all', { key });
    const answer = await asked.promise;
    adapters.access.findKey = findKey;
    expect((await send(`/v2/admin/keys/${idKey}`, { method: 'DELETE' })).status).toBe(204);
    answer();
    expect((await begun).status).toBe(200);
    expect((await send('/v2/executions/all', { key })).status).toBe(401);
  });

  it('asks for a key once in half a second, and never answers a wrong secret from what it knows', async () => {
    const { send, newKey, adapters } = await createTestApp();
    const { key, idKey } = await newKey(1, ['jobs:read']);
    const { findKey } = adapters.access;
    const asked: string[] = [];
    adapters.access.findKey = (id) => {
      asked.push(id);
      return findKey(id);
    };
    for (let at = 0; at < 3; at += 1) expect((await send('/v2/executions/all', { key })).status).toBe(200);
    expect(asked).toEqual([idKey]);
    expect((await send('/v2/executions/all', { key: `${key}x` })).status).toBe(401);
    adapters.time.nowMs += 500;
    expect((await send('/v2/executions/all', { key })).status).toBe(200);
    expect(asked).toEqual([idKey, idKey, idKey]);
  });

  it('ends a key when it expires, whatever was known of it', async () => {
    const { send, newKey, adapters } = await createTestApp();
    const { key } = await newKey(1, ['jobs:read'], adapters.time.nowMs + 100);
    expect((await send('/v2/executions/all', { key })).status).toBe(200);
    adapters.time.nowMs += 100;
    expect((await send('/v2/executions/all', { key })).status).toBe(401);
  });

  it('stores the hash of the secret only', async () => {
    const { adapters, newKey } = await createTestApp();
    const { key, idKey } = await newKey(1, ['jobs:read']);
    const stored = JSON.stringify(await adapters.access.findKey(idKey));
    expect(key.split('_').slice(2).join('_')).toHaveLength(43);
    expect(stored).not.toContain(key.split('_').slice(2).join('_'));
  });

  it('limits the requests of one key, not those of another', async () => {
    const { send, newKey, adapters } = await createTestApp({
      'svc.limits.requests_per_second': '2',
      'svc.limits.request_burst': '3',
    });
    const { key: other } = await newKey(1, ['jobs:read']);
    const statuses = [];
    for (let at = 0; at < 4; at += 1) statuses.push((await send('/v2/about/org')).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const refused = await send('/v2/about/org');
    expect(refused.headers.get('Retry-After')).toBe('1');
    expect((await send('/v2/about/org', { key: other })).status).toBe(200);
    adapters.time.nowMs += 1000;
    expect((await send('/v2/about/org')).status).toBe(200);
    expect((await send('/v2/about/org')).status).toBe(200);
    expect((await send('/v2/about/org')).status).toBe(429);
  });
});

const limitsOf = ({ headers }: Response) => [headers.get('RateLimit-Policy'), headers.get('RateLimit')];

describe('RateLimit and RateLimit-Policy', () => {
  it('tell the limit and its rest in every answer to a key, refusals among them', async () => {
    const { send, newKey, adapters } = await createTestApp({
      'svc.limits.requests_per_second': '1',
      'svc.limits.request_burst': '5',
    });
    const policy = '"default";q=5;w=5';
    expect(limitsOf(await send('/v2/about/org'))).toEqual([policy, '"default";r=4;t=1']);
    expect(limitsOf(await send('/v2/executions/get/99'))).toEqual([policy, '"default";r=3;t=2']);
    expect(limitsOf(await send('/v2/executions/get/x'))).toEqual([policy, '"default";r=2;t=3']);
    const created = await send('/v2/file/upload/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"kind":"xml"}',
    });
    expect(limitsOf(created)).toEqual([policy, '"default";r=1;t=4']);
    expect(limitsOf(await send('/v2/schema/all', { method: 'HEAD' }))).toEqual([policy, '"default";r=0;t=5']);
    const refused = await send('/v2/about/org');
    expect([refused.status, ...limitsOf(refused)]).toEqual([429, policy, '"default";r=0;t=5']);
    adapters.time.nowMs += 2500;
    expect(limitsOf(await send('/v2/about/org'))).toEqual([policy, '"default";r=1;t=4']);

    const { key } = await newKey(1, ['jobs:read']);
    const forbidden = await send('/v2/schema/all', { key });
    expect([forbidden.status, ...limitsOf(forbidden)]).toEqual([403, policy, '"default";r=4;t=1']);
    expect(limitsOf(await send('/v2/about/org', { key: 'svk_no' }))).toEqual([null, null]);
    expect(limitsOf(await send('/actuator/health', { key: null }))).toEqual([null, null]);
  });

  it('are declared for every answer to a key', async () => {
    const { app } = await createTestApp();
    const document = (await (await app.request('/doc')).json()) as {
      paths: Record<string, Record<string, { security: object[]; responses: Record<string, object> }>>;
      components: { headers: object };
    };
    expect(document.components.headers).toMatchObject({ RateLimit: {}, 'RateLimit-Policy': {} });
    const all = document.paths['/v2/executions/all']!['get']!.responses;
    for (const [status, response] of Object.entries(all)) {
      if (status === '401') expect(response).not.toHaveProperty(['headers', 'RateLimit']);
      else
        expect(response).toHaveProperty(['headers', 'RateLimit'], { $ref: '#/components/headers/RateLimit' });
    }
    expect(document.paths['/actuator/health']!['get']!.responses['200']).not.toHaveProperty([
      'headers',
      'RateLimit',
    ]);
  });
});

describe('another organisation', () => {
  it('cannot be told from what is not there', async () => {
    const { send, newKey, adapters } = await createTestApp();
    const { idJobs, idWorkflow } = await submitJobs(adapters.jobs, 1, 1);
    const { key } = await newKey(2, allScopes);
    const paths = [
      [`/v2/executions/get/`, idJobs[0]],
      [`/v2/executions/log/`, idJobs[0]],
      [`/v2/executions/`, idWorkflow],
      [`/v2/workflow/`, idWorkflow],
      [`/v2/workflow/getName/`, idWorkflow],
      [`/v2/run/rerun/`, idJobs[0]],
    ] as const;
    for (const [path, id] of paths) {
      const bodies = [];
      for (const asked of [id, 4711]) {
        const answer = await send(`${path}${asked}`, { key, headers: { 'X-Request-Id': 'same' } });
        expect([path, answer.status]).toEqual([path, 404]);
        bodies.push(
          (await answer.text()).replaceAll(`${path}${asked}`, path).replaceAll(`job ${asked}`, 'job'),
        );
      }
      expect(bodies[0]).toBe(bodies[1]);
    }
    const killed = await send(`/v2/executions/kill/${idJobs[0]}`, { key, method: 'POST' });
    expect(killed.status).toBe(404);
    expect((await adapters.jobs.findJob(1, idJobs[0]!))?.status).toBe('queued');
  });
});
