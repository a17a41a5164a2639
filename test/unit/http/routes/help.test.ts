/** /help: the documentation as it was built, below every prefix; and what says where it is. */
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../../../src/app.ts';
import { readConfig } from '../../../../src/config/properties.ts';
import type { AssetStore } from '../../../../src/ports/files.ts';
import { createHelpStore } from '../../../../src/runtime/help-store.ts';
import { createMemoryAdapters, createTestApp } from '../../../support/memory/adapters.ts';

const browser = { Accept: 'text/html' };
const files = new Map([
  ['index.html', '<!DOCTYPE html><h1>Documentation</h1>'],
  ['how-to/help/index.html', '<!DOCTYPE html><h1>A page</h1>'],
  ['site.0123456789abcdef.css', `${'a { color: red }\n'.repeat(100)}`],
]);
const help: AssetStore = {
  read: async (name) => {
    const text = files.get(name);
    return text === undefined ? null : new TextEncoder().encode(text);
  },
};

describe('GET /help', () => {
  it('says how to build the documentation if it is not built', async () => {
    for (const change of [{}, { help: { read: async () => null } }]) {
      const { app } = await createTestApp({}, change);
      for (const path of ['/help', '/help/', '/help/index.html', '/help/none']) {
        const answer = await app.request(path, { headers: browser });
        expect([path, answer.status, answer.headers.get('Content-Type')]).toEqual([
          path,
          404,
          'application/problem+json',
        ]);
        const { code, detail } = (await answer.json()) as { code: string; detail: string };
        expect(code).toBe('not_found');
        expect(detail).toContain('`npm run docs`');
      }
      for (const path of ['/', '/doc/problems', '/doc/problems/not_found'])
        expect(await (await app.request(path, { headers: browser })).text()).not.toContain('help/');
    }
  });

  it.each([
    ['as it is', '', (app: Hono) => app],
    ['below a prefix', '/help/help', (app: Hono) => new Hono().route('/help/help', app)],
    ['below a prefix of any name', '/of/acme', (app: Hono) => new Hono().route('/of/:organisation', app)],
    [
      'below a prefix that the host takes off',
      '/convert',
      (app: Hono) => new Hono().mount('/convert', app.fetch),
    ],
  ])('sends its pages and files: %s', async (_, prefix, place) => {
    const app = createApp({ ...createMemoryAdapters(), help }, readConfig({}), { basePath: '' });
    const host = place(app as unknown as Hono);
    const moved = await host.request(`${prefix}/help`);
    expect(moved.status).toBe(302);
    const start = new URL(moved.headers.get('Location')!, `http://host.example${prefix}/help`).pathname;
    expect(start).toBe(`${prefix}/help/index.html`);
    for (const [name, text] of files) {
      const answer = await host.request(`${prefix}/help/${name}`);
      expect([name, answer.status]).toEqual([name, 200]);
      expect(await answer.text()).toBe(text);
    }
    expect(await (await host.request(`${prefix}/help/`)).text()).toBe(files.get('index.html'));
    const missing = await host.request(`${prefix}/help/none.html`);
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('no such page')]);
  });

  it('lets pages run files of the site alone, and files with a digest be kept', async () => {
    const { app } = await createTestApp({}, { help });
    const page = await app.request('/help/index.html');
    const policy = page.headers.get('Content-Security-Policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|https?:|\*|data:|blob:/);
    expect(page.headers.get('Cache-Control')).toBe('no-cache');
    const again = await app.request('/help/index.html', {
      headers: { 'If-None-Match': page.headers.get('ETag')! },
    });
    expect(again.status).toBe(304);
    const style = await app.request('/help/site.0123456789abcdef.css', {
      headers: { 'Accept-Encoding': 'gzip' },
    });
    expect(style.headers.get('Cache-Control')).toContain('immutable');
    expect(style.headers.get('Content-Encoding')).toBe('gzip');
    expect(style.headers.get('Content-Type')).toBe('text/css; charset=utf-8');
  });

  it('is named by the page at / and the pages of error codes, below a prefix too', async () => {
    const host = new Hono().route('/convert', createApp({ ...createMemoryAdapters(), help }, readConfig({})));
    for (const path of [
      '/convert',
      '/convert/',
      '/convert/doc/problems',
      '/convert/doc/problems/not_found',
    ]) {
      const html = await (await host.request(path, { headers: browser })).text();
      const [, reference] = /href="([^"]*help\/[^"]*)"/.exec(html) ?? [];
      const address = new URL(reference!, `http://host.example${path}`);
      expect([path, address.pathname]).toEqual([path, '/convert/help/index.html']);
    }
  });
});

describe('the store of the documentation', () => {
  it('reads no file outside its folder', async () => {
    const store = createHelpStore(new URL('./', import.meta.url));
    expect(await store.read('help.test.ts')).not.toBeNull();
    for (const name of [
      '../../../../package.json',
      '..%2Fpage.test.ts',
      'none.html',
      '/etc/hostname',
      'file:///etc/hostname',
    ])
      expect([name, await store.read(name)]).toEqual([name, null]);
  });
});
