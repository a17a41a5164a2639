/** The interface's own description: /doc, a page for browsers and the OpenAPI document for programs; and /error. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../errors.ts';
import type { AssetStore } from '../../ports/files.ts';
import { clientPath } from '../auth.ts';
import { yaml } from '../../engine/metadata/dbt.ts';
import { wantsHtml, negotiate, escapeHtml, isoTimestamp } from '../problem.ts';
import type { AppEnv, StaticContent } from '../env.ts';
import { createGroup, json, problemsOnly, rawOperation, notSent } from '../operation.ts';
import {
  conditional,
  conditionalGet,
  createStaticContent,
  hashedName,
  sendStatic,
  splitHashedName,
} from '../validators.ts';
import { commonHeaderNames } from '../openapi/headers.ts';
import { createWebhookDocument } from '../openapi/webhook-document.ts';
import type { Clock } from '../../ports/environment.ts';

const pageCsp =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const startScript = 'start.js';
const ownStyles = 'page.css';

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
};

const pageFiles = [
  'swagger-ui.css',
  ownStyles,
  'favicon-32x32.png',
  'swagger-ui-bundle.js',
  startScript,
] as const;
type PageFile = (typeof pageFiles)[number];

/** `addressOf`: the address of a file, relative to that of the page. */
const pageHtml = (addressOf: (file: PageFile) => string): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conversion Job Service: interface</title>
<link rel="stylesheet" href="${addressOf('swagger-ui.css')}">
<link rel="stylesheet" href="${addressOf(ownStyles)}">
<link rel="icon" type="image/png" href="${addressOf('favicon-32x32.png')}">
</head>
<body>
<div id="reference"></div>
<script src="${addressOf('swagger-ui-bundle.js')}"></script>
<script src="${addressOf(startScript)}"></script>
</body>
</html>
`;

/**
 * The server of the document is told by the page's own address: only the browser knows every prefix in front of it.
 * The examples of optional parameters become words here, as the page would send them along with every call that is tried.
 * Headers of errors, and those that almost every answer has, are left out: each reference takes
 * the page time.
 */
const start = `const commonHeaders = ${JSON.stringify(commonHeaderNames)};
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
const address = location.href.replace(/\\/?(?:[?#].*)?$/, '');
fetch(address, { headers: { Accept: 'application/json' } })
  .then((answer) => answer.json())
  .then((spec) => {
    spec.servers = [{ url: address.replace(/\\/doc$/, '') }];
    for (const path of Object.values(spec.paths)) for (const operation of Object.values(path)) {
      for (const parameter of operation.parameters ?? []) if (parameter.required !== true) tellExample(parameter);
      for (const [status, response] of Object.entries(operation.responses)) {
        if (status >= '400') delete response.headers;
        for (const name of commonHeaders) delete response.headers?.[name];
      }
    }
    const ui = SwaggerUIBundle({
      spec,
      dom_id: '#reference',
      deepLinking: true,
      docExpansion: 'list',
      validatorUrl: null,
      persistAuthorization: false,
      filter: true,
      plugins: [() => ({ fn: { opsFilter: findOperations } }), keepKey],
      onComplete: () => {
        const kept = sessionStorage.getItem('authorized');
        if (kept !== null) ui.authActions.restoreAuthorization({ authorized: JSON.parse(kept) });
        if (!/^#\\/error(?:\\/|$)/.test(location.hash)) ui.layoutActions.show(['operations-tag', 'error'], false);
        addEventListener('click', (event) => openOperation(event, ui));
      },
    });
  });

/** A key that was given is kept for this tab, over reloads, and goes with it. */
function keepKey() {
  const keeping = (original, system) => (payload) => {
    // a key takes effect once this returns
    setTimeout(() => {
      const given = system.authSelectors.authorized();
      if (given === undefined || given.size === 0) sessionStorage.removeItem('authorized');
      else sessionStorage.setItem('authorized', JSON.stringify(given.toJS()));
    });
    return original(payload);
  };
  return { statePlugins: { auth: { wrapActions: { authorize: keeping, logout: keeping } } } };
}

/** Links of texts lead to an operation of this page, where they would open another. */
function openOperation(event, ui) {
  const link = event.target.closest?.('.renderedMarkdown a[href^="#/"]');
  if (!link) return;
  event.preventDefault();
  const [, tag, id] = link.getAttribute('href').split('/');
  if (typeof ui.layoutSelectors.currentFilter() === 'string') ui.layoutActions.updateFilter(true);
  ui.layoutActions.show(['operations-tag', tag], true);
  ui.layoutActions.show(['operations', tag, id], true);
  requestAnimationFrame(() => document.getElementById('operations-' + tag + '-' + id)?.scrollIntoView());
}

function tellExample(parameter) {
  const example = parameter.example ?? parameter.schema?.example;
  delete parameter.example;
  delete parameter.schema?.example;
  if (example !== undefined)
    parameter.description = [parameter.description, 'For example: ' + example].filter(Boolean).join(' ');
}

function findOperations(groups, phrase) {
  const words = phrase.toLowerCase().split(/\\s+/).filter(Boolean);
  return groups
    .map((group, tag) => group.update('operations', (operations) => operations.filter((one) => {
      const operation = one.get('operation');
      const text = [tag, one.get('method'), one.get('path'), operation.get('summary'), operation.get('description')].join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    })))
    .filter((group) => group.get('operations').size > 0);
}
`;

/** Styles of the reference and of the pages of problems. Long words of code break, so that a phone shows the page in its own width. */
const styles = `body.problems { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
.problems td, .problems th { padding: 0.2rem 1rem 0.2rem 0; text-align: left; vertical-align: top; }
.swagger-ui .renderedMarkdown code, .swagger-ui .opblock-summary-path { overflow-wrap: anywhere; }
`;

/** RFC 9512 */
const yamlType = 'application/yaml';

const ownFiles: ReadonlyMap<string, string> = new Map([
  [startScript, start],
  [ownStyles, styles],
]);

const OpenApiDocument = z.looseObject({}).openapi('OpenApiDocument', {
  description: 'An OpenAPI 3.1 document.',
  example: { openapi: '3.1.0' },
});

/** `document` gives the OpenAPI document for a server address. */
export function createDocRoutes(assets: AssetStore, document: (serverUrl: string) => object) {
  // open to everybody, and half a megabyte to write: each content is kept
  const contents = new Map<string, Promise<StaticContent>>();
  const kept = (name: string, write: () => string): Promise<StaticContent> => {
    if (!contents.has(name)) contents.set(name, createStaticContent(write()));
    return contents.get(name)!;
  };
  /** The server is relative to the address of the document: `.` beside it, `..` above it. */
  const documentJson = (serverUrl: '.' | '..'): Promise<StaticContent> =>
    kept(serverUrl, () => JSON.stringify(document(serverUrl)));

  const files = new Map<string, StaticContent>();
  /** Returns a file of the page; null if there is none of that name. */
  async function readFile(name: string): Promise<StaticContent | null> {
    const known = files.get(name);
    if (known !== undefined) return known;
    const bytes = ownFiles.get(name) ?? (await readAsset(assets, name));
    if (bytes === null) return null;
    const content = await createStaticContent(bytes);
    files.set(name, content);
    return content;
  }

  /** Its links are relative to `…/doc` or `…/doc/`, so that the page works below any prefix, known to the application or not. */
  async function writePage(folder: string): Promise<string> {
    const names = new Map(
      await Promise.all(
        pageFiles.map(async (name) => {
          const file = await readFile(name);
          return [name, file === null ? name : hashedName(name, file.digest)] as const;
        }),
      ),
    );
    return pageHtml((file) => folder + names.get(file)!);
  }

  const describe = async (c: Context<AppEnv>): Promise<Response> => {
    const inFolder = clientPath(c).endsWith('/');
    c.header('Vary', 'Accept');
    if (wantsHtml(c.req.header('Accept')))
      return c.html(await writePage(inFolder ? '' : 'doc/'), 200, { 'Content-Security-Policy': pageCsp });
    return sendStatic(c, await documentJson(inFolder ? '..' : '.'), 'application/json');
  };

  const openApiJson = rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/openapi.json',
      operationId: 'getOpenApiJson',
      summary: 'Get the OpenAPI document as JSON',
      description: 'The OpenAPI document, whatever `Accept` says. `servers` is relative to its address.',
      tags: ['doc'],
      security: [],
      responses: {
        200: json(OpenApiDocument, 'The document.'),
        ...problemsOnly(401, 403, 404, 500),
      },
    }),
    async (c) => sendStatic(c, await documentJson('.'), 'application/json'),
  );

  const openApiYaml = rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/openapi.yaml',
      operationId: 'getOpenApiYaml',
      summary: 'Get the OpenAPI document as YAML',
      description: 'The document of `/openapi.json` in YAML.',
      tags: ['doc'],
      security: [],
      responses: {
        200: {
          description: 'The document.',
          content: { [yamlType]: { schema: { type: 'string' as const } } },
        },
        ...problemsOnly(401, 403, 404, 500),
      },
    }),
    async (c) =>
      sendStatic(c, await kept('yaml', () => yaml(document('.') as Parameters<typeof yaml>[0])), yamlType),
  );

  const doc = rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/doc',
      operationId: 'getInterfaceDescription',
      summary: 'Read this description',
      description:
        'A browsable page where `Accept` names text/html, else this OpenAPI document, which `/openapi.json` and `/openapi.yaml` give, too.',
      tags: ['doc'],
      security: [],
      responses: {
        200: {
          description: 'The description.',
          content: {
            'application/json': { schema: OpenApiDocument },
            'text/html': { schema: z.string() },
          },
        },
        ...problemsOnly(401, 403, 404, 500),
      },
    }),
    describe,
  );

  const webhooks = rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/doc/webhooks',
      operationId: 'getWebhookDescription',
      summary: 'Read the description of the calls that the service makes',
      description:
        'An OpenAPI document of the calls that the service makes when jobs end: their bodies, signatures and retries.',
      tags: ['doc'],
      security: [],
      responses: {
        200: json(OpenApiDocument, 'The description.'),
        ...problemsOnly(401, 403, 404, 500),
      },
    }),
    async (c) =>
      sendStatic(
        c,
        await kept('webhooks', () => JSON.stringify(createWebhookDocument())),
        'application/json',
      ),
  );

  const asset = rawOperation(
    createRoute({
      ...conditionalGet,
      method: 'get',
      path: '/doc/{asset}',
      operationId: 'getInterfaceDescriptionAsset',
      summary: 'Get a file of the browsable page',
      description:
        'Scripts and styles of the browsable page. Under a name with its digest, as the page has it, a file may be cached for ever.',
      tags: ['doc'],
      security: [],
      request: { params: z.object({ asset: z.string().openapi({ example: 'swagger-ui.css' }) }) },
      responses: {
        200: {
          description: 'The file.',
          content: Object.fromEntries(
            ['text/css', 'text/javascript', 'image/png'].map((type) => [
              type,
              { schema: { type: 'string' as const, format: 'binary' } },
            ]),
          ),
        },
        ...problemsOnly(401, 403, 404, 500),
      },
    }),
    async (c) => {
      const { name, digest } = splitHashedName(c.req.param('asset') ?? '');
      const content = await readFile(name);
      if (content === null) throw new AppError('not_found', 'there is no such file');
      const type = contentTypes[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
      return sendStatic(c, content, type, digest === content.digest);
    },
  );

  const group = createGroup([doc, openApiJson, openApiYaml, webhooks, asset]);
  group.get('/doc/', conditional, describe);
  return group;
}

async function readAsset(assets: AssetStore, name: string): Promise<Uint8Array<ArrayBuffer> | null> {
  return /^[a-z0-9-]+\.(?:css|js|png)$/.test(name) ? await assets.read(name) : null;
}

// The error view: /error, for every method (docs/decisions/service/operator-endpoints.md).

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
