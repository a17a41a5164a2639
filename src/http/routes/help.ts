/** /help: the documentation, as `npm run docs` builds it. Its pages and files refer to each other by relative addresses. */
import type { Context } from 'hono';
import { routePath } from 'hono/route';
import { AppError } from '../../errors.ts';
import type { AssetStore } from '../../ports/files.ts';
import type { AppEnv, StaticContent } from '../env.ts';
import { createGroup } from '../operation.ts';
import { conditional, createStaticContent, sendStatic, splitHashedName } from '../validators.ts';

const start = 'index.html';

/** Content security policy: nothing but files of the service itself; no text becomes markup or script. */
export const ownFilesPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
};

/** Names of files, whose parts never begin with a dot. */
const plausible = /^(?:\w[\w.-]*\/)*\w[\w.-]*\.(?:css|html|js|json|png|svg)$/;

/** Returns the reference to the documentation from a page, whose reference to the root is `root`; null if it is not built. */
export async function helpReference(help: AssetStore | undefined, root: string): Promise<string | null> {
  return ((await help?.read(start)) ?? null) === null ? null : `${root}help/${start}`;
}

/** `help`: undefined on runtimes that cannot read the documentation. */
export function createHelpRoutes(help: AssetStore | undefined) {
  /** files by their names, after their first request */
  const contents = new Map<string, StaticContent>();

  async function readContent(name: string): Promise<StaticContent | null> {
    const known = contents.get(name);
    if (known !== undefined) return known;
    const bytes = plausible.test(name) ? ((await help?.read(name)) ?? null) : null;
    if (bytes === null) return null;
    const content = await createStaticContent(bytes);
    contents.set(name, content);
    return content;
  }

  async function refuse(): Promise<never> {
    throw new AppError(
      'not_found',
      help === undefined
        ? 'this runtime does not serve the documentation: run `npm run docs`, and serve the folder dist/help by any web server'
        : (await readContent(start)) === null
          ? 'the documentation is not built here: run `npm run docs` in the checkout of the service, then try again'
          : 'the documentation has no such page: /help lists its pages',
    );
  }

  const group = createGroup([]);
  // the addresses of the site are relative to its folder
  group.get('/help', async (c) =>
    (await readContent(start)) === null ? await refuse() : c.redirect(`help/${start}`, 302),
  );
  group.get('/help/*', conditional, async (c) => {
    const name = nameOf(c);
    const content = await readContent(name);
    if (content === null) return await refuse();
    const type = contentTypes[name.split('.').at(-1)!]!;
    if (name.endsWith('.html')) c.header('Content-Security-Policy', ownFilesPolicy);
    return sendStatic(c, content, type, splitHashedName(name).digest !== null);
  });
  return group;
}

/** The name of the requested file in the folder of the site. */
function nameOf(c: Context<AppEnv>): string {
  const segmentsBefore = routePath(c).split('/').length - 1;
  const name = c.req.path.split('/').slice(segmentsBefore).join('/');
  return name === '' ? start : name;
}
