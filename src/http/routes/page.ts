/** The root: a page for browsers with its files below /ui, and the service's addresses for programs. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { routePath } from 'hono/route';
import type { Config } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import type { BuildInfo } from '../../ports/adapters.ts';
import { wantsHtml } from '../answers/problem.ts';
import type { AppEnv } from '../env.ts';
import { clientPath } from '../middleware/auth.ts';
import { pageChoices } from '../page/choices.ts';
import { pageHeaders, pageHtml } from '../page/html.ts';
import { packedFiles } from '../page/packed-files.ts';
import { createGroup, json, problemsOnly, rawOperation } from '../requests/operation.ts';

const ServiceIndex = z
  .object({
    name: z.string(),
    version: z.string(),
    links: z.object({ doc: z.string(), health: z.string(), openapi: z.string() }).openapi('ServiceLinks', {
      example: { doc: '/doc', health: '/actuator/health', openapi: '/doc' },
    }),
  })
  .openapi('ServiceIndex', {
    description:
      'What answers here, and paths to go on with; `openapi` is the OpenAPI document where `Accept` is application/json.',
    example: {
      name: 'conversion-job-service',
      version: '1.0.0',
      links: { doc: '/doc', health: '/actuator/health', openapi: '/doc' },
    },
  });

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

export function createPageRoutes(build: BuildInfo, { pageEnabled }: Pick<Config, 'pageEnabled'>) {
  const choices = JSON.stringify(pageChoices());
  /** files by their names, after their first request */
  const unpacked = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

  const index = (c: Context<AppEnv>): Response => {
    const path = clientPath(c);
    c.header('Vary', 'Accept');
    if (pageEnabled && wantsHtml(c.req.header('Accept'))) {
      return c.html(pageHtml(folderOf(c, path)), 200, pageHeaders);
    }
    const prefix = path.replace(/\/$/, '');
    return c.json(
      {
        name: build.name,
        version: build.version,
        links: { doc: `${prefix}/doc`, health: `${prefix}/actuator/health`, openapi: `${prefix}/doc` },
      },
      200,
    );
  };

  const asset = async (c: Context<AppEnv>): Promise<Response> => {
    const name = clientPath(c).replace(/^.*\/ui\//, '');
    const file = Object.hasOwn(packedFiles, name) ? packedFiles[name] : undefined;
    if (!pageEnabled || (file === undefined && name !== 'choices.json'))
      throw new AppError('not_found', 'there is no such file');
    if (file === undefined) return c.body(choices, 200, { 'Content-Type': 'application/json' });
    // A new release never gets modules of an older one: the browser caches them, and revalidates each.
    const tag = `"${file.digest}"`;
    const headers = { 'Cache-Control': 'no-cache', ETag: tag };
    if (c.req.header('If-None-Match') === tag) return c.body(null, 304, headers);
    if (!unpacked.has(name)) unpacked.set(name, unpack(file.gzip));
    return c.body(await unpacked.get(name)!, 200, {
      ...headers,
      'Content-Type': contentTypes[name.split('.').at(-1)!]!,
    });
  };

  const group = createGroup([
    rawOperation(
      createRoute({
        method: 'get',
        path: '/',
        operationId: 'getServiceIndex',
        summary: 'Open the page, or read where to go on',
        description:
          'A page to work with where `Accept` names text/html and `svc.ui.enabled` is on, else the paths of this description and of the health.',
        tags: ['doc'],
        security: [],
        responses: {
          200: {
            description: 'The page, or the paths.',
            content: {
              'application/json': json(ServiceIndex, '').content['application/json'],
              'text/html': { schema: z.string() },
            },
          },
          ...problemsOnly(401, 403, 404, 500),
        },
      }),
      index,
    ),
  ]);
  group.get('/ui/*', asset);
  // Below a prefix the root has no slash at its end, and with one it is no route of its own.
  group.get('/*', async (c, next) => {
    const prefix = routePath(c).replace(/\/\*$/, '');
    return c.req.path === `${prefix}/` ? index(c) : await next();
  });
  return group;
}

/**
 * Returns the folder of the page's files, relative to the page's address, so that it works below prefixes that only the browser knows.
 * A host that strips the prefix from requests also strips the last slash: then only the base path that the host declared is known.
 */
function folderOf(c: Context<AppEnv>, path: string): string {
  if (c.get('basePath') !== '') return `${path.replace(/\/$/, '')}/ui/`;
  return path.endsWith('/') ? 'ui/' : `${path.slice(path.lastIndexOf('/') + 1)}/ui/`;
}

async function unpack(gzip: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Uint8Array.from(atob(gzip), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
