/** Deprecated operations, by a route of the test: none of the service is deprecated. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { describe, expect, it } from 'vitest';
import { deprecated } from '../../../src/http/deprecation.ts';
import type { AppEnv } from '../../../src/http/env.ts';
import { createGroup, problemsOnly, rawOperation } from '../../../src/http/operation.ts';
import { createErrorHandler } from '../../../src/http/problem.ts';
import { createMemoryAdapters, createTestApp } from '../../support/memory/adapters.ts';
import { operationsOf, type OpenApiDocument } from '../../support/openapi-document.ts';

const deprecation = { since: '2027-03-01', until: '2028-03-01', instead: 'Use `GET /new`.' };

function createWithOldRoute() {
  const route = createRoute({
    ...deprecated(deprecation),
    method: 'get',
    path: '/old',
    description: 'Reads it.',
    responses: { 200: { description: 'It.' }, ...problemsOnly(400) },
  });
  const { clock, logger } = createMemoryAdapters();
  const app = new OpenAPIHono<AppEnv>();
  app.onError(createErrorHandler(clock, logger));
  app.route('/', createGroup([rawOperation(route, (c) => c.text('it'))]));
  return app;
}

describe('a deprecated operation', () => {
  it('says so in each answer', async () => {
    const app = createWithOldRoute();
    for (const [path, status] of [
      ['/old', 200],
      ['/old?unknown=1', 400],
    ] as const) {
      const { status: sent, headers } = await app.request(path);
      expect([sent, headers.get('Deprecation'), headers.get('Sunset')]).toEqual([
        status,
        '@1803859200',
        'Wed, 01 Mar 2028 00:00:00 GMT',
      ]);
    }
  });

  it('says so in the document', () => {
    const { paths } = createWithOldRoute().getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'test', version: '1' },
    });
    const { get } = paths!['/old']!;
    expect(get).toMatchObject({
      deprecated: true,
      description:
        'Deprecated since 2027-03-01, and may be removed after 2028-03-01. Use `GET /new`. Reads it.',
    });
    for (const response of Object.values(get!.responses!))
      expect(Object.keys((response as { headers: object }).headers)).toEqual(['Deprecation', 'Sunset']);
  });

  it('is announced a year ahead', () => {
    expect(() => deprecated({ ...deprecation, until: '2028-02-01' })).toThrow('2028-02-01');
    expect(() => deprecated({ ...deprecation, since: 'soon' })).toThrow('soon');
  });

  it('is none of the service', async () => {
    const { app } = await createTestApp();
    const document = (await (await app.request('/openapi.json')).json()) as OpenApiDocument;
    expect(operationsOf(document).filter((one) => 'deprecated' in one)).toEqual([]);
    expect((await app.request('/actuator/info')).headers.get('Deprecation')).toBeNull();
  });
});
