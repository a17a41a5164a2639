/** Conditional requests: ETag and If-None-Match. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { inferSourceModel } from '../../../src/engine/infer/source-model.ts';
import { createPackageAssetStore } from '../../../src/runtime/package-asset-store.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import { statisticsOf } from '../../support/models/shredding.ts';

async function createWithSchema() {
  const test = await createTestApp({}, { assets: createPackageAssetStore() });
  const { catalog } = test.adapters;
  const statistics = statisticsOf([
    '<items><item id="1001"><name>Cake</name><topping>None</topping></item></items>',
  ]);
  const model = inferSourceModel(statistics);
  const { id_sch: idSch } = await catalog.createOrigin({
    idOrg: 1,
    idParentSch: null,
    idJob: 7,
    name: 'donuts',
    sourceType: 'xml',
    model,
    files: [],
  });
  await catalog.createLogicalSchema(1, idSch, buildRelationalModel(model, { mapLevel: 1 }), 7);
  await catalog.saveStatistics(1, idSch, 7, statistics, () => statistics);
  return { ...test, idSch };
}

describe('a conditional GET', async () => {
  const { app, send, idSch, newKey } = await createWithSchema();

  const paths = [
    '/v2/schema/all',
    `/v2/schema/${idSch}`,
    `/v2/schema/ddl/${idSch}`,
    `/v2/schema/views/${idSch}`,
    ...['dbt', 'odcs', 'mermaid', 'frictionless', 'jsonschema', 'avro'].map(
      (format) => `/v2/schema/export_as/${idSch}?format=${format}`,
    ),
    `/v2/schema/dictionary/${idSch}`,
    `/v2/schema/family/${idSch}`,
    `/v2/schema/get/max/length/${idSch}`,
    `/v2/mapping/get/${idSch}`,
    `/v2/mapping/get_stats/${idSch}`,
    `/v2/mapping/compare/${idSch}/${idSch}?all=true`,
    `/v2/mapping/download/${idSch}`,
    `/v2/mapping/download/${idSch}?format=csv`,
    `/v2/diagram/get/${idSch}`,
    '/doc',
    '/doc/',
    '/doc/webhooks',
    '/doc/problems',
    '/doc/problems/not_found',
    '/doc/swagger-ui.css',
    '/doc/start.js',
    '/openapi.json',
    '/openapi.yaml',
    '/ui/main.js',
    '/ui/choices.json',
  ];

  it.each(paths)('of %s is 304 while nothing has changed', async (path) => {
    const first = await send(path);
    const tag = first.headers.get('ETag')!;
    expect([first.status, tag]).toEqual([200, expect.stringMatching(/^W\/"[0-9a-f]{16,40}"$/)]);
    expect(first.headers.get('Cache-Control')).toMatch(/^(?:private, )?no-cache$/);
    expect((await first.arrayBuffer()).byteLength).toBeGreaterThan(0);
    // a cache may send several tags, strong ones, or * for any
    for (const header of [tag, `"0", ${tag}`, tag.slice(2), '*']) {
      const again = await send(path, { headers: { 'If-None-Match': header } });
      expect([header, again.status, await again.text()]).toEqual([header, 304, '']);
      for (const name of ['ETag', 'Cache-Control', 'Vary', 'RateLimit-Policy'])
        expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
      for (const name of ['Content-Type', 'Content-Length', 'Content-Disposition'])
        expect([name, again.headers.get(name)]).toEqual([name, null]);
      expect(again.headers.get('X-Request-Id')).toBeTruthy();
    }
    const other = await send(path, { headers: { 'If-None-Match': 'W/"0"' } });
    expect([other.status, other.headers.get('ETag')]).toEqual([200, tag]);
  });

  it('is 200 with another tag once the content has changed', async () => {
    const path = `/v2/mapping/get/${idSch}`;
    const first = await send(path);
    const mappings = (await first.json()) as { id_map: number; xpath: string | null; key: string | null }[];
    const topping = mappings.find(({ xpath, key }) => key === null && xpath?.endsWith('/topping') === true)!;
    const headers = { 'If-None-Match': first.headers.get('ETag')!, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ id_sch: idSch, ids: [topping.id_map] });
    expect((await send('/v2/mapping/deactivate', { method: 'POST', headers, body })).status).toBe(200);
    const second = await send(path, { headers });
    expect(second.status).toBe(200);
    expect(second.headers.get('ETag')).not.toBe(first.headers.get('ETag'));
  });

  it('needs a key as any other request does', async () => {
    const path = `/v2/schema/${idSch}`;
    const tag = (await send(path)).headers.get('ETag')!;
    const headers = { 'If-None-Match': tag };
    expect((await app.request(path, { headers })).status).toBe(401);
    const { key } = await newKey(2, ['schemas:read']);
    const refused = await send(path, { key, headers });
    expect([refused.status, refused.headers.get('ETag')]).toEqual([404, null]);
    expect(refused.headers.get('Cache-Control')).toBe('no-store');
  });

  it('has another tag for each media type', async () => {
    const tags = await Promise.all(
      ['application/json', 'image/svg+xml'].map(async (accept) => {
        const answer = await send(`/v2/diagram/get/${idSch}`, { headers: { Accept: accept } });
        expect(answer.headers.get('Vary')).toMatch(/\bAccept\b(?!-)/);
        return answer.headers.get('ETag');
      }),
    );
    expect(new Set(tags).size).toBe(2);
  });
});

describe('files of the pages', async () => {
  const { app } = await createTestApp({}, { assets: createPackageAssetStore() });

  it.each([
    ['/doc', 5],
    ['/doc/', 5],
    ['/', 3],
  ])('of %s may be kept for ever under the names that it has for them', async (path, count) => {
    const page = await (await app.request(path, { headers: { Accept: 'text/html' } })).text();
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, file]) => new URL(file!, `http://host${path}`).pathname,
    );
    expect(files).toHaveLength(count);
    for (const file of files) {
      const answer = await app.request(file);
      expect([file, answer.status, answer.headers.get('Cache-Control')]).toEqual([
        file,
        200,
        'public, max-age=31536000, immutable',
      ]);
      const [digest] = /[0-9a-f]{16}/.exec(file)!;
      expect(answer.headers.get('ETag')).toBe(`W/"${digest}"`);
      // a page of another release gets the present file, and keeps it for no longer than one request
      const stale = await app.request(file.replace(digest, '0123456789abcdef'));
      expect([stale.status, stale.headers.get('Cache-Control')]).toEqual([200, 'no-cache']);
    }
  });
});
