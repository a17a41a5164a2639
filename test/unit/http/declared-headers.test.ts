/** Every header that is sent is declared in the OpenAPI document. */
import { beforeAll, describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { inferSourceModel } from '../../../src/engine/infer/source-model.ts';
import { createPackageAssetStore } from '../../../src/runtime/package-asset-store.ts';
import { createTestApp, type TestApp } from '../../support/memory/adapters.ts';
import { submitJobs } from '../../support/memory/job-records.ts';
import { statisticsOf } from '../../support/models/shredding.ts';
import {
  operationsOf,
  type ListedOperation,
  undeclaredHeaders,
  type OpenApiDocument,
} from '../../support/openapi-document.ts';

const values: Readonly<Record<string, string>> = {
  page: '0',
  cfxml: 'donuts',
  mapping: 'item',
  asset: 'swagger-ui.css',
  code: 'not_found',
  maxLen: '40',
  group: 'readiness',
  component: 'readiness',
};

describe('the headers of answers', () => {
  let test: TestApp;
  let operations: readonly ListedOperation[];
  const sent = new Set<string>();

  beforeAll(async () => {
    test = await createTestApp(
      {
        'cmd.enabled': 'true',
        'svc.limits.requests_per_second': '100000',
        'svc.limits.request_burst': '100000',
      },
      { assets: createPackageAssetStore() },
    );
    const { catalog, jobs, serviceLog } = test.adapters;
    const statistics = statisticsOf(['<items><item id="1001"><name>Cake</name></item></items>']);
    const model = inferSourceModel(statistics);
    await catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: 7,
      name: 'donuts',
      sourceType: 'xml',
      model,
      files: [],
    });
    await catalog.createLogicalSchema(1, 1, buildRelationalModel(model, { mapLevel: 1 }), 7);
    await submitJobs(jobs, 1, 30);
    serviceLog.write('a line\n');
    const document = (await (await test.app.request('/openapi.json')).json()) as OpenApiDocument;
    operations = operationsOf(document).filter(({ method }) => method !== 'TRACE');
  });

  function named(method: string, path: string): ListedOperation {
    return operations.find((one) => one.method === method && one.path === path)!;
  }

  /** Returns the headers of the answer that the operation does not declare. */
  async function check(
    operation: ListedOperation,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<string[]> {
    const answer = await test.app.request(path, {
      method: operation.method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    for (const name of answer.headers.keys()) sent.add(name);
    const declared = operation.responses[String(answer.status)];
    // test/e2e/clients/contract.test.ts checks the statuses
    return undeclaredHeaders(
      declared?.headers ?? {},
      declared === undefined ? new Headers() : answer.headers,
    ).map((name) => `${operation.method} ${path}: ${answer.status} with ${name}`);
  }

  it('are declared, whatever the answer', async () => {
    const undeclared: string[] = [];
    const { key: weak } = await test.newKey(1, []);
    const keys = [test.key, weak, 'svk_0_0', undefined];
    for (const operation of operations) {
      const needed = (operation.parameters ?? []).filter(
        (one) => one.in === 'query' && one.required === true,
      );
      const query = new URLSearchParams(needed.map(({ name, schema }) => [name, String(schema['example'])]));
      const path = `${operation.path.replaceAll(/{(\w+)}/g, (_, name: string) => values[name] ?? '1')}?${query}`;
      for (const key of keys) {
        const base = {
          'Accept-Encoding': 'br',
          ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        };
        const body = operation.requestBody === undefined ? undefined : '{}';
        const variants: Record<string, string>[] = [
          { 'Content-Type': 'application/json' },
          { 'Content-Type': 'text/plain' },
          { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' },
          { Accept: 'text/html' },
          { Accept: 'image/png' },
          { 'If-None-Match': '*', Range: 'bytes=0-1' },
          { Range: 'bytes=9999999-' },
        ];
        for (const more of variants)
          undeclared.push(...(await check(operation, path, { ...base, ...more }, body)));
        undeclared.push(...(await check(operation, `${path}&unknown=1`, base, body)));
      }
    }
    expect(undeclared).toEqual([]);
  });

  it('of created, replayed, awaited and limited answers are declared, too', async () => {
    const headers = { Authorization: `Bearer ${test.key}`, 'Content-Type': 'application/json' };
    const undeclared: string[] = [];
    for (const [path, body] of [
      ['/v2/admin/orgs', { name: 'third' }],
      ['/v2/admin/orgs', { name: 'third' }],
      ['/v2/watches', { name: 'w', location: 'inbox', target: 'metadb:w', every: '1h' }],
    ] as const)
      undeclared.push(
        ...(await check(
          named('POST', path),
          path,
          { ...headers, 'Idempotency-Key': path },
          JSON.stringify(body),
        )),
      );
    const run = { executions: [{ app_name: 'xsd2er', source: { file: { command: 'a.xsd' } } }] };
    test.adapters.files.put(1, 'a.xsd', new TextEncoder().encode('<a/>'));
    undeclared.push(
      ...(await check(
        named('POST', '/v2/run/cmd'),
        '/v2/run/cmd',
        { ...headers, Prefer: 'wait=1' },
        JSON.stringify(run),
      )),
    );
    const about = named('GET', '/v2/about/org');
    const limited = await createTestApp({
      'svc.limits.requests_per_second': '1',
      'svc.limits.request_burst': '1',
    });
    for (const status of [200, 429]) {
      const answer = await limited.send('/v2/about/org');
      expect(answer.status).toBe(status);
      for (const name of answer.headers.keys()) sent.add(name);
      undeclared.push(...undeclaredHeaders(about.responses[String(status)]!.headers!, answer.headers));
    }
    expect(undeclared).toEqual([]);
    // the cases above have led to all of them
    for (const name of [
      'content-disposition',
      'content-encoding',
      'content-range',
      'accept-ranges',
      'etag',
      'idempotency-replayed',
      'link',
      'location',
      'permissions-policy',
      'ratelimit',
      'retry-after',
      'vary',
      'www-authenticate',
      'x-request-id',
    ])
      expect(sent).toContain(name);
  });
});
