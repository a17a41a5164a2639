/** The helpers of clients in TypeScript: against a running service, and against a server that is busy. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hc } from 'hono/client';
import { allItems, retryAfterMs, retryingFetch } from '../../../examples/client-requests.ts';
import type { SchemasApi } from '../../../src/index.ts';
import { convertFreight, type Conversion } from '../../support/service/conversion.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

describe('all items of a list', () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let made: Conversion;
  const headers = (): Record<string, string> => ({ Authorization: `Bearer ${service.key}` });
  const read = (url: URL): Promise<Response> => fetch(url, { headers: headers() });

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    made = await convertFreight(service.client, 'freight');
  });

  it.for(['/v2/executions/all', '/v2/admin/audit', '/v2/extensions/cil/jobs', '/v2/extensions/cil/keys/0'])(
    'are those of %s, however small its pages',
    async (path) => {
      const whole = await service.client.get<{ content: unknown[] }>(`${path}?size=100`);
      const first = await read(new URL(`${service.url}${path}?size=1`));
      const items = await Array.fromAsync(allItems(first, read));
      expect(items).toEqual(whole.content);
      expect(items.length).toBeGreaterThan(1);
    },
  );

  it('have the type that the typed client knows', async () => {
    const schemas = hc<SchemasApi>(service.url, { headers: headers() });
    const first = await schemas.v2.schema.all.$get({ query: { page: '0', size: '1' } });
    if (first.status !== 200) throw new Error(String(first.status));
    const names: string[] = [];
    for await (const schema of allItems(first, read)) names.push(schema.name);
    expect(names).toContain(made.name);
  });

  it('are rows of a target', async () => {
    const query = new URLSearchParams({
      target: `metadb:${made.sqlSchema}`,
      table: 'shipment',
      page: '0',
      size: '1',
    });
    const url = new URL(`${service.url}/v2/target/rows?${query}`);
    const whole = await service.client.get<{ total_elements: number }>(url.pathname + url.search);
    const rows = await Array.fromAsync(allItems(await read(url), read));
    expect(rows).toHaveLength(whole.total_elements);
    expect(rows.length).toBeGreaterThan(1);
  });

  it('are refused of a list that cannot be read', async () => {
    const first = await fetch(`${service.url}/v2/executions/all`);
    await expect(Array.fromAsync(allItems(first, read))).rejects.toThrow('401');
  });
});

describe('repeated requests', () => {
  let server: Server;
  let url: string;
  let answers: readonly (readonly [status: number, retryAfter?: string])[];
  let methods: string[];

  beforeEach(async () => {
    methods = [];
    server = createServer((request, response) => {
      const [status, retryAfter] = answers[methods.length] ?? [200];
      methods.push(request.method!);
      if (status === 0) return void request.socket.destroy();
      response.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });

  afterEach(() => void server.close());

  const key = { 'Idempotency-Key': 'one' };

  it('end with the answer of a service that is no longer busy', async () => {
    answers = [
      [429, '0'],
      [503, '0'],
      [503, new Date(Date.now() - 1000).toUTCString()],
    ];
    expect((await retryingFetch()(url)).status).toBe(200);
    expect(methods).toHaveLength(4);
  });

  it('wait for the time that the service asks for', async () => {
    answers = [[503, '1']];
    const begun = performance.now();
    await retryingFetch()(url);
    expect(performance.now() - begun).toBeGreaterThan(990);
  });

  it('are bounded in number and time', async () => {
    answers = Array.from({ length: 9 }, () => [503, '0'] as const);
    expect((await retryingFetch({ retries: 2 })(url)).status).toBe(503);
    expect(methods).toHaveLength(3);
    answers = [...answers.slice(0, 3), [429, '3600']];
    expect((await retryingFetch()(url)).headers.get('Retry-After')).toBe('3600');
    expect(methods).toHaveLength(4);
  });

  it.for([
    { method: 'POST', headers: {}, status: 503, tries: 1 },
    { method: 'POST', headers: key, status: 503, tries: 2 },
    { method: 'POST', headers: key, status: 409, tries: 2 },
    { method: 'POST', headers: {}, status: 409, tries: 1 },
    { method: 'DELETE', headers: {}, status: 503, tries: 2 },
    { method: 'PATCH', headers: {}, status: 429, tries: 1 },
    { method: 'GET', headers: {}, status: 500, tries: 1 },
    { method: 'GET', headers: {}, status: 0, tries: 2 },
    { method: 'POST', headers: key, status: 0, tries: 2 },
  ])('$method with $headers after $status: $tries', async ({ method, headers, status, tries }) => {
    answers = [[status, '0']];
    const body = method === 'POST' ? '{}' : undefined;
    await retryingFetch()(url, { method, headers, ...(body === undefined ? {} : { body }) });
    expect(methods).toHaveLength(tries);
  });

  it.for(['DELETE', 'POST'])('are not made of a %s that has no answer', async (method) => {
    answers = [[0]];
    await expect(retryingFetch()(url, { method })).rejects.toThrow();
    expect(methods).toHaveLength(1);
  });
});

it.for([
  [null, null],
  ['7', 7000],
  ['soon', null],
  ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
] as const)('Retry-After %s is %s ms', ([header, wanted]) => {
  expect(retryAfterMs(header)).toBe(wanted);
});
