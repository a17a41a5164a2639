/** Content negotiation. */
import { describe, expect, it } from 'vitest';
import { negotiate } from '../../../src/http/problem.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import { operationsOf, type OpenApiDocument } from '../../support/openapi-document.ts';

describe('negotiate', () => {
  const offered = ['application/json', 'text/plain', 'text/event-stream'] as const;

  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/*', 'text/plain'],
    ['TEXT/PLAIN', 'text/plain'],
    ['text/plain; charset=utf-8', 'text/plain'],
    ['text/event-stream', 'text/event-stream'],
    ['application/json;q=0.1, text/event-stream;q=0.2', 'text/event-stream'],
    ['text/event-stream, */*;q=0.1', 'text/event-stream'],
    ['*/*, text/plain', 'text/plain'],
    ['*/*, application/json;q=0', 'text/plain'],
    ['image/png', null],
    ['application/json;q=0', null],
    [',,;q=1', null],
  ])('%j gives %j', (header, type) => {
    expect(negotiate(header, offered)).toBe(type);
  });
});

describe('an Accept that excludes every media type of an answer', async () => {
  const { app, send } = await createTestApp();
  const document = (await (await app.request('/doc')).json()) as OpenApiDocument;
  const reading = operationsOf(document).filter(
    ({ method, path, responses }) =>
      method === 'GET' && path.startsWith('/v2/') && responses['200']?.content !== undefined,
  );

  it.each(reading.map(({ path, responses }) => [path, responses] as const))(
    'is refused by GET %s',
    async (path, responses) => {
      const address = path.replaceAll(/{\w+}/g, '1');
      const answer = await send(address, { headers: { Accept: 'image/png' } });
      expect(answer.headers.get('Content-Type')).toBe('application/problem+json');
      expect(await answer.json()).toMatchObject({ status: 406, code: 'not_acceptable' });
      expect(responses).toHaveProperty('406');
      for (const type of Object.keys(responses['200']!.content!))
        expect((await send(address, { headers: { Accept: type } })).status).not.toBe(406);
    },
  );

  it('counts for GET alone: an answer to a POST tells what was done', async () => {
    const init = { method: 'POST', headers: { Accept: 'image/png', 'Content-Type': 'application/json' } };
    const answer = await send('/v2/file/upload/token', { ...init, body: '{"kind":"xml"}' });
    expect(answer.status).toBe(201);
  });
});
