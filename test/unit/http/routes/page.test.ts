/** The root and the files of its page: GET /, /ui. */
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../../../src/app.ts';
import { readConfig } from '../../../../src/config/properties.ts';
import { createMemoryAdapters, createTestApp } from '../../../support/memory/adapters.ts';

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/** Addresses in a page, as a browser at `at` asks for them. */
function addresses(html: string, at: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => new URL(path!, at).href);
}

describe('GET /', () => {
  it.each([undefined, 'application/json', '*/*', 'text/html;q=0.1, application/json'])(
    'gives programs the addresses to go on with: Accept %s',
    async (accept) => {
      const { app, adapters } = await createTestApp();
      const answer = await app.request('/', accept === undefined ? {} : { headers: { Accept: accept } });
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/json']);
      expect(await answer.json()).toEqual({
        name: 'conversion-job-service',
        version: adapters.build.version,
        links: { doc: '/doc', health: '/actuator/health', openapi: '/openapi.json' },
      });
      expect(answer.headers.get('Vary')).toContain('Accept');
    },
  );

  it('gives browsers a page that runs nothing but files of the service', async () => {
    const { app } = await createTestApp();
    const answer = await app.request('/', { headers: browser });
    expect(answer.headers.get('Content-Type')).toMatch(/^text\/html/);
    const policy = answer.headers.get('Content-Security-Policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|https?:|\*|data:|blob:/);
    expect(answer.headers.get('Referrer-Policy')).toBe('no-referrer');
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(answer.headers.get('Set-Cookie')).toBeNull();
    const html = await answer.text();
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
  });

  it.each([
    ['as it is', '', '/'],
    ['below a prefix', '/convert', '/convert'],
    ['below a prefix, with a slash', '/convert', '/convert/'],
    ['below a prefix of that name', '/tools/ui', '/tools/ui'],
  ])('links to files that are there: %s', async (_, prefix, path) => {
    const app = createApp(createMemoryAdapters(), readConfig({}));
    const host = prefix === '' ? app : new Hono().route(prefix, app);
    const page = await host.request(path, { headers: browser });
    expect([path, page.status]).toEqual([path, 200]);
    const files = addresses(await page.text(), `http://host.example${path}`);
    expect(files.length).toBe(3);
    for (const file of files) {
      const answer = await host.request(new URL(file).pathname);
      expect([file, answer.status]).toEqual([file, 200]);
      expect(answer.headers.get('Content-Type')).toMatch(
        /^(?:text\/(?:css|javascript); charset=utf-8|image\/svg\+xml)$/,
      );
      const again = await host.request(new URL(file).pathname, {
        headers: { 'If-None-Match': answer.headers.get('ETag')! },
      });
      expect(again.status).toBe(304);
    }
    const index = await host.request(path);
    expect(((await index.json()) as { links: object }).links).toMatchObject({ doc: `${prefix}/doc` });
  });

  it('links to files below a prefix that the host takes off', async () => {
    const app = createApp(createMemoryAdapters(), readConfig({}), { basePath: '/convert' });
    const host = new Hono().mount('/convert', app.fetch);
    for (const path of ['/convert', '/convert/']) {
      const page = await host.request(path, { headers: browser });
      const [file] = addresses(await page.text(), `http://host.example${path}`);
      expect((await host.request(new URL(file!).pathname)).status).toBe(200);
    }
  });

  it('tells the choices of the command line', async () => {
    const { app } = await createTestApp();
    const { tools, dialects } = (await (await app.request('/ui/choices.json')).json()) as {
      tools: Record<string, { long: string }[]>;
      dialects: { name: string; title: string }[];
    };
    expect(dialects).toContainEqual({ name: 'duckdb', title: 'DuckDB' });
    expect(tools['xml2er']!.map(({ long }) => long)).toContain('--on-error');
    expect(tools['xsd2er']!.map(({ long }) => long)).not.toContain('--job');
  });

  it.each(['/ui/', '/ui/no-such.js', '/ui/../package.json', '/ui/%2e%2e%2fpackage.json', '/ui/constructor'])(
    'has nothing else below /ui: %s',
    async (path) => {
      const { app } = await createTestApp();
      expect((await app.request(path)).status).toBe(404);
    },
  );

  it('is the index for browsers, too, where the page is switched off', async () => {
    const { app } = await createTestApp({ 'svc.ui.enabled': 'false' });
    const answer = await app.request('/', { headers: browser });
    expect(answer.headers.get('Content-Type')).toBe('application/json');
    for (const file of ['main.js', 'style.css', 'choices.json'])
      expect((await app.request(`/ui/${file}`)).status).toBe(404);
  });

  it('has GET alone', async () => {
    const { app } = await createTestApp();
    const answer = await app.request('/', { method: 'POST' });
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
  });
});
