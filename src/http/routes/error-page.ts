/** The error view: /error, for every method (docs/decisions/service/operator-endpoints.md). */
import { createRoute, z } from '@hono/zod-openapi';
import type { Clock } from '../../ports/clock.ts';
import { negotiate, escapeHtml, isoTimestamp } from '../answers/problem.ts';
import { clientPath } from '../middleware/auth.ts';
import { createGroup, notSent, problemsOnly, rawOperation } from '../requests/operation.ts';

const methods = {
  get: 'getErrorView',
  put: 'putErrorView',
  post: 'postErrorView',
  delete: 'deleteErrorView',
  options: 'optionsErrorView',
  head: 'headErrorView',
  patch: 'patchErrorView',
  trace: 'traceErrorView',
} as const;
type Method = keyof typeof methods;

/** The answer of the original when the page is requested without an error. */
const noError = { status: 999, error: 'None' } as const;

const ModelAndView = z.string().openapi('ModelAndView', {
  description: 'The error view, an HTML page.',
  example:
    '<!DOCTYPE html><html lang="en"><head><title>Error</title></head><body><h1>Error</h1></body></html>',
});

const ErrorAttributes = z
  .object({ timestamp: z.string(), status: z.int(), error: z.string(), path: z.string() })
  .openapi('ErrorAttributes', {
    example: { timestamp: '2026-09-21T14:13:21.301+00:00', status: 999, error: 'None', path: '/error' },
  });

/** Renders the page itself, for runtimes that must answer TRACE beside the application: a web-standard Request cannot represent it. */
function renderErrorPage(path: string, epochMs: number): string {
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Error</title></head>
<body>
<h1>Error page</h1>
<p>This page shows faults of the service. No fault stands behind this request.</p>
<dl>
<dt>timestamp</dt><dd>${escapeHtml(isoTimestamp(epochMs))}</dd>
<dt>status</dt><dd>${noError.status}</dd>
<dt>error</dt><dd>${noError.error}</dd>
<dt>path</dt><dd>${escapeHtml(path)}</dd>
</dl>
</body>
</html>
`;
}

export function createErrorPageRoutes(clock: Clock) {
  return createGroup((Object.keys(methods) as Method[]).map((method) => errorView(method)));

  function errorView(method: Method) {
    const view = {
      description: 'The error view.',
      content: { 'text/html': { schema: ModelAndView }, 'application/json': { schema: ErrorAttributes } },
    };
    return rawOperation(
      createRoute({
        method,
        path: '/error',
        operationId: methods[method],
        summary: `Show the error view (${method.toUpperCase()})`,
        description:
          'A page without a fault behind it, the same for every method: status 999, as gateways that ask for it expect.',
        tags: ['error'],
        security: [],
        responses: {
          200: method === 'head' ? { description: 'No body.' } : view,
          ...(method === 'put' || method === 'post' ? { 201: notSent } : {}),
          ...(method === 'get' || method === 'put' || method === 'post' ? {} : { 204: notSent }),
          ...problemsOnly(401, 403, 404, 500),
        },
      }),
      (c) => {
        const nowMs = clock.nowMs();
        const path = clientPath(c);
        if (negotiate(c.req.header('Accept'), ['text/html', 'application/json']) === 'application/json') {
          const body = { timestamp: isoTimestamp(nowMs), ...noError, path };
          return c.json(body, 200, { Vary: 'Accept' });
        }
        return c.html(renderErrorPage(path, nowMs), 200, { Vary: 'Accept' });
      },
    );
  }
}
