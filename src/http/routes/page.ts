/** The root: a page for browsers with its files below /ui, and the service's addresses for programs. */
import { dialectNames, dialectOf } from '../../engine/sql/dialects/every-dialect.ts';
import { toolOptions } from '../../service/jobs/option-table.ts';
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { routePath } from 'hono/route';
import type { Config } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import type { BuildInfo } from '../../ports/adapters.ts';
import type { AssetStore } from '../../ports/files.ts';
import { wantsHtml } from '../problem.ts';
import type { AppEnv, StaticContent } from '../env.ts';
import { clientPath } from '../auth.ts';
import { packedFiles } from '../packed-page.ts';
import { helpReference, ownFilesPolicy } from './help.ts';
import { conditional, createStaticContent, hashedName, sendStatic, splitHashedName } from '../validators.ts';
import { createGroup, json, problemsOnly, rawOperation } from '../operation.ts';

// The choices that the page offers: the options of the tools, as on their command lines, and the dialects of the DDL.

export interface OptionChoice {
  /** `-g`; null if there is none */
  readonly short: string | null;
  readonly long: string;
  /** form of the value, such as `0..3`; '' if there is none */
  readonly form: string;
  readonly meaning: string;
  readonly repeatable: boolean;
}

export interface PageChoices {
  readonly tools: Readonly<Record<'xsd2er' | 'xml2er', readonly OptionChoice[]>>;
  readonly dialects: readonly { readonly name: string; readonly title: string }[];
}

function pageChoices(): PageChoices {
  return {
    tools: { xsd2er: optionsOf('xsd2er'), xml2er: optionsOf('xml2er') },
    dialects: dialectNames.map((name) => ({ name, title: dialectOf(name).title })),
  };
}

function optionsOf(tool: 'xsd2er' | 'xml2er'): OptionChoice[] {
  return toolOptions
    .filter(({ tools, overRest }) => overRest && tools.includes(tool))
    .map(({ short, long, usage: [form, meaning], repeatable }) => ({
      short,
      long,
      form,
      meaning,
      repeatable,
    }));
}

// The page as HTML: an empty body that src/ui/main.ts fills.

const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': ownFilesPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

const hashed = (name: keyof typeof packedFiles): string => hashedName(name, packedFiles[name]!.digest);

/**
 * `root`: path of the application, relative to the page's address: '' or, if that has no slash at its end, `convert/`. `help`: the
 * address of the documentation, or null.
 */
function pageHtml(root: string, help: string | null): string {
  const folder = `${root}ui/`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Conversion Job Service</title>
<link rel="icon" type="image/svg+xml" href="${folder}${hashed('icon.svg')}">
${help === null ? '' : `<link rel="help" href="${help}">\n`}<link rel="stylesheet" href="${folder}${hashed('style.css')}">
<script type="module" src="${folder}${hashed('main.js')}"></script>
</head>
<body>
<noscript>This page needs JavaScript. Everything on it can be had from the interface, too: see /doc.</noscript>
</body>
</html>
`;
}

// The routes.

const ServiceIndex = z
  .object({
    name: z.string(),
    version: z.string(),
    links: z.object({ doc: z.string(), health: z.string(), openapi: z.string() }).openapi('ServiceLinks', {
      example: { doc: '/doc', health: '/actuator/health', openapi: '/openapi.json' },
    }),
  })
  .openapi('ServiceIndex', {
    description: 'The program, and paths of further operations.',
    example: {
      name: 'conversion-job-service',
      version: '1.0.0',
      links: { doc: '/doc', health: '/actuator/health', openapi: '/openapi.json' },
    },
  });

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
};

export function createPageRoutes(
  build: BuildInfo,
  { pageEnabled }: Pick<Config, 'pageEnabled'>,
  help: AssetStore | undefined,
) {
  const choices = JSON.stringify(pageChoices());
  /** files by their names, after their first request */
  const contents = new Map<string, Promise<StaticContent>>();

  const index = async (c: Context<AppEnv>): Promise<Response> => {
    const path = clientPath(c);
    c.header('Vary', 'Accept');
    if (pageEnabled && wantsHtml(c.req.header('Accept'))) {
      const root = rootOf(c, path);
      return c.html(pageHtml(root, await helpReference(help, root)), 200, pageHeaders);
    }
    const prefix = path.replace(/\/$/, '');
    return c.json(
      {
        name: build.name,
        version: build.version,
        links: {
          doc: `${prefix}/doc`,
          health: `${prefix}/actuator/health`,
          openapi: `${prefix}/openapi.json`,
        },
      },
      200,
    );
  };

  const asset = async (c: Context<AppEnv>): Promise<Response> => {
    const { name, digest } = splitHashedName(clientPath(c).replace(/^.*\/ui\//, ''));
    const file = Object.hasOwn(packedFiles, name) ? packedFiles[name] : undefined;
    if (!pageEnabled || (file === undefined && name !== 'choices.json'))
      throw new AppError('not_found', 'there is no such file');
    if (!contents.has(name))
      contents.set(name, createStaticContent(file === undefined ? choices : await unpack(file.gzip)));
    return sendStatic(
      c,
      await contents.get(name)!,
      contentTypes[name.split('.').at(-1)!]!,
      file !== undefined && digest === file.digest,
    );
  };

  const group = createGroup([
    rawOperation(
      createRoute({
        method: 'get',
        path: '/',
        operationId: 'getServiceIndex',
        summary: 'Open the page, or list the paths of further operations',
        description:
          'A page for browsers if `Accept` has text/html and `svc.ui.enabled` is on; otherwise the paths of the API description and of the health operation.',
        tags: ['doc'],
        security: [],
        responses: {
          200: {
            description: 'The page, or the paths.',
            content: {
              'application/json': json(ServiceIndex, '').content['application/json'],
              'text/html': { schema: z.string() },
            },
            headers: {
              'Cross-Origin-Opener-Policy': {
                description: 'Of the page: windows of other origins have no access to it.',
                schema: { type: 'string' },
                example: 'same-origin',
              },
              'Permissions-Policy': {
                description: 'Of the page: what it does not use of the browser.',
                schema: { type: 'string' },
                example: 'camera=(), geolocation=(), microphone=()',
              },
            },
          },
          ...problemsOnly(401, 403, 404, 500),
        },
      }),
      index,
    ),
  ]);
  group.get('/ui/*', conditional, asset);
  // Below a prefix the root has no slash at its end, and with one it is no route of its own.
  group.get('/*', async (c, next) => {
    const prefix = routePath(c).replace(/\/\*$/, '');
    return c.req.path === `${prefix}/` ? await index(c) : await next();
  });
  return group;
}

/**
 * Returns the path of the application, relative to the page's address, so that the page works below prefixes that only the browser knows.
 * A host that strips the prefix from requests also strips the last slash: then only the base path that the host declared is known.
 */
function rootOf(c: Context<AppEnv>, path: string): string {
  if (c.get('basePath') !== '') return `${path.replace(/\/$/, '')}/`;
  return path.endsWith('/') ? '' : `${path.slice(path.lastIndexOf('/') + 1)}/`;
}

async function unpack(gzip: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Uint8Array.from(atob(gzip), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
