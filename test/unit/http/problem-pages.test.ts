/** Pages that explain error codes, and the references to them. */
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { errorCatalogue, type ErrorCode } from '../../../src/errors.ts';
import { statusOf } from '../../../src/http/problem.ts';
import { createTestApp } from '../../support/memory/adapters.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

describe('GET /doc/problems/{code}', async () => {
  const { app } = await createTestApp();
  const read = (path: string, accept?: string) =>
    app.request(path, accept === undefined ? {} : { headers: { Accept: accept } });

  it.each(codes)('explains %s in each form', async (code) => {
    const { cause, remedy } = errorCatalogue[code];
    const answer = await read(`/doc/problems/${code}`);
    expect(await answer.json()).toMatchObject({ code, status: statusOf[code], cause, remedy });
    const markdown = await read(`/doc/problems/${code}`, 'text/markdown');
    expect(markdown.headers.get('Content-Type')).toContain('text/markdown');
    expect(await markdown.text()).toContain(remedy);
    const page = await read(`/doc/problems/${code}`, 'text/html,application/xhtml+xml,*/*;q=0.8');
    expect(page.headers.get('Content-Type')).toContain('text/html');
    expect(page.headers.get('Vary')).toBe('Accept, Accept-Encoding');
    const html = await page.text();
    expect(html).toContain(`<h1><code>${code}</code></h1>`);
    expect(html).not.toContain('`');
    // each link of the page leads somewhere
    for (const [, link] of html.matchAll(/href="([^"]+)"/g)) {
      const { pathname } = new URL(link!, `http://host/doc/problems/${code}`);
      expect([pathname, (await read(pathname)).status]).toEqual([pathname, 200]);
    }
  });

  it('lists all codes in each form', async () => {
    const list = (await (await read('/doc/problems')).json()) as { code: string }[];
    expect(list.map(({ code }) => code).toSorted()).toEqual(codes.toSorted());
    for (const accept of ['text/html', 'text/markdown']) {
      const text = await (await read('/doc/problems', accept)).text();
      for (const code of codes) expect(text).toContain(code);
    }
  });

  it('is 404 for other names, and 406 for other forms', async () => {
    expect((await read('/doc/problems/constructor')).status).toBe(404);
    expect((await read('/doc/problems/not_found', 'image/png')).status).toBe(406);
  });
});

describe('help of a problem', async () => {
  const { app, key } = await createTestApp();
  const hosts = {
    'no host': { prefix: '', fetch: app.fetch },
    'route()': { prefix: '/api/v9', fetch: new Hono().route('/api/v9', app).fetch },
    'route() with a parameter': { prefix: '/tenant-1', fetch: new Hono().route('/:tenant', app).fetch },
    'mount()': { prefix: '/api', fetch: new Hono().mount('/api', app.fetch).fetch },
  };

  it.each(Object.entries(hosts))('leads to its page below %s', async (_, { prefix, fetch }) => {
    const headers = { Authorization: `Bearer ${key}` };
    for (const path of [
      '/v2/executions/get/x',
      '/nowhere',
      '/v2//a/../b/',
      '/v2/schema/%2e%2e/1',
      '/v2/run/cmd?x=/',
    ]) {
      const address = `https://proxy.example${prefix}${path}`;
      const problem = (await (await fetch(new Request(address, { headers }))).json()) as {
        code: string;
        help: string;
        type: string;
      };
      expect(problem.type).toBe(`urn:svc:problem:${problem.code}`);
      const help = new URL(problem.help, address);
      expect(help.pathname).toBe(`${prefix}/doc/problems/${problem.code}`);
      expect((await fetch(new Request(help))).status).toBe(200);
    }
  });
});
